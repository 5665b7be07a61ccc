"""The public bound on rounding is never exceeded, on random and on extreme pairs in the ball."""

import itertools

import numpy as np
import pytest

from geodp.spaces import Product, Sphere, parse_space

SPECS = [
    "euclidean:3",
    "sphere:1",
    "sphere:2",
    "sphere:6:0.25",
    "hyperbolic:1",
    "hyperbolic:3:-2.0",
    "hyperbolic:6",
    "spd:1",
    "spd:2",
    "spd:3",
    "spd:5",
    "spd:2:log-euclidean",
    "spd:4:log-euclidean",
    "spd:2:log-cholesky",
    "spd:4:log-cholesky",
]


def direction(space, rng, kind):
    """Unit coordinates: random, an axis, or a matrix with two opposite eigenvalues."""
    z = rng.normal(size=space.dim)
    if kind == 1:
        z = rng.choice([-1, 1]) * np.eye(space.dim)[rng.integers(space.dim)]
    if kind == 2 and len(space.point_shape) == 2 and space.dim > 1:
        size = space.point_shape[0]
        q = np.linalg.qr(rng.normal(size=(size, size)))[0]
        matrix = np.outer(q[0], q[0]) - np.outer(q[1], q[1])
        rows, columns = np.tril_indices(size)
        z = matrix[rows, columns] * np.where(rows == columns, 1, np.sqrt(2))
    return z / np.linalg.norm(z)


def pairs(space, center, radius, rng, n):
    for t in range(n):
        kind = t % 3
        edge = radius * direction(space, rng, kind)
        x = space.exp_coords(center, edge * rng.choice([1, rng.random()]))
        y = space.exp_coords(center, radius * direction(space, rng, kind))
        if t % 5 == 1:  # near pairs
            x = space.exp_coords(center, 0.9 * edge)
            step = radius * 10 ** rng.uniform(-14, -1)
            y = space.exp_coords(x, step * direction(space, rng, 0))
        if t % 7 == 2:  # opposite ends of a diameter
            x, y = space.exp_coords(center, edge), space.exp_coords(center, -edge)
        x, y = space.project(x), space.project(y)
        if space.contains(np.stack([x, y])).all():
            yield x, y


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("offset", [0.0, 1.0, 2.5])
def test_true_error_stays_below_the_bound(oracle, spec, offset):
    space = parse_space(spec)
    rng = np.random.default_rng(int(10 * offset) + 1)
    center = space.exp_coords(space.origin, offset * direction(space, rng, 0))
    for radius in (0.3, 1.5) if spec.startswith("sphere") else (0.1, 1.0, 3.0, 6.0):
        bound = space.log_error(center, radius * (1 + 1e-9))
        worst = max(oracle.error(space, x, y) for x, y in pairs(space, center, radius, rng, 12))
        assert worst <= bound


@pytest.mark.parametrize("spec", ["hyperbolic:1", "hyperbolic:3:-2.0", "hyperbolic:6", "sphere:3"])
def test_the_bound_holds_next_to_the_origin_down_to_subnormal_coordinates(oracle, spec):
    space = parse_space(spec)
    rng = np.random.default_rng(5)
    bound = space.log_error(space.origin, 1.5)
    for exponent in (*range(1, 40, 3), 100, 155, 200, 300, 307, 310, 322):
        near = space.origin
        near[1:] = 10.0**-exponent * direction(space, rng, 0)
        far = space.exp_coords(space.origin, 1.5 * direction(space, rng, 0))
        for x, y in ((far, near), (near, far)):
            error = oracle.error(space, space.project(x), space.project(y))
            assert error <= bound  # false for NaN


@pytest.mark.parametrize(
    ("spec", "radius", "most"),
    [
        ("euclidean:5", 3.0, 1e-15),
        ("sphere:5", 1.4, 1e-13),
        ("hyperbolic:5", 3.0, 1e-11),
        ("spd:1", 6.0, 1e-13),
        ("spd:3", 1.5, 1e-11),
        ("spd:3", 3.0, 1e-9),
        ("spd:5", 6.0, 1e-5),
        ("spd:5:log-euclidean", 3.0, 1e-11),
        ("spd:5:log-euclidean", 6.0, 1e-9),
        ("spd:4:log-cholesky", 1.5, 1e-10),
    ],
)
def test_the_bound_is_small_enough_to_be_of_use(spec, radius, most):
    space = parse_space(spec)
    assert 0 < space.log_error(space.origin, radius) < most


@pytest.mark.parametrize("spec", SPECS)
def test_the_bound_never_falls_with_the_radius(spec):
    space = parse_space(spec)
    bounds = [space.log_error(space.origin, r) for r in np.geomspace(1e-3, 50, 60)]
    assert all(a <= b for a, b in itertools.pairwise(bounds))
    assert space.log_error(space.origin, 1e4) > 0  # inf rather than an overflow error


def test_units_of_rows_do_not_matter_to_the_affine_invariant_bound():
    space = parse_space("spd:3")
    center = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
    units = np.diag([1e-4, 1.0, 1e5])
    same = space.log_error(units @ center @ units, 1.0)
    assert same == pytest.approx(space.log_error(center, 1.0), rel=1e-6)


def test_units_of_rows_do_not_break_the_affine_invariant_bound(oracle):
    space = parse_space("spd:3")
    rng = np.random.default_rng(5)
    units = np.diag([1e-4, 1.0, 1e5])
    for x, y in pairs(space, np.eye(3), 1.5, rng, 30):
        a, b = space.project(units @ x @ units), space.project(units @ y @ units)
        assert oracle.error(space, a, b) <= space.log_error(units @ units, 1.5)


def test_products_add_errors_in_squares():
    space = Product(Sphere(2), Sphere(3))
    parts = [Sphere(2).log_error(Sphere(2).origin, 1.0), Sphere(3).log_error(Sphere(3).origin, 1.0)]
    assert space.log_error(space.origin, 1.0) == pytest.approx(np.hypot(*parts), rel=1e-3)
