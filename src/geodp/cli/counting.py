"""How many records there are, a public number: as an option says, or files that are not read."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click

import geodp as gd
from geodp.cli import build
from geodp.errors import InputError, MismatchError
from geodp.io.nifti import is_volume
from geodp.io.parquet import ParquetFacts
from geodp.io.records import is_parquet
from geodp.io.source import open_bytes
from geodp.statistics.declarations import agreed

_LEAST, _MOST = 2, 2**53


def whole_number(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A number of records, ``1000`` or ``1e3``, exactly."""
    if value is None:
        return None
    try:
        number = Decimal(value)
        if _LEAST <= number <= _MOST and number == int(number):
            return int(number)
    except InvalidOperation:
        pass
    raise click.BadParameter(
        f"N is a whole number of at least {_LEAST} and at most 2^53, such as 1000 or 1e6.",
        ctx,
        param,
    )


def counted(
    files: Sequence[str], n: int | None, given: build.Given, space: gd.Space
) -> tuple[int, dict[str, Any]]:
    """The number of records, and the options with what a Parquet file's metadata say; no record is
    read."""
    if given["subjects"] and not (files and all(map(is_volume, files))):
        raise InputError("--subjects belongs to NIfTI files: name the FILE of each person.")
    if files and given["subjects"]:
        for name in files:
            open_bytes(name).close()  # a sentence where there is no file
        return _agreed(len(files), n), dict(given)
    if any(map(is_volume, files)):
        raise InputError(
            "A plan counts NIfTI files, one for each person, with --subjects; how many records are "
            "in one say by --n, without it."
        )
    if len(files) > 1:
        raise InputError("Name one FILE of records; only NIfTI files may be several (--subjects).")
    if files:
        return _of_metadata(files[0], n, given, space)
    if n is None:
        raise InputError("Say how many records there are (--n), a public number.")
    return n, dict(given)


def _agreed(count: int, n: int | None) -> int:
    if n not in (None, count):
        raise MismatchError("--n is another number of records than the files': leave it out.")
    if count < _LEAST:
        raise InputError("At least two records are needed: name the FILE of each person.")
    return count


def _of_metadata(
    file: str, n: int | None, given: build.Given, space: gd.Space
) -> tuple[int, dict[str, Any]]:
    """The number of records and what they are, as a Parquet file says."""
    if not is_parquet(file):
        raise InputError("A plan reads no data: FILE is a .parquet file, whose metadata suffice.")
    found = ParquetFacts.of(file, space)
    if given["entities"] and n is None:
        raise InputError("With --entities say the number of persons (--n): metadata do not.")
    if not given["entities"] and n not in (None, found.rows):
        raise MismatchError("--n is another number of records than the file's: leave it out.")
    count = found.rows if n is None else n
    return count, dict(given) | agreed(given, found.declared)
