"""Records with the id of each, from one file."""

from __future__ import annotations

import os
from typing import Any

from geodp.errors import InputError
from geodp.io.arrays import NPY, NPZ, load_npz
from geodp.io.declared import layout_for
from geodp.io.id_column import without_ids
from geodp.io.layout import Layout
from geodp.io.records import is_parquet, parquet_records, stacked_points
from geodp.io.source import named, open_bytes
from geodp.io.table import read_table, table_lines
from geodp.spaces.base import Space


def read_grouped(
    path: str | os.PathLike[str],
    space: Space,
    column: str,
    *,
    layout: str | None = None,
    columns: str | None = None,
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
    return grouped_layout(path, declared, column, key=key, header=header)


def grouped_layout(
    path: str | os.PathLike[str],
    layout: Layout,
    column: str,
    *,
    key: str | None = None,
    header: bool | None = None,
) -> tuple[Any, Any]:
    """``read_grouped`` with the layout at hand."""
    name = named(path)
    if is_parquet(path):
        found = parquet_records(path, layout, key)
        return found, found.ids(column)
    with open_bytes(path) as stream:
        magic = stream.read(len(NPY))
        stream.seek(0)
        if magic.startswith(NPZ):
            ids = load_npz(stream, name, column)
            stream.seek(0)
            return stacked_points(load_npz(stream, name, key), False, name, layout), ids
        if magic == NPY or os.fspath(path).lower()[-4:] in layout.formats:
            raise InputError(
                f"{name} has no columns, and {column!r} is no file: name a file of ids, one a line."
            )
        if header is not True:
            raise InputError(
                f"The column {column!r} of ids is named by the header of a CSV file: say that its "
                "first line is one (--header; in Python header=True)."
            )
        if layout.table is not read_table:
            raise InputError(
                "In this layout a record has several lines: name a separate file of ids, one for "
                "each record."
            )
        if key is not None:
            raise InputError(f"A key names an array of a .npz file; {name} is none.")
        try:
            rest, ids = without_ids(table_lines(stream, layout.width + 1), column)
        except OSError as error:
            raise InputError(f"{name} cannot be read.") from error
        return layout.points(layout.table(rest, layout.width, layout.columns, True)), ids
