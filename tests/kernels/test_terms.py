"""Means of terms in compiled passes: exact values to the stated error, on extreme records too."""

import mpmath
import numpy as np
import pytest

import geodp as gd
from geodp.kernels import MANY, hessians, loop, product
from geodp.kernels.functions import t_coth
from geodp.kernels.lanes import WIDTH, store
from geodp.kernels.lanes import load as load_lanes
from geodp.kernels.reduce import Reducer
from geodp.spaces import parse_space
from geodp.statistics import DistanceMoment, FrechetVariance, MeanHessian, TangentCovariance, domain
from geodp.testing import random_points

PRODUCT = "sphere:2+spd:2+euclidean:1"
CURVED = [
    *(("spd:2", 2.0), ("spd:3", 2.0), ("spd:5", 1.0), (PRODUCT, 1.0), ("shapes:5", 0.6)),
    *(("sphere:2", 1.2), ("sphere:3", 1.56), ("sphere:4:0.25", 2.0)),
    *(("hyperbolic:3:-2.0", 2.5), ("hyperbolic:2", 6.0)),
]
FLAT = [("euclidean:3", 2.0), ("spd:3:log-euclidean", 2.0), ("spd:3:log-cholesky", 1.0)]


def ball_of(spec, radius):
    space = parse_space(spec)
    return gd.Ball(space, space.origin, radius)


def statistics_at(ball, at):
    found = [DistanceMoment(ball, at, 2), DistanceMoment(ball, at, 4)]
    found += [TangentCovariance(ball, at), TangentCovariance(ball, at, 0.3 * ball.radius)]
    return found if ball.space.is_flat else [*found, MeanHessian(ball, at)]


def unit(space, rng):
    z = rng.normal(size=space.dim)
    return z / np.linalg.norm(z)


def extreme(ball, rng):
    """Anywhere, at the edge, next to the centre, and where eigenvalues agree."""
    space, r = ball.space, ball.radius * (1 - 1e-9)
    for _ in range(2):
        yield r * rng.random() * unit(space, rng)
        yield r * unit(space, rng)
        yield r * 10 ** rng.uniform(-14, -2) * unit(space, rng)
    for axis in np.eye(space.dim)[:: max(1, space.dim // 3)]:
        yield r * axis
    yield 0.0 * axis


# --- exact terms ----------------------------------------------------------------------------------
def packed(matrix):
    """The orthonormal vech of an mpmath matrix."""
    root = mpmath.sqrt(2)
    return [
        matrix[i, j] * (1 if i == j else root) for i in range(matrix.rows) for j in range(i + 1)
    ]


def excess(space, z):
    """The exact Hessian on a factor, from exact log-coordinates: 1 along z, and what the curvature
    across it makes."""
    name, dim = space.spec.split(":")[0], space.dim
    if space.is_flat:
        return mpmath.eye(dim)
    if name == "spd":
        return spd_hessian(space.point_shape[0], z)
    k = mpmath.mpf(space.curvature[0])
    t = mpmath.norm(z) * mpmath.sqrt(abs(k))
    if t == 0:
        return mpmath.eye(dim)
    across = t * (mpmath.coth(t) if k < 0 else mpmath.cot(t))
    along = z * z.T / mpmath.norm(z) ** 2
    return across * (mpmath.eye(dim) - along) + along


def spd_hessian(size, z):
    """Column by column: V (w * (V' E V)) V' for the basis matrices E, w_ij = t coth t of half the
    gaps of eigenvalues."""
    basis, places = [], [(i, j) for i in range(size) for j in range(i + 1)]
    for i, j in places:
        e = mpmath.zeros(size)
        e[i, j] = e[j, i] = 1 if i == j else 1 / mpmath.sqrt(2)
        basis.append(e)
    log = sum((e * c for e, c in zip(basis, z, strict=True)), mpmath.zeros(size))
    values, v = mpmath.eigsy(log)
    out = mpmath.zeros(len(z))
    for column, e in enumerate(basis):
        inner = v.T * e * v
        for i in range(size):
            for j in range(size):
                t = (values[i] - values[j]) / 2
                inner[i, j] *= t * mpmath.coth(t) if t != 0 else 1
        for row, x in enumerate(packed(v * inner * v.T)):
            out[row, column] = x
    return out


def exact(statistic, z):
    """The term of one record with log-coordinates ``z``."""
    space, size = statistic.domain.space, mpmath.norm(z)
    if isinstance(statistic, DistanceMoment):
        return [size**statistic.power]
    if isinstance(statistic, TangentCovariance):
        if statistic.spread is not None and size > statistic.spread:
            z = z * (mpmath.mpf(statistic.spread) / size)
        return packed(z * z.T)
    whole, at = mpmath.zeros(space.dim), 0
    for factor in space.factors:
        part = mpmath.matrix(list(z)[at : at + factor.dim])
        block = excess(factor, part)
        for i in range(factor.dim):
            for j in range(factor.dim):
                whole[at + i, at + j] = block[i, j]
        at += factor.dim
    return packed(whole)


@pytest.mark.parametrize(("spec", "radius"), CURVED + FLAT)
def test_terms_are_exact_to_the_stated_error(exact_logs, monkeypatch, spec, radius):
    monkeypatch.setattr(domain, "MANY", 2)
    ball = ball_of(spec, radius)
    space, rng = ball.space, np.random.default_rng(1)
    seen = [space.project(space.exp_coords(ball.center, z)) for z in extreme(ball, rng)]
    for at in (ball.center, space.exp_coords(ball.center, 0.9 * radius * unit(space, rng))):
        for x in seen:
            for statistic in statistics_at(ball, at):
                if spec.startswith("shapes") and not isinstance(statistic, DistanceMoment):
                    continue  # compared with numpy below
                clipped = ball.clip(np.stack([x, x]))
                assert clipped.kernel is not None
                assert statistic.reducer(clipped.kernel) is not None
                value = statistic.evaluate(clipped).value
                with mpmath.workdps(40):
                    term = exact(statistic, exact_logs(space, statistic.origin, x))
                    gap = mpmath.norm([mpmath.mpf(v) - t for v, t in zip(value, term, strict=True)])
                    assert gap <= statistic.error_bound


def messy(ball, n=MANY + 37):
    rng = np.random.default_rng(2)
    x = random_points(ball.space, n, 1.1 * ball.radius, rng)
    x[5], x[500], x[-1] = np.nan, np.inf, -1e200
    x[::7] *= 1 + 1e-10 * rng.normal(size=x[::7].shape)
    return x


@pytest.fixture(params=CURVED + FLAT, ids=lambda case: case[0])
def case(request):
    ball = ball_of(*request.param)
    return ball, messy(ball)


def test_values_are_those_of_numpy(case, monkeypatch):
    ball, x = case
    at = x[0] if ball.space.contains(x[0]) else ball.center
    statistics = [*statistics_at(ball, at), FrechetVariance(ball)]
    ours = [s.evaluate(x).value for s in statistics]
    monkeypatch.setattr(domain, "MANY", 10**9)
    for statistic, value in zip(statistics, ours, strict=True):
        gap = np.linalg.norm(statistic.evaluate(x).value - value)
        assert gap <= 2 * statistic.error_bound
        assert gap <= 1e-9 * np.linalg.norm(value)


def test_blocks_and_threads_change_no_bit(case, monkeypatch):
    ball, x = case
    statistics = [*statistics_at(ball, ball.center), FrechetVariance(ball)]
    values = [[s.evaluate(x).value for s in statistics]]
    monkeypatch.setattr(domain, "BLOCK_FLOATS", 2**12)
    for count in ("1", "3"):
        monkeypatch.setenv("GEODP_NUM_THREADS", count)
        values.append([s.evaluate(x).value for s in statistics])
    order = np.random.default_rng(3).permutation(len(x))
    values.append([s.evaluate(x[order]).value for s in statistics[:-1]])
    for other in values[1:]:
        for one, two in zip(values[0], other, strict=False):
            np.testing.assert_array_equal(one, two)


@loop.helper
def many_t_coth(x, out):
    for i in range(0, len(x), WIDTH):
        store(out, i, t_coth(load_lanes(x, i)))


def test_t_coth_and_t_cot():
    t = np.concatenate([np.linspace(0, 40, 320), 10.0 ** np.linspace(-150, 1, 160)])
    angle = np.concatenate([np.linspace(0, 3.14159, 320), 10.0 ** np.linspace(-150, 0, 160)])
    x, out = np.concatenate([t * t, -angle * angle]), np.empty(960)
    many_t_coth(x, out)
    with mpmath.workdps(50):
        for square, ours in zip(x, out, strict=True):
            s = mpmath.sqrt(mpmath.mpc(square))  # imaginary below 0: i t coth(i t) = t cot t
            value = (s * mpmath.coth(s)).real if square else mpmath.mpf(1)
            damped = abs(s / mpmath.sin(abs(s))) ** 2 if square < 0 else value
            assert abs(ours - value) <= 9 * 2.0**-52 * damped


class Picky(Reducer):
    """Leaves every third record, as one does whose decomposition failed its check."""

    def __init__(self, inner):
        self.inner = inner

    size = property(lambda self: self.inner.size)

    def begin(self):
        return self.inner.begin()

    def add(self, acc, rows, count, unit, left):
        left[::3] = 1
        rows[np.broadcast_to(product.in_groups(left)[:, None], rows.shape)] = 0.0
        self.inner.add(acc, rows, count, unit, left)

    def finish(self, acc, count, scale):
        return self.inner.finish(acc, count, scale)


@pytest.mark.parametrize("spec", ["spd:2", PRODUCT])
@pytest.mark.parametrize("n", [512, 523])
def test_what_a_hessian_cannot_decompose_goes_to_numpy(monkeypatch, spec, n):
    """The whole record, also what another factor could do."""
    ball = ball_of(spec, 1.0)
    x = random_points(ball.space, n, 0.9, np.random.default_rng(4))
    statistic = MeanHessian(ball, x[0])
    expected = statistic.evaluate(x).value
    monkeypatch.setattr(domain, "MANY", 2)
    picky, asked = Picky(hessians.affine_invariant(2)), []
    monkeypatch.setattr(hessians, "affine_invariant", lambda size: picky)
    terms = MeanHessian.terms
    monkeypatch.setattr(
        MeanHessian, "terms", lambda self, chunk: asked.append(len(chunk)) or terms(self, chunk)
    )
    found = statistic.evaluate(x).value
    assert sum(asked) == -(-n // 3)
    np.testing.assert_allclose(found, expected, atol=1e-12)
