"""JSON documents from files, as long as documents are and no longer."""

from __future__ import annotations

import json
import os
from typing import Any

from geodp.errors import InputError
from geodp.io.source import named, open_bytes, whole

LONGEST = 2**26  # bytes of a receipt or a spec: a map's centre is long


def read_document(
    path: str | os.PathLike[str], longest: int | None = LONGEST, *, strict: bool = False
) -> Any:
    """The JSON document in a file, or on standard input for ``-``.

    ``longest`` : its most bytes; None allows what memory holds. ``strict`` refuses NaN and
    infinities, which are no JSON.

    Raises
    ------
    InputError : no such file, one that is too long, or no JSON.
    """
    name = named(path)
    with open_bytes(path) as stream:
        try:
            text = whole(stream, name, longest).decode("utf-8")
        except OSError as error:
            raise InputError(f"{name} cannot be read.") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{name} is no JSON document.") from error
    try:
        return json.loads(text, parse_constant=_no_number if strict else None)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no JSON document.") from error


def _no_number(text: str) -> Any:
    raise ValueError(text)
