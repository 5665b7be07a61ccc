"""Spheres and hyperbolic spaces where floats are scarce, against 60 digits on the stored floats."""

import numpy as np
import pytest
from mpmath import mp

import geodp as gd
from geodp.spaces import Hyperbolic, Product, Sphere


def directions(n, d, seed=0):
    z = np.random.default_rng(seed).normal(size=(n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def relative(space, oracle, p, q):
    return abs(float(space.dist(p, q) / oracle.dist(space, p, q) - 1))


# --- spheres ------------------------------------------------------------------------------------
SPHERES = [Sphere(1), Sphere(2), Sphere(5), Sphere(2, 0.25), Sphere(3, 9.0)]


@pytest.mark.parametrize("space", SPHERES, ids=str)
def test_exactly_antipodal_points_have_no_logarithm(space):
    p = space.project(space.exp_coords(space.origin, 2 * directions(20, space.dim)))
    for q in p:
        for call in (space.log, space.log_coords):
            with pytest.raises(gd.CutLocusError, match="antipodal"):
                call(q, -q)
    assert space.cut_locus(p, -p).all()
    assert np.allclose(space.dist(p, -p), space.injectivity_radius, rtol=1e-15)


@pytest.mark.parametrize("space", SPHERES, ids=str)
@pytest.mark.parametrize("gap", [1e-12, 1e-8, 1e-6])
def test_logarithms_short_of_the_antipode(space, oracle, gap):
    radius = space.injectivity_radius / np.pi
    p = space.project(space.exp_coords(space.origin, radius * directions(10, space.dim)))
    u = space.vector(p, directions(10, space.dim, 1))
    q = space.project(-p + gap * radius * u)
    for a, b in zip(p, q, strict=True):
        assert oracle.error(space, a, b) <= 1e-9 * space.injectivity_radius
    assert (space.cut_locus(p, q) == (gap < 1e-10)).all()


def test_the_cut_locus_of_a_product_is_that_of_its_factors():
    space = Product(Sphere(2), Sphere(1))
    q = space.join([-Sphere(2).origin, Sphere(1).origin])
    assert space.cut_locus(space.origin, q)
    assert not space.cut_locus(q, q)
    with pytest.raises(gd.CutLocusError):
        space.log(space.origin, q)


@pytest.mark.parametrize("space", SPHERES, ids=str)
@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_near_points_on_spheres(space, oracle, gap):
    radius = space.injectivity_radius / np.pi
    p = space.project(space.exp_coords(space.origin, radius * directions(8, space.dim)))
    q = space.project(space.exp_coords(p, gap * radius * directions(8, space.dim, 1)))
    for a, b in zip(p, q, strict=True):
        assert relative(space, oracle, a, b) < 1e-12


def test_sphere_points_off_by_rounding_are_read_as_directions(oracle):
    space = Sphere(2)
    p, q = 1.0000005 * np.array([0.6, 0.8, 0.0]), 0.9999995 * np.array([0.0, 0.8, 0.6])
    assert space.contains(np.stack([p, q])).all()
    assert oracle.error(space, p, q) < 1e-15
    assert space.dist(p, p * (1 - 1e-7)) < 1e-15


# --- hyperbolic spaces --------------------------------------------------------------------------
@pytest.mark.parametrize("distance", [12.3, 16.0, 20.0, 30.0])
@pytest.mark.parametrize("curvature", [-1.0, -2.0])
def test_poincare_ball_next_to_its_edge(distance, curvature):
    space = Hyperbolic(3, curvature)
    for unit in [*np.eye(3), *directions(20, 3)]:
        u = np.tanh(distance / 2) * unit
        square = mp.fsum(mp.mpf(float(t)) ** 2 for t in u)
        if square >= 1:
            continue  # rounding has put these floats on or beyond the edge
        expected = 2 * mp.atanh(mp.sqrt(square)) / mp.sqrt(-curvature)
        x = space.from_ball(u)
        assert space.contains(x)
        assert abs(float(space.dist(space.origin, x) / expected - 1)) < 1e-12
        assert np.allclose(space.to_ball(x), u, rtol=1e-15, atol=1e-15)


def test_poincare_ball_outside_and_inside():
    space = Hyperbolic(2)
    outside = np.array([[1.0, 0.0], [0.8, 0.6], [2.0, 0.0], [np.nan, 0.0], [np.inf, 0.0]])
    assert not space.contains(space.from_ball(outside)).any()
    u = 0.9 * directions(30, 2) * np.linspace(0, 1, 30)[:, None]
    assert np.allclose(space.to_ball(space.from_ball(u)), u, atol=1e-15)
    # Closed form of the ball's metric: cosh ρ = 1 + 2|u-v|²/((1-|u|²)(1-|v|²)).
    a, b = np.array([0.3, 0.4]), np.array([-0.5, 0.1])
    square = 1 + 2 * ((a - b) ** 2).sum() / ((1 - (a**2).sum()) * (1 - (b**2).sum()))
    assert space.dist(space.from_ball(a), space.from_ball(b)) == pytest.approx(np.arccosh(square))
    assert np.array_equal(space.from_ball([0.0, 0.0]), space.origin)


@pytest.mark.parametrize("far", [0.0, 1.0, 5.0, 8.0])
@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_near_points_in_hyperbolic_space(oracle, far, gap):
    space = Hyperbolic(3)
    p = space.exp_coords(space.origin, far * directions(6, 3))
    q = space.exp_coords(p, gap * directions(6, 3, 1))
    for a, b in zip(p, q, strict=True):
        if (a != b).any():
            assert relative(space, oracle, a, b) < 1e-10


@pytest.mark.parametrize("distance", [20.0, 30.0, 100.0, 350.0])
@pytest.mark.parametrize("space", [Hyperbolic(3), Hyperbolic(3, -0.25)], ids=str)
def test_far_points_in_hyperbolic_space(space, distance):
    scale = space.from_ball([0.5, 0, 0])[1] / Hyperbolic(3).from_ball([0.5, 0, 0])[1]
    unit, other = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    length = distance * scale
    x = space.exp(space.origin, space.vector(space.origin, length * unit))
    y = space.exp_coords(space.origin, length * other)
    back = space.exp_coords(space.origin, -length * unit)
    assert space.contains(np.stack([x, y, back])).all()
    assert space.dist(space.origin, x) == pytest.approx(length, rel=1e-13)
    assert space.dist(x, back) == pytest.approx(2 * length, rel=1e-13)
    # Right angle at the origin: cosh c = cosh a cosh b, so c = 2 length - log 2 up to exp(-2a).
    assert space.dist(x, y) == pytest.approx(2 * length - scale * np.log(2), rel=1e-13)
    assert np.allclose(space.log_coords(x, space.origin), -length * unit, rtol=1e-13)
    assert np.isfinite(space.log_coords(x, y)).all()
    assert space.dist(x, x) == 0


def test_hyperbolic_points_lie_on_the_hyperboloid():
    space = Hyperbolic(2, -4.0)
    x = space.exp_coords(space.origin, [0.3, -0.2])
    assert -(x[0] ** 2) + x[1] ** 2 + x[2] ** 2 == pytest.approx(-0.25)
    v = space.log(x, space.origin)
    assert x[0] * v[0] == pytest.approx(x[1] * v[1] + x[2] * v[2])
    assert space.norm(x, v) == pytest.approx(np.hypot(0.3, 0.2))
