"""From what scikit-learn hands over to points of a space."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from geodp.errors import InputError
from geodp.ledger.receipt import Release
from geodp.spaces.base import Array, Space
from geodp.spaces.euclidean import Euclidean
from geodp.spaces.parse import SPD, parse_space


def space_of(shape: tuple[int, ...], space: Space | str | None, metric: str) -> Space:
    """The space that was given, or R^d for arrays ``(n, d)`` and SPD(m) with the metric for
    ``(n, m, m)``."""
    if space is not None:
        found = parse_space(space) if isinstance(space, str) else space
        if not isinstance(found, Space):
            raise InputError("The space is a geodp space, such as gd.SPD(3), or its string.")
        if shape[1:] != found.point_shape:
            raise InputError(
                f"X has shape {shape}; an array (n, {', '.join(map(str, found.point_shape))}) is "
                f"needed for {found.spec}."
            )
        return found
    if len(shape) == 2:
        return Euclidean(shape[1])
    if len(shape) == 3 and shape[1] == shape[2]:
        return SPD(shape[1], metric)
    raise InputError("X is an array (n, d) or (n, m, m); name the space of other records.")


def point_of(at: Any, space: Space) -> Array | None:
    """The point of a release or an array; None where none was given."""
    if at is None:
        return None
    if isinstance(at, Release):
        if at.space.spec != space.spec:
            raise InputError(f"The release lies on {at.space.spec}, and X on {space.spec}.")
        return at.value
    point = np.array(at, dtype=np.float64)
    if point.shape != space.point_shape or not space.contains(point):
        raise InputError(f"The point is none of {space.spec}.")
    return point


def checked(estimator: Any, x: Any, **how: Any) -> Array:
    """``X`` as scikit-learn checks it, float64; no message shows what it holds."""
    try:
        found: Array = validate_data(estimator, x, dtype=np.float64, allow_nd=True, **how)
    except ValueError as error:
        if "convert" in str(error):  # the message quotes a record
            raise InputError("X holds text that is no number.") from None
        raise
    return found
