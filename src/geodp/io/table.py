"""CSV: one line is one record, whatever it holds."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np

from geodp.errors import InputError
from geodp.spaces.base import Array

UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?", "."})


def read_table(lines: Iterable[bytes], width: int, columns: str, header: bool | None) -> Array:
    """Lines of ``width`` comma-separated numbers as an array ``(n, width)``.

    A line is a record: quotes do not join lines, and a line with a cell that is no number, or with
    another number of cells, an empty line too, becomes a record of NaN, silently. A newline ends a
    line; the last line may lack it.

    With ``header=None``, which is not for a release, the first line decides: it is a header if
    every cell of it is a word, that is, neither a number nor a sign for a missing value (``NA``,
    ``NaN``, ``null``, ``?``, …).

    Raises
    ------
    InputError : the header has another number of cells, or there is no line but it.
    """
    numbers = array("d")
    missing = [math.nan] * width
    for index, line in enumerate(lines):
        cells = _cells(line)
        if index == 0 and (header or (header is None and all(map(_is_word, cells)))):
            if len(cells) != width:
                raise InputError(_wrong_width("The header", len(cells), width, columns))
            continue
        numbers.extend(_row(cells, missing) if len(cells) == width else missing)
    if not numbers:
        raise InputError("The file holds no record.")
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)


def _cells(line: bytes) -> list[str]:
    text = line.decode("utf-8-sig", errors="replace").strip()
    return [_unquoted(cell.strip()) for cell in text.split(",")]


def _unquoted(cell: str) -> str:
    quoted = len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1].strip() if quoted else cell


def _row(cells: list[str], missing: list[float]) -> list[float]:
    try:
        return missing if "_" in "".join(cells) else [float(cell) for cell in cells]
    except ValueError:
        return missing


def _is_word(cell: str) -> bool:
    if cell.lower() in _MISSING:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def _wrong_width(what: str, found: int, width: int, columns: str) -> str:
    return f"{what} has {found} columns; {width} are needed: {columns}."
