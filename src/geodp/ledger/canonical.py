"""One text for one document, and the hash that chains entries."""

from __future__ import annotations

import hashlib
import json
from typing import Any

GENESIS = "0" * 64
"""What stands before the first entry of a chain."""


def canonical(document: Any) -> str:
    """JSON with sorted keys and no spaces; floats as their shortest decimal.

    >>> canonical({"b": 0.1, "a": [1]})
    '{"a":[1],"b":0.1}'
    """
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256(text: str) -> str:
    """Hexadecimal SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def entry_hash(previous: str, number: int, at: str, kind: str, body: str) -> str:
    """The hash of an entry: of the one before it and of everything that the entry says."""
    return sha256(canonical([previous, number, at, kind, body]))
