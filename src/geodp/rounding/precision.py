"""The working precision of ball arithmetic, which python-flint keeps once for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodp.errors import GeodpError

if TYPE_CHECKING:
    from flint import arb

START = 128  # bits of the first attempt
CAP = 1 << 16  # bits beyond which something must be wrong

_lock = threading.RLock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with ``bits`` bits inside, and restore the precision after; one thread at a time.

    A thread that changes the precision without this lock cannot make a result wrong, since a ball
    encloses the truth at any precision; it can only cost another refinement.
    """
    from flint import ctx

    with _lock, ctx.workprec(bits):
        yield


def precisions(start: int = START) -> Iterator[int]:
    """``start`` and its doublings up to ``CAP``, then an error."""
    bits = start
    while bits <= CAP:
        yield bits
        bits *= 2
    raise GeodpError(
        f"Ball arithmetic with {CAP} bits did not settle a rounding, which has no chance of "
        "happening: a space's exp_arb must be returning balls that do not shrink."
    )


def is_positive(number: Callable[[int], arb], start: int = START) -> bool:
    """The sign of a real that is almost surely not 0, given as balls at growing precision."""
    for bits in precisions(start):
        with working_precision(bits):
            ball = number(bits)
            if ball > 0:
                return True
            if ball < 0:
                return False
    raise AssertionError
