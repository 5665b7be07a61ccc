"""A plan warns, before anything is spent, where a release could be no point in 64-bit floats."""

from __future__ import annotations

import numpy as np
import pytest

import geodp as gd


@pytest.mark.parametrize(
    ("space", "mu", "warned"),
    [
        (gd.SPD(3), "0.5", False),
        (gd.SPD(3), "0.02", True),  # lengths of 66: condition numbers of e^60 and more
        (gd.Hyperbolic(2), "0.5", False),
        (gd.Hyperbolic(2), "0.001", True),  # lengths of 600: squares of e^600 overflow
        (gd.Sphere(2), "0.001", False),  # a closed space holds every release
    ],
)
def test_absurdly_wide_noise(space, mu, warned):
    ball = gd.Ball(space, "origin", 1.0)
    noise = gd.Wrapped(gd.Gaussian())
    plan = gd.plan(gd.FrechetMean(ball), 5, gd.GaussianDP(mu), [noise])
    assert ("64-bit floats" in plan.warning) is warned
    assert ("64-bit floats" in repr(plan)) is warned
    assert plan.to_json().get("warning", "") == plan.warning


def test_what_is_not_warned_of_passes_its_checks():
    """At the widest noise without a warning, releases are points of the space."""
    mean = gd.FrechetMean(gd.Ball(gd.SPD(3), "origin", 1.5))
    noise = gd.Wrapped(gd.Gaussian())
    assert gd.plan(mean, 5, gd.GaussianDP("0.2"), [noise]).warning == ""
    records = np.broadcast_to(np.eye(3), (5, 3, 3))
    for _ in range(3):
        out = gd.release(records, mean, gd.GaussianDP("0.2"), noise)
        assert all(check.passed for check in gd.verify(out))
