"""Planar shapes against 60-digit arithmetic written from the definitions, and at the edges."""

import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp

import geodp as gd
from geodp.spaces.planar_shapes import PlanarShapes
from geodp.testing import check_space, random_points

mp.dps = 60
SIZES = (3, 4, 8, 50)


# --- the reference ------------------------------------------------------------------------------
def preshape(x):
    z = [mp.mpc(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in x]
    mean = mp.fsum(z) / len(z)
    z = [t - mean for t in z]
    size = mp.sqrt(mp.fsum(abs(t) ** 2 for t in z))
    return [t / size for t in z]


def hermitian(a, b):
    return mp.fsum(mp.conj(s) * t for s, t in zip(a, b, strict=True))


def norm(a):
    return mp.sqrt(mp.fsum(abs(t) ** 2 for t in a))


def reference_log(p, q):
    """The horizontal lift at p's unit preshape, and the distance."""
    z, w = preshape(p), preshape(q)
    inner = hermitian(z, w)
    turned = [t * mp.conj(inner) / abs(inner) for t in w]
    side = [t - abs(inner) * s for s, t in zip(z, turned, strict=True)]
    sin = norm(side)
    angle = mp.atan2(sin, abs(inner))
    return [t * (angle / sin if sin else 1) for t in side], angle


def reference_dist(p, q):
    z, w = preshape(p), preshape(q)
    inner = hermitian(z, w)
    side = [t - inner * s for s, t in zip(z, w, strict=True)]
    return mp.atan2(norm(side), abs(inner))


def turned(x, angle):
    c, s = math.cos(angle), math.sin(angle)
    return x @ np.array([[c, s], [-s, c]])


def points(k, n, radius, seed):
    space = PlanarShapes(k)
    return random_points(space, n, radius, np.random.default_rng(seed))


def orthogonal_shape(space, p, seed=0):
    """A shape at distance pi/2 from p, to rounding."""
    z = np.random.default_rng(seed).normal(size=space.dim)
    v = space.vector(p, z / np.linalg.norm(z) * math.pi / 2)
    return v / (math.pi / 2)


# --- laws ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", SIZES)
def test_space_obeys_the_laws(k):
    space = PlanarShapes(k)
    flat = np.zeros((3, k, 2))
    flat[1] = space.origin + 3e-6 / math.sqrt(k)  # of size 1, but not centred
    flat[2] = 2 * space.origin  # not of size 1
    check_space(space, k, not_points=flat)


@pytest.mark.parametrize("k", SIZES)
def test_constants(k):
    space = gd.PlanarShapes(k)
    assert space.dim == 2 * k - 4
    assert space.curvature == ((4.0, 4.0) if k == 3 else (1.0, 4.0))
    assert space.injectivity_radius == math.pi / 2
    # along a unit u: curvature 4 on the plane of u and iu, 1 on the other d - 2 directions
    assert space.ricci_lower == pytest.approx(4 + (space.dim - 2))
    assert space.is_homogeneous
    assert space.is_two_point_homogeneous
    assert not space.is_hadamard
    assert gd.parse_space(f"shapes:{k}") == space
    assert space.spec == f"shapes:{k}"


def test_three_landmarks_are_the_sphere_of_radius_one_half():
    """Kendall's map: (w1, w2) in C² to the Hopf image, a point of S² of curvature 4."""
    space, p = gd.PlanarShapes(3), points(3, 30, 0.7, 1)
    z = p[..., 0] + 1j * p[..., 1]
    w1 = (z[:, 0] - z[:, 1]) / math.sqrt(2)
    w2 = (z[:, 0] + z[:, 1] - 2 * z[:, 2]) / math.sqrt(6)
    cross = 2 * np.conj(w1) * w2
    hopf = np.stack([abs(w1) ** 2 - abs(w2) ** 2, cross.real, cross.imag], axis=-1) / 2
    expected = gd.Sphere(2, 4.0).dist(hopf[:15], hopf[15:])
    np.testing.assert_allclose(space.dist(p[:15], p[15:]), expected, rtol=1e-12)


# --- accuracy -----------------------------------------------------------------------------------
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi])
def test_distance_of_near_shapes_in_any_rotation(k, gap, angle):
    space = PlanarShapes(k)
    rng = np.random.default_rng(k)
    z = rng.normal(size=space.dim)
    p = points(k, 1, 0.6, 3)[0]
    q = turned(p + gap * 0.3 * space.vector(p, z / np.linalg.norm(z)), angle)
    exact = reference_dist(p, q)
    assert abs(mp.mpf(float(space.dist(p, q))) / exact - 1) < 1e-12


@pytest.mark.parametrize("k", SIZES)
def test_points_off_the_preshape_sphere_are_read_as_their_shape(k):
    space = PlanarShapes(k)
    p = points(k, 1, 0.6, 4)[0]
    q = (p + 1e-9 * points(k, 1, 0.6, 5)[0]) * (1 + 4e-7) + 3e-7 / math.sqrt(k)
    assert space.contains(q)
    assert abs(mp.mpf(float(space.dist(p, q))) / reference_dist(p, q) - 1) < 1e-12


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("short", [1e-2, 1e-6, 1e-8, 1e-12])
def test_log_is_accurate_short_of_the_cut_locus(k, short):
    space = PlanarShapes(k)
    p = points(k, 1, 0.6, 6)[0]
    q = turned(orthogonal_shape(space, p) + short * turned(p, 0.7), 2.0)
    exact, angle = reference_log(p, q)
    assert abs(mp.mpf(float(space.dist(p, q))) - angle) < 1e-15
    got = space.log(p, q)
    size = norm([t.real for t in exact] + [t.imag for t in exact])
    error = norm([mp.mpc(float(a), float(b)) - t for (a, b), t in zip(got, exact, strict=True)])
    assert error < 1e-9 * size
    assert error < space.log_error(p, math.pi / 2)


@pytest.mark.parametrize("k", SIZES)
def test_rounding_off_the_centre_does_not_turn_logs_near_the_cut_locus(k):
    space = PlanarShapes(k)
    p = points(k, 1, 0.6, 6)[0]
    q = orthogonal_shape(space, p) + 1e-9 * turned(p, 0.7)
    p, q = p + np.array([4e-7, -3e-7]) / math.sqrt(k), q + np.array([2e-7, 5e-7]) / math.sqrt(k)
    assert space.contains(np.stack([p, q])).all()
    exact, _ = reference_log(p, q)
    pairs = zip(space.log(p, q), exact, strict=True)
    assert norm([mp.mpc(float(a), float(b)) - t for (a, b), t in pairs]) < 1e-6


@pytest.mark.parametrize("k", SIZES)
def test_the_cut_locus_raises_only_outside_the_public_rule(k):
    space = gd.PlanarShapes(k)
    p = points(k, 1, 0.6, 7)[0]
    q = orthogonal_shape(space, p)
    assert space.dist(p, q) == pytest.approx(math.pi / 2, abs=1e-15)
    assert space.cut_locus(p, q)
    assert not space.cut_locus(p, q + 1e-6 * p)
    with pytest.raises(gd.CutLocusError, match="rotation"):
        space.log(p, q)
    ball = gd.Ball(space, p, 0.5)
    (clipped,) = ball.clip(np.stack([q, p])).chunks()
    assert np.array_equal(clipped[0], ball.center)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("radius", [1e-9, 0.1, 0.6, 0.78])
def test_true_error_stays_below_the_bound(k, radius):
    space = PlanarShapes(k)
    rng = np.random.default_rng(11)
    center = points(k, 1, 1.2, 12)[0]
    bound = space.log_error(center, radius)
    assert 0 < bound < 1e-10 * radius
    for t in range(6):
        edge = rng.normal(size=space.dim)
        edge *= radius / np.linalg.norm(edge)
        x = space.exp_coords(center, edge)
        y = space.exp_coords(center, -edge if t % 2 else edge[::-1])
        exact, _ = reference_log(x, y)
        lift = space.vector(x, space.log_coords(x, y))  # the isometry's own rounding included
        unit = space.project(x)
        assert np.array_equal(unit, x)
        error = norm(
            [mp.mpc(float(a), float(b)) - u for (a, b), u in zip(lift, exact, strict=True)]
        )
        assert error <= bound


@pytest.mark.parametrize("k", SIZES)
def test_exact_and_float_bases_agree_everywhere(k):
    """Also where the base lies on the cut locus of the origin, where its gauge is arbitrary."""
    from flint import arb, ctx

    space = PlanarShapes(k)
    cut = space.project(orthogonal_shape(space, space.origin, 5))
    for p in (*points(k, 2, 1.5, 8), cut, turned(points(k, 1, 0.5, 9)[0], 2.0)):
        z = 0.4 * np.random.default_rng(9).normal(size=space.dim)
        with ctx.workprec(200):
            entries = space.exp_arb(p, [arb(float(t)) for t in z])
        middle = np.array([float(t.mid()) for t in entries]).reshape(k, 2)
        assert np.abs(middle - space.exp_coords(p, z)).max() < 1e-13
        assert max(float(t.rad()) for t in entries) < 1e-40
        assert np.abs(space.coords(p, space.vector(p, z)) - z).max() < 1e-13


# --- representatives ----------------------------------------------------------------------------
@pytest.mark.parametrize("k", SIZES)
def test_nothing_depends_on_the_representative(k):
    space = PlanarShapes(k)
    p, q = points(k, 12, 0.7, 14), points(k, 12, 0.7, 15)
    z = np.random.default_rng(16).normal(size=(12, space.dim)) / math.sqrt(space.dim)
    for angle in (0.3, math.pi / 2, 3.0):
        p2, q2 = turned(p, angle), turned(q, -2 * angle)
        assert np.abs(space.dist(p2, q2) - space.dist(p, q)).max() < 3e-15
        assert np.abs(space.log_coords(p2, q2) - space.log_coords(p, q)).max() < 1e-13
        assert np.abs(space.exp_coords(p2, z) - space.exp_coords(p, z)).max() < 1e-13
        assert np.abs(space.project(p2) - p).max() < 1e-14
        assert space.contains(p2).all()


@pytest.mark.parametrize("k", SIZES)
def test_gauge_is_canonical_and_stays(k):
    space = PlanarShapes(k)
    o = space.origin[:, 0] + 1j * space.origin[:, 1]
    x = space.project(turned(points(k, 200, 1.5, 17), 2.2))
    lead = (x[..., 0] + 1j * x[..., 1]) @ np.conj(o)
    assert (lead.real > 0).all()
    assert np.abs(lead.imag).max() < 1e-14
    assert np.array_equal(space.project(x), x)
    for y in (x * (1 + 1e-9), x + 1e-9, turned(x, 1e-9)):
        once = space.project(y)
        assert np.array_equal(space.project(once), once)
        assert np.abs(once - x).max() < 1e-8


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("near", [0.0, 1e-16, 1e-14, 2e-13, 1e-12, 1e-9])
def test_gauge_next_to_the_cut_locus_of_the_origin(k, near):
    space = PlanarShapes(k)
    cut = np.stack([orthogonal_shape(space, space.origin, s) for s in range(20)])
    for angle in np.linspace(0, 6, 9):
        x = space.project(turned(cut + near * space.origin, angle))
        assert space.contains(x).all()
        assert np.array_equal(space.project(x), x)
    if near == 0:  # one gauge for all representatives there too
        one, two = space.project(cut), space.project(turned(cut, 2.5))
        assert np.abs(one - two).max() < 1e-13


def test_the_basis_is_continuous_near_the_origin():
    space = PlanarShapes(6)
    z = np.random.default_rng(18).normal(size=space.dim)
    at_origin = space.vector(space.origin, z)
    for step in (1e-3, 1e-6, 1e-9):
        p = space.exp_coords(space.origin, step * z[::-1] / np.linalg.norm(z))
        assert np.abs(space.vector(p, z) - at_origin).max() < 10 * step


# --- landmarks ----------------------------------------------------------------------------------
def test_raw_landmarks_become_points_whatever_position_size_and_rotation():
    rng = np.random.default_rng(19)
    space = gd.PlanarShapes(5)
    raw = rng.normal(size=(4, 5, 2))
    x = space.from_landmarks(raw)
    assert space.contains(x).all()
    assert np.array_equal(space.project(x), x)
    for scale in (1e-200, 1e-3, 1e200):
        moved = scale * (turned(raw, 1.1) + np.array([3.0, -2.0]))
        np.testing.assert_allclose(space.from_landmarks(moved), x, atol=1e-12)
    np.testing.assert_array_equal(space.from_landmarks(raw[..., 0] + 1j * raw[..., 1]), x)
    np.testing.assert_array_equal(
        space.from_landmarks(raw.astype(np.float32)),
        space.from_landmarks(raw.astype(np.float32).astype(np.float64)),
    )
    assert (space.dist(x, space.from_landmarks(raw * [1, -1])) > 0.1).all()  # reflections differ


def test_coincident_landmarks_are_fine_unless_all_coincide():
    space = gd.PlanarShapes(4)
    some = space.from_landmarks([[[1, 1], [1, 1], [1, 1], [2, 5]]])[0]
    assert space.contains(some)
    assert space.dist(some, some) == 0
    assert 0 < space.dist(some, space.origin) <= math.pi / 2
    raw = np.full((5, 4, 2), 0.1)
    raw[1, 0, 0], raw[2, 1, 1], raw[3] = np.nan, np.inf, 1e9 / 3
    raw[4, 0, 0] = 0.2
    x = space.from_landmarks(raw)
    assert np.isnan(x[:4]).all()
    assert space.contains(x[4])
    ball = gd.Ball(space, space.origin, 0.5)
    (clipped,) = ball.clip(x[:4]).chunks()
    assert np.array_equal(clipped, np.broadcast_to(ball.center, (4, 4, 2)))


@pytest.mark.parametrize(
    "x", [np.zeros((4, 2, 2)), np.zeros((4, 3)), np.zeros(3), [["a", "b"]] * 3, np.zeros((3, 3))]
)
def test_arrays_that_are_no_landmarks_are_refused(x):
    with pytest.raises(gd.SpaceError, match="Landmarks"):
        gd.PlanarShapes.from_landmarks(x)


@pytest.mark.parametrize("count", [2, 1, 0, -3, 2.5, "three"])
def test_too_few_landmarks_are_refused(count):
    with pytest.raises(gd.SpaceError, match="landmarks"):
        gd.PlanarShapes(count)


@pytest.mark.parametrize("center", [np.ones((4, 2)), np.arange(8.0).reshape(4, 2)])
def test_a_centre_that_is_no_shape_is_refused_with_a_hint(center):
    space = gd.PlanarShapes(4)
    with pytest.raises(gd.SpaceError, match="from_landmarks"):
        gd.Ball(space, center, 0.3)
    with pytest.raises(gd.SpaceError, match="coincide"):
        gd.Ball(space, space.from_landmarks(np.ones((4, 2))), 0.3)


def test_constants_are_frozen():
    space = gd.PlanarShapes(3)
    with pytest.raises(AttributeError):
        space._landmarks = 4
    space.origin[0] = 9.0  # a fresh copy each time
    assert np.abs(gd.PlanarShapes(3).origin).max() < 1


# --- sensitivity --------------------------------------------------------------------------------
@pytest.fixture
def neighbours(monkeypatch):
    """The study's neighbouring data sets."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "experiments"))
    import neighbours

    return neighbours


def shifts(mean, pairs):
    ends = [[mean.evaluate(pair.data(side)).value for side in (0, 1)] for pair in pairs]
    return np.array([mean.space.dist(*end) for end in ends])


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("radius", [0.2, 0.5, 0.75])
def test_the_sharp_sensitivity_is_approached_and_never_exceeded(neighbours, k, radius):
    """min(2r, tan(2r)/n): the curvature is 4 in the plane of a direction and i times it."""
    rng = np.random.default_rng(20 + k)
    space = gd.PlanarShapes(k)
    mean = gd.FrechetMean(gd.Ball(space, points(k, 1, 1.0, 21)[0], radius))
    for n in (6, 40):
        bound = min(2 * radius, math.tan(2 * radius) / n)
        assert mean.sensitivity(n) == pytest.approx(bound, rel=1e-6)
        found = shifts(mean, neighbours.climbed_pairs(mean.ball, n, 6, 40, rng))
        assert found.max() <= bound + 2 * mean.error_bound
        assert found.max() >= 0.1 * bound
    n = 2001
    (worst,) = shifts(mean, [neighbours.two_clusters(mean.ball, n)])
    assert 0.98 <= worst * n / math.tan(2 * radius) <= 1
    if k > 3:  # a plane of curvature 1, where 2 tan(r)/n is the worst
        (mild,) = shifts(mean, [neighbours.two_clusters(mean.ball, n, (0, 2))])
        assert mild * n / (2 * math.tan(radius)) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("radius", [math.pi / 4, 0.8, 1.5])
def test_beyond_a_quarter_of_pi_there_is_no_mean_but_there_are_others(radius):
    space = gd.PlanarShapes(5)
    ball = gd.Ball(space, space.origin, radius)
    with pytest.raises(gd.ConditionError, match=r"below 0\.785398.*smaller ball.*TangentMean"):
        gd.FrechetMean(ball)
    with pytest.raises(gd.ConditionError, match=r"below 0\.392699.*sharp bound"):
        gd.FrechetMean(gd.Ball(space, space.origin, 0.4), bound="published")
    assert gd.TangentMean(ball).sensitivity(100) == pytest.approx(2 * radius / 100)
    assert gd.ExtrinsicMean(ball).sensitivity(100) == pytest.approx(math.sqrt(2) / 100)
