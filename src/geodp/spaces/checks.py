"""Checks of the parameters that spaces are built from."""

from __future__ import annotations

import math
import operator

from geodp.errors import SpaceError


def positive_integer(value: object, name: str) -> int:
    """``value`` as an int of at least 1."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1 or isinstance(value, bool):
        raise SpaceError(f"The {name} of a space must be an integer of at least 1.")
    return number


def curvature(value: object, sign: int, name: str) -> float:
    """``value`` as a finite float of the given sign."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not (1e-100 < sign * number < 1e100):
        side = "positive" if sign > 0 else "negative"
        raise SpaceError(f"The curvature of a {name} must be a finite {side} number.")
    return number
