"""The examples of docs/command-line.md run, print what the page shows, and end as it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from geodp.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def examples():
    for block in blocks("console"):
        for part in block.split("$ geodp ")[1:]:
            line, _, shown = part.partition("\n")
            words, _, ending = line.partition("    # ends with ")
            yield shlex.split(words), int(ending or 0), shown.splitlines()


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (table,) = (block for block in blocks("text") if block.startswith("lon,lat"))
    Path("headings.csv").write_text(table)
    seen = set()
    for words, code, shown in examples():
        result = CliRunner().invoke(main, words)
        assert result.exit_code == code, (words, result.stderr)
        for line in shown:
            assert line in result.stderr, words
        seen.add(words[0])
    assert seen == set(main.commands)


def test_every_command_and_code_is_on_the_page():
    assert set(re.findall(r"^## ([a-z]+)$", PAGE, re.MULTILINE)) == set(main.commands)
    for code in (0, 1, 2, 3, 70):
        assert f"| {code} |" in PAGE
