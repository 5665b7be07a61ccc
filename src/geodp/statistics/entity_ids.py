"""Ids of any kind that can be told apart, one for each record.

Two spellings of one id would make two persons of one, and halve what each is promised. So ids that
may be the same are one id or are refused; that two persons are taken for one harms neither.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np

from geodp.errors import InputError


def numbered(ids: object, n: int) -> Any:
    """For each record the number of its entity; ids of any kind that can be told apart.

    Texts that differ only in blanks around them, or in how an accent is encoded, are one id.
    """
    array = _as_ids(ids)
    if array.ndim != 1 or len(array) != n:
        raise _no_list()
    if array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1]
    if array.dtype.kind == "f":
        _check_floats(array)
    names = array.tolist()
    try:
        known = dict.fromkeys(names)
    except TypeError:
        raise _no_id() from None
    if any(_missing(name) for name in known):
        raise InputError(
            "Some records have no entity id. Whose they are is public structure, so geodp does not "
            "guess: give every record an id, or leave the records without one out."
        )
    _check_kinds(known)
    numbers = dict[Any, int]()
    known = {name: numbers.setdefault(_same(name), len(numbers)) for name in known}
    return np.array([known[name] for name in names])


def _no_list() -> InputError:
    return InputError("The entities are one id for each record, in the records' order.")


def _no_id() -> InputError:
    return InputError("An entity id is a text, a number or another hashable value.")


def _as_ids(ids: object) -> Any:
    if isinstance(ids, (str, bytes, bytearray, set, frozenset, dict)):
        raise _no_list()
    if isinstance(ids, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(ids).ravel()
        ids = [None if gone else one for one, gone in zip(ids.tolist(), hidden, strict=False)]
    if isinstance(ids, np.ndarray):
        return ids
    plain = getattr(ids, "to_pylist", None)  # of pyarrow, whose nulls equal one another
    try:
        listed = list(ids if plain is None else plain())  # type: ignore[arg-type]
    except TypeError:
        raise _no_list() from None
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def _missing(name: Any) -> bool:
    """None, NaN or NaT (unequal to themselves), a blank text, or several of which one is."""
    if name is None:
        return True
    if isinstance(name, str):
        return not name.strip()
    if isinstance(name, tuple):
        return any(map(_missing, name))
    try:
        return bool(name != name)
    except (TypeError, ValueError):
        return True


def _check_kinds(names: Iterable[Any]) -> None:
    """All ids are of one kind, and equal where they are the same."""
    kinds = {_kind(name) for name in names}
    if len(kinds) > 1:
        raise InputError(
            "The ids are of several kinds, such as texts beside numbers, which differ even where "
            "they are one person's: write all of them alike."
        )
    parts = [part for name in names for part in _parts(name)]
    alone: Any = object.__eq__  # equal to itself only
    if any(type(part).__eq__ is alone for part in parts):
        raise _no_id()
    broken = {type(part) for part in parts if isinstance(part, Number) and not _is_whole(part)}
    if len(broken) > 1:
        raise InputError("Ids that are fractions must be of one type of number.")
    _check_floats(np.array([part for part in parts if isinstance(part, float)]))


def _parts(name: Any) -> list[Any]:
    return [part for one in name for part in _parts(one)] if isinstance(name, tuple) else [name]


def _kind(name: Any) -> Any:
    """Values of two kinds are never equal."""
    if isinstance(name, tuple):
        return tuple(map(_kind, name))
    if isinstance(name, Number):
        return Number
    return next((kind for kind in (str, bytes) if isinstance(name, kind)), type(name))


def _is_whole(number: Any) -> bool:
    try:
        return bool(number == math.floor(number))
    except (TypeError, ValueError, OverflowError):
        return False


def _check_floats(ids: Any) -> None:
    """Beyond 2^53 floats of 64 bits skip integers, shorter ones earlier."""
    if (np.abs(ids) >= 2.0 ** (np.finfo(ids.dtype).nmant + 1)).any():
        raise InputError(
            "Some ids are floats too large to tell integers apart: read them as integers or texts."
        )


def _same(name: Any) -> Any:
    """What spellings of one text have in common."""
    if isinstance(name, tuple):
        return tuple(map(_same, name))
    return unicodedata.normalize("NFC", name.strip()) if isinstance(name, str) else name
