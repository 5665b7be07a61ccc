"""Landmarks in tables and arrays: two orders of columns, one landmark a line, and R's arrays."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from functools import partial
from typing import IO

import numpy as np

from geodp.errors import InputError
from geodp.io.layout import Layout, TextReader
from geodp.io.memory import memory
from geodp.io.source import short_lines
from geodp.io.table import cells, check_size, is_word, read_table, row, wrong_width
from geodp.io.tps import tps_rows
from geodp.spaces.base import Array, Space

_LONG = "specimen, landmark, x, y"


def wide(space: Space) -> Layout:
    """x1, y1, x2, y2, …, in any position, size and rotation."""
    what = "the landmarks x1, y1, x2, y2, …, in any position, size and rotation"
    return _layout(space, what, (-1, *space.point_shape))


def split(space: Space) -> Layout:
    """x1, x2, …, y1, y2, …."""
    what = "the landmarks x1, x2, …, y1, y2, …, in any position, size and rotation"
    from_landmarks, k = _from_landmarks(space), space.point_shape[0]

    def shaped(rows: Array) -> Array:
        return from_landmarks(rows.reshape(-1, 2, k).swapaxes(1, 2))

    return Layout(space, 2 * k, what, shaped, False)


def long(space: Space, first: int) -> Layout:
    """One landmark a line: specimen, landmark, x, y; landmarks are numbered from ``first``."""
    what = f"{_LONG}, landmarks numbered {first} to {space.point_shape[0] - 1 + first}"
    return _layout(space, what, (-1, *space.point_shape), table=partial(long_rows, first=first))


def stacked(space: Space) -> Layout:
    """R's p × k × n arrays: landmarks, coordinates, specimens."""
    what = "landmarks by coordinates by specimens, R's p x k x n"
    return _layout(space, what, (-1, *space.point_shape), record_axis=-1)


def long_rows(
    stream: IO[bytes], width: int, columns: str, header: bool | None, *, first: int
) -> Array:
    """Rows ``(n, width)`` from lines "specimen, landmark, x, y", in any order.

    The lines with one specimen's name in the first cell are one record, in the order of first
    appearance. A record that lacks a landmark, has one twice or another number of lines, or a line
    with a cell that is no number, becomes NaN, silently; the others are not touched.
    """
    count = width // 2
    owner, place, values = array("q"), array("q"), array("d")
    names: dict[str, int] = {}
    for index, line in enumerate(short_lines(stream)):
        found = cells(line)
        if index == 0 and (header or (header is None and all(map(is_word, found)))):
            if len(found) != 4:
                raise InputError(wrong_width("The header", len(found), 4, columns))
            continue
        owner.append(names.setdefault(found[0], len(names)))
        number, x, y = row(found[1:], 3)
        known = number.is_integer() and first <= number < first + count
        place.append(int(number) - first if known else -1)
        values.extend((x, y))
    if not names:
        raise InputError("The file holds no record.")
    check_size(len(names) * width, memory())
    return _gathered(np.array(owner), np.array(place), np.array(values), len(names), count)


def _gathered(owner: Array, place: Array, values: Array, n: int, count: int) -> Array:
    out = np.full((n, count, 2), np.nan)
    known = place >= 0
    out[owner[known], place[known]] = values.reshape(-1, 2)[known]
    # k lines, k places filled: each once
    whole = np.bincount(owner, minlength=n) == count
    filled = np.zeros((n, count), dtype=bool)
    filled[owner[known], place[known]] = True
    out[~(whole & filled.all(axis=1))] = np.nan
    return out.reshape(n, 2 * count)


def _layout(
    space: Space,
    what: str,
    shape: tuple[int, ...],
    table: TextReader = read_table,
    record_axis: int = 0,
) -> Layout:
    from_landmarks = _from_landmarks(space)

    def shaped(rows: Array) -> Array:
        return from_landmarks(rows.reshape(shape))

    width, formats = math.prod(space.point_shape), {".tps": tps_rows}
    return Layout(space, width, what, shaped, False, True, record_axis, table, formats)


def _from_landmarks(space: Space) -> Callable[[Array], Array]:
    found: Callable[[Array], Array] | None = getattr(space, "from_landmarks", None)
    if found is None:
        raise InputError(f"Landmarks describe planar shapes, not {space.spec}.")
    return found


LAYOUTS: dict[str, Callable[[Space], Layout]] = {
    "wide": wide,
    "split": split,
    "long": partial(long, first=1),
    "long-from-0": partial(long, first=0),
    "pkn": stacked,
}
