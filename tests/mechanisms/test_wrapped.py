"""Wrapped mechanisms: the law that comes out, its density, the stretch of log, refusals.

Random tests: fixed seeds; a Kolmogorov-Smirnov test at level 1e-7 per case, so the whole file
flakes (on a new seed) with probability below 1e-5 x 0.1; each also rejects a scale 30 % off.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

import geodp as gd
from geodp.errors import ConditionError, GuaranteeError, InputError, SpaceError
from geodp.mechanisms.utility import wrapped_distance_bound
from geodp.mechanisms.wrapped import _lipschitz
from geodp.testing import random_points

SPACES = [
    gd.Euclidean(1),
    gd.Euclidean(3),
    gd.SPD(1),
    gd.SPD(2),
    gd.SPD(3, "log-euclidean"),
    gd.SPD(2, "log-cholesky"),
    gd.Hyperbolic(1),
    gd.Hyperbolic(3, curvature=-2.0),
    gd.Sphere(1),
    gd.Sphere(2),
    gd.Product(gd.Sphere(2), gd.Hyperbolic(2)),
]
LAWS = [(gd.Gaussian(), gd.GaussianDP(2)), (gd.L2Laplace(), gd.PureDP(2))]


def calibrated(space: gd.Space, noise: object, guarantee: object) -> object:
    ball = gd.Ball(space, space.origin, 0.4)
    return gd.calibrate(gd.Wrapped(noise), space, 0.1, guarantee, ball=ball)


@pytest.mark.parametrize(("noise", "guarantee"), LAWS, ids=["gaussian", "l2-laplace"])
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_exact_draws_follow_the_wrapped_law_and_no_other_scale(
    space: gd.Space, noise: object, guarantee: object
) -> None:
    cal = calibrated(space, noise, guarantee)
    rng = np.random.default_rng(1)
    value = random_points(space, 1, 0.3, rng)[0]
    z0 = space.log_coords(space.origin, value)
    count = 1500
    from geodp.random import GeneratorBits

    stream = GeneratorBits(rng)
    draws = np.array([cal.draw(value, stream) for _ in range(count)])
    assert space.contains(draws).all()
    z = space.log_coords(space.origin, draws) - z0
    radius = np.linalg.norm(z, axis=1)
    law = cal.law

    def p(scale: float) -> float:
        return float(stats.kstest(radius, lambda r: law.radius_cdf(r, scale)).pvalue)

    assert p(cal.scale) > 1e-7
    assert p(cal.scale * 1.3) < 1e-7
    assert p(cal.scale * 0.7) < 1e-7
    if space.dim > 1:  # the direction is uniform: each coordinate over the radius has mean zero
        direction = z / radius[:, None]
        assert np.abs(direction.mean(axis=0)).max() < 6 / math.sqrt(count)
        assert np.abs((direction**2).mean(axis=0) - 1 / space.dim).max() < 6 / math.sqrt(count)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_float_and_exact_draws_agree_in_law(space: gd.Space) -> None:
    cal = calibrated(space, gd.Gaussian(), gd.GaussianDP(1))
    exact = np.array([cal.sample(space.origin) for _ in range(1200)])
    floats = cal.sample(space.origin, 1200, rng=np.random.default_rng(2))
    a, b = space.dist(space.origin, exact), space.dist(space.origin, floats)
    assert stats.ks_2samp(a, b).pvalue > 1e-7


@pytest.mark.parametrize("law", [gd.Gaussian(), gd.L2Laplace()], ids=lambda x: x.name)
def test_density_integrates_to_one_on_the_hyperbolic_plane(law: gd.Gaussian) -> None:
    """h(log q)/J(log q) against the Riemannian volume, in polar coordinates elsewhere."""
    space = gd.Hyperbolic(2)
    noise, scale = law.law(2), 0.3
    center = space.exp_coords(space.origin, np.array([0.4, 0.2]))
    z0 = np.array([0.1, -0.2])

    def ring(t: float, angle: float) -> float:
        q = space.exp_coords(center, t * np.array([math.cos(angle), math.sin(angle)]))
        z = space.log_coords(space.origin, q)
        jacobian = space.log_volume_density(space.origin, space.vector(space.origin, z))
        return math.exp(float(noise.log_density(z - z0, scale)) - float(jacobian)) * math.sinh(t)

    total, _ = integrate.dblquad(ring, 0, 2 * math.pi, 0, 9, epsabs=1e-4, epsrel=1e-4)
    assert total == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("metric", ["affine-invariant", "log-euclidean"])
def test_density_integrates_to_one_on_two_by_two_matrices(metric: str) -> None:
    """Riemannian volume of SPD(2) in p = exp(s) R(a) diag(e^b, e^-b) R(a)', affine-invariant:
    2 sqrt(2) sinh(2b) ... is checked through the metric's own Gram determinant."""
    space = gd.SPD(2, metric)
    noise, scale = gd.Gaussian().law(3), 0.35
    nodes, weights = np.polynomial.legendre.leggauss(24)

    def grid(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        return (a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights

    s, ws = grid(-2.0, 2.0)
    b, wb = grid(0.0, 2.0)
    angle, wa = grid(0.0, math.pi)
    ss, bb, aa = np.meshgrid(s, b, angle, indexing="ij")
    w = ws[:, None, None] * wb[None, :, None] * wa[None, None, :]

    def point(s: np.ndarray, b: np.ndarray, a: np.ndarray) -> np.ndarray:
        c, d = np.cos(a), np.sin(a)
        rotation = np.stack([np.stack([c, -d], -1), np.stack([d, c], -1)], -2)
        diagonal = np.exp(np.stack([s + b, s - b], -1))
        return (rotation * diagonal[..., None, :]) @ rotation.swapaxes(-1, -2)

    h = 1e-5
    p = point(ss, bb, aa)
    columns = [
        space.coords(
            p,
            (point(ss + i * h, bb + j * h, aa + k * h) - point(ss - i * h, bb - j * h, aa - k * h))
            / (2 * h),
        )
        for i, j, k in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ]
    volume = np.abs(np.linalg.det(np.stack(columns, -1)))
    z = space.log_coords(space.origin, p)
    jacobian = space.log_volume_density(space.origin, space.vector(space.origin, z))
    total = float((w * volume * np.exp(noise.log_density(z, scale) - jacobian)).sum())
    assert total == pytest.approx(1, abs=2e-3)


def test_log_euclidean_at_the_identity_is_the_tangent_gaussian() -> None:
    """Utpala et al.: log of the release is log of the value plus a Gaussian in Sym(m)."""
    from scipy.linalg import logm

    space = gd.SPD(2, "log-euclidean")
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.2, gd.GaussianDP(1))
    value = np.array([[2.0, 0.3], [0.3, 1.0]])
    draws = cal.sample(value, 4000, rng=np.random.default_rng(3))
    logs = np.array([logm(x) for x in draws[:500]]) - logm(value)
    coords = np.stack([logs[:, 0, 0], logs[:, 1, 1], math.sqrt(2) * logs[:, 0, 1]], 1)
    spread = coords.std(axis=0) / 0.2
    assert np.abs(spread - 1).max() < 6 / math.sqrt(2 * 500)


@pytest.mark.parametrize(
    ("guarantee", "noise", "scale"),
    [
        (gd.GaussianDP("0.5"), gd.Gaussian(), 0.2),
        (gd.RenyiDP(8, "0.04"), gd.Gaussian(), 0.1 * math.sqrt(8 / 0.08)),
        (gd.ZCDP("0.02"), gd.Gaussian(), 0.1 / math.sqrt(0.04)),
        (gd.ApproxDP(1, "1e-5"), gd.Gaussian(), 0.1 * math.sqrt(13.9176)),
        (gd.PureDP("0.5"), gd.L2Laplace(), 0.2),
    ],
    ids=str,
)
def test_scales_against_closed_forms(guarantee: object, noise: object, scale: float) -> None:
    for space in (gd.SPD(2), gd.Hyperbolic(5), gd.Euclidean(1)):
        cal = gd.calibrate(gd.Wrapped(noise), space, 0.1, guarantee)
        assert cal.scale == pytest.approx(scale, rel=2e-6)
        assert Fraction(cal.tangent_sensitivity) == Fraction(0.1)


def test_scale_is_on_the_private_side_in_exact_rationals() -> None:
    for k in range(1, 60):
        delta = 0.1 + k / 977
        cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), delta, gd.GaussianDP(f"0.{k}"))
        assert Fraction(delta) / Fraction(cal.scale) <= Fraction(f"0.{k}")
        assert cal.scale == pytest.approx(delta / float(f"0.{k}"), rel=1e-15)


@pytest.mark.parametrize("radius", [0.1, 0.6, 1.2, 1.5])
def test_stretch_of_log_on_the_sphere_is_never_exceeded_and_nearly_met(radius: float) -> None:
    space = gd.Sphere(2)
    ball = gd.Ball(space, space.origin, radius)
    factor = _lipschitz(space, ball, ball.center)
    rng = np.random.default_rng(4)
    z = rng.standard_normal((4000, 2))
    z *= radius / np.linalg.norm(z, axis=1, keepdims=True)
    step = z @ np.array([[0.0, 1.0], [-1.0, 0.0]]) * 1e-5  # across the radius
    x, y = space.exp_coords(space.origin, z), space.exp_coords(space.origin, z + step)
    y = ball.project(y)
    moved = np.linalg.norm(space.log_coords(space.origin, y) - z, axis=1) / space.dist(x, y)
    assert moved.max() <= factor * (1 + 1e-6)
    assert moved.max() >= factor * 0.999
    assert factor == pytest.approx(radius / math.sin(radius), rel=1e-6)


def test_stretch_with_the_footpoint_off_the_centre() -> None:
    space = gd.Sphere(2, curvature=4.0)
    ball = gd.Ball(space, space.origin, 0.3)
    foot = space.exp_coords(space.origin, np.array([0.2, 0.0]))
    assert _lipschitz(space, ball, foot) == pytest.approx(1.0 / math.sin(1.0), rel=1e-6)
    far = space.exp_coords(space.origin, np.array([1.4, 0.0]))
    with pytest.raises(ConditionError, match="footpoint"):
        _lipschitz(space, ball, far)
    circle = gd.Sphere(1)
    arc = gd.Ball(circle, circle.origin, 1.0)
    assert _lipschitz(circle, arc, arc.center) == 1.0


def test_log_contracts_on_hadamard_spaces_whatever_the_footpoint() -> None:
    rng = np.random.default_rng(5)
    for space in (gd.SPD(3), gd.Hyperbolic(3), gd.Product(gd.SPD(2), gd.Hyperbolic(2))):
        p, x, y = (random_points(space, 500, 2.0, rng) for _ in range(3))
        moved = np.linalg.norm(space.log_coords(p, x) - space.log_coords(p, y), axis=1)
        assert (moved <= space.dist(x, y) * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("space", "offset"), [(gd.Hyperbolic(3), 1.0), (gd.SPD(2), 1.5), (gd.Euclidean(2), 2.0)]
)
def test_distance_bound_holds(space: gd.Space, offset: float) -> None:
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.5, gd.GaussianDP(1))
    value = space.exp_coords(space.origin, np.eye(space.dim)[0] * offset)
    distances = cal.distances(
        np.broadcast_to(value, (4000, *value.shape)), np.random.default_rng(6)
    )
    error = distances.std() / math.sqrt(4000)
    assert distances.mean() <= cal.distance_bound(offset) + 5 * error
    assert cal.distance_bound(0.0) <= cal.distance_bound(offset)


@pytest.mark.parametrize("noise", [gd.Gaussian(), gd.L2Laplace()], ids=lambda x: x.name)
@pytest.mark.parametrize("offset", [0.0, 0.3, 1.2])
def test_distance_bound_is_not_below_the_integral(noise: gd.Gaussian, offset: float) -> None:
    space, scale = gd.Hyperbolic(3, curvature=-2.0), 0.15
    law, root = noise.law(3), math.sqrt(2)

    def integrand(r: float) -> float:
        t = root * (offset + r)
        worst = min(r + 2 * offset, math.sinh(t) / t * r if t > 0 else r)
        return math.exp(float(law.log_radius_density(r, scale))) * worst

    exact = sum(integrate.quad(integrand, a, b, limit=200)[0] for a, b in ((0, 1), (1, 8)))
    got = wrapped_distance_bound(space, law, scale, offset)
    assert exact * (1 - 1e-9) <= got <= exact * (1 + 1e-3)


def test_distance_bound_on_flat_space_is_the_mean_radius() -> None:
    law = gd.Gaussian().law(3)
    got = wrapped_distance_bound(gd.Euclidean(3), law, 2.0, 5.0)
    assert got == pytest.approx(2 * math.sqrt(8 / math.pi), rel=1e-9)


def test_expected_distance_and_squared_error() -> None:
    cal = gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.SPD(2), 0.1, gd.PureDP(1))
    assert cal.mean_squared_error() == pytest.approx(0.1**2 * 3 * 4)
    assert cal.expected_distance() == pytest.approx(0.3, rel=0.1)


def test_a_gaussian_for_pure_dp_is_refused_with_the_way_out() -> None:
    with pytest.raises(GuaranteeError, match="L2Laplace"):
        gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 0.1, gd.PureDP(1))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gd.Wrapped("gaussian"), "noise such as"),
        (lambda: gd.PrivateFootpoint(0), "between 0 and 1"),
        (lambda: gd.PrivateFootpoint(1), "between 0 and 1"),
        (lambda: gd.PrivateFootpoint(math.nan), "between 0 and 1"),
        (lambda: gd.calibrate("x", gd.SPD(2), 0.1, gd.PureDP(1)), "strategy"),
        (lambda: gd.calibrate(gd.Wrapped(gd.L2Laplace()), "spd:2", 0.1, gd.PureDP(1)), "space"),
        (lambda: gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.SPD(2), 0.1, 1.0), "guarantee"),
        (
            lambda: gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.SPD(2), -1, gd.PureDP(1)),
            "positive",
        ),
        (
            lambda: gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.Sphere(2), 1, gd.PureDP(1)),
            "needs the public ball",
        ),
        (
            lambda: gd.calibrate(
                gd.Wrapped(gd.L2Laplace(), gd.PrivateFootpoint()), gd.SPD(2), 1, gd.PureDP(1)
            ),
            "two releases",
        ),
    ],
)
def test_bad_arguments_get_a_sentence(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()


def test_a_footpoint_off_the_space_is_refused() -> None:
    with pytest.raises(SpaceError, match="footpoint"):
        gd.calibrate(gd.Wrapped(gd.Gaussian(), np.zeros((2, 2))), gd.SPD(2), 1, gd.GaussianDP(1))


@pytest.mark.parametrize("point", ["x", [[1.0, 2.0], [3.0]], np.eye(2) * 1j])
def test_footpoints_and_values_that_are_no_arrays_get_a_sentence(point: object) -> None:
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 1, gd.GaussianDP(1))
    with pytest.raises(InputError, match="footpoint"):
        gd.Wrapped(gd.Gaussian(), point)
    with pytest.raises(InputError, match="value"):
        cal.sample(point)


@pytest.mark.parametrize("size", [-1, 2.5, "3", True])
def test_sizes_of_samples_are_counts(size: object) -> None:
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 1, gd.GaussianDP(1))
    with pytest.raises(InputError, match="size"):
        cal.sample(np.eye(2), size)


def test_integer_seeds_are_refused() -> None:
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 1, gd.GaussianDP(1))
    with pytest.raises(InputError, match="Generator"):
        cal.sample(np.eye(2), 3, rng=7)
