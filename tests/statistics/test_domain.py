"""The public rule: what it does to a record, and that nothing of it can be seen from outside."""

from __future__ import annotations

import copy
import math
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import geodp as gd
from geodp.errors import InputError, SpaceError
from geodp.testing import random_points

SPACES = [
    gd.Euclidean(3),
    gd.SPD(1),
    gd.SPD(3),
    gd.SPD(2, "log-euclidean"),
    gd.SPD(3, "log-cholesky"),
    gd.Hyperbolic(1),
    gd.Hyperbolic(3, curvature=-2.0),
    gd.Sphere(1),
    gd.Sphere(2),
    gd.Sphere(4, curvature=0.3),
    gd.Product(gd.Sphere(2), gd.SPD(2), gd.Euclidean(1)),
]


def clipped(ball: gd.Ball, x: np.ndarray) -> np.ndarray:
    return np.concatenate(list(ball.clip(x).chunks()))


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_inside_stays_outside_moves_to_the_edge_along_the_geodesic(space: gd.Space) -> None:
    rng = np.random.default_rng(1)
    ball = gd.Ball(space, space.origin, 0.5)
    x = random_points(space, 200, 1.0, rng)
    z = space.log_coords(space.origin, x)
    t = np.linalg.norm(z, axis=1)
    y = clipped(ball, x)
    inside = t <= 0.5
    assert inside.any()
    assert (~inside).any()
    np.testing.assert_array_equal(y[inside], space.project(x[inside]))
    direction = z * np.minimum(1, 0.5 / t)[:, None]
    np.testing.assert_allclose(space.log_coords(space.origin, y), direction, atol=1e-9)
    assert space.dist(space.origin, y).max() <= ball.reach
    np.testing.assert_array_equal(clipped(ball, y), y)  # clipping twice changes nothing


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_what_is_no_point_becomes_the_centre(space: gd.Space) -> None:
    rng = np.random.default_rng(2)
    x = random_points(space, 8, 0.4, rng)
    clean = x.copy()
    x[1] = np.nan
    x[3] = np.inf
    x.reshape(8, -1)[5, 0] = -np.inf
    x[6] = 1e300
    ball = gd.Ball(space, space.origin, 0.5)
    y = clipped(ball, x)
    for bad in (1, 3, 5):
        np.testing.assert_array_equal(y[bad], space.origin)
    for good in (0, 2, 4, 7):
        np.testing.assert_array_equal(y[good], space.project(clean[good]))
    assert space.contains(y).all()
    assert (space.dist(space.origin, y) <= ball.reach).all()


@pytest.mark.parametrize("offset", [0.0, 3.0])
@pytest.mark.parametrize("space", [gd.Hyperbolic(1), gd.Hyperbolic(3), gd.Hyperbolic(2, -4.0)])
def test_hyperbolic_records_whose_distance_overflows_are_not_kept(
    space: gd.Space, offset: float
) -> None:
    step = np.zeros(space.dim)
    step[0] = offset
    ball = gd.Ball(space, space.exp_coords(space.origin, step), 1.0)
    x = []
    for size in (1e300, 1e307, 5e307, 1e308, 1.7e308):
        for axis in np.vstack([np.eye(space.dim), -np.eye(space.dim), np.ones(space.dim)]):
            x.append([size, *(size * axis)])  # x0 rounds to the length of the spatial part
    y = clipped(ball, np.array(x))
    assert space.dist(ball.center, y).max() <= ball.reach


def test_distant_records_move_to_the_edge_even_where_squares_overflow() -> None:
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    y = clipped(ball, np.array([[1e200, 0.0], [0.0, -1e307]]))
    np.testing.assert_allclose(y, [[1.0, 0.0], [0.0, -1.0]], rtol=1e-12)


@pytest.mark.parametrize("radius", [1e-300, 1e-170, 1e-101, 1e101, 1e300])
def test_radii_whose_squares_leave_the_floats_are_refused(radius: float) -> None:
    with pytest.raises(InputError, match="radius must lie between"):
        gd.Ball(gd.Euclidean(1), [0.0], radius)


@pytest.mark.parametrize("radius", [1e-100, 1e100])
def test_the_extreme_radii_work(radius: float) -> None:
    ball = gd.Ball(gd.Euclidean(1), [0.0], radius)
    y = clipped(ball, radius * np.array([[0.5], [-2.0], [1e5]]))
    np.testing.assert_allclose(y / radius, [[0.5], [-1.0], [1.0]], rtol=1e-12)
    mean = gd.FrechetMean(ball).evaluate(y).value
    np.testing.assert_allclose(mean / radius, [0.5 / 3], rtol=1e-9)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_each_record_is_treated_by_itself_bit_for_bit(space: gd.Space) -> None:
    rng = np.random.default_rng(3)
    ball = gd.Ball(space, space.origin, 0.5)
    x = random_points(space, 301, 0.9, rng)
    x[::17] = np.nan
    whole = clipped(ball, x)
    order = rng.permutation(301)
    np.testing.assert_array_equal(clipped(ball, x[order]), whole[order])
    np.testing.assert_array_equal(clipped(ball, x[3:50]), whole[3:50])
    np.testing.assert_array_equal(clipped(ball, np.asfortranarray(x)), whole)
    for i in (0, 1, 17, 150, 300):
        np.testing.assert_array_equal(clipped(ball, np.stack([x[i], x[0]]))[0], whole[i])


def test_indefinite_singular_and_nonsymmetric_matrices_become_the_centre() -> None:
    space = gd.SPD(2)
    ball = gd.Ball(space, np.eye(2), 3.0)
    bad = np.array([[[1, 2], [2, 1]], [[1, 1], [1, 1]], [[1, 0.5], [0, 1]], [[-1, 0], [0, -1]]])
    np.testing.assert_array_equal(clipped(ball, bad), np.broadcast_to(np.eye(2), (4, 2, 2)))


def test_the_antipode_and_its_neighbourhood_become_the_centre() -> None:
    north = np.array([0.0, 0.0, 1.0])
    ball = gd.Ball(gd.Sphere(2), north, 0.5)
    x = np.array([-north, [1e-13, 0.0, -1.0], [1e-3, 0.0, -math.sqrt(1 - 1e-6)]])
    y = clipped(ball, x)
    np.testing.assert_array_equal(y[:2], [north, north])
    np.testing.assert_allclose(y[2], [math.sin(0.5), 0, math.cos(0.5)], atol=1e-9)


def test_ragged_masked_and_narrow_records() -> None:
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 2.0)
    ragged = [[1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0]]
    np.testing.assert_array_equal(clipped(ball, ragged), [[1, 0], [0, 0], [0, 1]])
    masked = np.ma.array([[1.0, 0.0], [1.0, 1.0]], mask=[[0, 0], [0, 1]])
    np.testing.assert_array_equal(clipped(ball, masked), [[1, 0], [0, 0]])
    wide = np.array([[0.1, 0.2], [0.3, 0.4]])
    single = clipped(ball, wide.astype(np.float32))
    np.testing.assert_array_equal(single, wide.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(clipped(ball, np.array([[1, 0], [0, 1]])), np.eye(2))


@pytest.mark.parametrize(
    "bad",
    [
        [None, 1.0],
        ["secret", 1.0],
        [1j, 1.0],
        [10**30, 1.0],
        [10**400, 1.0],
        [object(), 1.0],
        [np.ma.masked, 1.0],
        "secret",
        None,
    ],
)
@pytest.mark.parametrize("kind", [list, lambda rows: np.array(rows, dtype=object)])
def test_the_type_of_one_record_does_not_decide_over_the_others(
    bad: object, kind: Callable[[list[object]], object]
) -> None:
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 2.0)
    rows = [[1.0, 0.0], bad, [0.0, 1.0]]
    try:
        records = kind(rows)
    except ValueError:  # numpy itself makes no array of such rows
        return
    y = clipped(ball, records)
    np.testing.assert_array_equal(y[[0, 2]], np.eye(2))
    assert np.linalg.norm(y[1]) <= ball.reach


def test_what_an_object_raises_does_not_come_through() -> None:
    class Stubborn:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            raise RuntimeError("secret")

    ball = gd.Ball(gd.Euclidean(1), [0.0], 2.0)
    np.testing.assert_array_equal(clipped(ball, [[1.0], Stubborn()]), [[1.0], [0.0]])
    with pytest.raises(InputError) as caught:
        ball.clip(Stubborn())
    assert "secret" not in repr(caught.getrepr(chain=True, style="short"))


@pytest.mark.parametrize(
    ("records", "match"),
    [
        (None, "No records"),
        ([["a", "b"], ["c", "d"]], "dtype"),
        ("records.npy", "read_records"),
        ([[1j, 0], [0, 1j]], "dtype"),
        (np.ma.array([["secret", "b"], ["c", "d"]]), "dtype"),
        (iter([[0.0, 1.0], [1.0, 0.0]]), "dtype"),
        (np.zeros(3, dtype=[("x", "f8"), ("y", "f8")]), "dtype"),
        ([[True, False], [False, True]], "dtype"),
        (np.zeros((4, 3)), "shape"),
        (np.zeros(2), "shape"),
        (np.zeros((1, 2)), "two records"),
        (np.zeros((0, 2)), "two records"),
    ],
)
def test_wrong_dtype_and_shape_are_refused(records: object, match: str) -> None:
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 2.0)
    with pytest.raises(InputError, match=match):
        ball.clip(records)


@pytest.mark.parametrize(
    ("center", "radius", "match"),
    [
        (None, 1.0, "missing"),
        ([0.0, 0.0, 1.0], None, "never from the data"),
        ([0.0, 0.0, 2.0], 1.0, "no point"),
        ([0.0, 1.0], 1.0, "shape"),
        ([0.0, 0.0, np.nan], 1.0, "no point"),
        (["a", "b", "c"], 1.0, "dtype"),
        ([0.0, 0.0, 1.0], -1.0, "positive"),
        ([0.0, 0.0, 1.0], 0, "positive"),
        ([0.0, 0.0, 1.0], math.inf, "finite"),
        ([0.0, 0.0, 1.0], math.nan, "finite"),
        ([0.0, 0.0, 1.0], 1e-310, "positive"),
        ([0.0, 0.0, 1.0], True, "number"),
        ([0.0, 0.0, 1.0], "1", "number"),
    ],
)
def test_centre_and_radius_are_checked(center: object, radius: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        gd.Ball(gd.Sphere(2), center, radius)


def test_a_ball_too_wide_for_floats_is_refused_from_public_facts() -> None:
    with pytest.raises(InputError, match="too wide"):
        gd.Ball(gd.SPD(2), np.eye(2), 60.0)


@pytest.mark.parametrize("metric", ["affine-invariant", "log-euclidean", "log-cholesky"])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_eigenvalue_limits_hold_every_matrix_within_them(metric: str, size: int) -> None:
    space = gd.SPD(size, metric)
    low, high = 0.05, 3.0
    ball = gd.Ball.from_eigenvalues(space, low, high)
    rng = np.random.default_rng(4)
    q, _ = np.linalg.qr(rng.standard_normal((400, size, size)))
    values = np.where(rng.random((400, size)) < 0.8, rng.choice([low, high], (400, size)), 1.0)
    x = (q * values[:, None, :]) @ q.swapaxes(1, 2)
    x = (x + x.swapaxes(1, 2)) / 2
    distance = space.dist(ball.center, x)
    assert distance.max() <= ball.radius * (1 + 1e-9)
    if metric != "log-cholesky":  # there the extreme is attained
        extreme = space.dist(ball.center, high * np.eye(size))
        assert extreme == pytest.approx(ball.radius)


def test_eigenvalue_and_degree_limits_are_checked() -> None:
    with pytest.raises(SpaceError, match="SPD"):
        gd.Ball.from_eigenvalues(gd.Sphere(2), 0.1, 1.0)
    with pytest.raises(InputError, match="below"):
        gd.Ball.from_eigenvalues(gd.SPD(2), 1.0, 0.1)
    with pytest.raises(SpaceError, match="sphere"):
        gd.Ball.from_degrees(gd.SPD(2), 0, 0, 10)


def test_degrees() -> None:
    ball = gd.Ball.from_degrees(gd.Sphere(2), longitude=90, latitude=30, degrees=45)
    np.testing.assert_allclose(ball.center, [0, math.sqrt(3) / 2, 0.5], atol=1e-15)
    assert ball.radius == pytest.approx(math.pi / 4)
    for bad in ((0, 91, 10), (0, -91, 10), ("east", 0, 10), (math.nan, 0, 10), (0, 0, None)):
        with pytest.raises(InputError, match=r"latitude|longitude|angle"):
            gd.Ball.from_degrees(gd.Sphere(2), *bad)


def test_a_missing_radius_or_centre_is_refused_with_the_way_to_choose() -> None:
    with pytest.raises(InputError, match=r"radius is missing.*never from the data"):
        gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0])
    with pytest.raises(InputError, match="centre is missing"):
        gd.Ball(gd.Sphere(2), radius=0.5)


@pytest.mark.parametrize("name", ["physical_unit", "component_order", "frame"])
@pytest.mark.parametrize("value", [1, True, b"mm", ["mm"], "\ud800", "mm \udcff"])
def test_what_is_declared_is_text_that_can_be_written(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"The {name.replace('_', ' ')} (must be|holds)"):
        gd.Ball(gd.Euclidean(1), [0.0], 1.0, **{name: value})
    assert getattr(gd.Ball(gd.Euclidean(1), [0.0], 1.0, **{name: "µm²"}), name) == "µm²"


def test_clipped_records_give_nothing_away() -> None:
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    a = ball.clip(np.array([[0.5, 0.5], [7.0, 7.0]]))
    b = ball.clip(np.array([[0.5, 0.5], [np.nan, 0.0]]))
    assert repr(a) == repr(b)
    for dump in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="not pickled"):
            dump(a)
    with pytest.raises(InputError, match="another ball"):
        gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0).clip(a)
    assert ball.clip(a) is a


def test_a_memory_map_is_never_copied_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    rows = 200_000
    np.save(path, np.full((rows, 3), 0.1))
    mapped = np.load(path, mmap_mode="r")
    ball = gd.Ball(gd.Euclidean(3), [0.0, 0.0, 0.0], 1.0)
    gd.FrechetMean(ball).evaluate(mapped[: rows // 10])  # compiled passes take memory of their own
    tracemalloc.start()
    value = gd.FrechetMean(ball).evaluate(mapped).value
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(value, [0.1, 0.1, 0.1])
    assert peak < rows * 3 * 8  # smaller than the file (4.8 MB)
