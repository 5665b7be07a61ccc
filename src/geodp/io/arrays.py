"""Arrays from .npy and .npz, without pickles."""

from __future__ import annotations

import warnings
from typing import IO, Any

import numpy as np

from geodp.errors import InputError

NPY = b"\x93NUMPY"
NPZ = (b"PK\x03\x04", b"PK\x05\x06")


def load_npy(source: str | IO[bytes], name: str) -> Any:
    """The array of a .npy file; a path is mapped into memory read-only."""
    mode: Any = "r" if isinstance(source, str) else None
    return _quiet_load(source, name, ".npy", mmap_mode=mode)


def load_npz(source: IO[bytes], name: str, key: str | None) -> Any:
    """The only array of a .npz file, or the one named ``key``."""
    archive = _quiet_load(source, name, ".npz")
    known = ", ".join(map(repr, archive.files)) or "none"
    if key is None and len(archive.files) != 1:
        raise InputError(f"{name} holds several arrays or none; name one of its keys: {known}.")
    if key is not None and key not in archive.files:
        raise InputError(f"{name} holds no array {key!r}; its keys are {known}.")
    try:
        return archive[archive.files[0] if key is None else key]
    except Exception as error:  # zip, zlib and numpy raise a dozen kinds on broken members
        raise InputError(_reason(error, name, ".npz")) from error


def _quiet_load(source: str | IO[bytes], name: str, kind: str, **options: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a header written by Python 2 is no news here
            return np.load(source, allow_pickle=False, **options)
    except OSError as error:
        raise InputError(f"{name} cannot be read as a {kind} file.") from error
    except Exception as error:  # numpy raises a dozen kinds on damaged headers
        raise InputError(_reason(error, name, kind)) from error


def _reason(error: Exception, name: str, kind: str) -> str:
    if "object" in str(error).lower():
        return (
            f"{name} holds Python objects (pickles), which are not read; save an array of floats."
        )
    if "empty file" in str(error):
        return f"{name} holds no record."
    return f"{name} is damaged: it cannot be read as a {kind} file."
