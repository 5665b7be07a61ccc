"""Blocks of records on several threads. Sums are exact, so their number changes no result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from geodp.errors import InputError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def thread_count() -> int:
    """``GEODP_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the cores this process may use."""
    own = os.environ.get("GEODP_NUM_THREADS", "").strip()
    if own:
        if not own.isdecimal() or int(own) < 1:
            raise InputError("GEODP_NUM_THREADS is an integer of at least one, or not set.")
        return int(own)
    others = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if others.isdecimal() and int(others) >= 1:  # anything else is for its own programs to refuse
        return int(others)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
    """``function`` of every item, in order. Threads live for this call only, so that a process
    may fork between calls."""
    workers = min(thread_count(), len(items))
    if workers <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(function, items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
