"""Integers in units of 2^−bits: the few directed operations that loss distributions need."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from geodp.privacy.balls import ball
from geodp.rounding.precision import working_precision


def ceil_shift(number: int, bits: int) -> int:
    """number / 2^bits, rounded up.

    >>> ceil_shift(5, 1), ceil_shift(4, 1), ceil_shift(3, -2)
    (3, 2, 12)
    """
    return -(-number >> bits) if bits >= 0 else number << -bits


def ceil_units(number: Fraction, bits: int) -> int:
    """A rational in units of 2^−bits, rounded up."""
    return -((-number.numerator << bits) // number.denominator)


@lru_cache(maxsize=4096)
def exp_floor(exponent: Fraction, bits: int) -> int:
    """At most e^exponent in units of 2^−bits and less than two units below, for exponent ≤ 0.

    >>> exp_floor(Fraction(0), 8), exp_floor(Fraction(-1), 8)
    (256, 94)
    """
    if exponent > 0:
        raise ValueError("a shrinking factor has an exponent of at most zero")
    if exponent == 0:
        return 1 << bits
    if -exponent > bits:  # below half a unit
        return 0
    with working_precision(bits + 16):
        mantissa, power = ball(exponent).exp().lower().man_exp()
        shift = int(power) + bits
        return max(int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift, 0)
