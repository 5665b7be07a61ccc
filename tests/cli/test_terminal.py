"""One terminal for both streams: the document, an empty line, the words."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="needs a terminal")

WORDS = ("calibrate", "--space", "sphere:2", "--mechanism", "wrapped-gaussian")
WORDS += ("--center", "origin", "--radius", "0.5", "--sensitivity", "0.1", "--gdp", "1")


def shown(*more: str) -> str:
    """What a person sees."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "geodp", *WORDS, *more]
    program = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: the other side was closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert program.wait() == 0
    return said.decode().replace("\r\n", "\n")


def test_the_words_stand_apart_from_the_document() -> None:
    document, words = shown().split("\n}\n")
    assert document.startswith("{")
    assert words.startswith("\n")
    assert words.strip()
    assert shown("--json").endswith("\n}\n")
