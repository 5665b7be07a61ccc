"""Logarithms of whitened matrices, summed on the lattice: SPD(m) in registers of many records.

For every record y: W = A y Aᵀ = V diag(λ) Vᵀ by Jacobi rotations, z = vech(V diag(log λ) Vᵀ) - s.
With A = L⁻¹ of p = L Lᵀ and s = 0 these are the affine-invariant log-coordinates at p; with A = 1
and s the chart of p, the log-Euclidean ones. The rounding is bounded in docs/proofs/kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from geodp.kernels.kernel import Array, Kernel
from geodp.kernels.lanes import (
    WIDTH,
    absolute,
    bits,
    both,
    choose,
    gather,
    load,
    log,
    root,
    signed,
    spread,
    store,
)
from geodp.kernels.loop import add, compiled, helper, keep, present
from geodp.spaces.batch import cholesky, inverse_lower

LARGEST = 32
_ROOT2 = math.sqrt(2.0)
_SMALL = 2.0**-108  # squared, relative to |W|: an off-diagonal part that may be dropped
_SYMMETRY = 0.9e-12  # squared: below the 1e-6 that ``contains`` allows
_LEAST, _MOST = 1e-100, 1e100  # eigenvalues outside are left to numpy
_SWEEPS = 30  # cyclic Jacobi needs some five; the rest is left to numpy


@helper
def rotation(app: Any, aqq: Any, apq: Any) -> Any:
    """Cosine and sine of the Jacobi rotation of a 2 x 2 block, and its eigenvalues.

    With d = aqq - app, b = 2 apq, h = √(d² + b²) and u = |d| + h the angle, at most 45 degrees, has
    tan = ± b/u and the eigenvalues are (app + aqq ± h)/2. The tiny number makes it 0 for b = d = 0.
    """
    d = aqq - app
    b = apq + apq
    h = root(d * d + b * b)
    u = absolute(d) + h + 1e-140
    inverse = 1.0 / root(u * u + b * b)
    middle = (app + aqq) * 0.5
    half = signed(h, d) * 0.5
    return u * inverse, signed(inverse, d) * b, middle - half, middle + half


@helper
def turn(c: Any, s: Any, x: Any, y: Any) -> Any:
    return c * x - s * y, s * x + c * y


@lru_cache(maxsize=32)
def sums_of(size: int) -> Any:
    """The compiled pass of SPD(``size``); its base holds A, row by row, and s."""
    return {1: _one, 2: _two, 3: _three}.get(size, lambda: _any(size))()


def affine_invariant(size: int) -> Kernel | None:
    """The kernel of ``AffineInvariant``; None beyond ``LARGEST``, where LAPACK is faster."""
    if size > LARGEST:
        return None
    dim = size * (size + 1) // 2

    def base(p: Array) -> Array:
        return np.concatenate([inverse_lower(cholesky(p)).ravel(), np.zeros(dim)])

    return Kernel(size * size, dim, sums_of(size), base, work(size))


def log_euclidean(size: int, chart: Callable[[Array], Array]) -> Kernel | None:
    """The kernel of the log-Euclidean metric, whose chart is given."""
    if size > LARGEST:
        return None
    dim = size * (size + 1) // 2

    def base(p: Array) -> Array:
        return np.concatenate([np.eye(size).ravel(), chart(p)])

    return Kernel(size * size, dim, sums_of(size), base, work(size))


def work(size: int) -> int:
    """Lanes of work space; see ``_any``."""
    return size * (size + 1) + size * size + 2 * size


@helper
def even(a: Any, b: Any, first: Any, second: Any) -> Any:
    """The mean of two entries that should agree, and whether they do."""
    gap = a - b
    return (a + b) * 0.5, gap * gap <= first * second * _SYMMETRY


@helper
def allowed(size: int) -> float:
    """(6 m eps)², what a decomposition may miss, squared; docs/proofs/kernels."""
    return (6.0 * size * 2.0**-52) ** 2


@helper
def ranged(value: Any) -> Any:
    return both(value < _MOST, spread(_LEAST) < value)


def _one() -> Any:
    @compiled
    def sums(
        x: Any, count: int, base: Any, unit: float, unit2: float, limit: float, acc: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x), count)
            w = gather(x, at, 1) * base[0] * base[0]
            ok = both(ok, ranged(w))
            z = log(w) - base[1]
            square = z * z
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            add(acc, 0, z, unit, ok)
            add(acc, 1, square, unit2, ok)

    return sums


def _two() -> Any:
    @compiled
    def sums(
        x: Any, count: int, base: Any, unit: float, unit2: float, limit: float, acc: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // 4, count)
            o = 4 * at
            y0, y2 = gather(x, o, 4), gather(x, o + 3, 4)
            y1, same = even(gather(x, o + 1, 4), gather(x, o + 2, 4), y0, y2)
            ok = both(ok, same)
            t0 = y0 * base[2] + y1 * base[3]
            t1 = y1 * base[2] + y2 * base[3]
            w0 = y0 * base[0] * base[0]
            w1 = t0 * base[0]
            w2 = t0 * base[2] + t1 * base[3]
            c, s, low, high = rotation(w0, w2, w1)
            ok = both(ok, both(ranged(low), ranged(high)))
            first, second = log(low), log(high)
            z0 = c * c * first + s * s * second - base[4]
            z1 = c * s * (second - first) * _ROOT2 - base[5]
            z2 = s * s * first + c * c * second - base[6]
            square = z0 * z0 + z1 * z1 + z2 * z2
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            add(acc, 0, z0, unit, ok)
            add(acc, 1, z1, unit, ok)
            add(acc, 2, z2, unit, ok)
            add(acc, 3, square, unit2, ok)

    return sums


@helper
def _sweep_three(w: Any, v: Any, active: Any) -> Any:
    """The three rotations of a 3 x 3 matrix, on active lanes; rows of V stay with their lanes."""
    w00, w10, w11, w20, w21, w22 = w
    v00, v01, v02, v10, v11, v12, v20, v21, v22 = v
    one, zero = spread(1.0), spread(0.0)

    c, s, low, high = rotation(w00, w11, w10)
    c, s = choose(active, c, one), choose(active, s, zero)
    w00, w11 = choose(active, low, w00), choose(active, high, w11)
    w10 = choose(active, zero, w10)
    w20, w21 = turn(c, s, w20, w21)
    v00, v01 = turn(c, s, v00, v01)
    v10, v11 = turn(c, s, v10, v11)
    v20, v21 = turn(c, s, v20, v21)

    c, s, low, high = rotation(w00, w22, w20)
    c, s = choose(active, c, one), choose(active, s, zero)
    w00, w22 = choose(active, low, w00), choose(active, high, w22)
    w20 = choose(active, zero, w20)
    w10, w21 = turn(c, s, w10, w21)
    v00, v02 = turn(c, s, v00, v02)
    v10, v12 = turn(c, s, v10, v12)
    v20, v22 = turn(c, s, v20, v22)

    c, s, low, high = rotation(w11, w22, w21)
    c, s = choose(active, c, one), choose(active, s, zero)
    w11, w22 = choose(active, low, w11), choose(active, high, w22)
    w21 = choose(active, zero, w21)
    w10, w20 = turn(c, s, w10, w20)
    v01, v02 = turn(c, s, v01, v02)
    v11, v12 = turn(c, s, v11, v12)
    v21, v22 = turn(c, s, v21, v22)
    return (w00, w10, w11, w20, w21, w22), (v00, v01, v02, v10, v11, v12, v20, v21, v22)


@helper
def _entry_three(values: Any, logs: Any, a: Any, b: Any) -> Any:
    """One entry of V diag(log λ) Vᵀ, of V diag(λ) Vᵀ and of V Vᵀ; a and b are rows of V."""
    p, q, r = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    z = p * logs[0] + q * logs[1] + r * logs[2]
    return z, p * values[0] + q * values[1] + r * values[2], p + q + r


@helper
def _off_three(w: Any) -> Any:
    return w[1] * w[1] + w[3] * w[3] + w[4] * w[4]


def _three() -> Any:
    @compiled
    def sums(
        x: Any, count: int, base: Any, unit: float, unit2: float, limit: float, acc: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // 9, count)
            o = 9 * at
            y00, y11, y22 = gather(x, o, 9), gather(x, o + 4, 9), gather(x, o + 8, 9)
            y10, same10 = even(gather(x, o + 1, 9), gather(x, o + 3, 9), y00, y11)
            y20, same20 = even(gather(x, o + 2, 9), gather(x, o + 6, 9), y00, y22)
            y21, same21 = even(gather(x, o + 5, 9), gather(x, o + 7, 9), y11, y22)
            ok = both(both(ok, same10), both(same20, same21))

            t10, t11 = y00 * base[3] + y10 * base[4], y10 * base[3] + y11 * base[4]
            t20 = y00 * base[6] + y10 * base[7] + y20 * base[8]
            t21 = y10 * base[6] + y11 * base[7] + y21 * base[8]
            t22 = y20 * base[6] + y21 * base[7] + y22 * base[8]
            w00 = y00 * base[0] * base[0]
            w10, w11 = t10 * base[0], t10 * base[3] + t11 * base[4]
            w20, w21 = t20 * base[0], t20 * base[3] + t21 * base[4]
            w22 = t20 * base[6] + t21 * base[7] + t22 * base[8]

            one, zero = spread(1.0), spread(0.0)
            w = (w00, w10, w11, w20, w21, w22)
            v = (one, zero, zero, zero, one, zero, zero, zero, one)
            norm = w00 * w00 + w11 * w11 + w22 * w22 + _off_three(w) * 2.0
            small = norm * _SMALL
            for _ in range(3):  # every matrix
                w, v = _sweep_three(w, v, small <= small)
            for _ in range(_SWEEPS):
                active = both(small < _off_three(w), ok)
                if bits(active) == 0:
                    break
                w, v = _sweep_three(w, v, active)
            ok = both(both(ok, ranged(w[0])), both(ranged(w[2]), ranged(w[5])))

            logs = (log(w[0]), log(w[2]), log(w[5]))
            values = (w[0], w[2], w[5])
            first, second, third = v[:3], v[3:6], v[6:]
            z0, r0, e0 = _entry_three(values, logs, first, first)
            z1, r1, e1 = _entry_three(values, logs, second, first)
            z2, r2, e2 = _entry_three(values, logs, second, second)
            z3, r3, e3 = _entry_three(values, logs, third, first)
            z4, r4, e4 = _entry_three(values, logs, third, second)
            z5, r5, e5 = _entry_three(values, logs, third, third)
            r0, r2, r5 = r0 - w00, r2 - w11, r5 - w22
            r1, r3, r4 = r1 - w10, r3 - w20, r4 - w21
            e0, e2, e5 = e0 - 1.0, e2 - 1.0, e5 - 1.0
            residual = r0 * r0 + r2 * r2 + r5 * r5 + (r1 * r1 + r3 * r3 + r4 * r4) * 2.0
            skew = e0 * e0 + e2 * e2 + e5 * e5 + (e1 * e1 + e3 * e3 + e4 * e4) * 2.0
            ok = both(ok, both(residual <= norm * allowed(3), skew <= spread(allowed(3))))

            z0, z2, z5 = z0 - base[9], z2 - base[11], z5 - base[14]
            z1, z3, z4 = z1 * _ROOT2 - base[10], z3 * _ROOT2 - base[12], z4 * _ROOT2 - base[13]
            square = z0 * z0 + z1 * z1 + z2 * z2 + z3 * z3 + z4 * z4 + z5 * z5
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            add(acc, 0, z0, unit, ok)
            add(acc, 1, z1, unit, ok)
            add(acc, 2, z2, unit, ok)
            add(acc, 3, z3, unit, ok)
            add(acc, 4, z4, unit, ok)
            add(acc, 5, z5, unit, ok)
            add(acc, 6, square, unit2, ok)

    return sums


def _any(size: int) -> Any:
    """Behind the sums lie W, packed row by row, W as it was, Vᵀ, and two rows."""
    dim = size * (size + 1) // 2
    matrix = 2 * (dim + 1)
    before, vectors = matrix + dim, matrix + 2 * dim
    scratch = vectors + size * size
    logs = scratch + size

    @helper
    def rotate(c: Any, s: Any, acc: Any, first: int, second: int) -> None:
        a, b = turn(c, s, load(acc, first * WIDTH), load(acc, second * WIDTH))
        store(acc, first * WIDTH, a)
        store(acc, second * WIDTH, b)

    @helper
    def entry(i: int, j: int) -> int:
        return matrix + (i * (i + 1)) // 2 + j

    @helper
    def off(acc: Any) -> Any:
        total = spread(0.0)
        for i in range(size):
            for j in range(i):
                w = load(acc, entry(i, j) * WIDTH)
                total = total + w * w
        return total

    @helper
    def sweep(acc: Any, active: Any) -> None:
        for q in range(1, size):
            for p in range(q):
                pp, qq, pq = entry(p, p) * WIDTH, entry(q, q) * WIDTH, entry(q, p) * WIDTH
                wpp, wqq, wpq = load(acc, pp), load(acc, qq), load(acc, pq)
                c, s, low, high = rotation(wpp, wqq, wpq)
                c, s = choose(active, c, spread(1.0)), choose(active, s, spread(0.0))
                store(acc, pp, choose(active, low, wpp))
                store(acc, qq, choose(active, high, wqq))
                store(acc, pq, choose(active, spread(0.0), wpq))
                for k in range(p):
                    rotate(c, s, acc, entry(p, k), entry(q, k))
                for k in range(p + 1, q):
                    rotate(c, s, acc, entry(k, p), entry(q, k))
                for k in range(q + 1, size):
                    rotate(c, s, acc, entry(k, p), entry(k, q))
                for k in range(size):
                    rotate(c, s, acc, vectors + p * size + k, vectors + q * size + k)

    @helper
    def whiten(x: Any, o: int, base: Any, acc: Any) -> Any:
        """Put A y Aᵀ in place; whether y is symmetric."""
        stride = size * size
        same = spread(0.0) < spread(1.0)
        for i in range(size):
            first = gather(x, o + i * size + i, stride)
            store(acc, (vectors + i * size + i) * WIDTH, first)
            for j in range(i):
                other = load(acc, (vectors + j * size + j) * WIDTH)
                a, b = gather(x, o + i * size + j, stride), gather(x, o + j * size + i, stride)
                mean, fits = even(a, b, first, other)
                same = both(same, fits)
                store(acc, (vectors + i * size + j) * WIDTH, mean)
                store(acc, (vectors + j * size + i) * WIDTH, mean)
        for i in range(size):
            for j in range(size):
                total = spread(0.0)
                for k in range(i + 1):
                    total = total + load(acc, (vectors + k * size + j) * WIDTH) * base[i * size + k]
                store(acc, (scratch + j) * WIDTH, total)
            for j in range(i + 1):
                total = spread(0.0)
                for k in range(j + 1):
                    total = total + load(acc, (scratch + k) * WIDTH) * base[j * size + k]
                store(acc, entry(i, j) * WIDTH, total)
        return same

    @compiled
    def sums(
        x: Any, count: int, base: Any, unit: float, unit2: float, limit: float, acc: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // (size * size), count)
            ok = both(ok, whiten(x, at * size * size, base, acc))
            for k in range(dim):
                store(acc, (before + k) * WIDTH, load(acc, (matrix + k) * WIDTH))
            norm = off(acc) * 2.0
            for i in range(size):
                w = load(acc, entry(i, i) * WIDTH)
                norm = norm + w * w
                for j in range(size):
                    store(acc, (vectors + i * size + j) * WIDTH, spread(1.0 if i == j else 0.0))
            small = norm * _SMALL
            for _ in range(_SWEEPS):
                active = both(small < off(acc), ok)
                if bits(active) == 0:
                    break
                sweep(acc, active)
            for i in range(size):
                w = load(acc, entry(i, i) * WIDTH)
                ok = both(ok, ranged(w))
                store(acc, (scratch + i) * WIDTH, w)
                store(acc, (logs + i) * WIDTH, log(w))
            square, residual, skew = spread(0.0), spread(0.0), spread(0.0)
            index = 0
            for i in range(size):
                for j in range(i + 1):
                    z, r, e = spread(0.0), spread(0.0), spread(0.0)
                    for k in range(size):
                        a = load(acc, (vectors + k * size + i) * WIDTH)
                        p = a * load(acc, (vectors + k * size + j) * WIDTH)
                        z = z + p * load(acc, (logs + k) * WIDTH)
                        r = r + p * load(acc, (scratch + k) * WIDTH)
                        e = e + p
                    r = r - load(acc, (before + index) * WIDTH)
                    e = e - (1.0 if i == j else 0.0)
                    residual = residual + r * r * (1.0 if i == j else 2.0)
                    skew = skew + e * e * (1.0 if i == j else 2.0)
                    z = z * (1.0 if i == j else _ROOT2) - base[size * size + index]
                    square = square + z * z
                    store(acc, (matrix + index) * WIDTH, z)
                    index += 1
            ok = both(ok, both(residual <= norm * allowed(size), skew <= spread(allowed(size))))
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            for k in range(dim):
                add(acc, k, load(acc, (matrix + k) * WIDTH), unit, ok)
            add(acc, dim, square, unit2, ok)

    return sums
