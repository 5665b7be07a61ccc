"""Curvature, Ricci, injectivity, density and Hessian against closed forms."""

import numpy as np
import pytest
from scipy import integrate

from geodp.spaces import SPD, Euclidean, Hyperbolic, Product, Sphere, parse_space


def circle_curvature(space, p, a, b, radius=0.02):
    """K from the length of a small geodesic circle: L = 2πr(1 - K r²/6 + O(r⁴))."""
    angles = 2 * np.pi * np.arange(720) / 720
    z = radius * (np.cos(angles)[:, None] * a + np.sin(angles)[:, None] * b)
    points = space.exp_coords(p, z)
    chord = space.dist(points, np.roll(points, 1, axis=0)).sum()
    # The inscribed polygon of n sides is shorter by the factor sinc(π/n).
    length = chord * (np.pi / 720) / np.sin(np.pi / 720)
    return 6 * (1 - length / (2 * np.pi * radius)) / radius**2


@pytest.mark.parametrize(
    ("spec", "curvature"),
    [
        ("sphere:2", 1),
        ("sphere:3:0.25", 0.25),
        ("hyperbolic:2", -1),
        ("hyperbolic:3:-2.0", -2),
        ("spd:2:log-euclidean", 0),
        ("spd:2:log-cholesky", 0),
        ("euclidean:2", 0),
    ],
)
def test_circumference_of_small_circles(spec, curvature):
    space = parse_space(spec)
    e = np.eye(space.dim)
    p = space.exp_coords(space.origin, 0.4 * e[0])
    assert circle_curvature(space, p, e[0], e[1]) == pytest.approx(curvature, abs=2e-3)
    assert space.curvature == (curvature, curvature)


@pytest.mark.parametrize("size", [2, 3])
def test_affine_invariant_curvature_reaches_its_bounds(size):
    space = SPD(size)
    rng = np.random.default_rng(0)
    p = space.exp_coords(space.origin, rng.normal(size=space.dim))
    e = np.eye(space.dim)
    difference = (e[0] - e[2]) / np.sqrt(2)  # diag(1, -1)/√2 against the off-diagonal
    assert circle_curvature(space, p, difference, e[1]) == pytest.approx(-0.5, abs=2e-3)
    assert circle_curvature(space, p, e[0], e[2]) == pytest.approx(0, abs=2e-3)
    assert space.curvature == (-0.5, 0.0)
    seen = []
    for _ in range(50):
        a, b = np.linalg.qr(rng.normal(size=(space.dim, 2)))[0].T
        seen.append(circle_curvature(space, p, a, b))
    assert min(seen) > -0.5 - 2e-3
    assert max(seen) < 2e-3


def test_ricci_of_the_affine_invariant_metric():
    space = SPD(3)
    p = space.origin
    e = np.eye(6)
    basis = [(e[0] - e[2]) / np.sqrt(2), e[1], e[3], e[4], (e[0] + e[2] - 2 * e[5]) / np.sqrt(6)]
    basis.append((e[0] + e[2] + e[5]) / np.sqrt(3))
    ricci = sum(circle_curvature(space, p, basis[0], other) for other in basis[1:])
    assert ricci == pytest.approx(-3 / 4, abs=6e-3)
    assert space.ricci_lower == -3 / 4


def test_table_of_constants():
    inf = np.inf
    rows = {
        "euclidean:3": ((0, 0), 0, inf, True, True),
        "sphere:1": ((0, 0), 0, np.pi, True, True),
        "sphere:3:0.25": ((0.25, 0.25), 0.5, 2 * np.pi, True, True),
        "hyperbolic:1": ((0, 0), 0, inf, True, True),
        "hyperbolic:4:-2.0": ((-2, -2), -6, inf, True, True),
        "spd:1": ((0, 0), 0, inf, True, True),
        "spd:4": ((-0.5, 0), -1, inf, True, False),
        "spd:4:log-euclidean": ((0, 0), 0, inf, True, True),
        "sphere:2+hyperbolic:3:-4.0": ((-4, 1), -8, np.pi, True, False),
        "euclidean:1+euclidean:2": ((0, 0), 0, inf, True, True),
        "sphere:1+euclidean:2": ((0, 0), 0, np.pi, True, False),
    }
    for spec, (curvature, ricci, injectivity, one, two) in rows.items():
        space = parse_space(spec)
        assert space.curvature == curvature, spec
        assert space.ricci_lower == ricci, spec
        assert space.injectivity_radius == pytest.approx(injectivity), spec
        assert (space.is_homogeneous, space.is_two_point_homogeneous) == (one, two), spec
        assert space.is_hadamard == (curvature[1] <= 0 and injectivity == inf), spec
    assert parse_space("spd:2:log-cholesky").is_flat
    assert not parse_space("sphere:1").is_flat


def test_volume_of_the_sphere_and_of_a_hyperbolic_ball():
    for kappa in (1.0, 0.25):
        space = Sphere(2, kappa)
        density = lambda t, s=space: t * np.exp(s.log_volume_density(s.origin, [0, t, 0]))  # noqa: E731
        area = 2 * np.pi * integrate.quad(density, 1e-9, space.injectivity_radius - 1e-9)[0]
        assert area == pytest.approx(4 * np.pi / kappa, rel=1e-7)
    space = Hyperbolic(3, -2.0)
    density = lambda t: t**2 * np.exp(space.log_volume_density(space.origin, [0, t, 0, 0]))  # noqa: E731
    volume = 4 * np.pi * integrate.quad(density, 1e-9, 3.0)[0]
    x = 3 * np.sqrt(2)
    assert volume == pytest.approx(np.pi * (np.sinh(2 * x) - 2 * x) / 2**1.5, rel=1e-7)


def test_affine_invariant_density_away_from_the_identity():
    rng = np.random.default_rng(3)
    space = SPD(3)
    g = rng.normal(size=(3, 3))
    p, s = g @ g.T, np.array([1.0, -0.5, 0.2])
    root = np.linalg.cholesky(p)
    v = root @ np.diag(s) @ root.T
    gaps = np.array([1.5, 0.8, 0.7]) / 2
    expected = np.log(np.prod(np.sinh(gaps) / gaps))
    assert space.log_volume_density(p, v) == pytest.approx(expected, rel=1e-12)


def test_hessians_in_closed_form():
    t = 0.7
    sphere = Sphere(3, 0.25).hessian(
        [2.0, 0, 0, 0], Sphere(3, 0.25).exp([2.0, 0, 0, 0], [0, 0, t, 0])
    )
    across = (t / 2) / np.tan(t / 2)
    assert np.allclose(sphere, np.diag([across, 1, across]), atol=1e-14)
    space = SPD(2)
    full = space.hessian(np.eye(2), np.diag([np.exp(1.0), np.exp(-1.0)]))
    assert np.allclose(full, np.diag([1, 1 / np.tanh(1.0), 1]), atol=1e-14)


@pytest.mark.parametrize("spec", ["sphere:2", "hyperbolic:2", "spd:2", "euclidean:2"])
def test_coincident_points_are_harmless(spec):
    space = parse_space(spec)
    p = space.origin
    zero = np.zeros(space.point_shape)
    assert np.array_equal(space.hessian(p, p), np.eye(space.dim))
    assert not space.log(p, p).any()
    assert space.log_volume_density(p, zero) == 0


def test_products_split_join_and_flatten():
    inner = Product(Euclidean(1), SPD(2))
    space = Product(Sphere(2), inner)
    assert [f.spec for f in space.factors] == ["sphere:2", "euclidean:1", "spd:2:affine-invariant"]
    assert space.point_shape == (8,)
    x = np.stack([space.origin, space.origin])
    parts = space.split(x)
    assert [part.shape for part in parts] == [(2, 3), (2, 1), (2, 2, 2)]
    assert np.array_equal(space.join(parts), x)
    broadcast = space.join([parts[0], np.zeros(1), np.eye(2)])
    assert broadcast.shape == (2, 8)
    q = space.exp_coords(space.origin, np.arange(6) / 10)
    squares = [
        f.dist(a, b) ** 2
        for f, a, b in zip(space.factors, space.split(space.origin), space.split(q), strict=True)
    ]
    assert space.dist(space.origin, q) == pytest.approx(np.sqrt(sum(squares)))
