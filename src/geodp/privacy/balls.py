"""Ball arithmetic for certified bounds: rationals in, an enclosing ball, rationals out.

A ball [mid ± rad] contains the true value whatever the working precision, so more precision only
makes a bound tighter: soundness never rests on it. Nothing here knows about privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from geodp.errors import GuaranteeError
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import arb

_BITS = 96  # mantissa of a rational bound; float64 has 53
_ENOUGH = 64  # relative accuracy, in bits, at which no more precision is asked for
_PRECISIONS = (96, 192, 384, 1024, 3072, 8192)
TINY = Fraction(1, 2**1100)  # below every float64: bounds stop here


def ball(number: Fraction) -> arb:
    """The ball around a rational at the working precision."""
    from flint import arb, fmpq

    return arb(fmpq(number.numerator, number.denominator))


def upper_tail(x: arb) -> arb:
    """P[Z > x] for a standard normal Z, without loss for large x."""
    from flint import arb

    return (x / arb(2).sqrt()).erfc() / 2


def sharp(function: Callable[[], arb]) -> arb:
    """Evaluate at growing precision until the ball is narrow, negligible or precision runs out.

    Returns the last ball: always an enclosure, possibly not finite.
    """
    from flint import arb

    value = arb.nan()
    for bits in _PRECISIONS:
        with working_precision(bits):
            value = function()
            if value.is_finite() and (
                value.rel_accuracy_bits() >= _ENOUGH or value.abs_upper() < arb(2) ** -1200
            ):
                break
    return value


def rational_up(value: arb) -> Fraction:
    """A rational at least every number in a finite ball, of at most 96 bits of mantissa."""
    with working_precision(_BITS):
        parts = value.upper().man_exp()
    mantissa, exponent = int(parts[0]), int(parts[1])
    if mantissa == 0:
        return Fraction(0)
    if mantissa.bit_length() + exponent < -1100:  # do not write out 2**-10**9
        return TINY if mantissa > 0 else Fraction(0)
    if mantissa.bit_length() + exponent > 4000:
        raise _too_extreme()
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    return Fraction(mantissa, 1 << -exponent)


def rational_down(value: arb) -> Fraction:
    """A rational at most every number in a finite ball."""
    return -rational_up(-value)


def upper(function: Callable[[], arb]) -> Fraction:
    """A rational upper bound of the number that ``function`` encloses.

    >>> from flint import arb
    >>> 2 < float(upper(lambda: arb(5).sqrt())) < 2.2360679774997902
    True
    """
    return rational_up(_finite(sharp(function)))


def lower(function: Callable[[], arb]) -> Fraction:
    """A rational lower bound of the number that ``function`` encloses."""
    return rational_down(_finite(sharp(function)))


def _finite(value: arb) -> arb:
    if not value.is_finite():
        raise _too_extreme()
    return value


def _too_extreme() -> GuaranteeError:
    return GuaranteeError(
        "A number of this size is beyond certified computation; ask for a moderate budget."
    )
