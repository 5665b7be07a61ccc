"""Positive definite matrices at the edges, against closed forms, 60 digits and pyriemann."""

import numpy as np
import pytest
from mpmath import mp
from pyriemann.geometry.distance import distance_logchol, distance_logeuclid, distance_riemann

from geodp.spaces import SPD

METRICS = ["affine-invariant", "log-euclidean", "log-cholesky"]


def random_spd(n, size, seed, condition=10.0):
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(n, size, size)))[0]
    values = condition ** np.linspace(0, 1, size)
    x = (q * values) @ np.swapaxes(q, 1, 2)
    return (x + np.swapaxes(x, 1, 2)) / 2


def relative(actual, exact):
    gap = mp.matrix([mp.mpf(float(t)) for t in np.ravel(actual)])
    exact = mp.matrix(list(exact))
    return float(mp.norm(gap - exact) / mp.norm(exact))


@pytest.mark.parametrize("metric", METRICS)
def test_distances_agree_with_pyriemann(metric):
    other = dict(
        zip(METRICS, [distance_riemann, distance_logeuclid, distance_logchol], strict=True)
    )[metric]
    x, y = random_spd(20, 4, 0), random_spd(20, 4, 1, 100.0)
    assert np.allclose(SPD(4, metric).dist(x, y), other(x, y), rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_distance_to_itself_is_exactly_zero(metric, size):
    space = SPD(size, metric)
    for condition in (1.0, 10.0, 1e10):
        x = random_spd(30, size, 2, condition)
        assert not space.dist(x, x).any()
        assert not space.log(x, x).any()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 3e-6, 1e-6, 1e-9, 1e-12])
def test_near_matrices(oracle, metric, gap):
    space = SPD(3, metric)
    x = random_spd(6, 3, 3)
    e = np.random.default_rng(4).normal(size=(6, 3, 3))
    y = space.project(x + gap * (e + np.swapaxes(e, 1, 2)) / 2)
    for a, b in zip(x, y, strict=True):
        assert abs(float(space.dist(a, b) / oracle.dist(space, a, b) - 1)) < 1e-8
        assert relative(space.log_coords(a, b), oracle.log_coords(space, a, b)) < 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_logarithm_at_an_ill_conditioned_base(oracle, seed):
    space = SPD(3)
    x = random_spd(1, 3, seed, 1e12)[0] * 1e-12
    p = random_spd(1, 3, 100 + seed, 10.0)[0]
    assert space.contains(x)
    exact = oracle.affine_invariant_log(x, p)
    assert relative(space.log(x, p), exact) < 1e-8
    back = oracle.affine_invariant_log(p, x)
    assert relative(space.log(p, x), back) < 1e-3  # log of the least eigenvalue, 1e-4 uncertain


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-14, 1e-7, 1.0, 1e8])
def test_norm_of_the_logarithm_is_the_distance_at_every_scale(metric, scale):
    space = SPD(3, metric)
    x, y = scale * random_spd(20, 3, 5), scale * random_spd(20, 3, 6, 50.0)
    assert space.contains(x).all()
    norm = space.norm(x, space.log(x, y))
    assert np.allclose(norm, space.dist(x, y), rtol=1e-10, atol=0)
    if metric != "log-cholesky":  # the others do not change with the unit
        assert np.allclose(space.dist(x, y), space.dist(x / scale, y / scale), rtol=1e-10)


def test_log_euclidean_norm_of_the_logarithm_to_twelve_digits():
    space = SPD(4, "log-euclidean")
    x, y = random_spd(50, 4, 7), random_spd(50, 4, 8)
    assert np.allclose(space.norm(x, space.log(x, y)), space.dist(x, y), rtol=1e-12, atol=0)


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
def test_log_euclidean_norm_of_small_matrices(scale):
    space = SPD(2, "log-euclidean")
    p, v = scale * np.diag([1.0, 2.0]), scale * np.array([[0.0, 1.0], [1.0, 0.0]])
    assert space.norm(p, v) == pytest.approx(np.sqrt(2) * np.log(2), rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_differentials_at_the_identity_and_at_equal_eigenvalues(metric):
    space = SPD(3, metric)
    v = np.array([[0.3, 0.1, 0.0], [0.1, -0.2, 0.5], [0.0, 0.5, 0.4]])
    for p in (np.eye(3), 2.5 * np.eye(3), np.diag([2.0, 2.0, 2.0 + 1e-15])):
        c = p[0, 0]
        z = space.coords(p, v)
        assert np.isfinite(z).all()
        assert np.allclose(space.vector(p, z), v, rtol=1e-12, atol=1e-12)
        weight = v * np.where(np.eye(3), 1, np.sqrt(2)) / c
        if metric == "log-cholesky":  # D chol at c·1: off-diagonal v/√c, log diagonal v/2c
            weight = np.where(np.eye(3), v / (2 * c), v / np.sqrt(c))
        assert np.allclose(z, weight[np.tril_indices(3)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-8, 1e-4, 0.4, 0.6, 3.0])
def test_differential_against_sixty_digits(oracle, metric, gap):
    space = SPD(2, metric)
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s], [s, c]])
    p = turn @ np.diag([2.7, 2.7 * (1.0 + gap)]) @ turn.T
    p = (p + p.T) / 2
    v = np.array([[0.5, -0.7], [-0.7, 0.2]])
    h = mp.mpf(10) ** -20  # a difference of exact charts: error h² relative
    ends = []
    base = mp.matrix(p.tolist())
    for sign in (1, -1):
        moved = base + sign * h * mp.matrix(v.tolist())
        ends.append(_exact_log(space, base, moved))
    exact = [(a - b) / (2 * h) for a, b in zip(*ends, strict=True)]
    assert relative(space.coords(p, v), exact) < 1e-12


def test_divided_differences_of_the_logarithm():
    space = SPD(2, "log-euclidean")
    v = np.array([[0.0, 1.0], [1.0, 0.0]])
    for low, high in [(1.0, 1e10), (3.0, 3.0 * (1 + 2**-20)), (5.0, 5.0), (1e-9, 0.7)]:
        a, b = mp.mpf(low), mp.mpf(high)
        exact = 1 / a if a == b else mp.log(b / a) / (b - a)
        z = space.coords(np.diag([low, high]), v)
        assert z[1] == pytest.approx(float(mp.sqrt(2) * exact), rel=1e-14)


def _exact_log(space, p, q):
    """log_coords for mpmath matrices."""
    metric = space.spec.split(":")[2]
    if metric == "log-cholesky":
        a, b = mp.cholesky(p), mp.cholesky(q)
        return [mp.log(b[0, 0] / a[0, 0]), b[1, 0] - a[1, 0], mp.log(b[1, 1] / a[1, 1])]
    if metric == "affine-invariant":
        inverse = mp.cholesky(p) ** -1
        step = _log(inverse * q * inverse.T)
    else:
        step = _log(q) - _log(p)
    return [step[0, 0], mp.sqrt(2) * step[1, 0], step[1, 1]]


def _log(a):
    values, vectors = mp.eigsy(a)
    return vectors * mp.diag([mp.log(t) for t in values]) * vectors.T


def test_affine_invariant_midpoint_and_invariance():
    space = SPD(2)
    p, q = np.diag([np.exp(2.0), 1.0]), np.eye(2)
    middle = space.exp(p, space.log(p, q) / 2)
    assert np.allclose(middle, np.diag([np.e, 1.0]), rtol=1e-12, atol=1e-12)
    x, y = random_spd(5, 3, 9), random_spd(5, 3, 10)
    g = np.random.default_rng(11).normal(size=(3, 3))
    space = SPD(3)
    moved = space.project(g @ x @ g.T), space.project(g @ y @ g.T)
    assert np.allclose(space.dist(*moved), space.dist(x, y), rtol=1e-10)
    inverses = np.linalg.inv(x), np.linalg.inv(y)
    assert np.allclose(space.dist(*map(space.project, inverses)), space.dist(x, y), rtol=1e-10)


def test_exp_of_zero_is_the_point_and_results_are_symmetric():
    for metric in METRICS:
        space = SPD(3, metric)
        x = random_spd(10, 3, 12, 1e6)
        y = space.exp_coords(x, np.random.default_rng(0).normal(size=(10, 6)))
        assert np.array_equal(y, np.swapaxes(y, 1, 2))
        assert space.contains(y).all()
        still = space.exp_coords(x, np.zeros((10, 6)))
        assert np.allclose(still, x, rtol=1e-9)
    assert np.array_equal(SPD(3).exp(x, 0 * x), x)
