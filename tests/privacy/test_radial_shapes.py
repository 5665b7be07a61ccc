"""Certified profiles on planar shapes: Monte Carlo on the space, the sphere for three landmarks,
the flat limit, calibration in every notion, and quadrature of the share of directions."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

import geodp as gd
from geodp.errors import GuaranteeError
from geodp.mechanisms.riemannian_price import radial_profile
from geodp.noise.radial_laws import radial_law
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.radial_balls import LawBalls
from geodp.privacy.radial_certified import delta_bound
from geodp.privacy.radial_float import FloatPair, mu_estimate
from geodp.privacy.radial_shapes import ShapeIntegrand
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_triangle import Triangle
from geodp.rounding.precision import working_precision

DRAWS = 40_000


def shapes(kernel: str, landmarks: int, scale: float, shift: float) -> RadialPair:
    numbers = (Fraction(x) for x in (scale, shift))
    return RadialPair(kernel, 2 * landmarks - 4, Fraction(1), *numbers, cosine=1)


def simulated(
    landmarks: int, kernel: str, scale: float, shift: float, epsilon: float
) -> np.ndarray:
    """Contributions to delta(epsilon) of draws on the space, by its own exp and dist."""
    space = gd.PlanarShapes(landmarks)
    rng = np.random.default_rng(landmarks)
    step = rng.standard_normal(space.dim)
    other = space.exp_coords(space.origin, shift * step / np.linalg.norm(step))
    z = radial_law(space, kernel, scale).sample(rng, DRAWS)
    points = space.exp_coords(np.broadcast_to(space.origin, (DRAWS, *space.point_shape)), z)
    r, t = np.linalg.norm(z, axis=1), space.dist(other, points)
    loss = (t - r) / scale if kernel == "laplace" else (t**2 - r**2) / (2 * scale**2)
    return np.maximum(0.0, -np.expm1(np.minimum(epsilon - loss, 0.0)))


@pytest.mark.parametrize(
    ("landmarks", "kernel", "scale", "shift", "epsilon"),
    [
        (4, "laplace", 0.1, 0.1, 0.4),
        (4, "gaussian", 0.6, 0.5, 0.2),
        (6, "gaussian", 0.2, 0.3, 0.7),
        (9, "laplace", 0.3, 0.4, 0.0),
        (30, "gaussian", 0.1, 0.1, 0.5),
    ],
)
def test_never_below_simulation_and_near(
    landmarks: int, kernel: str, scale: float, shift: float, epsilon: float
) -> None:
    """Six standard errors either way: a false alarm has probability 2e-9 a case. At a scale 30 %
    off the bound lies far outside."""
    parts = simulated(landmarks, kernel, scale, shift, epsilon)
    error = 6 * parts.std() / math.sqrt(DRAWS)
    fine = Fraction(1, 10**5)
    bound = float(delta_bound(shapes(kernel, landmarks, scale, shift), Fraction(epsilon), fine))
    assert abs(bound - parts.mean()) <= error
    for wrong in (0.7, 1.3):
        other = shapes(kernel, landmarks, wrong * scale, shift)
        assert abs(FloatPair.of(other).delta(epsilon) - parts.mean()) > error


def test_estimates_agree_with_the_bounds() -> None:
    for kernel, landmarks, epsilon in (("laplace", 50, 0.3), ("gaussian", 10, 1.0)):
        p = shapes(kernel, landmarks, 0.1, 0.1)
        bound = float(delta_bound(p, Fraction(epsilon), Fraction(1, 10**6)))
        assert bound == pytest.approx(FloatPair.of(p).delta(epsilon), rel=3e-6)


@pytest.mark.parametrize("dim", [4, 6, 12])
def test_the_share_of_directions_is_that_of_a_disc(dim: int) -> None:
    """Against quadrature over the modulus of z, for circles that cross the unit circle or not."""
    for r, t, s in ((0.4, 0.5, 0.3), (0.7, 0.6, 0.2), (1.2, 1.3, 0.8), (1.0, 1.4, 0.9)):
        c = math.cos(r) * math.cos(s) / math.sin(r) / math.sin(s)
        e = math.cos(t) / math.sin(r) / math.sin(s)
        n = dim // 2

        def angle(u: float, c: float = c, e: float = e) -> float:
            cosine = (e * e - c * c - u * u) / (2 * c * u) if u else math.inf * (e - c)
            return math.acos(max(-1.0, min(1.0, -cosine))) / math.pi

        ends = sorted({0.0, 1.0, *(x for x in (abs(e - c), e + c) if 0 < x < 1)})
        truth = mpmath.quad(
            lambda u, n=n: 2 * (n - 1) * u * (1 - u * u) ** (n - 2) * angle(float(u)), ends
        )
        with working_precision(300):
            law = LawBalls(
                RadialPair("laplace", dim, Fraction(1), Fraction(1, 2), Fraction(s), 1), Fraction(0)
            )
            integrand = ShapeIntegrand(law, Triangle(law, arb(1), False), r + t + s > math.pi)
            x = ((1 + arb(e) - arb(c)) / 2).sqrt(), ((1 - arb(e) + arb(c)) / 2).sqrt()
            found = integrand._inside(*x, arb(c) + arb(e))
        assert float(found.mid()) == pytest.approx(float(truth), abs=1e-9)


def test_three_landmarks_are_a_sphere_of_curvature_four() -> None:
    promises = (gd.ApproxDP(1, "1e-5"), gd.ZCDP("0.1"))
    for mechanism in (gd.RiemannianLaplace(), gd.RiemannianGaussian()):
        for promise in promises:
            scales = [
                gd.calibrate(mechanism, space, 0.02, promise).scale
                for space in (gd.PlanarShapes(3), gd.Sphere(2, 4.0))
            ]
            assert scales[0] == scales[1]


def test_flat_limit() -> None:
    """A narrow Gaussian law is a flat one."""
    normal = GaussianProfile(square=Fraction(1)).delta_upper(Fraction(1, 2))
    bound = delta_bound(shapes("gaussian", 5, 1e-3, 1e-3), Fraction(1, 2), Fraction(1, 10**5))
    assert float(bound) == pytest.approx(float(normal), rel=1e-4)


@pytest.mark.parametrize(("kernel", "landmarks"), [("laplace", 4), ("gaussian", 7)])
def test_calibration_keeps_its_promise_tightly(kernel: str, landmarks: int) -> None:
    mechanism = {"laplace": gd.RiemannianLaplace(), "gaussian": gd.RiemannianGaussian()}[kernel]
    space = gd.PlanarShapes(landmarks)
    cal = gd.calibrate(mechanism, space, 0.05, gd.ApproxDP(1, "1e-4"))
    assert cal.profile.delta(1) <= 1e-4
    assert FloatPair.of(shapes(kernel, landmarks, cal.scale * 0.995, 0.05)).delta(1.0) > 1e-4
    cal = gd.calibrate(mechanism, space, 0.05, gd.GaussianDP("0.5"))
    assert cal.profile.mu() <= 0.5
    assert mu_estimate(FloatPair.of(shapes(kernel, landmarks, cal.scale * 0.97, 0.05))) > 0.5
    assert cal.profile.rho() <= 0.125


def test_the_largest_loss() -> None:
    """Gaussian: shift (pi - shift)/2 scale^2, at t = pi/2."""
    profile = radial_profile(gd.PlanarShapes(4), "gaussian", 0.5, 0.2)
    assert profile.pure_upper() == pytest.approx(0.2 * (math.pi - 0.2) / 2 / 0.25)
    assert profile.delta(5) == 0


def test_too_wide_a_shift_is_bounded_by_the_largest_loss_alone() -> None:
    profile = radial_profile(gd.PlanarShapes(4), "laplace", 1.0, 1.55)
    assert profile.delta(0) == pytest.approx(math.expm1(1.55) / (1 + math.exp(1.55)))
    with pytest.raises(GuaranteeError):
        profile.epsilon(-1)
