"""Opening what a user named: a path, a pipe, or ``-`` for standard input."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from geodp.errors import InputError
from geodp.io.memory import memory

STDIN = "-"
_BLOCK = 2**20
_LONGEST = 2**16
_TEXT = 16  # bytes that a byte of text may take once it is lines


def named(path: str | os.PathLike[str]) -> str:
    """The source's name in messages."""
    return "Standard input" if os.fspath(path) == STDIN else f"The file {os.fspath(path)!r}"


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """A seekable binary stream; ``InputError`` with a sentence where there is none."""
    name = named(path)
    try:
        if os.fspath(path) == STDIN:
            return io.BytesIO(whole(_stdin(), name))
        stream = Path(path).open("rb")  # noqa: SIM115  (the caller closes it)
        if _is_device(stream):
            stream.close()
            raise InputError(f"{name} is a device; name a file.")
        if stream.seekable():
            return stream
        with stream:
            return io.BytesIO(whole(stream, name))
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


def whole(stream: IO[bytes], name: str, longest: float | None = None) -> bytes:
    """All that is left of a stream; ``InputError`` where it is longer than ``longest`` bytes, or
    than a quarter of the memory."""
    most = memory() / 4
    if longest is not None:
        most = min(most, longest)
    content = bytearray()
    while block := stream.read(_BLOCK):
        content += block
        if len(content) > most:
            raise InputError(f"{name} is too long: it holds more than {most:.0f} bytes.")
    return bytes(content)


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a text file; ``InputError`` where it is none, or too long for the memory."""
    name = named(path)
    try:
        with open_bytes(path) as stream:
            return whole(stream, name, memory() / _TEXT).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is no text in UTF-8.") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read.") from error


def short_lines(stream: IO[bytes], longest: int = _LONGEST) -> Iterator[bytes]:
    """Lines of text; one that is longer than ``longest`` bytes is cut and ends with a null byte
    instead, so that it spells no number. Formats whose lines hold a few numbers need no more."""
    while line := stream.readline(longest):
        yield line if line.endswith(b"\n") or len(line) < longest else line[:-1] + b"\0"
        while len(line) == longest and not line.endswith(b"\n"):
            line = stream.readline(longest)


def _is_device(stream: IO[bytes]) -> bool:
    """Whether it could go on for ever, and is no pipe or terminal."""
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise InputError("Standard input is closed.")
    return sys.stdin.buffer
