"""K-norm gradient: constants, the law against its density, receipts, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodp as gd
from geodp.mechanisms import candidates
from geodp.noise.radial_laws import radial_law
from geodp.statistics.gradient import FrechetGradient, gradient_growth
from geodp.statistics.sensitivity import mean_sensitivity


def cap(radius: float = math.pi / 8) -> gd.Ball:
    return gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], radius)


def spread(ball: gd.Ball, count: int, seed: int) -> np.ndarray:
    """Records uniform in the ball's tangent disc."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, ball.space.dim))
    z *= (ball.radius * np.sqrt(rng.random(count)) / np.linalg.norm(z, axis=1))[:, None]
    return ball.space.exp_coords(ball.center, z)


def test_gradient_sensitivities() -> None:
    """2 tan(r)/n on S^2 [design, 6: .8284 at pi/8, 1.4531 at pi/5]; 2 r/n on SPD."""
    assert FrechetGradient(cap()).sensitivity(1) == pytest.approx(0.8284, abs=5e-5)
    assert FrechetGradient(cap(math.pi / 5)).sensitivity(1) == pytest.approx(1.4531, abs=5e-5)
    flat = gd.Ball(gd.SPD(2), np.eye(2), 1.5)
    assert FrechetGradient(flat).sensitivity(10) == pytest.approx(0.3, rel=1e-8)


def test_gradients_of_neighbours_stay_within_the_sensitivity() -> None:
    for ball in (cap(), gd.Ball(gd.SPD(2), np.eye(2), 1.0)):
        gradient, rng = FrechetGradient(ball), np.random.default_rng(2)
        for seed in range(20):
            data = spread(ball, 5, seed)
            other = data.copy()
            other[0] = spread(ball, 1, 1000 + seed)[0]
            x = spread(ball, 1, int(rng.integers(10**6)))[0]
            a, b = (gradient.norm(ball.clip(d), ball.reach)(x) for d in (data, other))
            assert abs(a - b) <= gradient.sensitivity(5) + 2 * gradient.error(ball.reach)


def test_growth_of_the_gradient() -> None:
    """norm(grad F(x)) >= growth * dist(x, mean) on random data; 1 on Hadamard spaces."""
    for ball in (cap(), cap(0.7)):
        growth, gradient = gradient_growth(ball.space, ball.radius), FrechetGradient(ball)
        assert 0.2 < growth < 1
        for seed in range(20):
            data = ball.clip(spread(ball, 4, seed))
            center = gd.FrechetMean(ball).evaluate(data).value
            x = spread(ball, 1, 500 + seed)[0]
            least = growth * float(ball.space.dist(x, center))
            assert gradient.norm(data, ball.reach)(x) >= least - 1e-8
    assert gradient_growth(gd.SPD(3), 2.0) == 1.0


def test_the_law_against_its_density_by_quadrature() -> None:
    """Mean distance to the mean on S^2 against the integral of exp(-norm/scale) over the cap.

    400 draws: six standard errors, flake rate below 1e-6; a scale 30 % off is rejected.
    """
    ball, n = cap(), 25
    data = spread(ball, n, 3)
    statistic = gd.FrechetMean(ball)
    rng = np.random.default_rng(4)
    out = [
        gd.release(data, statistic, gd.PureDP(2), gd.KNormGradient(), rng=rng) for _ in range(400)
    ]
    space, center = ball.space, statistic.evaluate(data).value
    drawn = space.dist(center, np.array([release.value for release in out]))
    scale = out[0].scale
    expected = _mean_distance(ball, data, center, scale)
    error = drawn.std() / math.sqrt(len(drawn))
    assert abs(drawn.mean() - expected) < 6 * error
    for factor in (0.7, 1.3):
        assert abs(drawn.mean() - _mean_distance(ball, data, center, factor * scale)) > 6 * error


def _mean_distance(ball: gd.Ball, data: np.ndarray, center: np.ndarray, scale: float) -> float:
    space = ball.space
    x, w = np.polynomial.legendre.leggauss(80)
    r, angle = ball.radius * (x + 1) / 2, np.pi * (x + 1)
    z = r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = space.exp_coords(ball.center, z)
    logs = space.log_coords(points[..., None, :], data)
    norm = np.linalg.norm(logs.mean(axis=-2), axis=-1)
    density = np.exp(-norm / scale) * np.sin(r)[:, None] * w[:, None] * w
    return float((density * space.dist(center, points)).sum() / density.sum())


@pytest.mark.parametrize("space", [gd.Sphere(2), gd.SPD(2), gd.Euclidean(2)], ids=str)
def test_release_and_receipt(space: gd.Space) -> None:
    ball = gd.Ball(space, space.origin, 0.4)
    data = spread(ball, 30, 5)
    out = gd.release(data, gd.FrechetMean(ball), gd.PureDP(1), "k-norm-gradient")
    exact = 2 * FrechetGradient(ball).sensitivity(30)
    assert exact <= out.scale <= exact * 1.003
    assert all(check.passed for check in gd.verify(gd.Release.from_json(out.to_json())))
    if space.curvature[1] > 0:
        assert space.dist(ball.center, out.value) <= ball.radius


def test_never_best_and_refused_for_other_statistics() -> None:
    assert gd.KNormGradient().name not in [m.name for m in candidates()]
    given = gd.GivenValue(gd.Sphere(2), [0.0, 0.0, 1.0], 0.1, cap())
    with pytest.raises(gd.ConditionError, match="FrechetMean"):
        gd.release(None, given, gd.PureDP(1), gd.KNormGradient())
    cal = gd.calibrate(gd.KNormGradient(), gd.Sphere(2), 0.1, gd.PureDP(1), ball=cap())
    with pytest.raises(gd.InputError, match="records"):
        cal.sample([0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("n", "laplace", "doubled", "knorm"),
    [(25, 0.0969, 0.1925, 0.1402), (50, 0.0486, 0.0969, 0.0767), (100, 0.0243, 0.0486, 0.0385)],
)
def test_mean_distances_of_the_design(n: int, laplace: float, doubled: float, knorm: float) -> None:
    """S^2, r = pi/8, epsilon = 1, published sensitivities [design, 6]; records of our own."""
    ball, h = cap(), math.pi / 4 / math.tan(math.pi / 4)
    delta = mean_sensitivity(ball.space, ball.radius, n, "published")
    for factor, value in ((1, laplace), (2, doubled)):
        law = radial_law(ball.space, "laplace", factor * delta)
        assert law.mean_radius() == pytest.approx(value, abs=6e-5)
    scale = 2 * 2 * ball.radius * (2 - h) / n
    found = []
    for seed in range(4):
        data = spread(ball, n, seed)
        center = gd.FrechetMean(ball).evaluate(data).value
        found.append(_mean_distance(ball, data, center, scale))
    assert np.mean(found) == pytest.approx(knorm, rel=0.02)
