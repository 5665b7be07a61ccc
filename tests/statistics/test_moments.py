"""Sensitivities of the numbers beside the mean: a search for neighbours that break them."""

from __future__ import annotations

import numpy as np
import pytest

import geodp as gd
from geodp.statistics import DistanceMoment, MeanHessian, TangentCovariance

SPACES = [
    (gd.Sphere(2), 0.7),
    (gd.Sphere(2), 1.3),
    (gd.Hyperbolic(3), 1.5),
    (gd.SPD(2), 1.5),
    (gd.SPD(2, "log-cholesky"), 1.5),
    (gd.PlanarShapes(4), 0.5),
    (gd.Euclidean(1), 2.0),
    (gd.SPD(3), 2.0),
    (gd.Product(gd.Sphere(2), gd.SPD(2)), 0.9),
]
IDS = [f"{space.spec}-{radius}" for space, radius in SPACES]
N = 6


def ball_of(space, radius):
    return gd.Ball(space, space.origin, radius)


def points(rng, space, radius, count, edge):
    z = rng.standard_normal((count, space.dim))
    size = np.ones(count) if edge else rng.random(count)
    return space.exp_coords(space.origin, z * (radius * size / np.linalg.norm(z, axis=1))[:, None])


def statistics(ball, at):
    made = {
        "variance": lambda: gd.FrechetVariance(ball),
        "replaced": lambda: gd.ReplacedShare(ball),
        "second": lambda: DistanceMoment(ball, at, 2),
        "fourth": lambda: DistanceMoment(ball, at, 4),
        "covariance": lambda: TangentCovariance(ball, at),
        "cut covariance": lambda: TangentCovariance(ball, at, spread=0.4 * ball.radius),
    }
    if not ball.space.is_flat:
        made["hessian"] = lambda: MeanHessian(ball, at)
    return {name: make() for name, make in made.items()}


def shift(statistic, records, other):
    neighbour = np.concatenate([other[None], records[1:]])
    gap = statistic.evaluate(neighbour).value - statistic.evaluate(records).value
    return float(np.linalg.norm(gap)) / (statistic.sensitivity(len(records)))


@pytest.mark.parametrize(("space", "radius"), SPACES, ids=IDS)
def test_no_neighbours_beyond_the_sensitivity(space, radius):
    """Random, extreme and hill-climbed pairs; the climb is on the replaced record and its rest."""
    rng = np.random.default_rng(5)
    ball = ball_of(space, radius)
    for trial in range(2):
        at = points(rng, space, radius, 1, edge=trial % 2 == 0)[0]
        for name, statistic in statistics(ball, at).items():
            slack = 1 + 2 * statistic.error_bound / statistic.sensitivity(N)
            records, other = points(rng, space, radius, N, True), points(rng, space, radius, 1, 1)
            far = 100.0 if name == "replaced" else 1.0
            worst = shift(statistic, records, other[0] * far)
            z = space.log_coords(space.origin, np.concatenate([records, other]))
            for _ in range(12):
                step = z + 0.3 * radius * rng.standard_normal(z.shape)
                length = np.linalg.norm(step, axis=1, keepdims=True)
                step *= np.minimum(1, radius / length)
                moved = space.exp_coords(space.origin, step)
                found = shift(statistic, moved[:-1], moved[-1] * far)
                if found > worst:
                    worst, z = found, step
            assert worst <= slack, name


def test_sensitivities_are_attained():
    """Extreme pairs reach the bounds, so that half of any of them would be found out."""
    line = ball_of(gd.Euclidean(2), 1.0)
    left, right = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    same = np.tile(left, (50, 1))
    assert 0.97 < shift(gd.FrechetVariance(line), same, right) <= 1 + 1e-9
    assert shift(gd.ReplacedShare(line), same, 9 * right) == pytest.approx(1, abs=1e-9)
    at = DistanceMoment(line, right, 4)
    assert shift(at, np.tile(right, (50, 1)), left) == pytest.approx(1, abs=1e-6)
    up = np.array([0.0, 1.0])
    covariance = TangentCovariance(line, np.zeros(2))
    assert shift(covariance, np.tile(left, (50, 1)), up) == pytest.approx(1, abs=1e-6)
    cap = ball_of(gd.Sphere(3), 0.9)
    e = np.eye(4)
    edge = [np.cos(0.9) * e[0] + np.sin(0.9) * e[i] for i in (1, 2)]
    hessian = MeanHessian(cap, cap.center)
    assert shift(hessian, np.tile(edge[0], (50, 1)), edge[1]) == pytest.approx(1, abs=1e-6)


def test_values_on_the_sphere_by_hand():
    ball = ball_of(gd.Sphere(2), 0.6)
    angles = np.array([0.1, 0.3, 0.5])
    north = ball.center
    east, south = np.eye(3)[1], np.eye(3)[2]
    records = np.stack(
        [np.cos(t) * north + np.sin(t) * (east if t < 0.4 else south) for t in angles]
    )
    assert north @ east == 0
    second = DistanceMoment(ball, north, 2).evaluate(records).value[0]
    fourth = DistanceMoment(ball, north, 4).evaluate(records).value[0]
    assert second == pytest.approx((0.01 + 0.09 + 0.25) / 3, rel=1e-12)
    assert fourth == pytest.approx((1e-4 + 81e-4 + 625e-4) / 3, rel=1e-12)
    spread = np.sort(np.linalg.eigvalsh(unvech(TangentCovariance(ball, north), records)))
    np.testing.assert_allclose(spread, [0.1 / 3, 0.25 / 3], rtol=1e-10)
    g = angles / np.tan(angles)
    expected = np.sort([(1 + 1 + g[2]) / 3, (g[0] + g[1] + 1) / 3])
    hessian = np.sort(np.linalg.eigvalsh(unvech(MeanHessian(ball, north), records)))
    np.testing.assert_allclose(hessian, expected, rtol=1e-10)
    two = np.stack([records[0], np.cos(0.3) * north - np.sin(0.3) * east])
    assert gd.FrechetVariance(ball).evaluate(two).value[0] == pytest.approx(0.04, rel=1e-8)


def unvech(statistic, records):
    a, b, c = statistic.evaluate(records).value
    return np.array([[a, b / np.sqrt(2)], [b / np.sqrt(2), c]])


def test_hessian_eigenvalues_keep_their_public_limits():
    rng = np.random.default_rng(2)
    for space, radius in SPACES[:4]:
        ball = ball_of(space, radius)
        at = points(rng, space, radius, 1, True)[0]
        statistic = MeanHessian(ball, at)
        low, high = statistic.bounds
        values = np.linalg.eigvalsh(space.hessian(at, points(rng, space, radius, 300, True)))
        assert low - 1e-9 <= values.min()
        assert values.max() <= high + 1e-9


def test_a_release_of_the_variance_and_of_the_replaced_share():
    ball = ball_of(gd.SPD(2), 1.0)
    records = np.stack([np.eye(2)] * 50 + [-np.eye(2)] * 30 + [50 * np.eye(2)] * 20)
    gaussian = gd.Wrapped(gd.Gaussian())
    share = gd.release(records, gd.ReplacedShare(ball), gd.GaussianDP(5), gaussian, unit="scan")
    assert abs(share.value[0] - 0.5) < 6 * share.scale
    assert share.scale == pytest.approx(1 / 100 / 5, rel=1e-6)
    assert share.replaced is None  # it is itself what is counted
    variance = gd.release(records, gd.FrechetVariance(ball), gd.GaussianDP(5), gaussian, replaced=0)
    assert variance.scale == pytest.approx(4 / 100 / 5, rel=1e-6)
    assert any("public ball of radius" in note for note in variance.notes)


def test_refusals():
    ball = ball_of(gd.Sphere(2), 0.5)
    with pytest.raises(gd.SpaceError, match="no point"):
        TangentCovariance(ball, [2.0, 0.0, 0.0])
    with pytest.raises(gd.ConditionError, match="identity"):
        MeanHessian(ball_of(gd.Euclidean(2), 1.0), [0.0, 0.0])
    with pytest.raises(gd.InputError, match="spread"):
        TangentCovariance(ball, ball.center, spread=-1.0)
    with pytest.raises(gd.ConditionError):
        gd.FrechetVariance(ball_of(gd.Sphere(2), 1.6))
    for kind in (gd.FrechetVariance, gd.ReplacedShare):
        with pytest.raises(gd.InputError, match="ball"):
            kind(3)
