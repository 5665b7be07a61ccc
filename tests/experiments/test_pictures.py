"""Pictures of committed tables: what is drawn is what stands there, and the gallery shows all."""

from __future__ import annotations

import csv
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

from pictures import PICTURES, draw
from recording import RESULTS, pyplot

ROOT = Path(__file__).parents[2]
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


def table(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", PICTURES)
def test_each_is_drawn_from_its_table_and_committed(name: str, tmp_path: Path) -> None:
    assert draw(name, tmp_path).stat().st_size > 10_000
    assert (RESULTS / f"{name}.png").exists()


def test_composition_is_drawn_over_the_gaussian_error() -> None:
    """δ(ε) of a Gaussian of sensitivity μ and scale one, solved for μ by scipy (Balle, Wang)."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(mu: float) -> float:
        spent = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
        return float(spent) - 1e-5

    mu, rows = brentq(excess, 0.05, 2.0), table("composition")
    figure = pyplot().figure()
    PICTURES["composition"][0](figure, rows)
    drawn = np.asarray(figure.axes[0].lines[0].get_ydata(), dtype=float)
    expected = [float(r["mse"]) / (10 * float(r["k"]) / mu**2) for r in rows]
    np.testing.assert_allclose(drawn, expected, rtol=1e-4)
    pyplot().close(figure)


def test_the_gallery_shows_every_picture_and_names_what_makes_it() -> None:
    shown = re.findall(r"\]\(\.\./experiments/results/([\w.]+)\)", GALLERY)
    assert sorted(shown) == sorted(path.name for path in RESULTS.glob("*.png"))
    made = re.findall(r"python experiments/(\w+)\.py", GALLERY)
    assert len(made) >= len(shown)
    for script in made:
        assert (ROOT / "experiments" / f"{script}.py").exists(), script
