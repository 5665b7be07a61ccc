"""What all kernels share: how they are compiled, walk over records, and add on the lattice.

A kernel is ``run(x, count, base, unit, unit2, limit, acc, left, rows)``: records ``x`` as one flat
array, at least ``WIDTH`` of them, of which the first ``count`` matter; ``base``, whatever it needs
of the base point; ``unit`` and ``unit2``, lattice units of coordinates and squares; ``limit``, the
largest squared length to accept; ``acc``, the lattice sums, two limbs for each coordinate and for
the square, ``WIDTH`` numbers each; ``left``, where it marks the records that it leaves to numpy.
Where ``rows`` is not empty, the coordinates and the square of each record are written there instead
of being added: ``WIDTH`` records after ``WIDTH`` records, zeros for those that are left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba import types

from geodp.kernels.lanes import WIDTH, bits, both, choose, load, places, spread, store, whole

_LOW = 2.0**30  # one limb, as in spaces/lattice.py
_FULL = 2**WIDTH - 1
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": False}

_read = types.Array(types.float64, 1, "C", readonly=True)
_write = types.Array(types.float64, 1, "C")
_marks = types.Array(types.uint8, 1, "C")
_real = types.float64
SIGNATURE = types.void(_read, types.intp, _read, _real, _real, _real, _write, _marks, _write)
POINTS = types.void(_read, types.intp, _read, _write, _write)
REDUCER = types.void(_write, types.intp, _real, _real, _write, _write, _marks)


@lru_cache(maxsize=1)
def _state() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def helper(function: Callable[..., Any]) -> Any:
    """A part of kernels; it is compiled into them."""
    return numba.njit(**_OPTIONS)(function)


def compiled(function: Callable[..., Any], signature: Any = SIGNATURE) -> Any:
    """A kernel, compiled now, or loaded from numba's cache on disk where there is one.

    numba looks at the file of the function alone; so its name tells the state of all of them.
    """
    function.__qualname__ += _state()
    try:
        return numba.njit(signature, cache=True, **_OPTIONS)(function)
    except RuntimeError:  # nowhere to write the cache
        return numba.njit(signature, **_OPTIONS)(function)


def reducer(function: Callable[..., Any]) -> Any:
    """A compiled sum over rows, ``reduce(rows, count, parameter, unit, acc, work, left)``: of
    ``count`` records, of which those that it marks in ``left`` are not in it; see ``reduce``."""
    return compiled(function, REDUCER)


def points(function: Callable[..., Any]) -> Any:
    """A compiled exponential map, ``points(rows, groups, base, work, out)``: coordinates of groups
    of ``WIDTH`` records in, the entries of their points out."""
    return compiled(function, POINTS)


@helper
def present(start: int, rows: int, count: int) -> Any:
    """The first record of a group, moved back where the group would leave the array; and which
    lanes are records that no earlier group has had."""
    at = min(start, rows - WIDTH)
    lane = places() + float(at)
    return at, both(lane < float(count), spread(float(start)) <= lane)


@helper
def keep(ok: Any, at: int, start: int, count: int, left: Any) -> None:
    """Mark the records of a group that are not ``ok``."""
    good = bits(ok)
    if good != _FULL:
        for lane in range(start - at, min(WIDTH, count - at)):
            if not (good >> lane) & 1:
                left[at + lane] = 1


@helper
def gain(acc: Any, index: int, value: Any, unit: float) -> None:
    """Add numbers to a lattice sum. Limbs are integers below 2**31, so that float sums of up to
    2**22 of them are exact, whatever their order."""
    scaled = value * unit
    high = whole(scaled)
    low = whole((scaled - high) * _LOW)
    at = 2 * index * WIDTH
    store(acc, at, load(acc, at) + high)
    store(acc, at + WIDTH, load(acc, at + WIDTH) + low)


@helper
def give(acc: Any, rows: Any, place: int, index: int, value: Any, unit: float, ok: Any) -> None:
    """Add a coordinate to its sum, or write it into the group's rows, which begin at ``place``."""
    value = choose(ok, value, spread(0.0))
    if len(rows) == 0:
        gain(acc, index, value, unit)
    else:
        store(rows, (place + index) * WIDTH, value)
