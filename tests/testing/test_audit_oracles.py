"""Calibrations against two independent accountants, and a second Gaussian beside ours.

dp-accounting (Google) and OpenDP (Harvard) know nothing of geodp. OpenDP is not among the
dependencies: ``pip install opendp`` runs its tests.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

import geodp as gd
from geodp.random import GeneratorBits

GRID = {"value_discretization_interval": 1e-4}


def opendp() -> Any:
    """OpenDP's prelude, or a skip that says why."""
    try:
        module = importlib.import_module("opendp.prelude")
    except ImportError:
        pytest.skip("OpenDP is not installed: pip install opendp to have its second opinion.")
    module.enable_features("contrib")
    return module


def calibrated(guarantee: object, space: gd.Space, noise: object) -> Any:
    return gd.calibrate(gd.Wrapped(noise), space, 0.1, guarantee)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_gaussian_scale_against_dp_accounting(epsilon: float) -> None:
    """At our scale their delta is the promised one; at 1 % less noise it is beyond."""
    common = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    cal = calibrated(gd.ApproxDP(repr(epsilon), "1e-5"), gd.Hyperbolic(3), gd.Gaussian())

    def delta(scale: float) -> float:
        pld = common.from_gaussian_mechanism(
            scale, sensitivity=0.1, value_discretization_interval=1e-4
        )
        return float(pld.get_delta_for_epsilon(epsilon))

    assert delta(cal.scale) == pytest.approx(1e-5, rel=2e-3)
    assert delta(0.99 * cal.scale) > 1.03e-5
    assert cal.profile.delta(epsilon) <= 1e-5


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_laplace_profile_on_the_line_against_dp_accounting(epsilon: float) -> None:
    """l2-Laplace noise in one dimension is the Laplace mechanism."""
    common = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    cal = calibrated(gd.PureDP(repr(epsilon)), gd.Euclidean(1), gd.L2Laplace())
    pld = common.from_laplace_mechanism(
        cal.scale, sensitivity=0.1, value_discretization_interval=1e-4
    )
    for loss in (0.0, epsilon / 2, 0.9 * epsilon):
        assert cal.profile.delta(loss) == pytest.approx(pld.get_delta_for_epsilon(loss), rel=2e-3)
    assert pld.get_delta_for_epsilon(epsilon * (1 + 1e-3)) == pytest.approx(0, abs=1e-9)


def test_gaussian_scale_against_opendp() -> None:
    """OpenDP's privacy map of its Gaussian: rho = D^2/(2 scale^2), hence ours."""
    dp = opendp()
    cal = calibrated(gd.ZCDP("0.5"), gd.SPD(2), gd.Gaussian())
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    theirs = dp.m.make_gaussian(*space, scale=cal.scale)
    assert theirs.map(0.1) == pytest.approx(0.5, rel=1e-6)
    assert theirs.map(0.1) <= 0.5 * (1 + 1e-9)
    narrow = dp.m.make_gaussian(*space, scale=0.99 * cal.scale)
    assert narrow.map(0.1) > 0.505


def test_gaussian_delta_against_opendp() -> None:
    """Their conversion from zCDP to (epsilon, delta) is an upper bound: ours is at most theirs, and
    not below the Gaussian's closed form."""
    dp = opendp()
    cal = calibrated(gd.GaussianDP(1), gd.SPD(2), gd.Gaussian())
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    theirs = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=cal.scale)).map(0.1)
    for epsilon in (1.0, 2.0, 4.0):
        ours = cal.profile.delta(epsilon)
        assert ours <= theirs.delta(epsilon)
        upper = math.erfc((epsilon - 0.5) / math.sqrt(2)) / 2
        lower = math.exp(epsilon) * math.erfc((epsilon + 0.5) / math.sqrt(2)) / 2
        assert ours == pytest.approx(upper - lower, rel=1e-8)


def test_exact_draws_against_opendp_s_gaussian() -> None:
    """Two-sample Kolmogorov-Smirnov; OpenDP's own randomness has no seed, so the limit is 1e-8. A
    scale 30 % off is rejected."""
    dp = opendp()
    space = gd.Euclidean(1)
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.1, gd.GaussianDP(1))
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*domain, scale=cal.scale)([0.0] * 4000))
    stream = GeneratorBits(np.random.default_rng(1))
    ours = np.array([cal.draw(space.origin, stream)[0] for _ in range(4000)])
    assert ks_2samp(ours, theirs).pvalue > 1e-8
    ours, theirs = abs(ours), abs(theirs)  # where a scale shows most: p-values of 1e-19 and less
    assert ks_2samp(ours, theirs).pvalue > 1e-8
    assert ks_2samp(1.3 * ours, theirs).pvalue < 1e-8


PROFILES = [
    (gd.Wrapped(gd.Gaussian()), gd.SPD(2), gd.GaussianDP(1)),
    (gd.Wrapped(gd.L2Laplace()), gd.SPD(3), gd.ApproxDP(1, 1e-5)),
    (gd.RiemannianGaussian(), gd.Hyperbolic(3), gd.GaussianDP(1)),
    (gd.RiemannianLaplace(), gd.Hyperbolic(2), gd.GaussianDP(1)),
]


@pytest.mark.parametrize(("mechanism", "space", "guarantee"), PROFILES, ids=lambda x: str(x)[:24])
def test_symmetry_where_it_holds(mechanism: Any, space: Any, guarantee: Any) -> None:
    """delta(-e) = 1 - e^-e (1 - delta(e)) where an isometry swaps the neighbours."""
    profile = gd.calibrate(mechanism, space, 0.1, guarantee).profile
    for epsilon in (0.25, 1.0):
        known = 1 - math.exp(-epsilon) * (1 - profile.delta(epsilon))
        assert profile.delta(-epsilon) == pytest.approx(known, rel=2e-3)


def test_post_processing_never_gains() -> None:
    """One coordinate of Gaussian noise (its own Gaussian mechanism) is told apart no better than
    the vector; nor is the first of two independent releases than both."""
    whole = calibrated(gd.GaussianDP(1), gd.Euclidean(3), gd.Gaussian())
    part = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.Euclidean(1), 0.1, gd.GaussianDP(1)).profile
    both = gd.compose([whole.profile] * 2)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert part.delta(epsilon) <= whole.profile.delta(epsilon) * (1 + 1e-9)
        assert whole.profile.delta(epsilon) <= both.delta(epsilon)
