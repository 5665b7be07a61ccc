"""Gaussian laws on SPD(2): bounds against draws and sums over 2 x 2 matrices themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

import geodp as gd
from geodp.mechanisms.riemannian_price import radial_profile
from geodp.noise.radial_laws import radial_law
from geodp.privacy.radial_float import FloatPair, mu_estimate
from geodp.privacy.radial_hadamard import sobolev_rho
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_split import STEPS, Cell, chained, cover
from geodp.privacy.renyi import ZCDPProfile

PLANE = RadialPair("gaussian", 2, Fraction(-1, 2), Fraction(1), Fraction(1))
DRAWS = 100_000


def law(scale: float, shift: float) -> RadialPair:
    return PLANE.at(Fraction(scale), Fraction(shift))


def sampled(scale: float, shift: float, angle: float, epsilon: float) -> tuple[float, float]:
    """delta and its standard error; the centre moves by matrices at ``angle`` to the identity."""
    z = radial_law(gd.SPD(2), "gaussian", scale).sample(np.random.default_rng(7), DRAWS)
    space = gd.SPD(2)
    x = space.exp_coords(np.broadcast_to(np.eye(2), (DRAWS, 2, 2)), z)
    trace, deviator = np.eye(2) / math.sqrt(2), np.diag([1.0, -1.0]) / math.sqrt(2)
    step = shift * (math.cos(angle) * trace + math.sin(angle) * deviator)
    root = np.diag(np.exp(-np.diag(step) / 2))
    logs = np.log(np.linalg.eigvalsh(root @ x @ root))  # distance to the other centre
    t2, r2 = (logs**2).sum(-1), (np.log(np.linalg.eigvalsh(x)) ** 2).sum(-1)
    parts = np.maximum(0.0, -np.expm1(np.minimum(epsilon - (t2 - r2) / 2 / scale**2, 0.0)))
    return float(parts.mean()), float(parts.std() / math.sqrt(DRAWS))


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.0, math.pi / 2])
def test_no_direction_on_spd_exceeds_the_bound(angle: float) -> None:
    """Six standard errors are 1e-9. In the worst direction the bound is near."""
    profile = radial_profile(gd.SPD(2), "gaussian", 1.0, 0.5)
    for epsilon in (0.0, 0.5, 1.5):
        value, error = sampled(1.0, 0.5, angle, epsilon)
        bound = profile.delta(epsilon)
        assert value <= bound + 6 * error
        if angle > 1.5:
            assert bound < value * 1.06 + 6 * error


def composed(scale: float, a: float, b: float, epsilon: float) -> float:
    """delta of a Gaussian at shift a with the law on the plane at shift b, over both losses."""
    mu = a / scale
    floats = FloatPair.of(law(scale, b))

    def plane(loss: float) -> float:
        if loss >= 0:
            return floats.delta(loss)
        return 1 - math.exp(loss) * (1 - floats.delta(-loss))

    def term(x: float) -> float:
        return plane(epsilon - mu**2 / 2 - mu * x) * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    kink = (epsilon - mu**2 / 2) / mu
    points = sorted({-8.0, 8.0, min(max(kink, -8.0), 8.0)})
    return sum(quad(term, *ends, epsabs=1e-12)[0] for ends in pairwise(points))


@pytest.mark.parametrize(("low", "high"), [(Fraction(1, 2), Fraction(3, 5))])
def test_a_cell_against_quadrature(low: Fraction, high: Fraction) -> None:
    """Above the composition at its corner, and less than 3 % more of both shifts would give."""
    whole = law(1.0, 0.5)
    cell = Cell(whole, low, high)
    a, b = 0.5 * math.sqrt(1 - low), 0.5 * math.sqrt(high)
    for epsilon in (0.3, 1.0, 1.8):
        bound = float(cell.delta(Fraction(epsilon), Fraction(1), Fraction(0)))
        assert composed(1.0, a, b, epsilon) <= bound < composed(1.0, 1.03 * a, 1.03 * b, epsilon)


def test_cells_cover_every_split() -> None:
    for scale, shift in ((0.2, 0.1), (1.0, 0.5), (3.0, 0.1)):
        cells = cover(law(scale, shift))
        assert cells[0].high == 1
        assert cells[-1].low == 0
        assert all(left.low == right.high for left, right in pairwise(cells))
        assert len(cells) < 120
        for cell in cells:
            assert cell.curved.shift**2 >= cell.high * Fraction(shift) ** 2
            assert cell.flat == (1 - cell.low) * (Fraction(shift) / Fraction(scale)) ** 2


def test_steps_cover_every_split() -> None:
    """At random b: sqrt(a^2/scale^2 + (steps mu_0)^2), by hand."""
    whole = law(0.5, 0.3)
    for growth in (0.9, 1.0, 1.2):
        step = Fraction((growth * 0.6 / STEPS) ** 2)
        most = float(chained(whole, step))
        for share in np.random.default_rng(3).random(500):
            count = math.ceil(share * STEPS)
            assert 0.36 * (1 - share**2) + count**2 * float(step) <= most * (1 + 1e-12)
        assert most <= 0.36 * max(growth**2, 1) * 1.003


@pytest.mark.parametrize(("shift", "mu"), [(0.1, 0.1), (0.3, 1.0), (1.0, 1.0)])
def test_gaussian_dp_within_a_percent_of_the_worst_split_seen(shift: float, mu: float) -> None:
    cal = gd.calibrate(gd.RiemannianGaussian(), gd.SPD(2), shift, gd.GaussianDP(mu))
    assert cal.profile.mu() <= mu
    at = law(cal.scale / 1.0101, shift)
    assert mu_estimate(FloatPair.of(at), 100) > mu * 0.9999
    assert mu_estimate(FloatPair.of(law(cal.scale, shift)), 100) <= mu


def test_approximate_dp_keeps_its_promise() -> None:
    cal = gd.calibrate(gd.RiemannianGaussian(), gd.SPD(2), 0.1, gd.ApproxDP(1, "0.00001"))
    assert cal.profile.delta(1) <= 1e-5
    assert FloatPair.of(law(cal.scale / 1.011, 0.1)).delta(1.0) > 1e-5
    assert cal.scale < 0.384  # the log-Sobolev bound asks for .424


def test_the_log_sobolev_bound_is_never_below() -> None:
    for scale, shift in ((0.3, 0.1), (1.0, 0.5)):
        rho = sobolev_rho(Fraction(shift), Fraction(scale), Fraction(1, 2))
        assert rho is not None
        profile = radial_profile(gd.SPD(2), "gaussian", scale, shift)
        loose = ZCDPProfile(rho)
        assert profile.rho() <= loose.rho()
        for epsilon in (0.0, 0.5, 1.0):
            assert profile.delta(epsilon) <= loose.delta(epsilon)
            assert FloatPair.of(law(scale, shift)).delta(epsilon) <= loose.delta(epsilon)


def test_a_product_of_a_line_and_a_hyperbolic_plane_is_the_same_law() -> None:
    line = gd.Product(gd.Hyperbolic(2, -0.5), gd.Euclidean(1))
    promise = gd.GaussianDP(1)
    one = gd.calibrate(gd.RiemannianGaussian(), line, 0.3, promise)
    assert one.scale == gd.calibrate(gd.RiemannianGaussian(), gd.SPD(2), 0.3, promise).scale


def test_the_flat_split_is_a_gaussian_mechanism() -> None:
    """b = 0 is delta of mu = shift/scale, in closed form."""
    profile = radial_profile(gd.SPD(2), "gaussian", 1.0, 0.5)
    for epsilon in (0.0, 0.5, 1.0):
        flat = ndtr(0.25 - epsilon / 0.5) - math.exp(epsilon) * ndtr(-0.25 - epsilon / 0.5)
        assert profile.delta(epsilon) >= flat
