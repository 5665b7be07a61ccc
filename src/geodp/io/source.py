"""Opening what a user named: a path, a pipe, or ``-`` for standard input."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from geodp.errors import InputError

STDIN = "-"
_LONGEST = 2**16


def named(path: str | os.PathLike[str]) -> str:
    """The source's name in messages."""
    return "Standard input" if os.fspath(path) == STDIN else f"The file {os.fspath(path)!r}"


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """A seekable binary stream; ``InputError`` with a sentence where there is none."""
    name = named(path)
    try:
        if os.fspath(path) == STDIN:
            return io.BytesIO(_stdin().read())
        stream = Path(path).open("rb")  # noqa: SIM115  (the caller closes it)
        if stream.seekable():
            return stream
        with stream:
            return io.BytesIO(stream.read())
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist.") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a directory.") from error
    except PermissionError as error:
        raise InputError(f"{name} may not be read: permission denied.") from error
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        raise InputError(f"{name} cannot be opened.") from error


def short_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines cut after 64 kB, what is beyond dropped: for formats whose lines hold a few numbers."""
    begins = True
    while line := stream.readline(_LONGEST):
        if begins:
            yield line
        begins = line.endswith(b"\n")


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise InputError("Standard input is closed.")
    return sys.stdin.buffer
