"""A small part of the smeariness and normality studies, and what infer says to such domains."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate

import geodp as gd

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import covering
import normality
import smeariness


def test_the_hessian_at_the_pole_and_the_variance_by_quadrature():
    """E over the southern hemisphere, density sin θ on (π/2, π)."""
    low, high = math.pi / 2, math.pi
    lost = integrate.quad(lambda t: (math.sin(t) - t * math.cos(t)) / 2, low, high)[0]
    square = integrate.quad(lambda t: t**2 * math.sin(t), low, high)[0]
    assert smeariness.southern_mass(0.0) == pytest.approx(1 / lost, rel=1e-9)
    assert square == pytest.approx(smeariness._SQUARE, rel=1e-9)
    points = smeariness.hemisphere(np.random.default_rng(1), 20_000)
    angle = np.arccos(points[:, 2])
    assert (angle**2).mean() == pytest.approx(square, rel=6 * 1.9 / square / 20_000**0.5)


def test_the_mean_of_a_sample_has_no_gradient():
    space, rng = gd.Sphere(2), np.random.default_rng(2)
    points = smeariness.hemisphere(rng, 20)
    north, x = 0.6, smeariness.NORTH
    for _ in range(200):
        x = space.project(space.exp(x, smeariness.step_at(x, points, north)))
    logs = space.log(x, np.vstack([points, smeariness.NORTH]))
    weights = np.append(np.full(20, 0.4 / 20), 0.6)
    assert np.linalg.norm(weights @ logs) < 1e-9


def test_smeariness_grows_as_the_hessian_falls():
    """n × variance over the variance: near 1/Λ² where Λ is large (6 standard errors), rising with
    n where it is zero."""
    far = smeariness.row(100, 0.8, 60, 1)
    assert abs(far["over_variance"] - 1 / 0.8**2) < 6 * far["over_variance_error"]
    few, many = (smeariness.row(n, 0.0, 40, 1) for n in (30, 300))
    assert few["over_variance"] > 5
    assert many["over_variance"] > 2.5 * few["over_variance"]


def test_infer_refuses_a_domain_on_which_the_mean_can_be_smeary(tmp_path):
    """In a cap beyond 1.5 the mean Hessian's floor r cot r is below .1 (Λ in the study)."""
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    north = np.broadcast_to([0.0, 0.0, 1.0], (300, 3))
    for radius, fine in ((1.45, True), (1.52, False), (2.0, False)):
        ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], radius)
        assert fine == (radius / math.tan(radius) > 0.1)
        if not fine:
            with pytest.raises(gd.ConditionError, match="smeary"):
                gd.infer(north, ball, gd.GaussianDP(1), ledger=ledger, dataset="study")
    assert ledger.spent() == 0


def test_the_mean_of_fifty_is_normal_and_a_scale_30_off_is_found_out():
    population = covering.populations()[2]
    z, v = normality.standardised(population, 50, 400, 1)
    row = normality.row(population, 50, z, v)
    assert row["least_p_of_coordinates"] > 1e-6
    assert row["p_of_squared_length"] > 1e-6
    assert normality.row(population, 50, 1.3 * z, v)["p_of_squared_length"] < 1e-6


def test_the_bootstrap_makes_a_region_of_about_the_same_size():
    pair = normality.bootstrap(covering.populations()[2], 200, 2.0, 4, 1)
    assert 0.5 < pair["region_over_bootstrap_volume"] < 2
