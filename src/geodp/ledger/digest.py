"""The keyed digest by which a ledger knows a data set again without keeping anything of it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.statistics.records import raw_chunks

_ROWS = 4096


def keyed_digest(key: bytes, records: Any) -> str:
    """HMAC-SHA256 of the records' shape and float64 bytes in their order, read in chunks.

    ``records`` is an array, a memory map or what is read like one, ``(n, *point_shape)``. Without
    the key nobody can test a guess about the records against the digest.

    >>> keyed_digest(b"k" * 32, np.zeros((3, 2))) == keyed_digest(b"k" * 32, np.zeros((2, 3)))
    False
    """
    if getattr(records, "dtype", np.dtype(object)).kind not in "iuf":
        raise InputError("A ledger registers records that are an array of real numbers.")
    total = hmac.new(key, repr(tuple(map(int, records.shape))).encode(), hashlib.sha256)
    for _, chunk in raw_chunks(records, _ROWS):
        total.update(np.ascontiguousarray(chunk, dtype="<f8").data)
    return total.hexdigest()
