"""Radial laws against closed forms, mpmath quadrature and the moments of the design."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

import geodp as gd
from geodp.errors import ConditionError
from geodp.noise.radial import TwoPointLaw
from geodp.noise.radial_laws import diverges, radial_law
from geodp.noise.radial_matrix import ChamberDraw, DirectDraw, MatrixLaw
from geodp.noise.radial_normaliser import log_normaliser
from geodp.random import GeneratorBits

# two-point homogeneous laws: space, kernel, scale
TWO_POINT = [
    (gd.Sphere(2), "gaussian", 1.0),
    (gd.Sphere(2), "gaussian", 2.0),
    (gd.Sphere(2), "laplace", 0.2),
    (gd.Sphere(1), "laplace", 5.0),
    (gd.Sphere(1, 4.0), "gaussian", 0.4),
    (gd.Sphere(5, 2.5), "gaussian", 0.7),
    (gd.Hyperbolic(2), "laplace", 0.9),
    (gd.Hyperbolic(10), "laplace", 0.1),
    (gd.Hyperbolic(10, -0.5), "gaussian", 0.3),
]
# E of the distance; the sphere's first three and the matrices' are those of the design
SPD_MEANS = [
    (2, 0.5, 0.8090),
    (3, 0.5, 1.2058),
    (3, 1.0, 2.6009),
    (4, 0.5, 1.6007),
    (4, 1.0, 3.5638),
]


def _weight(space: gd.Space, kernel: str, scale: float) -> tuple[Callable[..., object], float]:
    """The radius density, and its right end, in mpmath."""
    d = space.dim
    kappa = space.curvature[0] if d > 1 else float([*space.spec.split(":"), "1"][2])
    root = mpmath.sqrt(abs(mpmath.mpf(kappa)))
    wave = mpmath.sin if kappa > 0 else mpmath.sinh

    def weight(t: object) -> object:
        fall = t / scale if kernel == "laplace" else (t / scale) ** 2 / 2
        return mpmath.exp(-fall) * wave(root * t) ** (d - 1)

    return weight, float(mpmath.pi / root) if kappa > 0 else math.inf


def _radius_cdf(space: gd.Space, kernel: str, scale: float) -> Callable[[np.ndarray], np.ndarray]:
    """The radius cdf by mpmath on a grid, interpolated linearly in small steps."""
    weight, end = _weight(space, kernel, scale)
    grid = np.linspace(0, min(end, _far(space, kernel, scale)), 1201)
    values = np.array([float(weight(mpmath.mpf(t))) for t in grid])
    middle = np.array([float(weight(mpmath.mpf(t))) for t in (grid[1:] + grid[:-1]) / 2])
    parts = (values[1:] + 4 * middle + values[:-1]) / 6 * np.diff(grid)  # Simpson
    sums = np.concatenate([[0], np.cumsum(parts)])
    return lambda r: np.interp(r, grid, sums / sums[-1])


def _far(space: gd.Space, kernel: str, scale: float) -> float:
    growth = math.sqrt(max(-space.curvature[0], 0)) * (space.dim - 1)
    if kernel == "laplace":
        return (40 + 4 * space.dim) / (1 / scale - growth)
    return scale * (10 + math.sqrt(space.dim)) + growth * scale**2


def _exact_radii(law: object, count: int, seed: int) -> np.ndarray:
    stream = GeneratorBits(np.random.default_rng(seed))
    draws = [law.exact(stream).balls(128) for _ in range(count)]
    return np.linalg.norm([[float(x) for x in z] for z in draws], axis=1)


@pytest.mark.parametrize(("space", "kernel", "scale"), TWO_POINT, ids=str)
def test_moments_and_cdf_match_mpmath(space: gd.Space, kernel: str, scale: float) -> None:
    law = radial_law(space, kernel, scale)
    weight, end = _weight(space, kernel, scale)
    far = min(end, _far(space, kernel, scale))
    ends = np.linspace(0, far, 9)
    total = mpmath.quad(weight, ends)
    for k, value in ((1, law.mean_radius()), (2, law.mean_square())):
        expected = mpmath.quad(lambda t, k=k: t**k * weight(t), ends) / total
        assert value == pytest.approx(float(expected), rel=1e-9)
    assert isinstance(law, TwoPointLaw)
    at = 0.8 * law.mean_radius()
    expected = mpmath.quad(weight, [0, at / 2, at]) / total
    assert float(law.radius_cdf(at)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("space", "kernel", "scale"), TWO_POINT, ids=str)
def test_exact_radius_fits_its_cdf_and_no_other(space: gd.Space, kernel: str, scale: float) -> None:
    """Kolmogorov-Smirnov at p = 1e-7 each (flake rate < 1e-6); scales 30 % off must fail."""
    radii = _exact_radii(radial_law(space, kernel, scale), 2500, 1)
    assert stats.kstest(radii, _radius_cdf(space, kernel, scale)).pvalue > 1e-7
    if space.dim > 1 and scale < 2:  # nearly uniform laws have no scale to tell
        for factor in (0.7, 1 / 0.7):
            if kernel == "laplace" and diverges(space, kernel, scale * factor):
                continue
            assert stats.kstest(radii, _radius_cdf(space, kernel, scale * factor)).pvalue < 1e-7


@pytest.mark.parametrize(("space", "kernel", "scale"), TWO_POINT, ids=str)
def test_float_radius_fits_its_cdf(space: gd.Space, kernel: str, scale: float) -> None:
    z = radial_law(space, kernel, scale).sample(np.random.default_rng(2), 50_000)
    cdf = _radius_cdf(space, kernel, scale)
    assert stats.kstest(np.linalg.norm(z, axis=1), cdf).pvalue > 1e-7


@pytest.mark.parametrize(
    ("space", "kernel", "scale", "mean"),
    [
        (gd.Sphere(2), "gaussian", 1.0, 1.0508),
        (gd.Sphere(2), "gaussian", 2.0, 1.4009),
        (gd.Sphere(2), "laplace", 0.2, 0.3846),
    ],
)
def test_a_million_draws_have_the_design_mean(
    space: gd.Space, kernel: str, scale: float, mean: float
) -> None:
    """Five standard errors of 10^6 draws, beside the rounding of the four printed digits."""
    radii = np.linalg.norm(
        radial_law(space, kernel, scale).sample(np.random.default_rng(3), 1_000_000), axis=1
    )
    assert abs(radii.mean() - mean) < 5 * radii.std() / 1e3 + 5e-5


@pytest.mark.parametrize(("size", "scale", "mean"), SPD_MEANS)
def test_spd_gaussian_means(size: int, scale: float, mean: float) -> None:
    z = radial_law(gd.SPD(size), "gaussian", scale).sample(np.random.default_rng(4), 200_000)
    radii = np.linalg.norm(z, axis=1)
    assert abs(radii.mean() - mean) < 5 * radii.std() / math.sqrt(len(radii)) + 5e-5
    assert abs(1.3 * radii.mean() - mean) > 0.1 * mean


@pytest.mark.parametrize(
    ("size", "kernel", "scale"),
    [(2, "gaussian", 0.5), (3, "laplace", 0.3), (3, "gaussian", 1.0), (5, "laplace", 0.15)],
)
def test_exact_and_float_matrix_draws_agree(size: int, kernel: str, scale: float) -> None:
    """Two-sample tests of norm and eigenvalue spread at p = 1e-7; 30 % off must fail."""
    law = radial_law(gd.SPD(size), kernel, scale)
    exact, floats = _exact_norms(law, 1500, 5), law.sample(np.random.default_rng(6), 60_000)
    norms = np.linalg.norm(floats, axis=1)
    assert stats.ks_2samp(exact, norms).pvalue > 1e-7
    assert stats.ks_2samp(1.3 * exact, norms).pvalue < 1e-7


def _exact_norms(law: object, count: int, seed: int) -> np.ndarray:
    return _exact_radii(law, count, seed)


def test_both_matrix_samplers_agree() -> None:
    """Gaussian on SPD(3), scale 1.3: envelope and chamber draw the same law (p = 1e-7)."""
    law = MatrixLaw(3, radial_law(gd.SPD(3), "gaussian", 1.3).kernel, 1.3)
    stream = GeneratorBits(np.random.default_rng(7))
    direct = [DirectDraw(law, stream).balls(128) for _ in range(1500)]
    chamber = [ChamberDraw(3, 1.3, stream).balls(128) for _ in range(1500)]
    a, b = (np.array([[float(x) for x in z] for z in draws]) for draws in (direct, chamber))
    for f in (lambda z: np.linalg.norm(z, axis=1), lambda z: z[:, 0], lambda z: z[:, 1]):
        assert stats.ks_2samp(f(a), f(b)).pvalue > 1e-7


@pytest.mark.parametrize(
    ("size", "kernel", "scale", "acceptance"),
    [
        (2, "gaussian", 0.3, 0.99),
        (5, "gaussian", 0.3, 0.98),
        (10, "gaussian", 0.3, 0.94),
        (2, "laplace", 0.1, 0.997),
        (5, "laplace", 0.1, 0.96),
        (10, "gaussian", 2.0, 0.16),
    ],
)
def test_acceptance_figures(size: int, kernel: str, scale: float, acceptance: float) -> None:
    """The design's figures, times the 1 to 2 % that the tangents of the radius cost."""
    law = radial_law(gd.SPD(size), kernel, scale)
    assert law.acceptance == pytest.approx(acceptance, rel=0.03, abs=0.01)


def test_wide_matrix_laws_choose_the_chamber() -> None:
    assert radial_law(gd.SPD(10), "gaussian", 2.0).by_chamber
    assert not radial_law(gd.SPD(3), "gaussian", 0.5).by_chamber


def test_normaliser_on_spd2_by_quadrature() -> None:
    """SPD(2) = R x H^2 of curvature -1/2: the integral in polar coordinates of the distances."""
    x, w = np.polynomial.legendre.leggauss(400)
    r, angle = 30 * (x + 1), np.pi * (x + 1) / 2
    t = r[:, None] * np.sin(angle)
    area = 2 * np.pi * np.sqrt(2) * np.sinh(t / np.sqrt(2)) @ (w * np.pi / 2)
    for kernel, scale in (("gaussian", 0.8), ("laplace", 0.6)):
        fall = r / scale if kernel == "laplace" else (r / scale) ** 2 / 2
        expected = math.log(np.exp(-fall) * r * area @ (30 * w))
        assert log_normaliser(kernel, 2, scale) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    "space", [gd.Sphere(3, 0.5), gd.Hyperbolic(3, -2.0), gd.Sphere(1)], ids=str
)
def test_log_density_integrates_to_one(space: gd.Space) -> None:
    law = radial_law(space, "gaussian", 0.5)
    d, kappa = space.dim, space.curvature[0] if space.dim > 1 else 1.0
    root = math.sqrt(abs(kappa))
    sn = np.sin if kappa > 0 else np.sinh
    t = np.linspace(0, min(space.injectivity_radius, 8.0), 200_001)
    area = 2 * math.pi ** (d / 2) / math.gamma(d / 2) * (sn(root * t) / root) ** (d - 1)
    assert np.trapezoid(np.exp(law.log_density(t)) * area, t) == pytest.approx(1, rel=1e-6)


def test_planar_shapes_have_the_area_of_projective_space() -> None:
    """CP^2: sin^3 t cos t on [0, pi/2]; exact radii against the cdf (p = 1e-7), 30 % off fails."""
    t = np.linspace(0, np.pi / 2, 4001)
    radii = _exact_radii(radial_law(gd.PlanarShapes(4), "laplace", 0.15), 1500, 11)
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        density = np.exp(-t / 0.15 / factor) * np.sin(t) ** 3 * np.cos(t)
        sums = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
        pvalue = stats.kstest(radii, lambda r, c=sums: np.interp(r, t, c / c[-1])).pvalue
        assert (pvalue > 1e-7) == fits


def test_flat_spaces_have_the_spherical_laws() -> None:
    for kernel, noise in (("laplace", gd.L2Laplace()), ("gaussian", gd.Gaussian())):
        law = radial_law(gd.SPD(2, metric="log-euclidean"), kernel, 0.3)
        assert law.mean_radius() == noise.law(3).mean_radius(0.3)
        point = [0.2, 0.1, 0.0]
        expected = noise.law(3).log_density(point, 0.3)
        assert law.log_density(np.linalg.norm(point)) == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("space", "limit"),
    [
        (gd.Hyperbolic(2), 1.0),
        (gd.Hyperbolic(16, -0.25), 2 / 15),
        (gd.SPD(2), 1.41421356),
        (gd.SPD(3), 0.70710678),
        (gd.SPD(4), 0.4472136),
        (gd.SPD(5), 0.31622777),
    ],
    ids=str,
)
def test_laplace_laws_exist_up_to_the_limit(space: gd.Space, limit: float) -> None:
    assert diverges(space, "laplace", limit * (1 - 1e-6)) is None
    with pytest.raises(ConditionError, match="wrapped-l2-laplace"):
        radial_law(space, "laplace", limit * (1 + 1e-6))
    assert diverges(space, "gaussian", 100.0) is None


def test_products_have_gaussian_laws_only() -> None:
    space = gd.Product(gd.Sphere(2), gd.SPD(2), gd.Euclidean(1))
    with pytest.raises(ConditionError, match="does not factorise"):
        radial_law(space, "laplace", 0.1)
    law = radial_law(space, "gaussian", 0.4)
    parts = [radial_law(f, "gaussian", 0.4) for f in space.factors]
    assert law.mean_square() == pytest.approx(sum(p.mean_square() for p in parts))
    stream = GeneratorBits(np.random.default_rng(8))
    assert len(law.exact(stream).balls(128)) == space.dim


def test_a_hopeless_sampler_is_refused_from_public_numbers() -> None:
    with pytest.raises(ConditionError, match="too wide"):
        radial_law(gd.SPD(5), "laplace", 0.31)


def test_draws_extend_without_changing() -> None:
    """More precision refines the same draw; the bits read do not depend on who asks."""
    for law in (radial_law(gd.Sphere(2), "laplace", 0.2), radial_law(gd.SPD(3), "gaussian", 1.0)):
        a = law.exact(GeneratorBits(np.random.default_rng(9)))
        b = law.exact(GeneratorBits(np.random.default_rng(9)))
        a.balls(128)
        for x, y in zip(a.balls(512), b.balls(512), strict=True):
            assert x.overlaps(y)
            assert x.rel_accuracy_bits() > 300


def test_a_tampered_envelope_is_caught() -> None:
    """Power of the fit: tangents of another scale's density must fail it."""
    law = radial_law(gd.Sphere(2), "gaussian", 1.0)
    wrong = radial_law(gd.Sphere(2), "gaussian", 1.15)
    radii = _exact_radii(wrong, 2500, 10)
    assert stats.kstest(radii, _radius_cdf(gd.Sphere(2), "gaussian", 1.0)).pvalue < 1e-7
    assert law.acceptance > 0.9
    assert Fraction(law.density.scale) == 1
