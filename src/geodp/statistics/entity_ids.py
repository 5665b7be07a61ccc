"""Ids of any kind that can be told apart, one for each record."""

from __future__ import annotations

from typing import Any

import numpy as np

from geodp.errors import InputError


def numbered(ids: object, n: int) -> Any:
    """For each record the number of its entity; ids of any kind that can be told apart."""
    array = _as_ids(ids)
    if array.ndim != 1 or len(array) != n:
        raise InputError("The entities are one id for each record, in the records' order.")
    if array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1]
    names = array.tolist()
    if any(_missing(name) for name in names):
        raise InputError(
            "Some records have no entity id. Whose they are is public structure, so geodp does not "
            "guess: give every record an id, or leave the records without one out."
        )
    try:
        known = {name: i for i, name in enumerate(dict.fromkeys(names))}
        return np.array([known[name] for name in names])
    except TypeError:
        raise InputError("An entity id is a text, a number or another hashable value.") from None


def _as_ids(ids: object) -> Any:
    if isinstance(ids, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(ids).ravel()
        ids = [None if gone else one for one, gone in zip(ids.tolist(), hidden, strict=False)]
    if isinstance(ids, np.ndarray):
        return ids
    try:
        listed = list(ids)  # type: ignore[call-overload]
    except TypeError:
        raise InputError(
            "The entities are one id for each record, in the records' order."
        ) from None
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def _missing(name: Any) -> bool:
    """None, NaN or NaT (unequal to themselves), or a blank text."""
    if name is None:
        return True
    if isinstance(name, str):
        return not name.strip()
    try:
        return bool(name != name)
    except (TypeError, ValueError):
        return True
