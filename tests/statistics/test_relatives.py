"""Means on planar shapes, tangent means and extrinsic means: values, neighbours, receipts."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import geodp as gd
from geodp.statistics import Route
from geodp.testing import random_points
from geodp.verbs.stages import finished

SHAPES = [gd.PlanarShapes(3), gd.PlanarShapes(4), gd.PlanarShapes(9)]
SPHERES = [gd.Sphere(1), gd.Sphere(2), gd.Sphere(4, 0.25)]
TANGENT = [
    (gd.Sphere(2), 3.0),
    (gd.PlanarShapes(3), 1.5),
    (gd.PlanarShapes(6), 1.0),
    (gd.SPD(3), 2.0),
    (gd.Hyperbolic(3), 2.0),
    (gd.Euclidean(2), 1.0),
    (gd.Product(gd.Sphere(2), gd.SPD(2)), 1.0),
]


def edge(space: gd.Space, n: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    z = rng.standard_normal((n, space.dim))
    z *= radius / np.linalg.norm(z, axis=1, keepdims=True)
    return space.exp_coords(space.origin, z)


# --- the Fréchet mean of shapes -----------------------------------------------------------------
@pytest.mark.parametrize("space", SHAPES, ids=str)
@pytest.mark.parametrize("radius", [0.1, 0.35, 0.7])
def test_shape_mean_has_the_sharp_sensitivity(space: gd.Space, radius: float) -> None:
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    assert mean.sensitivity(100) == pytest.approx(math.tan(2 * radius) / 100, rel=1e-7)


def test_check_values_and_limits_of_shapes() -> None:
    space = gd.PlanarShapes(5)
    ball = gd.Ball(space, space.origin, 0.35)
    assert 100 * gd.FrechetMean(ball).sensitivity(100) == pytest.approx(0.8423, abs=5e-5)
    published = gd.FrechetMean(ball, "published")
    assert 100 * published.sensitivity(100) == pytest.approx(5.10, abs=5e-3)
    with pytest.raises(gd.ConditionError, match=r"below 0\.785398.*TangentMean"):
        gd.FrechetMean(gd.Ball(space, space.origin, 0.79))
    with pytest.raises(gd.ConditionError, match=r"below 0\.392699"):
        gd.FrechetMean(gd.Ball(space, space.origin, 0.4), "published")


@pytest.mark.parametrize("space", SHAPES, ids=str)
def test_two_clusters_approach_the_bound(space: gd.Space) -> None:
    """Records at ±r e, the moved one from r Je to -r Je: the sharp case of curvature 4."""
    radius, n = 0.6, 401
    along, turned = np.zeros(space.dim), np.zeros(space.dim)
    along[0], turned[1] = radius, radius  # coordinates come in pairs (x, y) = x + iy
    left, right, up, down = space.exp_coords(
        space.origin, np.stack([along, -along, turned, -turned])
    )
    clusters = [left] * ((n - 1) // 2) + [right] * ((n - 1) // 2)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    a, b = (mean.evaluate(np.stack([*clusters, x])).value for x in (up, down))
    shift, bound = float(space.dist(a, b)), math.tan(2 * radius) / n
    assert 0.98 * bound <= shift <= bound * (1 + 1e-6)
    plain = 2 * radius / n  # what a flat space would give
    assert shift > 1.4 * plain


@pytest.mark.parametrize(
    ("space", "radius"), list(zip(SHAPES, (0.7, 0.3, 0.7), strict=True)), ids=str
)
def test_hill_climbed_neighbours_stay_below_the_bound(space: gd.Space, radius: float) -> None:
    rng = np.random.default_rng(3)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, radius))
    n = 21  # record 0 is replaced by the last one; the search starts at two clusters
    bound = mean.sensitivity(n) + 2 * mean.error_bound
    z = np.zeros((n + 1, space.dim))
    z[1:n:2, 0], z[2:n:2, 0], z[0, 1], z[n, 1] = radius, -radius, radius, -radius

    def shift(x: np.ndarray) -> float:
        first, second = x[:n], np.concatenate([x[1:n], x[n:]])
        return float(space.dist(mean.evaluate(first).value, mean.evaluate(second).value))

    best, most, step = z, shift(space.exp_coords(space.origin, z)), 0.1
    for _ in range(40):
        trial = best + step * radius * rng.standard_normal(z.shape) / math.sqrt(space.dim)
        trial *= np.minimum(1, radius / np.linalg.norm(trial, axis=1, keepdims=True))
        value = shift(space.exp_coords(space.origin, trial))
        assert value <= bound
        if value > most:
            best, most = trial, value
        else:
            step *= 0.93
    assert most > 0.7 * bound  # the search is no formality


@pytest.mark.parametrize("noise", [gd.Gaussian(), gd.L2Laplace()], ids=str)
def test_wrapped_mechanisms_stretch_by_the_lipschitz_constant(noise: object) -> None:
    space, radius = gd.PlanarShapes(4), 0.5
    ball = gd.Ball(space, space.origin, radius)
    x = random_points(space, 40, radius, np.random.default_rng(4))
    out = gd.release(x, gd.FrechetMean(ball), gd.ApproxDP(1, 1e-5), gd.Wrapped(noise))
    factor = 2 * radius / math.sin(2 * radius)
    assert out.stages[0]["tangent_sensitivity"] == pytest.approx(
        factor * out.sensitivity.total, rel=1e-7
    )
    assert space.contains(out.value)
    assert np.array_equal(space.project(out.value), out.value)  # released in the canonical gauge
    assert all(check.passed for check in gd.verify(out))


def test_releases_do_not_depend_on_the_records_rotations() -> None:
    """Same noise, every record turned by its own angle: the same release to rounding."""
    space = gd.PlanarShapes(5)
    rng = np.random.default_rng(5)
    x = random_points(space, 30, 0.5, rng)
    t = rng.uniform(0, 6, 30)
    turn = np.stack([np.cos(t), np.sin(t), -np.sin(t), np.cos(t)], axis=-1).reshape(30, 2, 2)
    mean = gd.FrechetMean(gd.Ball(space, space.origin, 0.6))
    values = [
        gd.release(
            y, mean, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()), rng=np.random.default_rng(6)
        ).value
        for y in (x, x @ turn)
    ]
    assert np.abs(values[0] - values[1]).max() < 1e-7


# --- tangent means ------------------------------------------------------------------------------
@pytest.mark.parametrize(("space", "radius"), TANGENT, ids=str)
def test_tangent_mean_is_the_mean_log(space: gd.Space, radius: float) -> None:
    rng = np.random.default_rng(7)
    ball = gd.Ball(space, random_points(space, 1, 0.5, rng)[0], radius)
    mean = gd.TangentMean(ball)
    z = rng.standard_normal((50, space.dim))
    z *= (radius * rng.random(50) / np.linalg.norm(z, axis=1))[:, None]
    x = space.exp_coords(ball.center, z)
    certified = mean.evaluate(x)
    assert np.linalg.norm(certified.value - z.mean(axis=0)) <= 1e-9
    assert certified.error_bound == mean.error_bound <= 1e-9 * radius
    again = mean.evaluate(rng.permutation(x)).value
    assert np.array_equal(certified.value, again)  # exact sums
    point = finished(mean, certified.value)
    assert space.dist(point, space.exp_coords(ball.center, z.mean(axis=0))) <= 1e-9
    assert mean.sensitivity(50) == pytest.approx(2 * radius / 50, rel=1e-6)
    assert mean.sensitivity(50) >= 2 * radius / 50


@pytest.mark.parametrize(("space", "radius"), TANGENT, ids=str)
def test_tangent_mean_of_neighbours(space: gd.Space, radius: float) -> None:
    """The bound holds, and is reached by a record that crosses the ball."""
    rng = np.random.default_rng(8)
    mean = gd.TangentMean(gd.Ball(space, space.origin, radius))
    n = 7
    bound = mean.sensitivity(n) + 2 * mean.error_bound
    x = edge(space, n + 1, radius, rng)
    z = space.log_coords(space.origin, x[0])
    x[n] = space.exp_coords(space.origin, -z)
    a, b = mean.evaluate(x[:n]).value, mean.evaluate(np.concatenate([x[1:n], x[n:]])).value
    assert bound * (1 - 1e-6) <= np.linalg.norm(a - b) <= bound
    if space.curvature[0] >= 0:  # exp does not stretch: the points are as near
        assert space.dist(finished(mean, a), finished(mean, b)) <= bound


def test_tangent_mean_needs_less_noise_than_the_frechet_mean_and_reaches_farther() -> None:
    space = gd.PlanarShapes(6)
    ball = gd.Ball(space, space.origin, 0.7)
    rows = [
        gd.plan(s, 100, gd.GaussianDP(1)).rows[0]
        for s in (gd.TangentMean(ball), gd.FrechetMean(ball))
    ]
    tangent, frechet = (row.center for row in rows)
    assert tangent < 0.3 * frechet  # 2 r against tan(2 r) times the Lipschitz factor
    gd.TangentMean(gd.Ball(space, space.origin, 1.5))
    with pytest.raises(gd.ConditionError, match="injectivity radius"):
        gd.TangentMean(gd.Ball(space, space.origin, 1.6))


# --- extrinsic means ----------------------------------------------------------------------------
@pytest.mark.parametrize("space", SPHERES, ids=str)
def test_mean_direction(space: gd.Sphere) -> None:
    size = math.sqrt(space.curvature[1]) if space.dim > 1 else 1.0
    x = random_points(space, 60, 1.0, np.random.default_rng(9))
    mean = gd.ExtrinsicMean(space)
    value = mean.evaluate(x).value
    expected = x.mean(axis=0) * size
    np.testing.assert_allclose(value, expected, atol=1e-13)
    np.testing.assert_allclose(
        finished(mean, value), expected / np.linalg.norm(expected) / size, atol=1e-13
    )
    assert mean.name == "extrinsic mean (mean direction)"


@pytest.mark.parametrize("space", SHAPES, ids=str)
def test_full_procrustes_mean(space: gd.PlanarShapes) -> None:
    """The leading eigenvector of mean z z*, which maximises the mean of |<m, z>|²."""
    x = random_points(space, 60, 0.7, np.random.default_rng(10))
    mean = gd.ExtrinsicMean(space)
    point = finished(mean, mean.evaluate(x).value)
    z = x[..., 0] + 1j * x[..., 1]
    values, vectors = np.linalg.eigh(np.einsum("ni,nj->ij", z, z.conj()) / 60)
    m = point[:, 0] + 1j * point[:, 1]
    assert abs(np.vdot(m, vectors[:, -1])) == pytest.approx(1, abs=1e-12)
    fit = np.mean(np.abs(z @ m.conj()) ** 2)
    assert fit == pytest.approx(values[-1], abs=1e-12)
    assert np.array_equal(space.project(point), point)
    assert mean.name == "extrinsic mean (full Procrustes mean)"


@pytest.mark.parametrize("space", [*SPHERES, *SHAPES], ids=str)
def test_embedded_distances(space: gd.Space) -> None:
    """|x - y| = 2 sin(t/2) on the unit sphere, √2 sin t for projections."""
    x = random_points(space, 40, 1.4, np.random.default_rng(11))
    a, b = x[:20], x[20:]
    route = gd.ExtrinsicMean(space).route
    gap = np.linalg.norm(route.lift(a) - route.lift(b), axis=1)
    t = space.dist(a, b)
    if isinstance(space, gd.Sphere):
        expected = 2 * np.sin(t / float(np.linalg.norm(space.origin)) / 2)
    else:
        expected = math.sqrt(2) * np.sin(t)
    np.testing.assert_allclose(gap, expected, atol=1e-13)
    back = route.finish(route.lift(a))
    assert space.dist(back, a).max() < 1e-12


@pytest.mark.parametrize("space", [*SPHERES, *SHAPES], ids=str)
@pytest.mark.parametrize("part", [0.2, 0.45, 0.5, 0.7, None])
def test_extrinsic_mean_of_neighbours(space: gd.Space, part: float | None) -> None:
    """The closed forms hold and are reached by ends of a diameter, or by points a chord apart."""
    rng = np.random.default_rng(12)
    inj, n = space.injectivity_radius, 9
    radius = inj if part is None else part * inj
    mean = gd.ExtrinsicMean(space if part is None else gd.Ball(space, space.origin, radius))
    if isinstance(space, gd.Sphere):
        expected = 2 * math.sin(min(radius / inj * math.pi, math.pi / 2)) / n
    else:
        expected = math.sqrt(2) * math.sin(min(2 * radius, math.pi / 2)) / n
    assert mean.sensitivity(n) == pytest.approx(expected, rel=1e-6)
    assert mean.sensitivity(n) >= expected
    bound = mean.sensitivity(n) + 2 * mean.error_bound
    for _ in range(20):
        x = random_points(space, n + 1, 0.999 * radius, rng)
        a, b = mean.evaluate(x[:n]).value, mean.evaluate(np.concatenate([x[1:n], x[n:]])).value
        assert np.linalg.norm(a - b) <= bound
    ends = edge(space, 1, min(radius, inj / 2), rng)[0]
    x[0], x[n] = ends, space.exp_coords(space.origin, -space.log_coords(space.origin, ends))
    a, b = mean.evaluate(x[:n]).value, mean.evaluate(np.concatenate([x[1:n], x[n:]])).value
    assert bound * (1 - 1e-6) <= np.linalg.norm(a - b) <= bound


def test_extrinsic_mean_of_any_spread() -> None:
    """Records on the whole sphere: release, receipt and the error of the noise by itself."""
    space = gd.Sphere(2)
    x = np.random.default_rng(13).normal(size=(400, 3)) + np.array([0.0, 0.0, 1.0])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    mean = gd.ExtrinsicMean(space)
    out = gd.release(x, mean, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    assert out.statistic == mean.name
    assert out.stages[0]["scale"] == pytest.approx(2 / 400, rel=1e-6)
    assert space.contains(out.value)
    exact = x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
    assert space.dist(out.value, exact) < 0.15  # ten times the noise


@pytest.mark.parametrize("space", [*SPHERES, gd.PlanarShapes(4)], ids=str)
def test_records_opposite_to_the_origin_stay_where_they_are(space: gd.Space) -> None:
    """Nothing natural lies on the cut locus of the whole space's ball."""
    z = np.concatenate([np.eye(space.dim), -np.eye(space.dim)]) * space.injectivity_radius
    x = space.exp_coords(space.origin, z)  # at the cut locus of the origin
    if isinstance(space, gd.Sphere):
        x = np.concatenate([x, -np.eye(space.dim + 1) * np.linalg.norm(space.origin)])
    mean = gd.ExtrinsicMean(space)
    (clipped,) = mean.ball.clip(x).chunks()
    assert space.dist(clipped, x).max() < 1e-12
    np.testing.assert_allclose(mean.evaluate(x).value, mean.route.lift(x).mean(axis=0), atol=1e-14)


def test_extrinsic_means_exist_where_an_embedding_does() -> None:
    for space in (gd.SPD(2), gd.Hyperbolic(2), gd.Product(gd.Sphere(2), gd.Sphere(2))):
        with pytest.raises(gd.SpaceError, match="spheres and planar shapes"):
            gd.ExtrinsicMean(space)
    with pytest.raises(gd.InputError, match="ball"):
        gd.ExtrinsicMean(3)  # type: ignore[arg-type]
    with pytest.raises(gd.InputError, match="ball"):
        gd.TangentMean(3)  # type: ignore[arg-type]


# --- routes in the verbs ------------------------------------------------------------------------
def relatives() -> list[gd.Statistic]:
    shapes, sphere = gd.PlanarShapes(4), gd.Sphere(2)
    ball, cap = gd.Ball(shapes, shapes.origin, 0.5), gd.Ball(sphere, sphere.origin, 0.5)
    spd = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    return [
        gd.TangentMean(ball),
        gd.TangentMean(spd),
        gd.ExtrinsicMean(ball),
        gd.ExtrinsicMean(shapes),
        gd.ExtrinsicMean(cap),
        gd.ExtrinsicMean(sphere),
    ]


@pytest.mark.parametrize("statistic", relatives(), ids=lambda s: f"{s.name} {s.ball.radius:.2f}")
@pytest.mark.parametrize(
    "mechanism", [gd.Wrapped(gd.Gaussian()), gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("0.3"))]
)
def test_receipts_say_how_the_value_came_about_and_verify(
    statistic: gd.Statistic, mechanism: gd.Wrapped
) -> None:
    space = statistic.space
    x = random_points(space, 20, 0.4, np.random.default_rng(14))
    out = gd.release(x, statistic, gd.GaussianDP(1), mechanism)
    document = json.loads(json.dumps(out.to_json()))
    schema = json.loads(files("geodp.ledger").joinpath("schema_v1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    back = gd.Release.from_json(document)
    assert [check.name for check in gd.verify(back) if not check.passed] == []
    assert any("Fréchet mean" in note and "noise was added" in note for note in back.notes)
    assert "noise was added" in repr(back)
    assert np.array_equal(finished(statistic, np.array(out.stages[-1]["drawn"])), out.value)

    def fails(change: object) -> list[str]:
        bad = json.loads(json.dumps(document))
        change(bad)  # type: ignore[operator]
        return [c.name for c in gd.verify(gd.Release.from_json(bad)) if not c.passed]

    stage = document["outcome"]["stages"][-1]
    other = (-np.array(stage["drawn"]) + 0.3).tolist()
    assert "value" in fails(lambda d: d["outcome"]["stages"][-1].update(drawn=other))
    assert "value" in fails(lambda d: d["outcome"]["stages"][-1].pop("drawn"))
    assert "scale" in fails(lambda d: d["outcome"]["stages"][-1].update(scale=stage["scale"] / 2))
    assert "sensitivity" in fails(lambda d: d["request"].update(n=10))


@pytest.mark.parametrize("statistic", relatives(), ids=lambda s: f"{s.name} {s.ball.radius:.2f}")
def test_plan_shows_their_own_name_and_what_differs(statistic: gd.Statistic) -> None:
    plan = gd.plan(statistic, 100, gd.GaussianDP(1))
    text = repr(plan)
    assert text.startswith(f"{statistic.name} of 100 records on {statistic.space.spec}")
    assert "another point than the Fréchet mean" in text
    assert plan.to_json()["note"] == plan.note
    assert plan.best.name == "wrapped-gaussian"
    assert plan.rows[0].center is not None
    assert plan.rows[0].center > 0


def test_planned_distance_of_the_mean_direction_is_that_of_two_tangential_normals() -> None:
    """For a unit mean vector: E|tangential noise| = sigma √(π/2) to first order."""
    mean = gd.ExtrinsicMean(gd.Sphere(2))
    cal_rows = gd.plan(mean, 1000, gd.GaussianDP(1), [gd.Wrapped(gd.Gaussian())]).rows
    expected = 2 / 1000 * math.sqrt(math.pi / 2)
    assert cal_rows[0].center == pytest.approx(expected, rel=0.25)  # 200 draws, public seed
    assert (
        "note"
        not in gd.plan(
            gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0)), 9, gd.GaussianDP(1)
        ).to_json()
    )


class HalfCircle:
    """A stranger's statistic with a route of its own: the mean angle, released as a direction."""

    name = "mean angle"
    space = gd.Sphere(1)
    ball = None
    error_bound = 0.0
    route = Route(
        gd.Euclidean(1),
        None,
        lambda x: np.arctan2(x[..., 1:], x[..., :1]),
        lambda t: np.concatenate([np.cos(t), np.sin(t)], axis=-1),
        "The noise was added to the angle.",
        1.0,
    )

    def sensitivity(self, n: int) -> float:
        return math.pi / n

    def evaluate(self, records: np.ndarray) -> gd.Certified:
        return gd.Certified(np.clip(self.route.lift(records), 0, math.pi).mean(axis=0), 0.0)


def test_strangers_statistics_may_have_a_route() -> None:
    t = np.linspace(0.5, 1.5, 50)
    x = np.stack([np.cos(t), np.sin(t)], axis=-1)
    out = gd.release(x, HalfCircle(), gd.GaussianDP(5), gd.Wrapped(gd.Gaussian()))
    assert out.space.dist(out.value, [math.cos(1), math.sin(1)]) < 0.2
    assert all(check.passed for check in gd.verify(gd.Release.from_json(out.to_json())))
