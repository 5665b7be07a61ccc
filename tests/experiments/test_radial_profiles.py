"""A small part of experiments/radial_profiles.py: its cases, judged again."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

from radial_profiles import ERRORS, random_case, row


def test_bounds_are_never_below_the_simulation() -> None:
    """Twelve cases: five standard errors are 3e-7 each. Bounds 30 % lower would be noticed."""
    rng = np.random.default_rng(3)
    found = [row(random_case(index, rng), 20_000, rng) for index in range(12)]
    assert {r["space"].split(":")[0] for r in found} == {"sphere", "hyperbolic", "shapes", "spd"}
    assert all(r["bound"] >= r["simulated"] - ERRORS * r["error"] for r in found)
    assert any(0.7 * r["bound"] < r["simulated"] - ERRORS * r["error"] for r in found)
