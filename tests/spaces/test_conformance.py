"""Every space passes the public suite, and the suite refuses broken spaces."""

import numpy as np
import pytest

import geodp as gd
from geodp.spaces import parse_space
from geodp.spaces.validated import Validated
from geodp.testing import check_space, random_points, spaces

SPECS = [
    "euclidean:1",
    "euclidean:3",
    "sphere:1",
    "sphere:1:9.0",
    "sphere:2",
    "sphere:6:0.25",
    "hyperbolic:1",
    "hyperbolic:2",
    "hyperbolic:3:-2.0",
    "hyperbolic:10",
    "spd:1:affine-invariant",
    "spd:2:affine-invariant",
    "spd:5:affine-invariant",
    "spd:1:log-euclidean",
    "spd:3:log-euclidean",
    "spd:1:log-cholesky",
    "spd:4:log-cholesky",
    "sphere:2+spd:2:affine-invariant+hyperbolic:2",
    "sphere:1+euclidean:2",
    "spd:2:affine-invariant^3",
    "sphere:2^2",
    "(sphere:2+euclidean:1)^2",
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", [0, 1])
def test_space_obeys_the_laws(spec, seed):
    check_space(parse_space(spec), seed)


def test_validated_space_agrees_with_the_space_it_wraps():
    space = parse_space("sphere:2+spd:2")
    p, q = (random_points(space, 4, 0.5, np.random.default_rng(s)) for s in (0, 1))
    checked = Validated(space)
    assert np.array_equal(checked.log(p, q), space.log(p, q))
    assert np.array_equal(checked.hessian(p, q), space.hessian(p, q))
    assert checked == space


def test_laws_refuse_matrices_that_are_no_points():
    singular, indefinite, skew = np.diag([1.0, 0]), np.diag([1.0, -1]), np.array([[1, 0.5], [0, 1]])
    check_space(gd.SPD(2), not_points=np.stack([singular, indefinite, skew]))
    with pytest.raises(AssertionError, match="membership"):
        check_space(gd.SPD(2), not_points=np.eye(2)[None])


# How each broken method is caught: (spec, method, wrong version, name of the law).
BROKEN = [
    ("sphere:2", "hessian", lambda s, p, q: np.eye(2) + 0 * s.dist(p, q)[..., None, None], "hess"),
    ("hyperbolic:2", "log_volume_density", lambda s, p, v: 0 * s.norm(p, v), "volume"),
    ("hyperbolic:2", "curvature", property(lambda s: (-0.5, -0.5)), "constants|curvature"),
    ("spd:2", "curvature", property(lambda s: (-0.25, 0.0)), "constants|curvature"),
    ("spd:2", "dist", lambda s, p, q: s.norm(p, s.log(p, q)) + 1e-12, "metric"),
    ("sphere:2", "inner", lambda s, p, u, v: 2 * (u * v).sum(-1), "norm of log|orthonormal"),
    ("euclidean:2", "contains", lambda s, x: np.ones(np.shape(x)[:-1], bool), "membership"),
    ("euclidean:2", "dist", lambda s, p, q: np.abs(np.subtract(p, q)).sum(-1), "norm of log"),
    ("euclidean:2", "log_error", lambda s, c, r: 1e-22 * r, "log_error"),
]


@pytest.mark.parametrize(("spec", "name", "wrong", "law"), BROKEN)
def test_a_broken_space_is_refused_by_the_right_law(monkeypatch, spec, name, wrong, law):
    space = parse_space(spec)
    monkeypatch.setattr(type(space), name, wrong)
    with pytest.raises(AssertionError, match=law):
        check_space(space)


def test_batch_dependent_arithmetic_is_refused(monkeypatch):
    space = gd.Euclidean(3)
    honest = gd.Euclidean.exp

    def leaky(self, p, v):
        out = honest(self, p, v)
        return out * (1 + 1e-15 * (out.ndim > 1))

    monkeypatch.setattr(gd.Euclidean, "exp", leaky)
    monkeypatch.setattr(gd.Euclidean, "exp_coords", leaky)
    with pytest.raises(AssertionError, match="independent"):
        check_space(space)


def test_random_points_stay_within_the_radius():
    space = gd.Hyperbolic(4)
    points = random_points(space, 200, 2.0, np.random.default_rng(0))
    assert space.contains(points).all()
    assert space.dist(space.origin, points).max() <= 2 + 1e-12
    assert spaces.reach(space) <= 1
