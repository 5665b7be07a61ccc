"""A small part of the coverage and size studies; seeds fixed, wide limits (4.5 standard errors)."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import centres
import covering as coverage
import equality
from recording import Run

REPEATS = 60
LOW = 0.95 - 4.5 * math.sqrt(0.95 * 0.05 / REPEATS)


@pytest.mark.parametrize(("index", "mu"), [(0, 0.5), (1, 0.5), (2, 0.5), (0, math.inf)])
def test_regions_and_intervals_cover(index, mu):
    population = coverage.populations()[index]
    rows = coverage.cells(population, 200, [mu], REPEATS, seed=3)
    at = {row["level"]: row for row in rows}
    assert at[0.95]["region"] >= LOW
    assert at[0.95]["interval"] >= LOW
    assert at[0.9]["radius"] < at[0.99]["radius"]


def test_a_covariance_a_third_as_large_is_found_out(monkeypatch):
    """The check can fail: regions of a third of the variance cover far too little."""
    from geodp.inference.region import ConfidenceRegion

    monkeypatch.setattr(
        ConfidenceRegion, "contains", lambda self, x: self.square(x) <= self.quantile / 3
    )
    population = coverage.populations()[2]
    row = coverage.cells(population, 200, [0.5], REPEATS, seed=3)[1]
    assert row["region"] < LOW


def test_equal_means_are_rejected_rarely_and_unequal_ones_often():
    population = coverage.populations()[2]
    null = equality.cell(population, math.inf, 0.0, 40, seed=2)
    assert max(null[k] for k in ("one_sample", "two_samples", "three_samples")) < 0.05 + 0.16
    far = equality.cell(population, 1.0, 0.3, 10, seed=2)
    assert min(far[k] for k in ("one_sample", "two_samples", "three_samples")) > 0.7


def test_few_records_have_a_table_of_their_own(tmp_path):
    """At μ = .1 thirty records are refused on SPD(2); on the sphere all budgets serve."""
    assert coverage.possible(coverage.populations()[0].ball, 30) == list(coverage.MUS)
    assert coverage.possible(coverage.populations()[1].ball, 30) == list(coverage.MUS[1:])
    words = ("--n", "30", "--share", "0.001", "--spaces", "sphere:2", "--out", str(tmp_path))
    coverage.main(words)
    rows = (tmp_path / "coverage_30.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * len(coverage.MUS)
    assert json.loads((tmp_path / "coverage_30.json").read_text())["command"].endswith("--n 30")


def test_rows_of_spaces_that_a_run_leaves_out_are_kept(tmp_path):
    table = "space,mu,repeats,one_sample\nsphere:2,inf,5000,0.05\nspd:2:log-cholesky,1,9,0.1\n"
    (tmp_path / "equality.csv").write_text(table)
    run = Run("equality", 1.0, 1, tmp_path, ("spd:2:log-cholesky",))
    row = {"space": "sphere:2", "mu": math.inf, "repeats": 5000, "one_sample": 0.05}
    assert coverage.kept(run, "equality", ("repeats",)) == [row]


def test_the_law_is_simulated_around_the_covariance_that_is_asked_for():
    """Around a covariance below the limits the studentised squares are smaller, and so is p."""
    population, rng = coverage.populations()[2], np.random.default_rng(1)
    plan = equality.region_plan(population.ball, 200, 3.0)
    records = population.ball.clip(population.draw(rng, 200))
    estimate = equality.simulated(plan, records, rng)
    found = centres.centres(estimate, population)
    np.testing.assert_allclose(np.diag(found["true"]), population.axes**2 / 5)  # E z² = a²/(d + 2)
    far = [centres.around(estimate.region, x * found["true"]) for x in (0.05, 1.0)]
    point = population.space.exp_coords(estimate.region.center, 0.06 * np.eye(3)[0])
    p = [equality.one_sample(one, point).p_value for one in far]
    assert p[0] < p[1] / 2
    rows = centres.cell(3.0, 2, 1)
    assert [row["centre"] for row in rows] == list(found)
