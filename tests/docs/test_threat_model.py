"""The threat model's table: thirteen lines, and every file that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = {
    int(cells[0]): cells
    for line in PAGE.splitlines()
    if len(cells := [cell.strip() for cell in line.strip("|").split(" | ")]) == 4
    and cells[0].strip("| ").isdigit()
}


def test_every_line_of_the_checklist_is_there() -> None:
    assert sorted(ROWS) == list(range(1, 14))


@pytest.mark.parametrize("line", range(1, 14))
def test_a_line_names_tests_that_exist_and_a_figure(line: int) -> None:
    _, what, tests, figure = ROWS[line]
    named = re.findall(r"`((?:tests|experiments)/[\w/]+\.py)`", tests)
    assert named
    assert what.startswith("**")
    assert figure
    for path in named:
        assert (ROOT / path).is_file(), path
