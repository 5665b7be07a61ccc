"""Batched small linear algebra in which every record is treated by itself, bit for bit.

Sums over vector entries are explicit loops of element-wise operations: ``sum``, ``einsum`` and
BLAS choose their order of addition by the shape of the batch. Matrix products and eigenvectors are
taken per matrix, always from contiguous memory. Nothing here raises or warns because of a record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)


def quiet() -> np.errstate:
    """Silence floating-point warnings: a malformed record gives NaN, and says nothing."""
    return np.errstate(all="ignore")


def array(x: ArrayLike) -> Array:
    """``x`` as contiguous float64: strided data may take other SIMD paths than contiguous data."""
    return np.ascontiguousarray(x, dtype=np.float64)


def misfits(x: ArrayLike, point_shape: tuple[int, ...]) -> BoolArray | None:
    """All False, one per record, where ``x`` has not the trailing shape of points; else None."""
    shape, rank = np.shape(x), len(point_shape)
    if shape[-rank:] == point_shape:
        return None
    return np.zeros(shape[: max(len(shape) - rank, 0)], dtype=bool)


def dot(a: Array, b: Array) -> Array:
    """Inner products over the last axis, added in the order of the entries."""
    total = a[..., 0] * b[..., 0]
    for i in range(1, a.shape[-1]):
        total = total + a[..., i] * b[..., i]
    return np.asarray(total)


def length(a: Array) -> Array:
    """Euclidean lengths over the last axis, without overflow or underflow of the squares."""
    top = np.abs(a[..., 0])
    for i in range(1, a.shape[-1]):
        top = np.maximum(top, np.abs(a[..., i]))
    _, power = np.frexp(top)
    scaled = np.ldexp(a, -power[..., None])  # a power of two: exact
    return np.asarray(np.ldexp(np.sqrt(dot(scaled, scaled)), power))


def transpose(a: Array) -> Array:
    return np.swapaxes(a, -1, -2)


def mirror(a: Array) -> Array:
    """The symmetric matrix with the lower triangle of ``a``."""
    lower = np.tril(a)
    return lower + transpose(np.tril(a, -1))


def cholesky(a: Array) -> Array:
    """Lower Cholesky factors of the lower triangles, NaN where a pivot is not positive."""
    size = a.shape[-1]
    factor = np.zeros_like(a)
    with quiet():
        for j in range(size):
            column = a[..., j:, j].copy()
            for k in range(j):
                column -= factor[..., j:, k] * factor[..., j, k, None]
            root = np.sqrt(column[..., 0])
            factor[..., j:, j] = column / root[..., None]
            factor[..., j, j] = root
    return factor


def inverse_lower(factor: Array) -> Array:
    """Inverses of lower triangular matrices by forward substitution."""
    size = factor.shape[-1]
    inverse = np.zeros_like(factor)
    with quiet():
        for i in range(size):
            row = np.zeros(factor.shape[:-1])
            row[..., i] = 1.0
            for k in range(i):
                row -= factor[..., i, k, None] * inverse[..., k, :]
            inverse[..., i, :] = row / factor[..., i, i, None]
    return inverse


def congruence(a: Array, x: Array) -> Array:
    """``a x aᵀ`` per record."""
    with quiet():
        return np.asarray(array(a @ x) @ transpose(a))


def eigh(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the lower triangles; NaN where an entry is not finite.

    LAPACK refuses a whole batch for one matrix that does not converge, so such matrices are never
    shown to it.
    """
    bad = np.asarray(~np.isfinite(a).all(axis=(-2, -1)))
    if bad.any():
        a = np.where(bad[..., None, None], np.eye(a.shape[-1]), a)
    with quiet():
        try:
            values, vectors = np.linalg.eigh(a)
        except np.linalg.LinAlgError:
            values, vectors = _eigh_one_by_one(a)
    if bad.any():
        values = np.where(bad[..., None], np.nan, values)
        vectors = np.where(bad[..., None, None], np.nan, vectors)
    return values, array(vectors)


def _eigh_one_by_one(a: Array) -> tuple[Array, Array]:
    values, vectors = np.full(a.shape[:-1], np.nan), np.full(a.shape, np.nan)
    for at in np.ndindex(a.shape[:-2]):
        try:
            values[at], vectors[at] = np.linalg.eigh(a[at])
        except np.linalg.LinAlgError:
            continue
    return values, vectors


def from_eigen(values: Array, vectors: Array) -> Array:
    """``V diag(values) Vᵀ``, exactly symmetric."""
    with quiet():
        return mirror(array(vectors * values[..., None, :]) @ transpose(vectors))


def vech(a: Array, off: float) -> Array:
    """The lower triangle, row by row, its off-diagonal entries times ``off``."""
    rows, columns = np.tril_indices(a.shape[-1])
    return array(a[..., rows, columns] * np.where(rows == columns, 1.0, off))


def unvech(z: Array, size: int, off: float) -> Array:
    """The symmetric matrices with ``vech(_, off) = z``."""
    rows, columns = np.tril_indices(size)
    entries = z / np.where(rows == columns, 1.0, off)
    out = np.empty((*z.shape[:-1], size, size))
    out[..., rows, columns] = entries
    out[..., columns, rows] = entries
    return out


def broadcast(*parts: tuple[Array, int]) -> list[Array]:
    """Contiguous copies of arrays with a common batch shape; each comes with its core rank."""
    shapes = [a.shape[: a.ndim - rank] for a, rank in parts]
    batch = np.broadcast_shapes(*shapes)
    return [array(np.broadcast_to(a, batch + a.shape[a.ndim - rank :])) for a, rank in parts]
