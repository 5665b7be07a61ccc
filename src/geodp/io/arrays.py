"""Arrays from .npy and .npz, without pickles, whose headers are believed no further than they are
true."""

from __future__ import annotations

import math
import os
import warnings
from io import BytesIO
from typing import IO, Any

import numpy as np

from geodp.errors import InputError
from geodp.io.memory import memory
from geodp.io.source import open_bytes

NPY = b"\x93NUMPY"
NPZ = (b"PK\x03\x04", b"PK\x05\x06")
_LENGTH = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # bytes that say how long the header is, by version
_LONGEST_HEADER = 10_000  # bytes, as numpy has it
_SHOWN = 10  # names of arrays in a message


def load_npy(source: str | IO[bytes], name: str) -> Any:
    """The array of a .npy file; a path is mapped into memory read-only."""
    if isinstance(source, str):
        with open_bytes(source) as stream:
            _check(stream, name, ".npy", _length(stream), math.inf)
        return _quietly(lambda: np.load(source, allow_pickle=False, mmap_mode="r"), name, ".npy")
    _check(source, name, ".npy", _length(source), memory())
    source.seek(0)
    return _quietly(lambda: np.load(source, allow_pickle=False), name, ".npy")


def load_npz(source: IO[bytes], name: str, key: str | None) -> Any:
    """The only array of a .npz file, or the one named ``key``."""
    archive: Any = _quietly(lambda: np.load(source, allow_pickle=False), name, ".npz")
    names = list(archive.files)
    known = ", ".join(map(repr, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "") or "none"
    if key is None and len(names) != 1:
        raise InputError(f"{name} holds several arrays or none; name one of its keys: {known}.")
    if key is not None and key not in names:
        raise InputError(f"{name} holds no array {key!r}; its keys are {known}.")
    chosen = names[0] if key is None else key
    _quietly(lambda: _check_member(archive.zip, chosen, name), name, ".npz")
    return _quietly(lambda: archive[chosen], name, ".npz")


def _check_member(archive: Any, key: str, name: str) -> None:
    """Before numpy allocates what the member's header states."""
    member = key if key in archive.namelist() else f"{key}.npy"
    with archive.open(member) as stream:
        if not stream.peek(len(NPY)).startswith(NPY):
            raise InputError(f"{name} is damaged: what it holds is no array.")
        _check(stream, name, ".npz", archive.getinfo(member).file_size, memory())


def _check(stream: IO[bytes], name: str, kind: str, length: int, most: float) -> None:
    """Refuse an array that its header says to be longer than the rest of ``length`` bytes, or than
    ``most``, or to hold Python objects; a header that is none too."""

    def stated() -> tuple[tuple[int, ...], Any]:
        width = _LENGTH[np.lib.format.read_magic(stream)]
        head = stream.read(width)
        long = int.from_bytes(head, "little")
        if long > _LONGEST_HEADER:
            raise ValueError("no header is as long")
        head += stream.read(long)
        read = np.lib.format.read_array_header_1_0
        shape, _, dtype = (read if width == 2 else np.lib.format.read_array_header_2_0)(
            BytesIO(head)
        )
        if min(shape, default=0) < 0:
            raise ValueError("no axis is as long")
        return shape, dtype

    shape, dtype = _quietly(stated, name, kind)
    if dtype.hasobject:
        raise InputError(
            f"{name} holds Python objects (pickles), which are not read; save an array of floats."
        )
    size = math.prod(shape) * dtype.itemsize
    if size > length:
        raise InputError(f"{name} is cut off: it is shorter than its header states.")
    if size > most:
        raise InputError(f"{name} holds an array larger than this machine's memory.")


def _length(stream: IO[bytes]) -> int:
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    return end


def _quietly(read: Any, name: str, kind: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a header written by Python 2 is no news here
            return read()
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise InputError(f"{name} cannot be read as a {kind} file.") from error
    except Exception as error:  # numpy, zip and zlib raise a dozen kinds on damaged files
        if "empty file" in str(error):
            raise InputError(f"{name} holds no record.") from error
        raise InputError(f"{name} is damaged: it cannot be read as a {kind} file.") from error
