"""Bisection over float64 for a monotone test; what is returned has passed the test."""

from __future__ import annotations

import math
from collections.abc import Callable

Test = Callable[[float], bool]
_LARGEST = 2.0**1000
_SMALLEST = 2.0**-1000


def least(passes: Test, start: float = 1.0) -> float | None:
    """The least positive float that passes a test that larger floats pass too, to the last bit.

    None when nothing below 2^1000 passes. The test has been evaluated, and held, at the result.

    >>> least(lambda x: x * x >= 2) ** 2 >= 2
    True
    """
    high = start
    while not passes(high):
        high *= 2
        if high > _LARGEST:
            return None
    low = high / 2
    while low > _SMALLEST and passes(low):
        high, low = low, low / 2
    return _close(passes, low, high)


def greatest(passes: Test, start: float = 1.0) -> float | None:
    """The greatest positive float that passes a test that smaller floats pass too.

    None when nothing above 2^-1000 passes, or everything below 2^1000 does.
    """
    low = start
    while not passes(low):
        low /= 2
        if low < _SMALLEST:
            return None
    high = low * 2
    while passes(high):
        low, high = high, high * 2
        if high > _LARGEST:
            return None
    return _close(passes, high, low)


def _close(passes: Test, fails: float, holds: float) -> float:
    while math.nextafter(fails, holds) != holds:
        middle = fails + (holds - fails) / 2
        if middle in (fails, holds):
            break
        if passes(middle):
            holds = middle
        else:
            fails = middle
    return holds
