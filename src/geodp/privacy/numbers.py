"""Exact numbers in, directed floats out.

Budgets are rationals. A float means its shortest decimal: as binary fractions 100 × 0.1² exceeds
one, as decimals it is one. What leaves as a float64 is rounded towards the safe side for *both*
readings of that float, the binary one and the shortest decimal one, so that a ledger or a reader
of a JSON file may use either.
"""

from __future__ import annotations

import math
import numbers
import sys
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch
from typing import SupportsFloat, TypeAlias

from geodp.errors import GuaranteeError

Number: TypeAlias = int | float | Fraction | Decimal | str | SupportsFloat
"""What a user may write for an exact number; numpy scalars are read by their shortest decimal."""

_LEAST = Fraction(sys.float_info.min)
_MOST = Fraction(sys.float_info.max)
_LONGEST = 5000  # characters; a longer literal is a mistake, and slow to read


@singledispatch
def _read(_: object) -> Fraction:
    raise ValueError


@_read.register
def _(_: bool) -> Fraction:  # a bool is an int, and never a budget
    raise ValueError


@_read.register(numbers.Rational)
def _(value: numbers.Rational) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


@_read.register
def _(value: Decimal) -> Fraction:
    if not value.is_finite() or (value and abs(value.adjusted()) > 400):
        raise ValueError  # 1e999999999 would otherwise be written out digit by digit
    return Fraction(value)


@_read.register
def _(value: str) -> Fraction:
    if len(value) > _LONGEST:
        raise ValueError
    return Fraction(value) if "/" in value else _read(Decimal(value))


@_read.register
def _(value: float) -> Fraction:
    return Fraction(float.__repr__(value))


@_read.register(numbers.Real)
def _(value: numbers.Real) -> Fraction:  # numpy's other floats: str is their shortest decimal
    return _read(str(value))


def real(value: object, name: str) -> Fraction:
    """The finite rational that ``value`` means, of either sign.

    Raises GuaranteeError for what is no number, for a bool, NaN, an infinity, and for a nonzero
    magnitude outside the normal range of float64.

    >>> real(-0.1, "epsilon")
    Fraction(-1, 10)
    """
    try:
        number = _read(value)
    except (ValueError, ArithmeticError):
        raise GuaranteeError(
            f"The number {name} must be finite, and an int, a float, a Fraction or a decimal."
        ) from None
    if number and not _LEAST <= abs(number) <= _MOST:
        raise GuaranteeError(
            f"The number {name} must be within the normal range of float64, 2.3e-308 to 1.7e308."
        )
    return number


def exact(value: object, name: str = "given") -> Fraction:
    """The positive rational that ``value`` means; a float means its shortest decimal.

    Raises GuaranteeError, naming the parameter, for everything that ``real`` refuses and for zero
    and negative numbers.

    >>> 100 * exact(0.1, "mu") ** 2 == 1
    True
    """
    number = real(value, name)
    if number <= 0:
        raise GuaranteeError(f"The number {name} must be greater than zero.")
    return number


def exact_below_one(value: object, name: str) -> Fraction:
    """A rational strictly between zero and one, else GuaranteeError."""
    number = exact(value, name)
    if number >= 1:
        raise GuaranteeError(f"The number {name} must be less than one.")
    return number


def readings(value: float) -> tuple[Fraction, Fraction]:
    """The smaller and the larger of the two numbers that a float can be read as."""
    binary, decimal = Fraction(value), Fraction(float.__repr__(value))
    return min(binary, decimal), max(binary, decimal)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)  # correctly rounded by Python
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def float_up(number: Fraction) -> float:
    """The least float64 that is at least ``number`` in both readings (inf above the largest).

    >>> float_up(Fraction(1, 10)), float_up(Fraction(1, 3))
    (0.1, 0.33333333333333337)
    """
    value = _nearest(number)
    while math.isfinite(value) and readings(value)[0] < number:
        value = math.nextafter(value, math.inf)
    return -sys.float_info.max if value == -math.inf else value


def float_down(number: Fraction) -> float:
    """The greatest float64 that is at most ``number`` in both readings."""
    return -float_up(-number)


def root_down(number: Fraction, digits: int = 30) -> Fraction:
    """A rational at most √number: exact when a rational root exists, else ``digits`` decimals.

    >>> root_down(Fraction(9, 25)), float(root_down(Fraction(2)))
    (Fraction(3, 5), 1.4142135623730951)
    """
    return _root(number, digits, 0)


def root_up(number: Fraction, digits: int = 30) -> Fraction:
    """A rational at least √number: exact when a rational root exists, else ``digits`` decimals."""
    return _root(number, digits, 1)


def _root(number: Fraction, digits: int, step: int) -> Fraction:
    if number < 0:
        raise ValueError("the root of a negative number was asked for")
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    size = (number.numerator.bit_length() - number.denominator.bit_length()) * 3 // 20
    unit = Fraction(10) ** (digits - size)
    floor = math.isqrt(math.floor(number * unit * unit))
    return (floor + step) / unit


def decimal(number: Fraction) -> str:
    """The number in full: a decimal where it has a finite one, else a fraction ``p/q``.

    >>> decimal(Fraction(1, 8)), decimal(Fraction(1, 3)), decimal(Fraction(3, 10**7))
    ('0.125', '1/3', '3e-7')
    """
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    places = max(twos, fives)
    digits = number.numerator * 10**places // number.denominator
    written = str(abs(digits))
    if len(written) > 21:  # 1.7e+308, not three hundred zeros
        short = written.rstrip("0")
        written, places = short, places - len(written) + len(short)
    text = str(Decimal((int(digits < 0), tuple(map(int, written)), -places)))
    return text.lower()
