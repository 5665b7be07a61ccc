"""A column of ids in a CSV file: whose record each line is."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import IO

from geodp.errors import InputError
from geodp.io.table import cells


def without_ids(lines: Iterable[bytes], column: str) -> tuple[IO[bytes], list[str]]:
    """The lines without the cell in one column, which the header names, and these cells.

    A line is cut at the comma beside the cell. In the first or the last column an id is therefore
    known, whatever the rest of its line holds. Elsewhere a line must have as many cells as the
    header, commas in double quotes aside, or its id is missing.

    >>> rest, ids = without_ids([b"who,x,y\\n", b"ann,1,2\\n", b"bob,oops\\n"], "who")
    >>> rest.readlines(), ids
    ([b'x,y\\n', b'1,2\\n', b'oops\\n'], ['ann', 'bob'])
    """
    lines, out, ids = iter(lines), BytesIO(), list[str]()
    header = next(lines, b"")
    names = cells(header)
    if names.count(column) != 1 or len(names) < 2:
        raise InputError(
            f"The header of the CSV file must name the column {column!r} of ids once, beside the "
            "columns of the records."
        )
    place, last = names.index(column), len(names) - 1
    out.write(_cut(header, place, last)[1])
    for line in lines:
        found, rest = _cut(line, place, last)
        ids.append(_id(found))
        out.write(rest)
    out.seek(0)
    return out, ids


def _cut(line: bytes, place: int, last: int) -> tuple[bytes, bytes]:
    """The cell at ``place`` of ``last`` + 1, and the line without it."""
    text = line.rstrip(b"\r\n")
    if place == 0:
        found, _, rest = text.partition(b",")
    elif place == last:
        rest, _, found = text.rpartition(b",")
    else:
        parts = text.split(b",")
        if len(parts) != last + 1:
            parts = _pieces(parts)
        found = parts.pop(place) if len(parts) == last + 1 else b""
        rest = b",".join(parts)
    return found, rest + b"\n"


def _pieces(parts: list[bytes]) -> list[bytes]:
    """Cells of a line from what stands between its commas; those in double quotes end no cell."""
    out, inside = list[bytes](), False
    for part in parts:
        if inside:
            out[-1] += b"," + part
        else:
            out.append(part)
        inside ^= part.count(b'"') % 2 == 1
    return out


def _id(cell: bytes) -> str:
    text = cell.decode("utf-8-sig", errors="replace").strip()
    if (text[:1] == '"') != (text[-1:] == '"') or text == '"':
        raise InputError(
            "Some ids are in quotes that hold a comma or a line's end, where cells end: write ids "
            "without them."
        )
    return cells(cell)[0]
