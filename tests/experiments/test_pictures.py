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


def test_main_numbers_of_the_gallery_are_those_of_the_tables() -> None:
    """Those that stand in a column as they are; the others are in the README's table."""
    rows = table("audit")
    naive = [float(r["digits_advantage"]) for r in rows if r["bug"] == "naive floats"]
    sound = [r for r in rows if r["kind"] == "mechanism"]
    assert min(naive) >= 0.78
    assert max(float(r["digits_advantage"]) for r in sound if r["digits_advantage"]) <= 0.0425
    assert round(max(float(r["largest_share_of_promise"]) for r in sound), 2) == 0.96
    assert (len(rows) - 22, sum(r["kind"] == "twin" for r in rows)) == (29, 22)
    assert min(float(r["errors_above"]) for r in table("radial_profiles")) > -2.65
    worst = {
        r["M"]: float(r["delta_certified_below"])
        for r in table("r1smg")
        if "e-05" in r["delta_claimed"] and r["epsilon"] == "1"
    }
    assert worst["100"] >= 0.97
    best = {
        (r["d"], r["epsilon"], r["delta"]): r["best_over_gaussian"] for r in table("which_noise")
    }
    assert round(float(best["3", "1", "1e-6"]), 2) == 0.22
    assert sum(int(r["pairs"]) for r in table("study") if r["kind"] != "permuted") >= 9000
    assert all(r["violations"] == "0" for r in table("study"))
    assert min(float(r["ratio_max"]) for r in table("study")) < 1
    covered = [
        float(r[column])
        for r in table("coverage")
        if r["level"] == "0.95"
        for column in ("region", "interval")
    ]
    assert len(covered) == 60
    assert 0.93 <= min(covered) <= max(covered) <= 0.98
    for number in ("29 mechanisms", "22 twins", ".78 and more", "at least .97", ".22 of the"):
        assert number in GALLERY
