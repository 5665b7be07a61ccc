"""Sums of Hessians of half the squared distance, which are functions of the log-coordinates.

In an orthonormal basis that diagonalises the curvature along the geodesic, the Hessian's entries
are c(x) = t coth t, or t cot t, with x = t² or -t². What is added up is the Hessian less 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from geodp.kernels.functions import t_coth
from geodp.kernels.jacobi import ROOT2, SMALL, SWEEPS, allowed
from geodp.kernels.lanes import WIDTH, bits, both, choose, load, spread, store
from geodp.kernels.loop import gain, helper, keep, present, reducer
from geodp.kernels.reduce import Compiled, Constant, Reducer
from geodp.kernels.spd_any import entry, identity, off_diagonal, sweep

_TINY = 1e-300
LARGEST_SIZE, LARGEST_DIM = 6, 100
FARTHEST = 40.0  # of the argument of coth


def _identity(dim: int) -> Any:
    rows, columns = np.tril_indices(dim)
    return np.where(rows == columns, 1.0, 0.0)


@lru_cache(maxsize=32)
def _round_of(dim: int, lines: bool) -> Any:
    """Of spaces of constant curvature ``parameter``; with ``lines`` of complex projective space,
    whose curvature is 4 times that in the direction i z, coordinates being re, im, re, im, ..."""

    @reducer
    def run(
        rows: Any, count: int, parameter: float, unit: float, acc: Any, work: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            place = start // WIDTH * (dim + 1)
            square = spread(0.0)
            for i in range(dim):
                z = load(rows, (place + i) * WIDTH)
                square = square + z * z
            x = square * (-parameter)
            across = t_coth(x)
            share = square + _TINY
            first = (across - 1.0) / share
            second = spread(0.0)
            if lines:
                second = (t_coth(x * 4.0) - across) / share
            index = 0
            for i in range(dim):
                z = load(rows, (place + i) * WIDTH)
                turned = spread(0.0)
                if lines:
                    turned = load(rows, (place + (i ^ 1)) * WIDTH) * (1.0 if i % 2 else -1.0)
                for j in range(i):
                    other = load(rows, (place + j) * WIDTH)
                    value = z * other * first * -1.0
                    if lines:
                        mate = load(rows, (place + (j ^ 1)) * WIDTH) * (1.0 if j % 2 else -1.0)
                        value = value + turned * mate * second
                    gain(acc, index, value * ROOT2, unit)
                    index += 1
                value = (square - z * z) * first
                if lines:
                    value = value + turned * turned * second
                gain(acc, index, value, unit)
                index += 1

    return run


@helper
def _residual(size: int, work: Any, vectors: int, before: int) -> Any:
    """Squared distances of V diag(l) V^T from the matrix, and of V V^T from 1."""
    residual, skew = spread(0.0), spread(0.0)
    index = 0
    for i in range(size):
        for j in range(i + 1):
            r, e = spread(0.0), spread(0.0)
            for k in range(size):
                p = load(work, (vectors + k * size + i) * WIDTH)
                p = p * load(work, (vectors + k * size + j) * WIDTH)
                r = r + p * load(work, entry(size, k, k) * WIDTH)
                e = e + p
            r = r - load(work, (before + index) * WIDTH)
            e = e - (1.0 if i == j else 0.0)
            residual = residual + r * r * (1.0 if i == j else 2.0)
            skew = skew + e * e * (1.0 if i == j else 2.0)
            index += 1
    return residual, skew


@lru_cache(maxsize=8)
def _spd_of(size: int) -> Any:
    """With z = vech(V diag(l) V^T) the Hessian is 1 + sum_ij (c(((l_i - l_j)/2)²) - 1) g g^T over
    i > j, g = vech(v_i v_j^T + v_j v_i^T)/√2 of length 1. Work: what ``sweep`` needs, then z
    unscaled, V^T, the weighted g and g."""
    dim = size * (size + 1) // 2
    before = 2 * (dim + 1) + dim
    vectors = before + dim
    side = vectors + size * size
    sums = side + dim

    @reducer
    def run(
        rows: Any, count: int, parameter: float, unit: float, acc: Any, work: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, max(count, WIDTH), count)
            place = start // WIDTH * (dim + 1)
            norm = spread(0.0)
            index = 0
            for i in range(size):
                for j in range(i + 1):
                    z = load(rows, (place + index) * WIDTH)
                    norm = norm + z * z
                    z = z * (1.0 if i == j else 1.0 / ROOT2)
                    store(work, entry(size, i, j) * WIDTH, z)
                    store(work, (before + index) * WIDTH, z)
                    index += 1
            identity(size, work, vectors)
            small = norm * SMALL
            for _ in range(SWEEPS):
                active = small < off_diagonal(size, work)
                if bits(active) == 0:
                    break
                sweep(size, vectors, work, active)
            residual, skew = _residual(size, work, vectors, before)
            ok = both(ok, both(residual <= norm * allowed(size), skew <= spread(allowed(size))))
            keep(ok, at, start, count, left)
            for k in range(dim * (dim + 1) // 2):
                store(work, (sums + k) * WIDTH, spread(0.0))
            for p in range(size):
                for q in range(p):
                    gap = load(work, entry(size, p, p) * WIDTH)
                    gap = (gap - load(work, entry(size, q, q) * WIDTH)) * 0.5
                    weight = t_coth(gap * gap) - 1.0
                    index = 0
                    for i in range(size):
                        vi = load(work, (vectors + p * size + i) * WIDTH)
                        wi = load(work, (vectors + q * size + i) * WIDTH)
                        for j in range(i + 1):
                            vj = load(work, (vectors + p * size + j) * WIDTH)
                            wj = load(work, (vectors + q * size + j) * WIDTH)
                            g = (vi * wj + wi * vj) * (1.0 / ROOT2 if i == j else 1.0)
                            store(work, (side + index) * WIDTH, g)
                            index += 1
                    index = 0
                    for i in range(dim):
                        g = load(work, (side + i) * WIDTH) * weight
                        for j in range(i + 1):
                            h = load(work, (sums + index) * WIDTH)
                            h = h + g * load(work, (side + j) * WIDTH)
                            store(work, (sums + index) * WIDTH, h)
                            index += 1
            index = 0
            for i in range(dim):
                for j in range(i + 1):
                    h = load(work, (sums + index) * WIDTH) * (1.0 if i == j else ROOT2)
                    _give(acc, index, h, unit, ok)
                    index += 1

    return run


@helper
def _give(acc: Any, index: int, value: Any, unit: float, ok: Any) -> None:
    gain(acc, index, choose(ok, value, spread(0.0)), unit)


def curved(dim: int, curvature: float, lines: bool = False) -> Reducer | None:
    """Of constant curvature; with ``lines`` of the holomorphic kind, see ``_round_of``."""
    if dim > LARGEST_DIM:
        return None
    return Compiled(dim * (dim + 1) // 2, _round_of(dim, lines), curvature, offset=_identity(dim))


def affine_invariant(size: int) -> Reducer | None:
    """Of ``AffineInvariant``."""
    if not 1 < size <= LARGEST_SIZE:
        return None
    dim = size * (size + 1) // 2
    terms = dim * (dim + 1) // 2
    work = 2 * (dim + 1) + 2 * dim + size * size + dim + terms
    return Compiled(terms, _spd_of(size), 0.0, work, _identity(dim))


def flat(dim: int) -> Reducer:
    """Of a flat space."""
    return Constant(_identity(dim))
