"""Kernels treat every record by itself: neighbours, places, bad records change no bit."""

import numpy as np
import pytest

from geodp.spaces import parse_space
from geodp.testing import random_points

SPECS = [
    *("spd:1", "spd:2", "spd:3", "spd:5", "spd:3:log-euclidean"),
    *("sphere:1", "sphere:2", "sphere:9:0.5", "hyperbolic:2", "hyperbolic:9:-2.0"),
    *("shapes:3", "shapes:9"),
    *("spd:1:log-cholesky", "spd:2:log-cholesky", "spd:4:log-cholesky"),
    *("euclidean:1", "euclidean:9", "sphere:2+spd:2+hyperbolic:2"),
]

RADIUS = 0.7


def total_of(space, x, scale=8.0, limit=8.0, p=None):
    p = space.origin if p is None else p
    return space.fused_sum(space.kernel().at(p), x, scale, limit)


def same(a, b):
    assert a.count == b.count
    np.testing.assert_array_equal(a.coords, b.coords)
    np.testing.assert_array_equal(a.squares, b.squares)


@pytest.fixture(params=SPECS)
def space(request):
    return parse_space(request.param)


def test_sums_are_those_of_single_records(space):
    x = random_points(space, 41, RADIUS, np.random.default_rng(1))
    p = x[0]
    whole, left = total_of(space, x, p=p)
    assert not left.any()
    parts = [total_of(space, x[i : i + 1], p=p)[0] for i in range(len(x))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    same(whole, merged)
    for cut in (1, 15, 16, 17, 40):
        same(whole, total_of(space, x[:cut], p=p)[0].merge(total_of(space, x[cut:], p=p)[0]))
    same(whole, total_of(space, x[np.random.default_rng(2).permutation(41)], p=p)[0])


def test_what_is_no_point_is_left_and_touches_nothing(space):
    x = random_points(space, 64, RADIUS, np.random.default_rng(3))
    bad = np.arange(64) % 3 == 1
    good, _ = total_of(space, x[~bad])
    for value in (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, 1e-320):
        if space.spec.startswith("euclidean") and abs(value) <= 1:
            continue  # a point
        y = x.copy()
        y[bad] = value
        total, left = total_of(space, y)
        np.testing.assert_array_equal(left, bad)
        same(total, good)


def test_asymmetric_and_indefinite_matrices_are_left():
    for spec in ("spd:2", "spd:3", "spd:5", "spd:3:log-euclidean", "spd:3:log-cholesky"):
        space = parse_space(spec)
        x = random_points(space, 40, 1.0, np.random.default_rng(4))
        x[3, 1, 0] *= 1 + 1e-5
        x[3, 1, 0] += 1e-5
        x[17] -= 2 * np.linalg.eigvalsh(x[17])[0] * np.eye(len(x[17]))
        x[17, 0, 0] = -x[17, 0, 0]
        _, left = total_of(space, x)
        assert list(np.flatnonzero(left)) == [3, 17]


def test_what_lies_beyond_the_limit_is_left(space):
    z = np.zeros((50, space.dim))
    z[:, -1] = np.linspace(0.02, 1.5, 50)
    _, left = total_of(space, space.exp_coords(space.origin, z), limit=RADIUS + 0.003)
    np.testing.assert_array_equal(left, z[:, -1] > RADIUS + 0.003)


def test_a_record_is_the_point_it_stands_for(space):
    """Rounding that ``project`` would remove changes a logarithm by no more than rounding."""
    rng = np.random.default_rng(5)
    x = random_points(space, 30, RADIUS, rng)
    rough = x * (1 + 1e-9 * rng.normal(size=x.shape))
    total, left = total_of(space, rough)
    assert not left.any()
    fine = space.log_coords(space.origin, space.project(rough))
    np.testing.assert_allclose(total.mean_log, fine.mean(axis=0), atol=1e-14)
