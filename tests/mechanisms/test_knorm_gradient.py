"""K-norm gradient: the gradient's constants, the law against its density, receipts, refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import geodp as gd
from geodp.mechanisms import candidates
from geodp.mechanisms.base import Evaluated
from geodp.noise.radial_laws import radial_law
from geodp.random import bit_stream
from geodp.spaces.lattice import LogSum
from geodp.statistics.gradient import FrechetGradient
from geodp.statistics.log_diameter import CONSTANTS, log_diameter
from geodp.statistics.mean_floor import certain, positive_floor
from geodp.statistics.sensitivity import mean_sensitivity
from geodp.verbs.stages import calibrated

KNG = gd.KNormGradient()


def cap(radius: float = math.pi / 8) -> gd.Ball:
    return gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], radius)


def ball_on(space: gd.Space, radius: float) -> gd.Ball:
    return gd.Ball(space, space.origin, radius)


def spread(ball: gd.Ball, count: int, seed: int) -> np.ndarray:
    """Records of uniform direction, uniform in the ball's tangent disc."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, ball.space.dim))
    z *= (ball.radius * np.sqrt(rng.random(count)) / np.linalg.norm(z, axis=1))[:, None]
    return ball.space.exp_coords(ball.center, z)


def draws(
    statistic: gd.Statistic, data: np.ndarray, epsilon: float, count: int, seed: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """The value, draws around it and the scale, by the release path on seeded bits."""
    cal, _ = calibrated(KNG, statistic, len(data), gd.PureDP(epsilon))
    clipped = statistic.ball.clip(data)
    evaluated = Evaluated(statistic.evaluate(clipped).value, statistic, clipped)
    stream = bit_stream(np.random.default_rng(seed))
    points = np.array([cal.release(evaluated, stream) for _ in range(count)])
    return evaluated.value, points, cal.scale


# --- the constants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("angle", "supremum", "tangent", "published"),
    [(math.pi / 8, 0.8062, 0.8284, 0.9539), (math.pi / 5, 1.3458, 1.4531, 2.0002)],
)
def test_constants_on_the_sphere(
    angle: float, supremum: float, tangent: float, published: float
) -> None:
    """[design, 6]; and on a sphere of another curvature, by scaling."""
    for name, value in zip(CONSTANTS, (supremum, tangent, published), strict=True):
        assert log_diameter(gd.Sphere(2), angle, name) == pytest.approx(value, abs=5.1e-5)
        half = gd.Sphere(3, 4.0)
        assert log_diameter(half, angle / 2, name) == pytest.approx(value / 2, abs=5.1e-5)
        assert log_diameter(gd.PlanarShapes(4), angle / 2, name) == pytest.approx(
            value / 2, abs=5.1e-5
        )


def test_constants_elsewhere() -> None:
    for space in (gd.SPD(2), gd.Hyperbolic(3), gd.Euclidean(2), gd.Sphere(1)):
        for name in CONSTANTS:
            assert log_diameter(space, 1.25, name) == pytest.approx(2.5, rel=1e-9)
    assert FrechetGradient(ball_on(gd.SPD(2), 1.5)).sensitivity(10) == pytest.approx(0.3, rel=1e-8)
    assert 2 * math.pi - 0.1 < log_diameter(gd.Sphere(2), 1.57) < 2 * math.pi


def test_the_supremum_is_the_maximum_in_closed_form_rounded_up() -> None:
    """max of 4 sin(a) atan(tan(R) cos(a)) by 40 digits of mpmath; never below, 1e-13 above."""
    import mpmath as mp

    with mp.workdps(40):
        for radius in (1e-6, 0.1, math.pi / 8, 0.9, 1.4, 1.57):
            exact = _greatest(mp.tan(radius))
            found = log_diameter(gd.Sphere(2), radius)
            assert exact <= found <= exact * (1 + mp.mpf("1e-13"))


def _greatest(t: Any) -> Any:
    """max of 4 sin(a) atan(t cos(a)), by the root of its derivative."""
    import mpmath as mp

    def slope(a: Any) -> Any:
        u = t * mp.cos(a)
        return mp.cos(a) * mp.atan(u) - mp.sin(a) * t * mp.sin(a) / (1 + u * u)

    a = mp.findroot(slope, (0.6, 1.5707), solver="anderson")
    return 4 * mp.sin(a) * mp.atan(t * mp.cos(a))


def climbed(space: gd.Space, radius: float, seed: int, steps: int) -> float:
    """The longest |log_x y - log_x z| found by hill climbing over x, y, z in the ball."""
    rng, d = np.random.default_rng(seed), space.dim

    def gap(z: np.ndarray) -> float:
        size = np.linalg.norm(z, axis=1, keepdims=True)
        x, a, b = space.exp_coords(space.origin, z * np.minimum(1, radius / size))
        return float(np.linalg.norm(space.log_coords(x, a) - space.log_coords(x, b)))

    z = rng.standard_normal((3, d))
    best, step = gap(z), radius
    for _ in range(steps):
        other = z + step * rng.standard_normal((3, d))
        value = gap(other)
        if value > best:
            best, z = value, other
        else:
            step = max(step * 0.97, 1e-4 * radius)
    return best


@pytest.mark.parametrize(
    ("space", "radius", "share"),
    [
        (gd.Sphere(2), math.pi / 8, 0.999),
        (gd.Sphere(2), 1.4, 0.99),
        (gd.Sphere(4), 1.0, 0.98),
        (gd.PlanarShapes(4), 0.6, 0.97),
        (gd.SPD(2), 1.0, 0.98),
        (gd.Hyperbolic(2), 1.0, 0.98),
    ],
    ids=str,
)
def test_hill_climbing_approaches_the_supremum_and_never_exceeds_it(
    space: gd.Space, radius: float, share: float
) -> None:
    bound = log_diameter(space, radius)
    best = max(climbed(space, radius, seed, 500) for seed in range(3))
    assert share * bound < best <= bound * (1 + 1e-12)


@pytest.mark.parametrize(
    "ball", [cap(), cap(1.3), ball_on(gd.PlanarShapes(4), 0.6), ball_on(gd.SPD(2), 1.0)], ids=str
)
def test_computed_norms_of_neighbours_stay_within_the_sensitivity(ball: gd.Ball) -> None:
    """Random and extreme records: on the edge, opposite, at the point itself."""
    gradient, rng = FrechetGradient(ball), np.random.default_rng(2)
    allowed = gradient.sensitivity(5) + 2 * gradient.rounding(5, ball.reach)
    edge = rng.standard_normal((40, ball.space.dim))
    edge *= ball.radius / np.linalg.norm(edge, axis=1, keepdims=True)
    extreme = ball.space.exp_coords(ball.center, np.concatenate([edge, -edge]))
    for seed in range(60):
        x = spread(ball, 1, 900 + seed)[0] if seed % 2 else extreme[seed]
        data = spread(ball, 5, seed) if seed % 3 else extreme[rng.integers(0, 80, 5)]
        other = data.copy()
        other[0] = (x, extreme[(seed + 40) % 80], data[1])[seed % 3]
        a, b = (gradient.norm(ball.clip(d), ball.reach)(x) for d in (data, other))
        assert abs(a - b) <= allowed


def test_neighbours_sums_differ_by_one_computed_term_exactly() -> None:
    """On the integer lattice, whatever the other records, their order and their number."""
    ball = cap(1.0)
    gradient, x = FrechetGradient(ball), spread(cap(1.0), 1, 7)[0]
    data, far = spread(ball, 5000, 1), spread(ball, 1, 2)
    data[:2000] *= 1 - 1e-13

    def total(records: np.ndarray) -> LogSum:
        return LogSum.of(gradient.terms(x, records), 4 * ball.reach)

    other = np.concatenate([far, data[1:]])
    moved = total(other).coords - total(data).coords
    assert (moved == total(far).coords - total(data[:1]).coords).all()
    assert (total(data[::-1]).coords == total(data).coords).all()


@pytest.mark.parametrize(
    "ball", [cap(1.0), ball_on(gd.SPD(2), 1.0), ball_on(gd.PlanarShapes(4), 0.4)], ids=str
)
def test_the_compiled_norm_is_that_of_the_terms(ball: gd.Ball) -> None:
    """Within twice the bound on a computed norm's error, near the ball and far outside."""
    gradient, far = FrechetGradient(ball), ball.radius * (3 if ball.space.is_hadamard else 1)
    data = spread(ball, 12_000, 1)
    norm = gradient.norm(ball.clip(data), far)
    for x in spread(replace(ball, radius=far), 5, 2):
        plain = np.linalg.norm(gradient.terms(x, data).mean(axis=0))
        assert abs(norm(x) - plain) <= 2 * gradient.norm_error(far)


# --- the floors of the proposals -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "radius"),
    [
        (gd.Sphere(2), 0.4),
        (gd.Sphere(3), 1.3),
        (gd.PlanarShapes(3), 0.5),
        (gd.PlanarShapes(4), 0.5),
        (gd.PlanarShapes(12), 0.4),
    ],
    ids=str,
)
def test_the_floor_of_the_mean_lies_below_the_norm(space: gd.Space, radius: float) -> None:
    ball = ball_on(space, radius)
    gradient, t = FrechetGradient(ball), np.geomspace(1e-4, 2 * radius, 60)
    highest = 0.0
    for seed in range(12):
        data = spread(ball_on(space, radius * (1 if seed % 2 else 0.3)), 6, seed)
        clipped = ball.clip(data)
        center = gd.FrechetMean(ball).evaluate(clipped).value
        floor = positive_floor(clipped, center, 1e-8, t - 1e-8)
        assert (np.diff(floor) >= 0).all()
        norm = gradient.norm(clipped, ball.reach)
        for x in spread(ball, 60, 500 + seed):
            at = np.searchsorted(t, space.dist(center, x)) - 1
            if at >= 0:
                assert norm(x) >= floor[at]
                highest = max(highest, floor[at] / norm(x))
    assert highest > 0.5
    assert (certain(space, ball.reach, t) > 0).all()


# --- the law -------------------------------------------------------------------------------------


def around(statistic: gd.Statistic, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points around the value, dense near it, and the logs of their quadrature weights: 0 outside
    the ball, where a release kept in it cannot lie."""
    ball, space = statistic.ball, statistic.space
    u, angle = (np.arange(240) + 0.5) / 240, 2 * np.pi * (np.arange(120) + 0.5) / 120
    t = 2 * ball.radius * u**2
    z = t[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    z = z.reshape(-1, 2)
    points = space.exp_coords(value, z)
    logs = np.repeat(np.log(t * u), 120)
    logs += space.log_volume_density(value, space.vector(value, z))
    kept = statistic.gradient.everywhere | (space.dist(ball.center, points) <= ball.radius)
    return points[kept], logs[kept]


def cells(space: gd.Space, center: np.ndarray, points: np.ndarray, rings: np.ndarray) -> np.ndarray:
    z = space.log_coords(center, points)
    ring = np.searchsorted(rings, np.linalg.norm(z, axis=1))
    sector = ((np.arctan2(z[:, 1], z[:, 0]) + np.pi) / (2 * np.pi / 3)).astype(int) % 3
    return ring * 3 + sector


def exact_norms(statistic: gd.Statistic, data: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The loss's gradient by its definition, at every point."""
    logs = statistic.space.log_coords(points[:, None], data)
    if isinstance(statistic, gd.FrechetMedian):
        logs = logs / np.linalg.norm(logs, axis=-1, keepdims=True)
    return np.linalg.norm(logs.mean(axis=1), axis=-1)


@pytest.mark.parametrize(
    ("statistic", "epsilon", "size"),
    [
        (gd.FrechetMean(cap()), 2.0, 20),
        (gd.FrechetMean(ball_on(gd.Hyperbolic(2), 1.0)), 3.0, 20),
        (gd.FrechetMedian(cap(0.6)), 8.0, 30),
        (gd.FrechetMedian(ball_on(gd.Hyperbolic(2), 1.0)), 8.0, 30),
    ],
    ids=lambda x: getattr(x, "name", None) and f"{x.name} {x.space.spec}",
)
def test_the_law_against_quadrature_of_its_density(
    statistic: gd.Statistic, epsilon: float, size: int
) -> None:
    """Chi-square over rings and sectors around the value at p = 1e-7; 30 % off is rejected
    by the rings alone."""
    ball, space = statistic.ball, statistic.space
    data = spread(replace(ball, radius=ball.radius * 0.7), size, 11)
    value, drawn, scale = draws(statistic, data, epsilon, 800, 5)
    points, logs = around(statistic, value)
    norms = exact_norms(statistic, data, points)
    rings = np.quantile(space.dist(value, drawn), [0.2, 0.5, 0.8, 0.95])
    counts = np.bincount(cells(space, value, drawn, rings), minlength=15)
    where = cells(space, value, points, rings)

    def p_value(factor: float, sectors: int) -> float:
        level = logs - norms / (factor * scale)
        mass = np.bincount(where, np.exp(level - level.max()), minlength=15)
        expected = (mass / mass.sum() * len(drawn)).reshape(-1, sectors).sum(axis=1)
        return float(stats.chisquare(counts.reshape(-1, sectors).sum(axis=1), expected).pvalue)

    assert p_value(1.0, 1) > 1e-7
    assert p_value(0.7, 3) < 1e-7
    assert p_value(1.3, 3) < 1e-7


@pytest.mark.parametrize(
    ("statistic", "epsilon"),
    [
        (gd.FrechetMean(cap(0.8)), 1.0),
        (gd.FrechetMean(ball_on(gd.PlanarShapes(4), 0.5)), 2.0),
        (gd.FrechetMedian(ball_on(gd.Euclidean(3), 1.0)), 1.0),
    ],
    ids=lambda x: getattr(x, "name", None) and f"{x.name} {x.space.spec}",
)
def test_long_noise_off_centre_against_naive_rejection(
    statistic: gd.Statistic, epsilon: float
) -> None:
    """Records near the edge: most directions leave the ball. Distances from its centre and from the
    value, against uniform points of the ball accepted by the exact norm: Kolmogorov-Smirnov at
    p = 1e-8 each. The same points kept to a ball 20 % smaller are told apart."""
    ball, space = statistic.ball, statistic.space
    data = spread(replace(ball, radius=ball.radius * 0.3), 12, 3)
    shift = np.zeros(space.dim)
    shift[0] = 0.75 * ball.radius
    data = space.exp_coords(ball.center, space.log_coords(ball.center, data) + shift)
    value, drawn, scale = draws(statistic, data, epsilon, 300, 8)
    assert space.dist(ball.center, value) > 0.5 * ball.radius
    uniform = ball_points(ball, 25_000, 4)
    coin = np.log(np.random.default_rng(5).random(len(uniform)))
    norms = exact_norms(statistic, data, uniform)

    def p_value(points: np.ndarray) -> float:
        pairs = [[space.dist(at, x) for x in (drawn, points)] for at in (ball.center, value)]
        return min(stats.ks_2samp(*pair).pvalue for pair in pairs)

    assert p_value(uniform[coin <= (norms.min() - norms) / scale]) > 1e-8
    inside = space.dist(ball.center, uniform) <= 0.8 * ball.radius
    kept = coin <= (norms.min() - norms) / scale
    assert p_value(uniform[kept & inside]) < 1e-8
    assert (space.dist(ball.center, drawn) <= ball.radius).all()


def ball_points(ball: gd.Ball, count: int, seed: int) -> np.ndarray:
    """Uniform by volume in the ball, by rejection from the tangent ball."""
    rng, space = np.random.default_rng(seed), ball.space
    z = rng.standard_normal((6 * count, space.dim))
    z *= (ball.radius * rng.random(6 * count) ** (1 / space.dim) / np.linalg.norm(z, axis=1))[
        :, None
    ]
    logs = space.log_volume_density(ball.center, space.vector(ball.center, z))
    z = z[np.log(rng.random(len(z))) <= logs - logs.max()]
    return space.exp_coords(ball.center, z[:count])


@pytest.mark.parametrize(
    ("space", "radius", "n"),
    [(gd.PlanarShapes(20), 0.35, 100), (gd.PlanarShapes(10), 0.5, 60), (gd.Sphere(20), 0.5, 100)],
    ids=str,
)
def test_noise_longer_than_the_ball_ends(space: gd.Space, radius: float, n: int) -> None:
    """Both never did: nearly every proposal around the value left the ball."""
    ball = ball_on(space, radius)
    rows = gd.plan(gd.FrechetMean(ball), n, gd.PureDP(1), [KNG], replaced=0).rows
    assert rows[0].center < radius
    out = gd.release(spread(ball, n, 2), gd.FrechetMean(ball), gd.PureDP(1), KNG, replaced=0)
    assert space.dist(ball.center, out.value) <= radius


@pytest.mark.parametrize(
    ("n", "laplace", "doubled", "knorm"),
    [
        (25, 0.0969, 0.1925, 0.1402),
        (50, 0.0486, 0.0969, 0.0767),
        (100, 0.0243, 0.0486, 0.0385),
        (500, 0.00486, 0.00972, 0.0077),
    ],
)
def test_mean_distances_of_the_design(n: int, laplace: float, doubled: float, knorm: float) -> None:
    """S^2, r = pi/8, epsilon = 1, published sensitivities, polar angle uniform [design, 6].

    800 draws: within six standard errors (and the variation of 1 % between data sets), which a
    scale 30 % off misses: flake rate below 1e-6.
    """
    ball = cap()
    delta = mean_sensitivity(ball.space, ball.radius, n, "published")
    for factor, value in ((1, laplace), (2, doubled)):
        law = radial_law(ball.space, "laplace", factor * delta)
        assert law.mean_radius() == pytest.approx(value, abs=6e-5)
    statistic, mechanism = gd.FrechetMean(ball), gd.KNormGradient(constant="published")
    cal, _ = calibrated(mechanism, statistic, n, gd.PureDP(1))
    rng = np.random.default_rng(n)
    stream, found = bit_stream(rng), []
    for _ in range(20):
        t, angle = ball.radius * rng.random(n), 2 * np.pi * rng.random(n)
        z = t[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        clipped = ball.clip(ball.space.exp_coords(ball.center, z))
        evaluated = Evaluated(statistic.evaluate(clipped).value, statistic, clipped)
        drawn = np.array([cal.release(evaluated, stream) for _ in range(40)])
        found.extend(ball.space.dist(evaluated.value, drawn))
    error = np.std(found) / math.sqrt(len(found))
    assert 6 * error < 0.2 * knorm
    assert abs(np.mean(found) - knorm) < 6 * error + 0.01 * knorm


# --- releases, receipts, refusals ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "radius"),
    [
        (gd.Sphere(2), 0.4),
        (gd.Sphere(1), 0.4),
        (gd.SPD(2), 0.4),
        (gd.SPD(3), 0.4),
        (gd.Hyperbolic(3), 0.4),
        (gd.Euclidean(2), 0.4),
        (gd.PlanarShapes(4), 0.35),
    ],
    ids=str,
)
def test_release_and_receipt(space: gd.Space, radius: float) -> None:
    ball = ball_on(space, radius)
    data = spread(ball, 60, 5)
    out = gd.release(data, gd.FrechetMean(ball), gd.PureDP(1), "k-norm-gradient", replaced=0)
    exact = 2 * FrechetGradient(ball).sensitivity(60)
    assert exact <= out.scale <= exact * 1.003
    checks = {check.name: check for check in gd.verify(gd.Release.from_json(out.to_json()))}
    assert all(check.passed for check in checks.values())
    assert "public grid" in checks["value"].detail
    assert any("public grid of 64-bit floats" in note for note in out.notes)
    stage = out.stages[-1]
    assert (stage["constant"], stage["grid"]) == ("supremum", "float64")
    kept = "space" if space.is_hadamard else "ball"
    assert stage["kept_in"] == kept
    if kept == "ball":
        assert space.dist(ball.center, out.value) <= ball.radius


def test_verify_recomputes_the_constant_and_where_the_point_was_kept() -> None:
    data, mean = spread(cap(), 40, 1), gd.FrechetMean(cap())
    out = gd.release(data, mean, gd.PureDP(1), gd.KNormGradient(constant="tangent"), replaced=0)
    exact = 2 * math.tan(math.pi / 8) / 40
    assert exact <= out.sensitivity.statistic <= exact * (1 + 1e-8)

    def failed(**changes: object) -> set[str]:
        document = json.loads(json.dumps(out.to_json()))
        document["outcome"]["stages"][-1] |= changes
        checks = gd.verify(gd.Release.from_json(document))
        return {check.name for check in checks if not check.passed}

    assert failed() == set()
    assert "sensitivity" in failed(constant="published")
    assert "scale" in failed(kept_in="space")
    assert "scale" in failed(assumes="records of any kind")
    assert failed(constant="none") != set()


def test_the_circle_is_kept_in_its_ball() -> None:
    """It is flat, but logarithms jump at the antipode of a record: the bound holds in the ball."""
    ball = ball_on(gd.Sphere(1), 1.2)
    cal, _ = calibrated(KNG, gd.FrechetMean(ball), 3, gd.PureDP(0.1))
    assert cal.limit == ball.radius
    assert not FrechetGradient(ball).everywhere


def test_expected_distances_are_those_of_the_stated_data() -> None:
    """All records at one point: the Riemannian Laplace law at the gradient's scale."""
    for space in (gd.Sphere(2), gd.SPD(2), gd.Euclidean(3)):
        ball = ball_on(space, 0.7)
        plan = gd.plan(gd.FrechetMean(ball), 400, gd.PureDP(1), [KNG], replaced=0)
        row = plan.rows[0]
        expected = radial_law(space, "laplace", row.scale).mean_radius()
        assert abs(row.center - expected) < 6 * row.center_error + 2e-3 * expected
        assert row.to_json()["assumes"] == "records that all lie at one point"
        assert "for records that all lie at one point" in repr(plan)


def test_never_best_and_refused_for_other_statistics() -> None:
    assert KNG.name not in [m.name for m in candidates()]
    given = gd.GivenValue(gd.Sphere(2), [0.0, 0.0, 1.0], 0.1, cap())
    for statistic, records in ((given, None), (gd.TangentMean(cap()), spread(cap(), 9, 1))):
        with pytest.raises(gd.ConditionError, match=r"offers none. Use gd.FrechetMean.*or another"):
            gd.release(records, statistic, gd.PureDP(1), KNG)
    cal = gd.calibrate(KNG, gd.Sphere(2), 0.1, gd.PureDP(1), ball=cap())
    with pytest.raises(gd.InputError, match="records"):
        cal.sample([0.0, 0.0, 1.0])


def test_refusals_say_what_holds() -> None:
    space = gd.Product(gd.Sphere(2), gd.Euclidean(2))
    product = gd.Ball(space, space.origin, 0.3)
    with pytest.raises(gd.ConditionError, match=r"product .* does not factorise .* Use wrapped"):
        gd.release(spread(product, 9, 1), gd.FrechetMean(product), gd.PureDP(1), KNG)
    wide = ball_on(gd.PlanarShapes(4), 0.79)
    with pytest.raises(gd.ConditionError, match=r"below 0\.785398"):
        gd.FrechetMean(wide)
    with pytest.raises(gd.ConditionError, match=r"below 0\.785398 on .* twice as far"):
        log_diameter(gd.Sphere(2), 0.9, "published")
    with pytest.raises(gd.InputError, match="'supremum', 'tangent', 'published'; not 'sharp'"):
        gd.KNormGradient(constant="sharp")
    with pytest.raises(gd.InputError, match="exists for scales below"):
        _ = gd.plan(gd.FrechetMean(ball_on(gd.Hyperbolic(5), 2.0)), 10, gd.PureDP(1), [KNG]).best
