"""Logarithms of whitened matrices, summed on the lattice: SPD(m) in registers of many records.

For every record y: W = A y Aᵀ = V diag(λ) Vᵀ by Jacobi rotations, z = vech(V diag(log λ) Vᵀ) - s.
With A = L⁻¹ of p = L Lᵀ and s = 0 these are the affine-invariant log-coordinates at p; with A = 1
and s the chart of p, the log-Euclidean ones. The rounding is bounded in docs/proofs/kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from geodp.kernels import hessians, spd_exp
from geodp.kernels.kernel import Array
from geodp.kernels.single import Exponential, Single
from geodp.kernels.spd_any import any_size, work
from geodp.kernels.spd_small import one, three, two
from geodp.spaces.batch import cholesky, inverse_lower

LARGEST = 32


@lru_cache(maxsize=32)
def logs_of(size: int) -> Any:
    """The compiled pass of SPD(``size``); its base holds A, row by row, and s."""
    return {1: one, 2: two, 3: three}.get(size, lambda: any_size(size))()


def affine_invariant(size: int) -> Single | None:
    """The kernel of ``AffineInvariant``; None beyond ``LARGEST``, where LAPACK is faster."""
    if size > LARGEST:
        return None
    dim = size * (size + 1) // 2

    def base(p: Array) -> Array:
        inverse = inverse_lower(cholesky(p)).reshape(len(p), -1)
        return np.concatenate([inverse, np.zeros((len(p), dim))], axis=1)

    def factor(p: Array) -> Array:
        return np.concatenate([cholesky(p).ravel(), np.zeros(dim)])

    hessian = partial(hessians.affine_invariant, size)
    exp = partial(_exponential, size, factor)
    return Single(size * size, dim, logs_of(size), base, work(size), hessian, exp)


def log_euclidean(size: int, chart: Callable[[Array], Array]) -> Single | None:
    """The kernel of the log-Euclidean metric, whose chart is given."""
    if size > LARGEST:
        return None
    dim = size * (size + 1) // 2

    def base(p: Array) -> Array:
        whole = np.broadcast_to(np.eye(size).ravel(), (len(p), size * size))
        return np.concatenate([whole, chart(p)], axis=1)

    def origin(p: Array) -> Array:
        return np.concatenate([np.eye(size).ravel(), chart(p)])

    flat = partial(hessians.flat, dim)
    exp = partial(_exponential, size, origin)
    return Single(size * size, dim, logs_of(size), base, work(size), flat, exp)


def _exponential(size: int, base: Callable[[Array], Array]) -> Exponential:
    return Exponential(spd_exp.points_of(size), base, spd_exp.work(size))
