"""How numbers in files spell a point: what a reader must know, and nothing that it would guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, TypeAlias, final

import numpy as np

from geodp.errors import InputError
from geodp.io.named_columns import named_rows
from geodp.io.table import read_table
from geodp.spaces.base import Array, Space

_CHUNK = 2**16  # rows converted at a time

TextReader: TypeAlias = "Callable[[IO[bytes], int, str, bool | None], Array]"


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of ``width`` numbers, and the map from ``(n, width)`` to ``(n, *space.point_shape)``.

    ``is_plain`` says that arrays hold points as the library does, with no conversion, ``is_raw``
    that they have the shape of points but hold what is to be converted. Arrays have records along
    ``record_axis``. Text is read by ``table``, in the format of ``read_table``: lines, width,
    columns and header in, rows out; files of another format by the reader under their ending in
    ``formats``. ``names`` are the columns of a CSV file that spell a point, where not all do.
    """

    space: Space
    width: int
    columns: str
    convert: Callable[[Array], Array]
    is_plain: bool
    is_raw: bool = False
    record_axis: int = 0
    table: TextReader = read_table
    formats: Mapping[str, TextReader] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @property
    def array_shape(self) -> tuple[int, ...]:
        """The shape of one record in an array."""
        return self.space.point_shape if self.is_plain or self.is_raw else (self.width,)

    def stacked_shape(self) -> str:
        """The shape of an array of records, in words."""
        sizes = [*map(str, self.array_shape)]
        sizes.insert(self.record_axis % (len(sizes) + 1), "n")
        return f"({', '.join(sizes)})"

    @property
    def is_by_line(self) -> bool:
        """Whether a line of text is a record."""
        return self.table is read_table

    def rows(self, stream: IO[bytes], header: bool | None) -> Array:
        """What the lines of a CSV file hold, ``(n, width)``, in named columns or in all."""
        if not self.names:
            return self.table(stream, self.width, self.columns, header)
        if header is False:
            raise InputError(
                "Columns are named by the header of a CSV file: say that its first line is one "
                "(--header; in Python header=True), or name no columns."
            )
        return named_rows(stream, self.names)

    def check_unnamed(self, name: str) -> None:
        """Refuse named columns of a file that has none."""
        if self.names:
            raise InputError(
                f"Columns are named by the header of a CSV file, and {name} is none: leave the "
                "names out."
            )

    def points(self, rows: Array) -> Array:
        """The points that ``(n, width)`` rows spell; what spells none becomes NaN or no point."""
        out = np.empty((len(rows), *self.space.point_shape))
        with np.errstate(all="ignore"):  # a warning here would depend on a record
            for start in range(0, len(rows), _CHUNK):
                chunk = np.array(rows[start : start + _CHUNK], dtype=np.float64)
                out[start : start + len(chunk)] = self.convert(chunk)
        return out


def plain(space: Space, *, is_plain: bool = True) -> Layout:
    """Points as the library holds them, one after the other."""
    shape = space.point_shape
    what = "the matrix, row by row" if len(shape) == 2 else "the point's coordinates"

    def reshaped(rows: Array) -> Array:
        return rows.reshape(-1, *shape)

    return Layout(space, math.prod(shape), what, reshaped, is_plain)
