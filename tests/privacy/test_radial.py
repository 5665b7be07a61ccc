"""Certified profiles of radial laws against Monte Carlo, check values and the flat limit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import geodp as gd
from geodp.errors import GuaranteeError
from geodp.noise.radial_laws import radial_law
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.radial_certified import delta_bound
from geodp.privacy.radial_float import FloatPair, mu_estimate
from geodp.privacy.radial_gdp import certified_square, keeps_gdp
from geodp.privacy.radial_hadamard import sobolev_rho, sobolev_scale
from geodp.privacy.radial_profile import RadialProfile
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_solve import radial_price
from geodp.privacy.spherical import SphericalProfile

FINE = Fraction(1, 10**5)


def pair(kernel: str, dim: int, curvature: float, scale: float, shift: float) -> RadialPair:
    return RadialPair(kernel, dim, *(Fraction(x) for x in (curvature, scale, shift)))


def monte_carlo(
    p: RadialPair, epsilon: float, seed: int, count: int = 40_000
) -> tuple[float, float]:
    """delta(epsilon) and its standard error, from draws and the law of cosines."""
    space = (gd.Sphere if p.sign > 0 else gd.Hyperbolic)(p.dim, float(p.curvature))
    z = radial_law(space, p.kernel, float(p.scale)).sample(np.random.default_rng(seed), count)
    root, s = math.sqrt(abs(float(p.curvature))), p.floats[1]
    r = np.linalg.norm(z, axis=1)
    u, w = root * r, z[:, 0] / r
    if p.sign > 0:
        c = np.cos(u) * math.cos(s) + np.sin(u) * math.sin(s) * w
        t = np.arccos(np.clip(c, -1, 1)) / root
    else:
        t = np.arccosh(np.cosh(u) * math.cosh(s) - np.sinh(u) * math.sinh(s) * w) / root
    loss = (t - r) if p.kernel == "laplace" else (t**2 - r**2) / 2 / float(p.scale)
    inside = np.maximum(0.0, -np.expm1(np.minimum(epsilon - loss / float(p.scale), 0.0)))
    return float(inside.mean()), float(inside.std() / math.sqrt(count))


def random_cases(count: int) -> list[tuple[RadialPair, float]]:
    rng = np.random.default_rng(20)
    cases = []
    for _ in range(count):
        dim, sign = int(rng.integers(2, 8)), int(rng.choice([-1, 1]))
        kernel = str(rng.choice(["laplace", "gaussian"]))
        curvature = sign * float(np.exp(rng.uniform(-1, 1)))
        root = math.sqrt(abs(curvature))
        scale = float(np.exp(rng.uniform(-2.5, 0))) / root
        if kernel == "laplace" and sign < 0:
            scale = min(scale, 0.8 / (dim - 1) / root)
        shift = min(scale * float(np.exp(rng.uniform(-1.5, 0.7))), 2.5 / root)
        cases.append((pair(kernel, dim, curvature, scale, shift), float(rng.uniform(0, 1.5))))
    return cases


def test_certified_delta_is_never_below_monte_carlo_and_near_the_estimate() -> None:
    """20 random cases; 6 standard errors below is 1e-9 each, and the bound is near."""
    for seed, (p, epsilon) in enumerate(random_cases(20)):
        bound = float(delta_bound(p, Fraction(epsilon), Fraction(1, 1000)))
        estimate = FloatPair.of(p).delta(epsilon)
        assert estimate * (1 - 1e-8) <= bound <= estimate * (1 + 1e-2) + 1e-15
        sampled, error = monte_carlo(p, epsilon, seed)
        assert abs(bound - sampled) <= 6 * error + 1e-2 * bound + 1e-4


@pytest.mark.parametrize(
    ("dim", "curvature", "scale", "shift", "value"),
    [
        (2, 1, 0.3, 0.1, 0.985),
        (2, 1, 1, 1, 0.8225),
        (2, -1, 1, 0.1, 1.169),
        (3, -1, 0.3, 0.1, 1.0305),
        (10, -1, 0.3, 0.1, 1.1535),
    ],
)
def test_check_values_of_gaussian_mu(
    dim: int, curvature: float, scale: float, shift: float, value: float
) -> None:
    estimate = mu_estimate(FloatPair.of(pair("gaussian", dim, curvature, scale, shift)), 200)
    assert estimate * scale / shift == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize(
    ("dim", "curvature", "scale", "shift", "value", "above"),
    [(2, 1, 0.3, 0.1, 0.985, 1.02), (2, 1, 1, 1, 0.8225, 1.02), (3, -1, 0.3, 0.1, 1.0305, 1.012)],
)
def test_certified_mu_is_above_the_check_value_and_near(
    dim: int, curvature: float, scale: float, shift: float, value: float, above: float
) -> None:
    p = pair("gaussian", dim, curvature, scale, shift)
    mu = math.sqrt(certified_square(p)) * scale / shift
    assert value - 6e-4 <= mu <= above * value
    assert not keeps_gdp(p, (Fraction(value) * Fraction(0.995) * p.shift / p.scale) ** 2)


def test_laplace_mu_on_small_balls_is_the_flat_one() -> None:
    """The flat check values of the l2-Laplace, at a scale where curvature no longer matters."""
    for dim, value in ((3, 0.61579), (6, 0.42435)):
        for curvature in (1, -1):
            p = pair("laplace", dim, curvature, 1e-4, 1e-4)
            assert mu_estimate(FloatPair.of(p), 150) == pytest.approx(value, abs=2e-4)
            assert value - 2e-4 <= math.sqrt(certified_square(p)) <= value * 1.01


def test_a_laplace_law_is_found_where_the_first_guess_does_not_exist() -> None:
    """H³, shift .075, .1-GDP: shift/mu lies beyond 1/2, the scale within 2 % of the flat one."""
    promise = gd.GaussianDP("0.1")
    flat = gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.Euclidean(3), 0.075, promise)
    law = RadialPair("laplace", 3, Fraction(-1), Fraction(1), Fraction(1))
    scale, profile = radial_price(law, 0.075, promise)
    assert flat.scale < scale < min(1.02 * flat.scale, 0.5)
    assert profile.mu() <= 0.1
    with pytest.raises(gd.ConditionError, match=r"below 0\.5"):  # none is wide enough
        gd.calibrate(gd.RiemannianLaplace(), gd.Hyperbolic(3), 0.075, gd.GaussianDP("0.05"))


def test_flat_limits_of_delta() -> None:
    """Tiny scales on curved spaces against the flat profiles."""
    for epsilon in (0, Fraction(1, 2), Fraction(9, 10)):
        flat = SphericalProfile.of(gd.L2Laplace().law(3), Fraction(1)).delta_upper(epsilon)
        for curvature in (1, -1):
            bound = delta_bound(pair("laplace", 3, curvature, 1e-5, 1e-5), epsilon, FINE)
            assert float(bound) == pytest.approx(float(flat), rel=3e-4)
        normal = GaussianProfile(square=Fraction(1)).delta_upper(epsilon)
        bound = delta_bound(pair("gaussian", 4, -1, 1e-5, 1e-5), epsilon, FINE)
        assert float(bound) == pytest.approx(float(normal), rel=1e-4)


def test_the_published_scale_breaks_gaussian_dp_on_hyperbolic_space() -> None:
    """Gaussian at scale = shift/mu on H^10: 2.2-fold at shift .075, scale .75 [design, 5]."""
    p = pair("gaussian", 10, -1, 0.75, 0.075)
    ratio = mu_estimate(FloatPair.of(p)) / 0.1
    assert ratio == pytest.approx(2.2, abs=0.05)
    assert not keeps_gdp(p, Fraction(1, 100))


def test_a_wrong_mu_is_not_proven_and_a_right_one_is() -> None:
    p = pair("laplace", 2, 1, 0.1, 0.1)
    mu = mu_estimate(FloatPair.of(p), 200)
    assert keeps_gdp(p, Fraction(mu * 1.005) ** 2)
    assert not keeps_gdp(p, Fraction(mu * 0.995) ** 2)


def test_profiles_answer_in_every_notion() -> None:
    law = RadialProfile(pair("laplace", 2, 1, 0.2, 0.1))
    assert law.pure_upper() == Fraction(0.1) / Fraction(0.2)
    assert law.delta(0.51) == 0
    assert law.delta(-1) == pytest.approx(1 - math.exp(-1), rel=1e-6)
    assert law.rho() == pytest.approx(law.mu() ** 2 / 2)
    sphere = RadialProfile(pair("gaussian", 2, 1, 1.0, 0.5))
    assert float(sphere.pure_upper()) == pytest.approx(0.5 * (2 * math.pi - 0.5) / 2)
    with pytest.raises(GuaranteeError, match="unbounded"):
        RadialProfile(pair("gaussian", 2, -1, 1.0, 0.5)).pure_upper()


@pytest.mark.parametrize("curvature", [1.0, -1.0])
@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_calibration_keeps_its_promise_tightly(kernel: str, curvature: float) -> None:
    law = pair(kernel, 2, curvature, 1, 1)
    promise = gd.ApproxDP(1, 1e-2)
    scale, profile = radial_price(law, 0.1, promise)
    assert profile.delta(1) <= 1e-2
    p = law.at(Fraction(scale * 0.995), Fraction(0.1))
    assert FloatPair.of(p).delta(1.0) > 1e-2
    scale, profile = radial_price(law, 0.1, gd.GaussianDP(1))
    assert profile.mu() <= 1
    p = law.at(Fraction(scale * 0.9), Fraction(0.1))
    assert mu_estimate(FloatPair.of(p)) > 1


@pytest.mark.parametrize(("dim", "mu"), [(6, 0.5)])
def test_gaussian_dp_on_hyperbolic_space_is_certified_within_a_percent(dim: int, mu: float) -> None:
    """One percent less noise breaks the promise, by the float estimate."""
    law = pair("gaussian", dim, -1, 1, 1)
    scale, profile = radial_price(law, 0.1, gd.GaussianDP(mu))
    assert profile.mu() <= mu
    narrower = law.at(Fraction(scale * 0.99), Fraction(0.1))
    assert mu_estimate(FloatPair.of(narrower), 200) > mu


def test_a_loss_at_which_the_integral_begins_at_radius_zero() -> None:
    """epsilon = shift^2/2 scale^2 exactly, and the largest loss of a Laplace law."""
    p = pair("gaussian", 2, -1, 0.5, 0.5)
    bound = float(delta_bound(p, Fraction(1, 2), FINE))
    assert bound == pytest.approx(FloatPair.of(p).delta(0.5 * (1 - 1e-9)), rel=1e-5)
    assert delta_bound(pair("laplace", 5, 1, 0.25, 0.125), Fraction(1, 2), FINE) == 0


def test_log_sobolev_bound_and_its_floor() -> None:
    """rho = s^2/2 u(1 - K u), u the squared scale; least 2 K s^2 at u = 1/2K."""
    floor = Fraction(1, 2)
    least = 2 * 0.5 * 0.1**2
    scale = sobolev_scale("here", floor, 0.1, gd.ZCDP(0.02))
    rho = sobolev_rho(Fraction(0.1), Fraction(scale), floor)
    assert rho is not None
    assert float(rho) <= 0.02
    assert float(rho) == pytest.approx(0.02)
    assert scale**2 <= 1  # the smaller root of the quadratic
    with pytest.raises(GuaranteeError, match="wrapped-gaussian"):
        sobolev_scale("here", floor, 0.1, gd.ZCDP(least * 0.99))
    assert sobolev_rho(Fraction(1), Fraction(2), floor) is None


def test_log_sobolev_bound_is_above_the_exact_divergence() -> None:
    """Rényi divergences of Gaussian laws on H^2 by Monte Carlo, orders 2 and 3."""
    p = pair("gaussian", 2, -1, 0.5, 0.3)
    rho = sobolev_rho(p.shift, p.scale, Fraction(1))
    assert rho is not None
    z = radial_law(gd.Hyperbolic(2), "gaussian", 0.5).sample(np.random.default_rng(5), 200_000)
    r = np.linalg.norm(z, axis=1)
    t = np.arccosh(np.cosh(r) * math.cosh(0.3) - np.sinh(r) * math.sinh(0.3) * z[:, 0] / r)
    for order in (2, 3):  # E_Q[(P/Q)^order], Q the law that was drawn
        values = np.exp(order * (r**2 - t**2) / 2 / 0.25)
        divergence = math.log(values.mean()) / (order - 1)
        assert 0.5 * order * float(rho) < divergence < order * float(rho)
