"""CSV: one line is one record, whatever it holds."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import IO

import numpy as np

from geodp.errors import InputError
from geodp.io.memory import memory
from geodp.io.source import short_lines
from geodp.spaces.base import Array

UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST = 64  # bytes of a line for each of its numbers
_COPIES = 3  # of the records, while a file is read: the numbers, the array as it grows, the points
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?", "."})


def read_table(stream: IO[bytes], width: int, columns: str, header: bool | None) -> Array:
    """Lines of ``width`` comma-separated numbers as an array ``(n, width)``.

    A line is a record: quotes do not join lines, and a line with a cell that is no number, or with
    another number of cells, an empty line too, becomes a record of NaN, silently. A newline ends a
    line; the last line may lack it. One longer than 64 bytes a number (64 kB at least) is none.

    With ``header=None``, which is not for a release, the first line decides: it is a header if
    every cell of it is a word, that is, neither a number nor a sign for a missing value (``NA``,
    ``NaN``, ``null``, ``?``, …).

    Raises
    ------
    InputError : the header has another number of cells, there is no line but it, or the records
        are more than memory holds.
    """
    numbers, most = array("d"), memory()
    for index, line in enumerate(table_lines(stream, width)):
        found = cells(line)
        if index == 0 and (header or (header is None and all(map(is_word, found)))):
            if len(found) != width:
                raise InputError(wrong_width("The header", len(found), width, columns))
            continue
        numbers.extend(row(found, width))
        check_size(len(numbers), most)
    if not numbers:
        raise InputError("The file holds no record.")
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)


def table_lines(stream: IO[bytes], width: int) -> Iterator[bytes]:
    """The lines, none longer than ``width`` cells can be (``short_lines``)."""
    return short_lines(stream, max(2**16, _LONGEST * width))


def check_size(numbers: int, most: float) -> None:
    """Refuse more numbers than ``most`` bytes hold: a line is short, and may make a long record."""
    if 8 * _COPIES * numbers > most:
        raise InputError("The file holds more records than this machine's memory can.")


def cells(line: bytes) -> list[str]:
    """What stands between commas, without quotes around it."""
    text = line.decode("utf-8-sig", errors="replace").strip()
    return [unquoted(cell.strip()) for cell in text.split(",")]


def unquoted(cell: str) -> str:
    """A cell without the quotes around it."""
    quoted = len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1].strip() if quoted else cell


def row(words: list[str], width: int) -> list[float]:
    """The numbers that ``width`` words spell; NaN for all if one spells none or the number of words
    is another."""
    try:
        if len(words) == width and "_" not in "".join(words):
            return [float(word) for word in words]
    except ValueError:
        pass
    return [math.nan] * width


def is_word(cell: str) -> bool:
    """Whether a cell is neither a number nor a sign for a missing value."""
    if cell.lower() in _MISSING:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def wrong_width(what: str, found: int, width: int, columns: str) -> str:
    """The sentence about another number of columns."""
    others = (
        " Name those of the point (--columns NAME,NAME,...; in Python columns=[...]), and one of "
        "ids by --entities (in Python read_grouped)."
    ) * (found > width)
    return f"{what} has {found} columns; {width} are needed: {columns}.{others}"
