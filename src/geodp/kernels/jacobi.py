"""Jacobi rotations, and when a decomposition counts: what the passes over SPD matrices share."""

from __future__ import annotations

import math
from typing import Any

from geodp.kernels.lanes import absolute, both, root, signed, spread
from geodp.kernels.loop import helper

ROOT2 = math.sqrt(2.0)
SMALL = 2.0**-108  # squared, relative to |W|: an off-diagonal part that may be dropped
SWEEPS = 30  # cyclic Jacobi needs some five; the rest is left to numpy
_SYMMETRY = 0.9e-12  # squared: below the 1e-6 that ``contains`` allows
_LEAST, _MOST = 1e-100, 1e100  # eigenvalues outside are left to numpy


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
