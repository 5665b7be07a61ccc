"""A small part of the coverage and size studies; seeds fixed, wide limits (4.5 standard errors)."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import covering as coverage
import equality

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
