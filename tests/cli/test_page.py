"""docs/command-line.md names every command and exit code; tests/docs runs its examples."""

from __future__ import annotations

import re
from pathlib import Path

from geodp.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


def test_every_command_and_code_is_on_the_page():
    assert set(re.findall(r"^## ([a-z]+)$", PAGE, re.MULTILINE)) == set(main.commands)
    for code in (0, 1, 2, 3, 70):
        assert f"| {code} |" in PAGE
    shown = set(re.findall(r"^\$ geodp ([a-z]+) ", PAGE, re.MULTILINE))
    assert shown == set(main.commands)
