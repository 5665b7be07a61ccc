"""Maps: a ball in each place, means of all places, and the sensitivity of all together."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import geodp as gd
from geodp.spaces.base import Space
from geodp.verbs.stages import sensitivity_of

SPACES = [
    (gd.SPD(2), 1.0),
    (gd.Sphere(2), 0.9),
    (gd.Euclidean(2), 1.0),
    (gd.Product(gd.Sphere(2), gd.Euclidean(1)), 0.8),
]


def _maps(space: Space, n: int, places: int, spread: float, seed: int = 0) -> np.ndarray:
    z = np.random.default_rng(seed).normal(size=(n, places, space.dim)) * spread
    return space.project(space.exp_coords(space.origin, z))


@pytest.mark.parametrize(("space", "radius"), SPACES)
def test_the_mean_of_maps_is_the_mean_in_each_place(space: Space, radius: float) -> None:
    maps = _maps(space, 30, 5, 0.5)
    maps[0, 2] = np.nan  # one bad place, not a bad map
    maps[1, 4] *= 1.5  # no point of a sphere, far away elsewhere
    ball = gd.Ball(gd.Power(space, 5), space.origin, radius)
    found = gd.FrechetMean(ball).evaluate(maps)
    alone = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    expected = [alone.evaluate(maps[:, place]).value for place in range(5)]
    gaps = space.dist(np.array(expected), found.value)
    assert np.linalg.norm(gaps) <= found.error_bound + math.sqrt(5) * alone.error_bound
    assert found.error_bound >= math.sqrt(5) * alone.error_bound


def test_compiled_passes_give_the_same_means() -> None:
    space = gd.SPD(3)
    maps = _maps(space, 400, 40, 0.5)
    maps[3, 7], maps[5, 9] = np.nan, -np.eye(3)
    ball = gd.Ball(gd.Power(space, 40), np.eye(3), 1.0)
    clipped = ball.clip(maps)
    found = gd.FrechetMean(ball).evaluate(clipped)
    alone = gd.Ball(space, np.eye(3), 1.0)
    for place in (7, 9, 20):
        expected = gd.FrechetMean(alone).evaluate(maps[:, place]).value
        assert space.dist(expected, found.value[place]) <= found.error_bound
    shares = [alone.clip(maps[:, place]).replaced_share for place in range(40)]
    assert math.isclose(clipped.replaced_share, np.mean(shares), rel_tol=1e-12)
    chunks = np.concatenate(list(clipped.chunks()))
    assert np.all(space.dist(np.eye(3), chunks) <= alone.reach)
    assert np.array_equal(chunks[3, 7], np.eye(3))


def test_every_place_may_have_its_own_centre() -> None:
    space, centers = gd.Sphere(2), np.eye(3)
    maps = space.exp_coords(centers, np.random.default_rng(1).normal(size=(20, 3, 2)) * 0.3)
    ball = gd.Ball(gd.Power(space, 3), centers, 0.7)
    found = gd.FrechetMean(ball).evaluate(maps).value
    for place in range(3):
        alone = gd.FrechetMean(gd.Ball(space, centers[place], 0.7))
        assert space.dist(alone.evaluate(maps[:, place]).value, found[place]) < 1e-8


@pytest.mark.parametrize(("space", "radius"), [(gd.SPD(2), 1.0), (gd.Sphere(2), 0.9)])
def test_one_map_moves_the_mean_by_the_sensitivity_and_no_more(space: Space, radius: float) -> None:
    """Opposite edges in every place, the worst case, come near the bound; nothing passes it."""
    n, places = 40, 6
    ball = gd.Ball(gd.Power(space, places), space.origin, radius)
    mean = gd.FrechetMean(ball)
    z = np.zeros((n, places, space.dim))
    z[..., 0] = 0.999 * radius * (-1.0) ** np.arange(n)[:, None]
    one, other = z.copy(), z.copy()
    other[0] *= -1
    values = [mean.evaluate(space.exp_coords(space.origin, c)).value for c in (one, other)]
    moved = float(ball.space.dist(*values))
    bound = mean.sensitivity(n) + 2 * mean.error_bound
    curved = 2 * math.tan(radius) / n if space.curvature[1] > 0 else 2 * radius / n
    assert math.isclose(mean.sensitivity(n), math.sqrt(places) * curved, rel_tol=1e-6)
    assert 0.6 * bound < moved <= bound


def test_rounding_does_not_grow_with_the_number_of_places() -> None:
    """A ball of the whole product would be useless: exp(sqrt(1000)) times the rounding."""
    few, many = (gd.Ball(gd.Power(gd.SPD(3), k), np.eye(3), 1.0) for k in (10, 1000))
    first, second = (sensitivity_of(gd.FrechetMean(b), 100).error_bound for b in (few, many))
    assert math.isclose(second, 10 * first, rel_tol=1e-3)


@pytest.mark.parametrize("make", [gd.TangentMean, gd.FrechetVariance])
def test_rounding_of_relatives_is_that_of_the_places(make) -> None:
    """The squares of errors add up over places; for the variance, which is a sum, the errors."""
    cell = make(gd.Ball(gd.SPD(3), np.eye(3), 1.0)).error_bound
    grows = math.sqrt if make is gd.TangentMean else float
    for places in (10, 1000):
        bound = make(gd.Ball(gd.Power(gd.SPD(3), places), np.eye(3), 1.0)).error_bound
        assert cell < bound < 3 * grows(places) * cell


def test_the_tangent_mean_of_maps_asks_for_the_radius_of_one_place() -> None:
    ball = gd.Ball(gd.Power(gd.Sphere(2), 25), [0.0, 0.0, 1.0], 0.8)  # 4 together, beyond pi
    maps = ball.edge(np.random.default_rng(2).normal(size=(50, 50)))
    found = gd.TangentMean(ball).evaluate(maps)
    z = gd.Sphere(2).log_coords(ball.center[0], maps).mean(axis=0)
    assert np.abs(found.value - z.ravel()).max() <= found.error_bound
    with pytest.raises(gd.ConditionError, match="injectivity radius"):
        gd.TangentMean(gd.Ball(ball.space, [0.0, 0.0, 1.0], 3.2))


def test_the_variance_of_maps_is_the_sum_of_those_of_places() -> None:
    maps = _maps(gd.Sphere(2), 40, 6, 0.3)
    north = gd.Sphere(2).origin
    whole = gd.FrechetVariance(gd.Ball(gd.Power(gd.Sphere(2), 6), north, 0.9)).evaluate(maps)
    alone = gd.FrechetVariance(gd.Ball(gd.Sphere(2), north, 0.9))
    parts = [float(alone.evaluate(maps[:, i]).value[0]) for i in range(6)]
    slack = whole.error_bound + 6 * alone.error_bound
    assert abs(float(whole.value[0]) - math.fsum(parts)) <= slack


def test_release_of_maps_and_its_receipt() -> None:
    space = gd.Power(gd.Sphere(2), 4)
    ball = gd.Ball(space, [0.0, 0.0, 1.0], 0.8)
    maps = ball.edge(np.random.default_rng(2).normal(size=(50, 8)))
    out = gd.release(maps, gd.FrechetMean(ball), gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    assert out.value.shape == (4, 3)
    assert space.contains(out.value)
    assert any("in each of 4 places" in note for note in out.notes)
    assert all(check.passed for check in gd.verify(gd.Release.from_json(out.to_json())))


def test_a_value_outside_one_place_is_pulled_in_there() -> None:
    ball = gd.Ball(gd.Power(gd.Euclidean(1), 4), [0.0], 1.0)
    point = np.array([[1.9], [0.1], [0.0], [0.0]])  # in the ball of the product, not in the place's
    assert not ball.holds(point)
    assert np.allclose(ball.project(point), [[1.0], [0.1], [0.0], [0.0]], rtol=1e-12)


def test_plan_says_when_maps_are_useless_and_what_n_would_help() -> None:
    ball = gd.Ball(gd.Power(gd.Euclidean(1), 900), [0.0], 1.0)
    mean, noise = gd.FrechetMean(ball), [gd.Wrapped(gd.Gaussian())]
    # scale 2 sqrt(900)/n in each place: 60/n against a radius of 1
    useless = gd.plan(mean, 20, gd.GaussianDP(1), noise, replaced=0)
    needed = re.search(r"about ([0-9]+) records", useless.warning)
    assert needed is not None
    assert math.isclose(int(needed[1]), 600, rel_tol=0.05)
    assert gd.plan(mean, 600, gd.GaussianDP(1), noise, replaced=0).warning == ""
    flat = gd.Ball(gd.Power(gd.Euclidean(3), 100), [0.0] * 3, 2.0)
    found = gd.plan(gd.FrechetMean(flat), 100, gd.GaussianDP(1), noise, replaced=0)
    # sensitivity 2 * 2 * 10 / 100 is the scale; a place has three coordinates of that deviation
    each = re.search(r"about (\S+) in each, in balls of radius 2\.$", found.note)
    assert each is not None
    assert math.isclose(float(each[1]), 0.4 * math.sqrt(3), rel_tol=0.02)
    assert found.note in repr(found)
    alone = gd.FrechetMean(gd.Ball(gd.Euclidean(3), [0.0] * 3, 2.0))
    assert gd.plan(alone, 100, gd.GaussianDP(1), noise, replaced=0).note == ""


def test_inference_place_by_place_has_the_noise_of_the_whole_map() -> None:
    """mu/sqrt(V) in one place, and sqrt(V) times the sensitivity to mu: the same scale."""
    places, cell, noise = 9, gd.SPD(2), gd.Wrapped(gd.Gaussian())
    one, many = gd.Ball(cell, np.eye(2), 1.0), gd.Ball(gd.Power(cell, places), np.eye(2), 1.0)
    for delta in (gd.FrechetMean(one).sensitivity(500), 0.01):
        alone = gd.calibrate(noise, cell, delta, gd.GaussianDP(Fraction(2, 3)), ball=one)
        whole = gd.calibrate(noise, many.space, 3 * delta, gd.GaussianDP(2), ball=many)
        assert math.isclose(alone.scale, whole.scale, rel_tol=1e-9)
    with pytest.raises(gd.NotYetError, match="each of the V places by itself"):
        gd.infer(np.tile(np.eye(2), (500, places, 1, 1)), many, gd.GaussianDP(2))
