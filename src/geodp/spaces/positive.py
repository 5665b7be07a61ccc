"""Which matrices count as symmetric positive definite."""

from __future__ import annotations

import numpy as np

from geodp.spaces.batch import (
    EPS,
    Array,
    BoolArray,
    array,
    cholesky,
    dot,
    eigh,
    inverse_lower,
    quiet,
    transpose,
)

_ROOTS = 1e-145, 1e145  # of diagonal entries: beyond, subnormal numbers or infinities come in


def _symmetrised(x: Array) -> Array:
    flipped = transpose(x)
    if (x == flipped).all():
        return array(x)
    return array(np.where(x == flipped, x, 0.5 * x + 0.5 * flipped))


def contains_spd(x: Array) -> BoolArray:
    """Symmetric to 1e-6 of √(x_ii x_jj), and positive definite beyond rounding.

    With the diagonal scaled to 1, which no choice of units for the rows can change, the Cholesky
    factor L must have 1/‖L⁻¹‖_F² > 8·m·eps. That is a lower bound on the least eigenvalue of L Lᵀ,
    and L Lᵀ is within about m·eps of the matrix: so no singular matrix passes, whatever its pivots.
    Diagonals lie between 1e-290 and 1e290, where rounding is relative, as its bounds assume.
    """
    size = x.shape[-1]
    with quiet():
        finite = np.isfinite(x).all(axis=(-2, -1))
        root = np.sqrt(np.diagonal(x, axis1=-2, axis2=-1))
        ranged = ((root >= _ROOTS[0]) & (root <= _ROOTS[1])).all(axis=-1)
        scale = array(root[..., :, None] * root[..., None, :])
        even = (np.abs(x - transpose(x)) <= 1e-6 * scale).all(axis=(-2, -1))
        factor = cholesky(_symmetrised(x))
        inverse = inverse_lower(factor / array(root)[..., None])
        entries = inverse.reshape(*inverse.shape[:-2], size * size)
        return np.asarray(finite & ranged & even & (8 * size * EPS * dot(entries, entries) < 1))


def project_spd(x: Array) -> Array:
    """Symmetrise points; leave everything else as it is."""
    if (x == transpose(x)).all():
        return array(x)
    with quiet():
        return np.where(contains_spd(x)[..., None, None], _symmetrised(x), x)


def equilibrated_condition(center: Array) -> float:
    """Condition number of one matrix with its diagonal scaled to 1, with 1 % to spare."""
    root = np.sqrt(np.diagonal(center))
    values, _ = eigh(center / root[:, None] / root)
    return 1.01 * float(values[-1] / values[0])
