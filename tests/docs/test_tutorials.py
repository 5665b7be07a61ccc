"""Each tutorial runs in an empty folder and ends in a figure and a receipt that verifies."""

import re
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


@pytest.mark.parametrize(("name", "ending"), [("diffusion", ".nii.gz"), ("shapes", ".tps")])
def test_a_newcomer_finds_the_whole_path(name: str, ending: str) -> None:
    """From the file to the report, in commands that the page's own test runs."""
    shown = [x.text for x in blocks.blocks_of(TUTORIALS / f"{name}.md") if x.runs]
    typed = re.findall(r"^(?:\$ )?geodp (\w+)(.*)", "\n".join(shown), re.MULTILINE)
    assert any(verb == "inspect" and f"{ending} " in rest for verb, rest in typed)
    verbs = iter(verb for verb, _ in typed)
    assert all(step in verbs for step in ("inspect", "plan", "release", "report"))  # in this order
