"""Arguments read at the edge: a number or an array, or one sentence that says what is wrong."""

from __future__ import annotations

import numpy as np

from geodp.errors import InputError
from geodp.spaces.base import Array


def positive_real(value: object, what: str) -> float:
    """``value`` as a finite positive float, or an InputError that starts with ``what``."""
    if value is None:
        raise InputError(
            f"{what} is missing. Choose it from public knowledge (physical limits, the design of "
            "the study), never from the data; the page 'How to choose' shows ways."
        )
    number = _number(value, what)
    if not (np.isfinite(number) and number > np.finfo(np.float64).tiny):
        raise InputError(f"{what} must be finite and positive.")
    return number


def finite_real(value: object, what: str) -> float:
    """``value`` as a finite float of either sign, or an InputError that starts with ``what``."""
    number = _number(value, what)
    if not np.isfinite(number):
        raise InputError(f"{what} must be finite.")
    return number


def _number(value: object, what: str) -> float:
    if isinstance(value, (bool, str)):
        raise InputError(f"{what} must be a number.")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError as error:  # an integer beyond the floats
        raise InputError(f"{what} must be finite.") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a number.") from error


def text_or_none(value: object, what: str) -> str | None:
    """``value`` as text that files and terminals can hold, or None for None; an InputError that
    starts with ``what`` otherwise."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{what} must be text.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # a lone surrogate
        raise InputError(f"{what} holds a character that cannot be encoded in UTF-8.") from error
    return str(value)


def real_array(x: object, what: str) -> Array:
    """``x`` as a float64 array, or an InputError that starts with ``what``."""
    if x is None:
        raise InputError(f"{what} is missing.")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InputError(f"{what} is not a regular array of numbers.") from error
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} has dtype {array.dtype}; real numbers are needed.")
    return np.array(array, dtype=np.float64)
