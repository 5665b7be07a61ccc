"""Columns of a CSV file by the names in its header: those that spell a point, among others."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Sequence
from typing import IO

import numpy as np

from geodp.errors import InputError
from geodp.io.memory import memory
from geodp.io.table import cells, check_size, row, table_lines, unquoted
from geodp.spaces.base import Array

CELLS = 2**14  # a line with other columns may be as long as so many numbers


def named_rows(stream: IO[bytes], names: Sequence[str]) -> Array:
    """The numbers in the named columns, line by line, in the order of the names.

    As ``read_table`` has it a line is a record, whatever it holds. Double quotes keep the commas
    between them, since other columns may be text, and join no lines. A line with another number of
    cells than the header, or with no number in a named column, is a record of NaN.

    >>> from io import BytesIO
    >>> table = BytesIO(b'who,y,x\\n"Doe, Ann",1,0\\nbob,?,5\\n')
    >>> named_rows(table, ["x", "y"]).tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    lines = table_lines(stream, CELLS)
    header = cells_in_quotes(next(lines, b""))
    wrong = [name for name in names if header.count(name) != 1]
    if wrong:
        raise InputError(
            f"The header of the CSV file must have the column {wrong[0]!r} once, as each that "
            "spells a point."
        )
    at = [header.index(name) for name in names]
    numbers, most = array("d"), memory()
    for line in lines:
        found = cells_in_quotes(line)
        chosen = [found[place] for place in at] if len(found) == len(header) else []
        numbers.extend(row(chosen, len(names)))
        check_size(len(numbers), most)
    if not numbers:
        raise InputError("The file holds no record.")
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(names))


def cells_in_quotes(line: bytes) -> list[str]:
    """The cells of a line, commas in double quotes kept; one cell where the quotes do not close."""
    text = line.decode("utf-8-sig", errors="replace").strip()
    if '"' not in text:
        return cells(line)
    try:
        (found,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return [text]
    return [unquoted(cell.strip()) for cell in found]


def checked_names(names: Sequence[str], width: int, columns: str) -> tuple[str, ...]:
    """The names in order; ``InputError`` where they are not as many as a point has numbers."""
    found = tuple(names)
    if not all(isinstance(name, str) and name.strip() for name in found):
        raise InputError("A column is named by a text.")
    if len(set(found)) < len(found):
        raise InputError("A column is named twice: name each that spells a point once.")
    if len(found) != width:
        raise InputError(
            f"The columns named (--columns) are {len(found)}; {width} are needed: {columns}."
        )
    return found
