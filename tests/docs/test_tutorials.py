"""Each tutorial runs in an empty folder and ends in a figure and a receipt that verifies."""

from pathlib import Path

import blocks
import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(TUTORIALS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_tutorial(page: Path, tmp_path: Path) -> None:
    blocks.run(page, tmp_path)
    figure = blocks.outcome(tmp_path)
    kept = TUTORIALS / "figures" / (page.stem + figure.suffix)
    assert kept.exists(), "make tutorials keeps the figure beside the page"
    assert f"](figures/{kept.name})" in page.read_text()
