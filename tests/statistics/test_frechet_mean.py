"""The certified mean: closed forms, neighbours, permutations, the solver's two phases."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodp as gd
from geodp.errors import ConditionError
from geodp.statistics.sensitivity import safe_iterations
from geodp.statistics.solver import Problem, Sums, _safe, frechet_mean, reflect_into_ball
from geodp.testing import random_points

CURVED = [
    (gd.SPD(2), 2.0),
    (gd.SPD(3), 3.0),
    (gd.SPD(5), 2.0),
    (gd.Hyperbolic(2), 3.0),
    (gd.Hyperbolic(4, curvature=-2.5), 1.0),
    (gd.Sphere(1), 1.2),
    (gd.Sphere(2), 1.4),
    (gd.Sphere(5, curvature=0.5), 1.5),
    (gd.Product(gd.Sphere(2), gd.Hyperbolic(2), gd.Euclidean(1)), 0.8),
]
FLAT = [
    (gd.Euclidean(3), 2.0),
    (gd.SPD(3, "log-euclidean"), 2.0),
    (gd.SPD(3, "log-cholesky"), 2.0),
    (gd.SPD(1), 2.0),
    (gd.Hyperbolic(1), 2.0),
]


def all_of(space: gd.Space, x: np.ndarray, scale: float) -> Sums:
    return lambda p: space.log_sum(p, x, scale)


def cloud(space: gd.Space, radius: float, n: int, seed: int) -> np.ndarray:
    """Records around a point off the centre, some beyond the ball."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, space.dim)) * radius / (2 * math.sqrt(space.dim))
    z[:, 0] += 0.4 * radius
    limit = 0.98 * min(space.injectivity_radius, 1e9)
    z *= np.minimum(1, limit / np.linalg.norm(z, axis=1))[:, None]
    return space.exp_coords(space.origin, z)


def test_mean_of_diagonal_matrices_is_the_geometric_mean() -> None:
    mean = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 3.0))
    value = mean.evaluate([np.diag([math.e**2, 1.0]), np.eye(2)]).value
    np.testing.assert_allclose(value, np.diag([math.e, 1.0]), atol=1e-12)


@pytest.mark.parametrize(("space", "radius"), CURVED + FLAT, ids=str)
def test_two_point_mean_is_the_midpoint(space: gd.Space, radius: float) -> None:
    rng = np.random.default_rng(5)
    a, b = random_points(space, 2, radius, rng)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    value = mean.evaluate(np.stack([a, b])).value
    midpoint = space.exp(a, space.log(a, b) / 2)
    assert space.dist(value, midpoint) <= mean.error_bound
    assert space.contains(value)


@pytest.mark.parametrize(("space", "radius"), CURVED + FLAT, ids=str)
def test_error_bound_holds_and_is_small(space: gd.Space, radius: float) -> None:
    """Against plain gradient descent run to rounding level."""
    ball = gd.Ball(space, space.origin, radius)
    x = np.concatenate(list(ball.clip(cloud(space, radius, 60, 6)).chunks()))
    mean = gd.FrechetMean(ball)
    assert mean.error_bound <= 1e-7 * radius
    reference, step = space.origin, 0.3
    for _ in range(600):
        reference = space.exp_coords(reference, step * space.log_coords(reference, x).mean(axis=0))
    found = mean.evaluate(x)
    assert space.dist(found.value, reference) <= mean.error_bound
    assert found.error_bound == mean.error_bound


@pytest.mark.parametrize(("space", "radius"), CURVED, ids=str)
def test_few_passes(space: gd.Space, radius: float) -> None:
    passes = [0]

    def count() -> None:
        passes[0] += 1

    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius), progress=count)
    mean.evaluate(cloud(space, radius, 2000, 7))
    assert passes[0] <= 10 * len(space.factors)


def test_ten_passes_reach_twelve_digits_on_spd3_within_radius_three() -> None:
    space = gd.SPD(3)
    for seed in range(6):
        x = random_points(space, 1000, 3.0, np.random.default_rng(seed))
        passes = [0]

        def count(passes: list[int] = passes) -> None:
            passes[0] += 1

        problem = Problem(
            space, space.origin, 3.0, 1e-12, 1e-9, all_of(space, x, 12.0), x[::2], count
        )
        value = frechet_mean(problem)
        assert np.linalg.norm(space.log_coords(value, x).mean(axis=0)) <= 2e-12
        assert passes[0] <= 10


@pytest.mark.parametrize(("space", "radius"), CURVED, ids=str)
def test_neighbours_and_permutations(space: gd.Space, radius: float) -> None:
    rng = np.random.default_rng(8)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    for n in (2, 5, 40):
        bound = mean.sensitivity(n) + 2 * mean.error_bound
        for _ in range(5):
            x = random_points(space, n + 1, radius, rng)
            first, second = x[:n], np.concatenate([x[1:n], x[n:]])
            a, b = mean.evaluate(first).value, mean.evaluate(second).value
            assert space.dist(a, b) <= bound
            shuffled = mean.evaluate(rng.permutation(first)).value
            assert space.dist(a, shuffled) <= 2 * mean.error_bound


@pytest.mark.parametrize(("space", "radius"), CURVED + FLAT, ids=str)
def test_chunking_changes_no_bit_of_the_sums(space: gd.Space, radius: float) -> None:
    x = cloud(space, radius, 500, 9)
    whole = space.log_sum(space.origin, x, 8.0)
    parts = space.log_sum(space.origin, x[:123], 8.0).merge(
        space.log_sum(space.origin, x[123:], 8.0)
    )
    assert whole.count == parts.count
    np.testing.assert_array_equal(whole.coords, parts.coords)
    np.testing.assert_array_equal(whole.squares, parts.squares)
    z = space.log_coords(space.origin, x)
    np.testing.assert_allclose(whole.mean_log, z.mean(axis=0), atol=1e-14 * 8)
    assert whole.mean_square == pytest.approx(float((z**2).sum(axis=1).mean()))


@pytest.mark.parametrize(("space", "radius"), CURVED[:-1], ids=str)
def test_the_safe_phase_arrives_within_its_proven_count(space: gd.Space, radius: float) -> None:
    rng = np.random.default_rng(10)
    passes = [0]

    def count() -> None:
        passes[0] += 1

    edge = space.exp_coords(
        space.origin, np.concatenate([np.full((7, 1), radius), np.zeros((7, space.dim - 1))], 1)
    )
    for x in (random_points(space, 20, radius, rng), np.concatenate([edge, edge[:1]])):
        passes[0] = 0
        target, error = 0.0, 1e-7 * radius  # a target out of reach: only the count can end it
        problem = Problem(
            space, space.origin, radius, target, error, all_of(space, x, 4 * radius), x, count
        )
        value = _safe(problem, space.origin)
        gradient = np.linalg.norm(space.log_coords(value, x).mean(axis=0))
        assert gradient <= error
        assert passes[0] <= safe_iterations(space, radius, error)[1]


def test_the_safe_phase_serves_the_release_when_the_fast_one_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from geodp.statistics import solver

    for space, radius in CURVED:
        mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
        x = cloud(space, radius, 30, 13)
        fast = mean.evaluate(x).value
        monkeypatch.setattr(solver, "FAST_PASSES", 1)
        safe = mean.evaluate(x).value
        monkeypatch.undo()
        assert space.dist(fast, safe) <= 2 * mean.error_bound


def test_reflection_into_the_ball() -> None:
    space, center = gd.Sphere(2), np.array([0.0, 0.0, 1.0])

    def at(angle: float) -> np.ndarray:
        return np.array([math.sin(angle), 0.0, math.cos(angle)])

    np.testing.assert_array_equal(reflect_into_ball(space, center, 0.5, at(0.4)), at(0.4))
    np.testing.assert_allclose(reflect_into_ball(space, center, 0.5, at(0.7)), at(0.3), atol=1e-15)
    np.testing.assert_array_equal(reflect_into_ball(space, center, 0.5, at(1.2)), center)


@pytest.mark.parametrize("center", [1.0, 1e9, -1e12, 1e15])
def test_the_rounding_of_a_mean_far_from_zero_is_counted(center: float) -> None:
    n, ulp = 1000, abs(float(np.spacing(center)))
    radius = max(1.0, 2e4 * ulp)
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [center], radius))
    x = np.full((n, 1), center)
    allowed = mean.sensitivity(n) + 2 * mean.error_bound
    x[: n // 2 - 2] += ulp  # the mean lies just short of halfway between two floats
    before = mean.evaluate(x).value
    for i in range(n // 2 - 2, n // 2 + 3):
        x[i] += ulp
        after = mean.evaluate(x).value
        assert abs(after - before) <= allowed
        before = after
    with pytest.raises(ConditionError, match="rounding alone"):
        gd.Ball(gd.Euclidean(1), [center], ulp)


def test_a_loose_solver_would_break_the_bound() -> None:
    """Replacing one of 5000 SPD matrices (geomstats stops at a gradient norm of 0.01 sqrt(d))."""
    space, n, radius = gd.SPD(3), 5000, 1.5
    x = random_points(space, n + 1, radius, np.random.default_rng(11))
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    a, b = mean.evaluate(x[:n]).value, mean.evaluate(x[1:]).value
    assert space.dist(a, b) <= mean.sensitivity(n) + 2 * mean.error_bound


@pytest.mark.parametrize(("space", "radius"), [(gd.SPD(2), 2.0), (gd.Sphere(2), 1.4)], ids=str)
def test_a_subsample_that_misleads_costs_no_accuracy(space: gd.Space, radius: float) -> None:
    """Every fourth of 16384 records, all that the start and its Hessian see, lies elsewhere."""
    rng = np.random.default_rng(14)
    x = random_points(space, 16384, radius, rng)
    far = space.exp_coords(space.origin, radius * np.eye(space.dim)[0])
    x[::4] = random_points(space, 4096, 0.1, rng, far)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    records = np.concatenate(list(mean.ball.clip(x).chunks()))
    gradient = space.log_coords(mean.evaluate(x).value, records).mean(axis=0)
    floor = radius / math.tan(radius) if space.curvature[1] > 0 else 1.0
    assert np.linalg.norm(gradient) <= floor * mean.error_bound


def test_float32_records_give_the_mean_of_their_values() -> None:
    space = gd.SPD(2)
    x = cloud(space, 1.0, 50, 12).astype(np.float32)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, 1.0))
    np.testing.assert_array_equal(mean.evaluate(x).value, mean.evaluate(x.astype(float)).value)


def test_points_far_out_on_the_hyperboloid() -> None:
    space = gd.Hyperbolic(2)
    x = space.exp_coords(space.origin, np.array([[9.0, 0.0], [9.0, 0.1], [8.9, 0.0]]))
    mean = gd.FrechetMean(gd.Ball(space, space.origin, 9.5))
    value = mean.evaluate(x).value
    assert space.contains(value)
    assert np.isfinite(value).all()


@pytest.mark.parametrize(
    ("space", "radius"), [(gd.Sphere(2), 1.58), (gd.Sphere(1), 1.6), (gd.Sphere(3), math.pi)]
)
def test_radius_beyond_the_condition_is_refused(space: gd.Space, radius: float) -> None:
    with pytest.raises(ConditionError, match="smaller ball"):
        gd.FrechetMean(gd.Ball(space, space.origin, radius))


def test_a_ball_too_wide_to_certify_is_refused() -> None:
    with pytest.raises(ConditionError, match="too wide"):
        gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 18.0))


def test_the_published_bound_is_an_option() -> None:
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.6)
    sharp, published = gd.FrechetMean(ball), gd.FrechetMean(ball, bound="published")
    assert published.sensitivity(1000) == pytest.approx(3.944e-3, rel=1e-3)
    assert sharp.sensitivity(1000) == pytest.approx(1.3683e-3, rel=1e-3)
    wide = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.8)
    with pytest.raises(ConditionError, match="published"):
        gd.FrechetMean(wide, bound="published")


@pytest.mark.parametrize("statistic", [gd.FrechetMean, gd.TangentMean, gd.FrechetVariance])
def test_a_space_is_no_domain(statistic: type) -> None:
    with pytest.raises(gd.InputError, match="domain is a ball"):
        statistic(gd.Sphere(2))
