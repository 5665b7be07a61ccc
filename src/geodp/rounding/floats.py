"""When does a ball round to one float64, and to which."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

_MAX = sys.float_info.max


def unique_float(ball: arb) -> float | None:
    """The float64 that every real in ``ball`` rounds to (nearest, ties to even), else None.

    Numbers beyond the largest float become the largest float of their sign: a fixed function of
    the ideal output, hence post-processing that costs no privacy, where an error would tell
    something about the value. Zero comes out as +0.0.
    """
    if ball.is_nan():
        return None
    low, high = _nearest(ball.lower()), _nearest(ball.upper())  # rounding is monotone
    return low + 0.0 if low == high else None


def _nearest(end: arb) -> float:
    """The float64 nearest to an exact ``end``, by integer arithmetic."""
    if not end.is_finite():
        return _MAX if end > 0 else -_MAX
    mantissa, exponent = (int(part) for part in end.man_exp())
    return -round_dyadic(-mantissa, exponent) if mantissa < 0 else round_dyadic(mantissa, exponent)


def round_dyadic(mantissa: int, exponent: int) -> float:
    """``mantissa * 2**exponent >= 0`` as the nearest float64, ties to even, saturating."""
    top = mantissa.bit_length() + exponent  # mantissa * 2**exponent < 2**top
    if mantissa == 0 or top < -1074:  # the latter is below half of the smallest subnormal
        return 0.0
    if top > 1024:
        return _MAX
    last = max(top - 53, -1074)  # exponent of the last place
    shift = last - exponent
    if shift <= 0:
        return math.ldexp(mantissa, exponent)
    kept, rest, half = mantissa >> shift, mantissa & ((1 << shift) - 1), 1 << (shift - 1)
    kept += rest > half or (rest == half and kept & 1 == 1)
    return _MAX if kept.bit_length() + last > 1024 else math.ldexp(kept, last)
