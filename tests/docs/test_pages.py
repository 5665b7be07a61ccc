"""The documentation's examples run, its formulas convert, its figures follow from closed forms."""

import math
import re
import shlex
from pathlib import Path

import blocks
import numpy as np
import pytest

import geodp

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([DOCS.parent / "README.md", *DOCS.rglob("*.md")])
BLOCKS = [block for page in PAGES for block in blocks.blocks_of(page)]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name != "tutorials"],  # test_tutorials.py
    ids=lambda p: p.stem,
)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    blocks.run(page, tmp_path)


def test_no_code_hides_in_a_block_that_is_not_run() -> None:
    """Every fence says its language, and text holds no command."""
    assert sum(block.runs for block in BLOCKS) > 50
    for block in BLOCKS:
        assert block.language, block.place
        if block.language == "text":
            typed = re.search(r"^(\$|>>>|(geodp|pip|make|python) [^v])", block.text, re.MULTILINE)
            assert typed is None, block.place


def test_commands_on_the_pages_use_real_options() -> None:
    """Those that are not run too."""
    import click

    from geodp.cli import main

    seen = 0
    for block in (x for x in BLOCKS if x.language in ("sh", "console")):
        for line in re.findall(
            r"^(?:\$ )?geodp (.*)$", block.text.replace("\\\n", " "), re.MULTILINE
        ):
            name, *words = shlex.split(line.partition(" #")[0].partition(" > ")[0])
            command: click.Command = main.commands[name]
            if isinstance(command, click.Group):
                command = command.commands[words[0]]
            known = {option for param in command.params for option in param.opts}
            used = {word for word in words if word.startswith("--")}
            assert used <= known | {"--no-header"}, (block.place, line)
            seen += 1
    assert seen > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python_names_exist(page: Path) -> None:
    names = set(re.findall(r"\bgd\.(\w+)", page.read_text()))
    assert names <= set(geodp.__all__)


def _row(page: str, start: str) -> list[float]:
    line = next(x for x in (DOCS / page).read_text().splitlines() if x.startswith(start))
    return [float(cell.strip().rstrip("°")) for cell in line.split("|")[-7:-1]]


def test_table_of_caps() -> None:
    angle = np.radians([10, 20, 30, 45, 60, 80])
    moved = _row("how-to-choose.md", "| $n\\Delta$")
    np.testing.assert_allclose(moved, 2 * np.tan(angle), atol=5.1e-4)
    stretched = _row("how-to-choose.md", "| Lipschitz")
    np.testing.assert_allclose(stretched, angle / np.sin(angle), atol=5.1e-4)


def test_laplace_is_nearer_up_to_dimension_13() -> None:
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(s: float) -> float:
        gap = norm.cdf(0.5 / s - s) - math.e * norm.cdf(-0.5 / s - s)
        return float(gap) - 1e-5

    sigma = brentq(excess, 1, 10)
    nearer = [
        d
        for d in range(2, 30)
        if d < sigma * math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    ]
    assert nearer == list(range(2, 14))


def test_every_public_module_is_described() -> None:
    import importlib
    import inspect

    names = re.search(r"^MODULES = \((.*)\)$", (DOCS / "_ext/public_names.py").read_text(), re.M)
    assert names is not None
    for short in re.findall(r'"([\w.]+)"', names[1]):
        module = importlib.import_module(f"geodp.{short}")
        undescribed = [x for x in module.__all__ if not inspect.getdoc(getattr(module, x))]
        assert undescribed == [], short
