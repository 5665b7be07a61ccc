"""The exponential map of positive definite matrices in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geodp.spaces.base import Array

if TYPE_CHECKING:
    from flint import arb, arb_mat


def _cholesky(p: Array) -> arb_mat:
    """The lower factor of the exact float matrix (lower triangle)."""
    from flint import arb, arb_mat

    size = len(p)
    rows = [[arb(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = arb(float(p[i, j]))
            for k in range(j):
                rest -= rows[i][k] * rows[j][k]
            rows[i][j] = rest.sqrt() if i == j else rest / rows[j][j]
    return arb_mat(rows)


def exp_affine_invariant(p: Array, z: Sequence[arb]) -> list[arb]:
    """L Exp(S) Lᵀ with p = L Lᵀ."""
    from flint import arb

    from geodp.spaces import balls

    factor = _cholesky(p)
    white = balls.symmetric(z, len(p), arb(2).sqrt())
    return balls.mirrored(factor * white.exp() * factor.transpose())


def exp_log_euclidean(chart: Sequence[arb], size: int) -> list[arb]:
    """The matrix exponential of a symmetric matrix given by its chart coordinates."""
    from flint import arb

    from geodp.spaces import balls

    return balls.mirrored(balls.symmetric(chart, size, arb(2).sqrt()).exp())


def exp_log_cholesky(chart: Sequence[arb], size: int) -> list[arb]:
    """L Lᵀ for the factor with strict lower part and log-diagonal given, row by row."""
    from flint import arb, arb_mat

    from geodp.spaces import balls

    rows = [[arb(0)] * size for _ in range(size)]
    at = 0
    for i in range(size):
        for j in range(i + 1):
            rows[i][j] = chart[at].exp() if i == j else chart[at]
            at += 1
    factor = arb_mat(rows)
    return balls.mirrored(factor * factor.transpose())
