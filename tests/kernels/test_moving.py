"""Records outside the ball, moved to its edge in compiled passes."""

import mpmath
import numpy as np
import pytest

import geodp as gd
from geodp.kernels.functions import exp
from geodp.kernels.lanes import WIDTH, store
from geodp.kernels.lanes import load as load_lanes
from geodp.kernels.loop import helper
from geodp.kernels.single import Exponential
from geodp.spaces import parse_space
from geodp.statistics import domain
from geodp.testing import random_points

PRODUCTS = ["spd:2+spd:3:log-euclidean", "sphere:2+spd:2+euclidean:1"]
CASES = [
    *(("spd:1", 1.0), ("spd:2", 1.5), ("spd:3", 1.0), ("spd:5", 1.0)),
    *(("spd:3:log-euclidean", 1.0), ("spd:3:log-cholesky", 0.7), ("euclidean:3", 1.0)),
    *(("sphere:2", 1.0), ("sphere:6:0.25", 2.0), ("hyperbolic:3:-2.0", 1.5), ("shapes:5", 0.5)),
    *((spec, 0.8) for spec in PRODUCTS),
]


def ball_of(spec, radius):
    space = parse_space(spec)
    rng = np.random.default_rng(1)
    z = rng.normal(size=space.dim)
    return gd.Ball(space, space.exp_coords(space.origin, 0.3 * z / np.linalg.norm(z)), radius)


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def ball(request, monkeypatch):
    monkeypatch.setattr(domain, "MANY", 2)
    return ball_of(*request.param)


def outside(ball, count, rng, far=3.0):
    """Directions at random, distances from just outside to far."""
    space = ball.space
    far = min(far, 0.9 * space.injectivity_radius / ball.radius)
    z = rng.normal(size=(count, space.dim))
    t = ball.radius * (1 + (far - 1) * 10.0 ** rng.uniform(-9, 0, (count, 1)))
    x = space.exp_coords(ball.center, z * t / np.linalg.norm(z, axis=1, keepdims=True))
    return space.project(x)


def clipped(ball, x):
    records = ball.clip(x)
    assert records.kernel is not None
    return np.concatenate(list(records.chunks())), records


def test_they_land_on_the_edge_on_the_same_geodesic(ball, exact_logs):
    space, x = ball.space, outside(ball, 8, np.random.default_rng(2))
    moved, records = clipped(ball, x)
    assert records.replaced_share == 1.0
    error = ball.log_error()
    with mpmath.workdps(40):
        for before, after in zip(x, moved, strict=True):
            assert space.contains(after)
            here = exact_logs(space, ball.center, after)
            assert mpmath.norm(here) <= ball.reach
            assert abs(mpmath.norm(here) - ball.radius) <= 1e-11 * ball.radius + error
            if space.spec.startswith("shapes"):
                continue  # the lengths alone
            there = exact_logs(space, ball.center, before)
            ideal = there * (ball.radius / mpmath.norm(there))
            # the direction is as good as the logarithm of the far record
            far = float(mpmath.norm(there))
            assert mpmath.norm(here - ideal) <= space.log_error(ball.center, far) + 1e-11


def test_each_is_moved_by_itself(ball):
    rng = np.random.default_rng(3)
    space = ball.space
    x = np.concatenate([outside(ball, 40, rng), random_points(space, 7, 0.5, rng)])
    x[11], x[12], x[13] = np.nan, np.inf, 1e300
    together, _ = clipped(ball, x)
    for i in (0, 1, 11, 12, 13, 17, 39, 40, 46):
        pair, _ = clipped(ball, np.stack([x[i], x[i]]))
        np.testing.assert_array_equal(pair, np.stack([together[i]] * 2))
    order = rng.permutation(len(x))
    np.testing.assert_array_equal(clipped(ball, x[order])[0], together[order])


def test_the_centre_log_is_that_of_the_moved_records(ball):
    x = outside(ball, 50, np.random.default_rng(4))
    moved, records = clipped(ball, x)
    logs = ball.space.log_coords(ball.center, moved).mean(axis=0)
    np.testing.assert_allclose(records.center_log, logs, atol=1e-12 + ball.log_error())


def test_what_is_no_point_becomes_the_centre_and_extremes_stay_in_the_ball(ball):
    space = ball.space
    x = np.array(np.broadcast_to(ball.center, (40, *space.point_shape)))
    x[0], x[1], x[2], x[3] = np.nan, np.inf, -np.inf, -1e308
    scales = [1e-320, 1e-300, 1e-160, 1e-90, 1e-30, 1e-8, 1e8, 1e30, 1e90, 1e160, 1e300]
    for i, scale in enumerate(scales):
        x[10 + i] *= scale
    moved, records = clipped(ball, x)
    np.testing.assert_array_equal(moved[0], ball.center)
    assert space.contains(moved).all()
    assert space.dist(ball.center, moved).max() <= ball.reach
    changed = records.moved_count[0]
    assert changed == (moved != x).reshape(len(x), -1).any(axis=1).sum()


def test_a_wrong_exponential_map_moves_no_record_out_of_the_ball(monkeypatch):
    """Points that do not lie where they should are found out, and the plain rule decides."""
    monkeypatch.setattr(domain, "MANY", 2)
    ball = ball_of("spd:3", 1.0)
    x = outside(ball, 30, np.random.default_rng(5))
    right, _ = clipped(ball, x)
    points, used = Exponential.points, []

    def wrong(self, p, z):
        used.append(len(z))
        out = points(self, p, z)
        out[::3] *= 50.0
        out[1::3, 0, 1] += 0.1
        return out

    monkeypatch.setattr(Exponential, "points", wrong)
    found, _ = clipped(ball, x)
    assert sum(used) == len(x)
    np.testing.assert_allclose(found, right, rtol=1e-12)


@helper
def many_exp(x, out):
    for i in range(0, len(x), WIDTH):
        store(out, i, exp(load_lanes(x, i)))


def test_the_exponential_function():
    x = np.concatenate([np.linspace(-699, 699, 640), np.linspace(-1, 1, 320)])
    out = np.empty_like(x)
    many_exp(x, out)
    with mpmath.workdps(40):
        for value, ours in zip(x, out, strict=True):
            exact = mpmath.exp(mpmath.mpf(value))
            assert abs(mpmath.mpf(ours) - exact) <= 4 * 2.0**-52 * exact


def test_projected_shapes_stay_in_a_tiny_ball(exact_logs, monkeypatch):
    """Rounding in ``project`` moves a shape by more than a tiny ball's slack."""
    monkeypatch.setattr(domain, "MANY", 2)
    space, radius = parse_space("shapes:3"), 1e-8
    rng = np.random.default_rng(2)
    for _ in range(3):
        ball = gd.Ball(space, random_points(space, 1, 0.5, rng)[0], radius)
        z = rng.normal(size=(40, space.dim))
        z *= radius / np.linalg.norm(z, axis=1, keepdims=True)
        x = space.exp_coords(ball.center, z) * (1 + 1e-7 * rng.normal(size=(40, 1, 1)))
        points, _ = clipped(ball, x)
        with mpmath.workdps(40):
            for point in points:
                assert mpmath.norm(exact_logs(space, ball.center, point)) <= ball.reach
