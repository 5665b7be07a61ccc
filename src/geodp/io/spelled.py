"""Rows of numbers that are at hand, an array or a data frame, as points of a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.io.declared import layout_for
from geodp.io.records import stacked_points
from geodp.spaces.base import Array, Space


def points_of(
    rows: Any,
    space: Space,
    *,
    layout: str | None = None,
    columns: str | Sequence[str] | None = None,
    lonlat: bool = False,
    poincare: bool = False,
) -> Array:
    """The points ``(n, *space.point_shape)`` that rows of numbers spell, as a reader makes them.

    Parameters
    ----------
    rows : an array with records first, such as ``(n, 6)`` for lower triangles of 3 × 3 matrices, or
        a data frame. A row of it with something that is no number becomes NaN, for the public rule.
    layout, columns, lonlat, poincare : how a row spells a point, see ``layout_for``. A list of
        ``columns`` chooses those of the data frame by name.

    Raises
    ------
    InputError : another shape or dtype than the layout declares, no such column, or columns of an
        array, which have no names.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> points_of(np.array([[2.0, 0.5, 1.0]]), gd.SPD(2), layout="lower").tolist()
    [[[2.0, 0.5], [0.5, 1.0]]]
    """
    declared = layout_for(space, layout=layout, columns=columns, lonlat=lonlat, poincare=poincare)
    if hasattr(rows, "columns"):
        found = _numbers(rows, declared.names or tuple(rows.columns))
        return declared.points(_checked(found, declared.width, declared.columns))
    if declared.names:
        raise InputError(
            "The columns of an array have no names: put them in the order of the layout, or give a "
            "data frame."
        )
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InputError("Rows are an array of numbers, all of one length.") from error
    points: Array = stacked_points(array, False, "The input", declared)
    return points


def _checked(rows: Array, width: int, columns: str) -> Array:
    if rows.shape[1] != width:
        raise InputError(
            f"The data frame has {rows.shape[1]} columns; {width} are needed: {columns}. Choose "
            "them by columns=[...]."
        )
    return rows


def _numbers(frame: Any, names: Sequence[Any]) -> Array:
    """The columns of a data frame as ``(n, k)``; a row with what is no number becomes NaN."""
    known = list(frame.columns)
    for name in names:
        if known.count(name) != 1:
            raise InputError(f"The data frame must have the column {name!r} once.")
    out = np.empty((len(frame), len(names)))
    for place, name in enumerate(names):
        column = np.asarray(frame[name])
        plain = column.dtype.kind in "iuf"
        out[:, place] = column if plain else [_number(cell) for cell in column.tolist()]
    out[np.isnan(out).any(axis=1)] = np.nan
    return out


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
