"""Receipts from a file or standard input."""

from __future__ import annotations

import json
import os
from typing import Any

from geodp.errors import InputError
from geodp.io.document import read_document
from geodp.io.source import named
from geodp.ledger.receipt import Release


def read_receipt(path: str | os.PathLike[str]) -> Release:
    """The release whose receipt is in a file, or on standard input for ``-``.

    ``InputError`` where there is no file, no JSON, or no receipt of the known schema.
    """
    return receipt_of(read_written(path), named(path))


def receipt_of(document: Any, name: str) -> Release:
    """The release of a receipt that was read; ``name`` is what it was read from, in words."""
    if is_inference(document):
        raise InputError(
            f"{name} is what infer wrote and holds several receipts, under 'releases'. Make the "
            "whole of it with gd.Inference.from_json, or save those one by one."
        )
    try:
        return Release.from_json(document)
    except (OverflowError, RecursionError) as error:
        raise InputError("The receipt has a field of the wrong type.") from error


def read_written(path: str | os.PathLike[str]) -> Any:
    """A JSON document that geodp wrote, from a file or from standard input for ``-``: a receipt, or
    what infer printed."""
    document = read_document(path)
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:  # a lone surrogate, which no page could hold
        raise InputError(f"{named(path)} holds text that cannot be encoded in UTF-8.") from error
    except RecursionError as error:
        raise InputError("The receipt has a field of the wrong type.") from error
    return document


def is_inference(document: object) -> bool:
    """Whether infer wrote it, by its schema: with one region, or with those of groups."""
    kind = document.get("schema") if isinstance(document, dict) else None
    return kind in ("geodp/inference/v1", "geodp/groups/v1")
