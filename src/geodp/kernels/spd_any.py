"""Passes over SPD(m) of one size m each, matrices in the cache; see ``spd``."""

from __future__ import annotations

from typing import Any

from geodp.kernels.functions import log
from geodp.kernels.jacobi import ROOT2, SMALL, SWEEPS, allowed, even, ranged, rotation, turn
from geodp.kernels.lanes import WIDTH, bits, both, choose, gather, load, spread, store
from geodp.kernels.loop import compiled, give, helper, keep, present


def work(size: int) -> int:
    """Lanes of work space."""
    return size * (size + 1) + size * size + 2 * size


@helper
def entry(size: int, i: int, j: int) -> int:
    """Where the packed W has its entry (i, j), j <= i; it lies behind the sums."""
    return size * (size + 1) + 2 + (i * (i + 1)) // 2 + j


@helper
def _rotate(c: Any, s: Any, acc: Any, first: int, second: int) -> None:
    a, b = turn(c, s, load(acc, first * WIDTH), load(acc, second * WIDTH))
    store(acc, first * WIDTH, a)
    store(acc, second * WIDTH, b)


@helper
def off_diagonal(size: int, acc: Any) -> Any:
    """The squared size of W below its diagonal."""
    total = spread(0.0)
    for i in range(size):
        for j in range(i):
            w = load(acc, entry(size, i, j) * WIDTH)
            total = total + w * w
    return total


@helper
def sweep(size: int, vectors: int, acc: Any, active: Any) -> None:
    """A rotation for every pair of rows, on active lanes."""
    for q in range(1, size):
        for p in range(q):
            pp, qq = entry(size, p, p) * WIDTH, entry(size, q, q) * WIDTH
            pq = entry(size, q, p) * WIDTH
            wpp, wqq, wpq = load(acc, pp), load(acc, qq), load(acc, pq)
            c, s, low, high = rotation(wpp, wqq, wpq)
            c, s = choose(active, c, spread(1.0)), choose(active, s, spread(0.0))
            store(acc, pp, choose(active, low, wpp))
            store(acc, qq, choose(active, high, wqq))
            store(acc, pq, choose(active, spread(0.0), wpq))
            for k in range(p):
                _rotate(c, s, acc, entry(size, p, k), entry(size, q, k))
            for k in range(p + 1, q):
                _rotate(c, s, acc, entry(size, k, p), entry(size, q, k))
            for k in range(q + 1, size):
                _rotate(c, s, acc, entry(size, k, p), entry(size, k, q))
            for k in range(size):
                _rotate(c, s, acc, vectors + p * size + k, vectors + q * size + k)


@helper
def identity(size: int, acc: Any, vectors: int) -> None:
    for i in range(size):
        for j in range(size):
            store(acc, (vectors + i * size + j) * WIDTH, spread(1.0 if i == j else 0.0))


@helper
def _whiten(size: int, x: Any, o: int, base: Any, acc: Any, room: int, row: int) -> Any:
    """Put A y Aᵀ in place, with room for y and a row; whether y is symmetric."""
    stride = size * size
    same = spread(0.0) < spread(1.0)
    for i in range(size):
        first = gather(x, o + i * size + i, stride)
        store(acc, (room + i * size + i) * WIDTH, first)
        for j in range(i):
            other = load(acc, (room + j * size + j) * WIDTH)
            a, b = gather(x, o + i * size + j, stride), gather(x, o + j * size + i, stride)
            mean, fits = even(a, b, first, other)
            same = both(same, fits)
            store(acc, (room + i * size + j) * WIDTH, mean)
            store(acc, (room + j * size + i) * WIDTH, mean)
    for i in range(size):
        for j in range(i + 1):
            total = spread(0.0)
            for k in range(i + 1):
                total = total + load(acc, (room + k * size + j) * WIDTH) * base[i * size + k]
            store(acc, (row + j) * WIDTH, total)
        for j in range(i + 1):
            total = spread(0.0)
            for k in range(j + 1):
                total = total + load(acc, (row + k) * WIDTH) * base[j * size + k]
            store(acc, entry(size, i, j) * WIDTH, total)
    return same


def any_size(size: int) -> Any:
    """Behind the sums lie W, packed row by row, W as it was, Vᵀ, and two rows."""
    dim = size * (size + 1) // 2
    matrix = 2 * (dim + 1)
    before, vectors = matrix + dim, matrix + 2 * dim
    scratch = vectors + size * size
    logs = scratch + size

    @compiled
    def run(
        x: Any,
        count: int,
        base: Any,
        unit: float,
        unit2: float,
        limit: float,
        acc: Any,
        left: Any,
        rows: Any,
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // (size * size), count)
            ok = both(ok, _whiten(size, x, at * size * size, base, acc, vectors, scratch))
            for k in range(dim):
                store(acc, (before + k) * WIDTH, load(acc, (matrix + k) * WIDTH))
            norm = off_diagonal(size, acc) * 2.0
            for i in range(size):
                w = load(acc, entry(size, i, i) * WIDTH)
                norm = norm + w * w
            identity(size, acc, vectors)
            small = norm * SMALL
            for _ in range(SWEEPS):
                active = both(small < off_diagonal(size, acc), ok)
                if bits(active) == 0:
                    break
                sweep(size, vectors, acc, active)
            for i in range(size):
                w = load(acc, entry(size, i, i) * WIDTH)
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
                    z = z * (1.0 if i == j else ROOT2) - base[size * size + index]
                    square = square + z * z
                    store(acc, (matrix + index) * WIDTH, z)
                    index += 1
            ok = both(ok, both(residual <= norm * allowed(size), skew <= spread(allowed(size))))
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * (dim + 1)
            for k in range(dim):
                give(acc, rows, place, k, load(acc, (matrix + k) * WIDTH), unit, ok)
            give(acc, rows, place, dim, square, unit2, ok)

    return run
