"""The documentation's examples run, its formulas convert, its figures follow from closed forms."""

import doctest
import math
import re
from pathlib import Path

import numpy as np
import pytest

import geodp

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_run(page: Path) -> None:
    failures, _ = doctest.testfile(str(page), module_relative=False)
    assert failures == 0


def test_some_page_has_examples() -> None:
    assert any(">>>" in page.read_text() for page in PAGES)


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


def test_command_line_example_uses_real_options() -> None:
    from geodp.cli import main

    text = (DOCS / "command-line.md").read_text()
    lines = re.findall(r"^geodp (\w+) (.*)$", text, flags=re.MULTILINE)
    assert len(lines) == 4
    for name, rest in lines:
        known = {option for param in main.commands[name].params for option in param.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known
        needed = {
            p.opts[0] for p in main.commands[name].params if p.required and p.opts[0][0] == "-"
        }
        assert needed <= set(rest.split())


def test_every_public_module_is_described() -> None:
    import importlib
    import inspect

    names = re.search(r"^MODULES = \((.*)\)$", (DOCS / "_ext/public_names.py").read_text(), re.M)
    assert names is not None
    for short in re.findall(r'"([\w.]+)"', names[1]):
        module = importlib.import_module(f"geodp.{short}")
        undescribed = [x for x in module.__all__ if not inspect.getdoc(getattr(module, x))]
        assert undescribed == [], short
