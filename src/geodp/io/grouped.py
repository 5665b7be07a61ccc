"""Records with the id of each, from one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any

from geodp.errors import InputError
from geodp.io.arrays import NPY, NPZ, load_npz
from geodp.io.declared import layout_for
from geodp.io.id_column import without_ids
from geodp.io.layout import Layout
from geodp.io.named_columns import CELLS
from geodp.io.records import is_parquet, parquet_records, stacked_points
from geodp.io.source import named, open_bytes
from geodp.io.table import table_lines
from geodp.spaces.base import Space


def read_grouped(
    path: str | os.PathLike[str],
    space: Space,
    column: str,
    *,
    layout: str | None = None,
    columns: str | Sequence[str] | None = None,
    lonlat: bool = False,
    poincare: bool = False,
    key: str | None = None,
    header: bool | None = None,
) -> tuple[Any, Any]:
    """Records as by ``read_records``, and the id of each, for ``entities=``.

    ``column`` names the ids: a column of a .parquet file or, by its header, of a CSV file, which
    then has ``header=True``; or an array of a .npz file, beside the one that ``key`` names.

    Raises
    ------
    InputError : as by ``read_records``, or there is no such column.

    Examples
    --------
    >>> import tempfile, pathlib, geodp as gd
    >>> file = pathlib.Path(tempfile.mkdtemp(), "trials.csv")
    >>> _ = file.write_text("person,x,y\\nann,0,1\\nann,0,2\\nbob,1,1\\n")
    >>> records, ids = read_grouped(file, gd.Euclidean(2), "person", header=True)
    >>> records.tolist(), ids
    ([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]], ['ann', 'ann', 'bob'])
    """
    declared = layout_for(space, layout=layout, columns=columns, lonlat=lonlat, poincare=poincare)
    found, (ids,) = grouped_layout(path, declared, [column], key=key, header=header)
    return found, ids


def grouped_layout(
    path: str | os.PathLike[str],
    layout: Layout,
    columns: Sequence[str],
    *,
    key: str | None = None,
    header: bool | None = None,
) -> tuple[Any, list[Any]]:
    """``read_grouped`` with the layout at hand, and what stands in each of several columns."""
    name = named(path)
    if is_parquet(path):
        found = parquet_records(path, layout, key)
        return found, [found.ids(column) for column in columns]
    with open_bytes(path) as stream:
        magic = stream.read(len(NPY))
        stream.seek(0)
        if magic.startswith(NPZ):
            ids = [_array(stream, name, column) for column in columns]
            return stacked_points(_array(stream, name, key), False, name, layout), ids
        if magic == NPY or os.fspath(path).lower()[-4:] in layout.formats:
            raise InputError(
                f"{name} has no columns, and {columns[0]!r} is no file: name a file of ids, one a "
                "line."
            )
        if header is not True and (header is False or not layout.names):
            raise InputError(
                f"The column {columns[0]!r} of ids is named by the header of a CSV file: say that "
                "its first line is one (--header; in Python header=True)."
            )
        if not layout.is_by_line:
            raise InputError(
                "In this layout a record has several lines: name a separate file of ids, one for "
                "each record."
            )
        if key is not None:
            raise InputError(f"A key names an array of a .npz file; {name} is none.")
        try:
            width = CELLS if layout.names else layout.width
            rest, ids = _without(stream, width, columns)
        except OSError as error:
            raise InputError(f"{name} cannot be read.") from error
        return layout.points(layout.rows(rest, True)), ids


def _array(stream: IO[bytes], name: str, key: str | None) -> Any:
    stream.seek(0)
    return load_npz(stream, name, key)


def _without(stream: IO[bytes], width: int, columns: Sequence[str]) -> tuple[IO[bytes], list[Any]]:
    """The lines without the cells in some columns, and these cells, column by column."""
    found = []
    for left, column in zip(range(len(columns), 0, -1), columns, strict=True):
        stream, ids = without_ids(table_lines(stream, width + left), column)
        found.append(ids)
    return stream, found
