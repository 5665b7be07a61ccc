"""From Poincaré's ball to the hyperboloid without losing the distance to the edge."""

from __future__ import annotations

import numpy as np

from geodp.spaces.batch import Array, quiet

_SPLIT = 134217729.0  # 2**27 + 1


def _square(x: Array) -> tuple[Array, Array]:
    """x² as an unevaluated sum of two floats (Dekker 1971)."""
    product = x * x
    high = _SPLIT * x - (_SPLIT * x - x)
    low = x - high
    return product, ((high * high - product) + 2.0 * high * low) + low * low


def _add(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b as an unevaluated sum of two floats (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def gap(u: Array) -> Array:
    """1 - |u|², relatively accurate up to the edge of the unit ball."""
    high, low = np.ones(u.shape[:-1]), np.zeros(u.shape[:-1])
    for i in range(u.shape[-1]):
        square, rest = _square(u[..., i])
        high, error = _add(high, -square)
        low = low + (error - rest)
    return np.asarray(high + low)


def to_spatial(u: Array) -> Array:
    """Spatial part 2u/(1 - |u|²) of the hyperboloid's points; NaN outside the open ball."""
    with quiet():
        left = gap(u)[..., None]
        return np.asarray(np.where(left > 0, 2.0 * u / left, np.nan))
