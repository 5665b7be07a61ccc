"""Rows of SPD matrices: all entries, or the lower triangle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geodp.errors import InputError
from geodp.io.layout import Layout, plain
from geodp.spaces.base import Array, Space


def full(space: Space) -> Layout:
    """m² numbers, row by row, in arrays too."""
    _check(space)
    return plain(space, is_plain=False)


def lower(space: Space) -> Layout:
    """The lower triangle, row by row: 11, 21, 22, 31, …."""
    _check(space)
    size = space.point_shape[0]
    row, column = np.tril_indices(size)

    def convert(rows: Array) -> Array:
        out = np.full((len(rows), size, size), np.nan)
        out[:, row, column] = rows
        out[:, column, row] = rows
        return out

    return Layout(space, len(row), "the lower triangle, row by row", convert, False)


def _check(space: Space) -> None:
    if not space.spec.startswith("spd:"):
        raise InputError(f"Columns full or lower describe SPD matrices, not {space.spec}.")


LAYOUTS: dict[str, Callable[[Space], Layout]] = {"full": full, "lower": lower}
