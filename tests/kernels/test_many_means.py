"""Many means at once are the means one by one, to their certified error."""

import numpy as np
import pytest

import geodp as gd
from geodp.errors import InputError
from geodp.spaces import parse_space
from geodp.statistics import many_means, solver
from geodp.testing import random_points

CASES = [
    ("spd:3", 1.5),
    ("spd:4", 1.0),
    ("spd:3:log-euclidean", 2.0),
    ("sphere:2", 1.3),
    ("hyperbolic:4", 2.0),
    ("shapes:5", 0.6),
]
MEANS, PEOPLE = 60, 180  # more than 10,000 records together


def data(space, radius, people=PEOPLE):
    """Means far from one another, some records outside the ball, some no points."""
    rng = np.random.default_rng(1)
    x = random_points(space, MEANS * people, 1.05 * radius, rng)
    x = x.reshape(MEANS, people, *space.point_shape)
    x[3, :] = space.exp_coords(space.origin, 0.9 * radius * np.eye(space.dim)[0])
    x[4, 2:] = x[4, 0]
    x[5, ::2], x[6, 1] = np.nan, np.inf
    return x


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request):
    spec, radius = request.param
    space = parse_space(spec)
    return gd.Ball(space, space.origin, radius), data(space, radius)


def check(ball, x, result):
    mean = gd.FrechetMean(ball)
    assert result.error_bound == mean.error_bound
    for rows, value in zip(x, result.value, strict=True):
        assert ball.space.contains(value)
        assert ball.space.dist(value, mean.evaluate(rows).value) <= 2 * mean.error_bound


def test_each_is_its_own_certified_mean(case):
    ball, x = case
    done = []
    result = many_means.frechet_means(ball, x, done.append)
    check(ball, x, result)
    assert sum(done) == MEANS


def test_blocks_and_threads_change_nothing(case, monkeypatch):
    ball, x = case
    whole = many_means.frechet_means(ball, x).value
    monkeypatch.setattr(many_means, "BLOCK_FLOATS", 7 * PEOPLE)
    monkeypatch.setenv("GEODP_NUM_THREADS", "3")
    np.testing.assert_array_equal(whole, many_means.frechet_means(ball, x).value)


def test_few_records_go_one_by_one():
    space = gd.SPD(2)
    ball = gd.Ball(space, space.origin, 2.0)
    x = random_points(space, 12, 1.5, np.random.default_rng(2)).reshape(4, 3, 2, 2)
    check(ball, x, many_means.frechet_means(ball, x))


def test_the_counted_steps_serve_where_the_fast_ones_fail(monkeypatch):
    space = gd.SPD(2)
    ball = gd.Ball(space, space.origin, 1.0)
    x = data(space, 1.0, 200)
    monkeypatch.setattr(many_means, "FAST_PASSES", 2)
    monkeypatch.setattr(solver, "FAST_PASSES", 1)
    result = many_means.frechet_means(ball, x)
    monkeypatch.undo()
    check(ball, x, result)


def test_wrong_arrays_are_refused():
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    few, flags = np.zeros((3, 1, 2, 2)), np.zeros((2, 3, 2, 2), dtype=bool)
    for wrong in (np.zeros((3, 2, 2)), few, [[1.0]], flags):
        with pytest.raises(InputError, match="many means"):
            many_means.frechet_means(ball, wrong)


@pytest.mark.parametrize("least", [1, 10**9], ids=["compiled", "numpy"])
def test_wide_balls_are_certified_too(monkeypatch, least):
    """Steps that leave the range of floats: no warning, and no sum of what is no number."""
    monkeypatch.setattr(many_means, "MANY", least)
    space = gd.SPD(2)
    ball = gd.Ball(space, np.eye(2), 6.5)
    bound = gd.FrechetMean(ball).error_bound
    for seed in (91, 151, 165, 206, 248):  # each failed once
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(int(rng.integers(2, 6)), 3))
        z *= 6.5 * rng.choice([1, 0.99, 0.5], (len(z), 1)) / np.linalg.norm(z, axis=1)[:, None]
        x = space.exp_coords(np.eye(2), z)
        value = many_means.frechet_means(ball, x[None]).value[0]
        # nowhere positive curvature: the mean is no farther than the gradient is long
        assert np.linalg.norm(space.log_coords(value, x).mean(axis=0)) <= bound
