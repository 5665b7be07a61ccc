"""Each tutorial runs in an empty folder and ends in a figure and a receipt that verifies."""

from pathlib import Path

import blocks
import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(TUTORIALS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_tutorial(page: Path, tmp_path: Path) -> None:
    blocks.run(page, tmp_path)
    figure, shown = blocks.outcome(tmp_path), blocks.pictures(page)
    assert figure.name in shown.values()
    for kept, made in shown.items():
        assert (tmp_path / made).exists()
        assert (TUTORIALS / "figures" / kept).exists(), "make tutorials keeps it beside the page"
