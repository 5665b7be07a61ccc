"""What the digits of a float point show: its distance from the manifold and its last bits, exactly.

A release whose arithmetic is done in floats leaves traces of the value there: in the last bits on
the line (Mironov 2012), in the rounding of the norm on a sphere. Integer arithmetic reads them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.hyperbolic import Hyperbolic
from geodp.spaces.planar_shapes import PlanarShapes
from geodp.spaces.sphere import Sphere

_BITS = 200  # entries are read in units of 2**-200
_UNIT = 2.0**53


def traces(space: Space, draws: Array) -> dict[str, Array]:
    """Numbers by name, for each draw: off-manifold residual, last bits and trailing zeros."""
    flat = np.asarray(draws, dtype=np.float64).reshape(len(draws), -1)
    mantissa, _ = np.frexp(flat)
    digits = np.abs(np.ldexp(mantissa, 53).astype(np.int64))
    lowest = (digits & -digits).astype(np.float64)
    zeros = np.where(digits > 0, np.log2(np.maximum(lowest, 1.0)), 53.0)
    found = {"distance from the manifold": residual(space, draws)}
    for k in range(flat.shape[1]):
        found[f"last bits of entry {k}"] = (digits[:, k] & 7).astype(np.float64)
        found[f"trailing zeros of entry {k}"] = zeros[:, k]
    return found


def residual(space: Space, draws: Array) -> Array:
    """How far each draw is off the manifold, in units of ``2**-53``; zero where nothing binds.

    ``|y|^2/R^2 - 1`` on spheres, its like on hyperboloids and preshapes; on matrices the asymmetry
    of the last two rows and columns. Factors of a product add up.
    """
    out = np.zeros(len(draws))
    for factor, part in zip(space.factors, space.split(draws), strict=True):
        out += _residual(factor, part)
    return out


@singledispatch
def _residual(space: Space, draws: Array) -> Array:
    shape = space.point_shape
    if len(shape) == 2 and shape[0] == shape[1] > 1:
        return np.asarray((draws[..., -2, -1] - draws[..., -1, -2]) * _UNIT)
    return np.zeros(len(draws))


@_residual.register(Sphere)
@_residual.register(PlanarShapes)
def _(space: Space, draws: Array) -> Array:
    return _from_quadric(space.origin, draws, 1)


@_residual.register(Hyperbolic)
def _(space: Space, draws: Array) -> Array:
    return _from_quadric(space.origin, draws, -1)


def _from_quadric(origin: Array, draws: Array, rest: int) -> Array:
    """Q(y)/Q(origin) - 1 for ``Q(y) = y_0^2 + rest (y_1^2 + ...)``, from integers."""
    whole = _quadric(origin.reshape(1, -1), rest)[0]
    rows = _quadric(draws.reshape(len(draws), -1), rest)
    return np.array([float(Fraction(q - whole, whole) * int(_UNIT)) for q in rows])


def _quadric(rows: Array, rest: int) -> list[int]:
    units = [[int(x) for x in row] for row in np.ldexp(rows, _BITS).tolist()]
    return [row[0] ** 2 + rest * sum(x * x for x in row[1:]) for row in units]
