"""The Fréchet median: its minimiser, its gradient, the floor of its proposals, and its refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.mechanisms.base import Evaluated
from geodp.random import bit_stream
from geodp.statistics import LossGradient
from geodp.statistics.median_floor import convex_floor
from geodp.verbs.stages import calibrated

KNG = gd.KNormGradient()
SPACES = [
    (gd.Sphere(2), 0.6),
    (gd.Sphere(3, 4.0), 0.39),
    (gd.SPD(2), 1.5),
    (gd.Hyperbolic(3), 1.0),
    (gd.Euclidean(2), 1.0),
    (gd.PlanarShapes(4), 0.35),
]


def ball_on(space: gd.Space, radius: float) -> gd.Ball:
    return gd.Ball(space, space.origin, radius)


def spread(ball: gd.Ball, count: int, seed: int, share: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, ball.space.dim))
    z *= (share * ball.radius * np.sqrt(rng.random(count)) / np.linalg.norm(z, axis=1))[:, None]
    return ball.space.exp_coords(ball.center, z)


def samples(ball: gd.Ball) -> list[np.ndarray]:
    """Spread records, a cluster, all the same, two heaps, a heap and a cloud on the edge."""
    wide, tight = spread(ball, 40, 1), spread(ball, 40, 2, 1e-3)
    same, heaps, mixed = wide.copy(), wide.copy(), wide.copy()
    same[:] = wide[0]
    heaps[:15], heaps[15:] = wide[0], wide[1]
    mixed[:25] = wide[3]
    mixed[25:] = tight[25:]
    return [wide, tight, same, heaps, mixed, wide[:2], wide[:3]]


def test_the_median_on_the_line_and_of_a_triangle() -> None:
    """The middle record of an odd number; Fermat's point of an equilateral triangle."""
    line = gd.FrechetMedian(ball_on(gd.Euclidean(1), 1.0))
    value = line.evaluate([[-0.9], [0.11], [0.2], [0.25], [0.9]]).value
    assert value[0] == pytest.approx(0.2, abs=2e-5)
    angle = 2 * np.pi * np.arange(3) / 3
    corners = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + [0.1, -0.2]
    plane = gd.FrechetMedian(ball_on(gd.Euclidean(2), 1.0))
    assert plane.evaluate(corners).value == pytest.approx(np.array([0.1, -0.2]), abs=1e-2)


def test_half_the_records_do_not_move_it_far() -> None:
    """49 % of the records at the edge: the median stays, the mean does not."""
    ball = ball_on(gd.Sphere(2), 0.7)
    x = spread(ball, 100, 4, 0.05)
    x[:49] = ball.space.exp_coords(ball.center, np.array([0.7, 0.0]))
    assert ball.space.dist(ball.center, gd.FrechetMedian(ball).evaluate(x).value) < 0.1
    assert ball.space.dist(ball.center, gd.FrechetMean(ball).evaluate(x).value) > 0.3


@pytest.mark.parametrize(("space", "radius"), SPACES, ids=str)
def test_terms_are_unit_vectors_that_vanish_at_coincidence(space: gd.Space, radius: float) -> None:
    ball = ball_on(space, radius)
    gradient, x = gd.FrechetMedian(ball).gradient, spread(ball, 20, 3)
    assert isinstance(gradient, LossGradient)
    terms = gradient.terms(x[0], x)
    assert np.linalg.norm(terms[1:], axis=1) == pytest.approx(np.ones(19), rel=1e-12)
    assert np.linalg.norm(terms[0]) < 1e-6
    step = 1e-6 * np.eye(space.dim)[0]
    loss = [space.dist(space.exp_coords(x[0], s * step)[None], x[1:]).mean() for s in (1.0, -1.0)]
    slope = (loss[0] - loss[1]) / 2e-6
    assert terms[1:].mean(axis=0)[0] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize(("space", "radius"), SPACES, ids=str)
def test_one_record_moves_the_computed_norm_by_two_nths_at_most(
    space: gd.Space, radius: float
) -> None:
    """Random and extreme neighbours; on the axis of two opposite records it is reached."""
    ball = ball_on(space, radius)
    gradient = gd.FrechetMedian(ball).gradient
    allowed = gradient.sensitivity(8) + 2 * gradient.rounding(8, ball.reach)
    assert allowed == pytest.approx(2 / 8, rel=1e-5)
    for seed in range(20):
        data, x = spread(ball, 8, seed), spread(ball, 1, 300 + seed)[0]
        other = data.copy()
        other[0] = x if seed % 2 else spread(ball, 1, 600 + seed)[0]
        a, b = (gradient.norm(ball.clip(d), ball.reach)(x) for d in (data, other))
        assert abs(a - b) <= allowed
    axis = 0.5 * radius * np.eye(space.dim)[0]
    ends = space.exp_coords(ball.center, np.stack([axis, -axis]))
    data = ends[[0] * 8]
    other = ends[[1] + [0] * 7]
    norms = [gradient.norm(ball.clip(d), ball.reach)(ball.center) for d in (data, other)]
    assert 0.999 * 2 / 8 < norms[0] - norms[1] <= allowed


@pytest.mark.parametrize(("space", "radius"), SPACES, ids=str)
def test_the_floor_lies_below_the_norm(space: gd.Space, radius: float) -> None:
    """At random points, near ones, and a hair from records; from good and bad starting points."""
    ball = ball_on(space, radius)
    statistic, rng = gd.FrechetMedian(ball), np.random.default_rng(8)
    gradient = statistic.gradient
    t = np.geomspace(1e-8 * radius, 2 * radius, 120)
    closest = 0.0
    for data in samples(ball):
        clipped = ball.clip(data)
        norm = gradient.norm(clipped, ball.reach)
        for start in (statistic.evaluate(clipped).value, data[1], ball.center):
            floor = convex_floor(clipped, start, gradient.blunt, t)
            assert (np.diff(floor) >= 0).all()
            steps = rng.standard_normal((40, space.dim))
            steps *= (
                radius
                * 10.0 ** rng.uniform(-7, 0, (40, 1))
                / np.linalg.norm(steps, axis=1, keepdims=True)
            )
            near = space.exp_coords(start, steps)
            hair = space.exp_coords(data[rng.integers(0, len(data), 20)], 1e-6 * steps[:20])
            points = np.concatenate([spread(ball, 40, 5), near, hair])
            for x in points[space.dist(ball.center, points) <= radius]:
                at = np.searchsorted(t, space.dist(start, x) * (1 - 1e-9) - 1e-12) - 1
                if at >= 0:
                    assert norm(x) >= floor[at] - gradient.norm_error(ball.reach)
                    closest = max(closest, floor[at] / max(norm(x), 1e-12))
    assert closest > 0.9


def test_a_thousand_records_take_a_few_proposals() -> None:
    """The envelope does not collapse: well below 100 proposals a draw, for spread records."""
    for space, radius in ((gd.Sphere(2), 0.6), (gd.SPD(2), 1.5)):
        ball = ball_on(space, radius)
        statistic, data = gd.FrechetMedian(ball), spread(ball_on(space, radius), 1000, 3)
        cal, _ = calibrated(KNG, statistic, 1000, gd.PureDP(1))
        clipped = ball.clip(data)
        value = statistic.evaluate(clipped).value
        base, law = cal._proposals(statistic.gradient, Evaluated(value, statistic, clipped), value)
        stream, norm = bit_stream(np.random.default_rng(1)), statistic.gradient.norm(clipped, 1.6)
        chances = []
        for _ in range(100):
            draw = law.exact(stream)
            z = np.array([float(c) for c in draw.balls(128)])
            x = space.exp_coords(value, z)
            inside = space.dist(ball.center, x) <= radius
            chances.append(inside * math.exp((base - norm(x)) / cal.scale + law.drops[draw.piece]))
        assert max(chances) <= 1 + 1e-6
        assert np.mean(chances) > 0.02


@pytest.mark.parametrize(("space", "radius"), SPACES, ids=str)
def test_release_receipt_and_verify(space: gd.Space, radius: float) -> None:
    ball = ball_on(space, radius)
    out = gd.release(spread(ball, 200, 5, 0.8), gd.FrechetMedian(ball), gd.PureDP(4), KNG)
    assert out.statistic == "Fréchet median"
    assert out.stages[-1]["kept_in"] == "ball"
    assert space.dist(ball.center, out.value) <= ball.radius
    receipt = gd.Release.from_json(json.loads(json.dumps(out.to_json())))
    assert all(check.passed for check in gd.verify(receipt))
    assert receipt.sensitivity.statistic == pytest.approx(2 / 200, rel=1e-9)
    assert any("spread evenly over all directions" in note for note in out.notes)


def test_other_mechanisms_refuse_with_a_sentence() -> None:
    ball = ball_on(gd.Sphere(2), 0.6)
    statistic, x = gd.FrechetMedian(ball), spread(ball, 20, 1)
    for mechanism in ("wrapped-l2-laplace", "riemannian-laplace", "wrapped-gaussian", "best"):
        with pytest.raises(gd.InputError, match=r"No sensitivity .* is proven.*KNormGradient"):
            gd.release(x, statistic, gd.GaussianDP(1), mechanism)
    plan = gd.plan(statistic, 100, gd.PureDP(1), [gd.RiemannianLaplace(), KNG])
    assert plan.best == KNG
    assert plan.sensitivity is None
    assert "no proven sensitivity of its own" in repr(plan)
    assert plan.to_json()["mechanisms"][0]["assumes"].startswith("records spread evenly")


def test_radii_beyond_convexity_are_refused() -> None:
    for space, limit in ((gd.Sphere(2), math.pi / 4), (gd.PlanarShapes(4), math.pi / 8)):
        gd.FrechetMedian(ball_on(space, limit - 1e-3))
        with pytest.raises(gd.ConditionError, match="are convex on balls of radius below"):
            gd.FrechetMedian(ball_on(space, limit + 1e-3))
    with pytest.raises(gd.InputError, match="domain is a ball"):
        gd.FrechetMedian(gd.Sphere(2))  # type: ignore[arg-type]
    median = gd.FrechetMedian(ball_on(gd.Sphere(2), 0.5))
    x = spread(median.ball, 9, 1)
    with pytest.raises(gd.ConditionError, match="one proven bound alone"):
        gd.release(x, median, gd.PureDP(1), gd.KNormGradient("tangent"))


def test_on_the_command_line() -> None:
    ball = ["--space", "sphere:2", "--center", "origin", "--radius", "0.6", "--pure", "1"]
    chosen = ["--statistic", "frechet-median", "--mechanism", "k-norm-gradient", "--json"]
    result = CliRunner().invoke(main, ["plan", *ball, *chosen, "--n", "500"])
    assert result.exit_code == 0
    plan = json.loads(result.stdout)
    assert plan["statistic"] == "Fréchet median"
    assert plan["sensitivity"] is None
    assert plan["mechanisms"][0]["scale"] > 2 * 2 / 500
    refused = CliRunner().invoke(main, ["plan", *ball, *chosen[:2], "--n", "500"])
    assert "KNormGradient" in refused.output
