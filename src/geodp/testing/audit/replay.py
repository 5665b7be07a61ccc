"""Record and replay: the same random bits at two neighbouring inputs, step by step."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from geodp.random import BitStream, GeneratorBits
from geodp.testing.audit.report import Finding
from geodp.testing.audit.subject import Subject

_SEEDS, _TRACED = 40, 6


@final
class Tape(BitStream):
    """Seeded bits that remember how many were asked for, call by call."""

    __slots__ = ("_bits", "asked")
    private: ClassVar[bool] = False

    def __init__(self, seed: int | Sequence[int]) -> None:
        self._bits = GeneratorBits(np.random.default_rng(seed))
        self.asked: list[int] = []

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return self._bits.bits(count)


class Seen(NamedTuple):
    """What anybody but the receiver of the value may see of one run."""

    ending: str
    warnings: tuple[str, ...]
    calls: tuple[str, ...]


def replay_test(subject: Subject, seed: int) -> Finding:
    """Draws at both inputs from the same bits ask for the same bits and take the same path."""
    name = "control flow of a draw"
    for index in range(_SEEDS):
        runs = [_replayed(subject, i, [seed, index], index < _TRACED) for i in (0, 1)]
        if runs[0] != runs[1]:
            what = "bits" if runs[0][0] != runs[1][0] else "functions, or end or warn differently"
            detail = f"From the same bits, neighbouring inputs ask for different {what}."
            return Finding.of(name, False, detail)
    detail = (
        f"Under {_SEEDS} seeds both inputs asked for the same bits, call by call, and ended alike; "
        f"under {_TRACED} of them every function call was the same."
    )
    return Finding.of(name, True, detail)


def _replayed(
    subject: Subject, which: int, seed: Sequence[int], trace: bool
) -> tuple[list[int], Seen]:
    tape = Tape(seed)
    _, seen = watched(lambda: subject.exact(which, tape), trace)
    return tape.asked, seen


def watched(run: Callable[[], Any], trace: bool, skip: Sequence[str] = ()) -> tuple[Any, Seen]:
    """The outcome of ``run`` and what could be seen of it; an exception is part of that.

    ``skip``: modules below which calls are not compared, such as the solver's.
    """
    outcome, ending = None, "value"
    calls: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with _calls(calls, skip, trace):
            try:
                outcome = run()
            except Exception as error:
                ending = f"{type(error).__name__}: {error}"
    return outcome, Seen(ending, tuple(str(w.message) for w in caught), tuple(calls))


@contextmanager
def _calls(out: list[str], skip: Sequence[str], trace: bool) -> Iterator[None]:
    """Record calls of geodp's functions, but those made below a module of ``skip``."""
    if not trace:
        yield
        return
    inside: list[FrameType] = []

    def profiler(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and inside and inside[-1] is frame:
            inside.pop()
        elif event == "call" and not inside:
            module = str(frame.f_globals.get("__name__", ""))
            if module.startswith(tuple(skip) or ("\0",)):
                inside.append(frame)
            elif module.startswith("geodp.") and not module.startswith("geodp.testing"):
                out.append(f"{module}.{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(profiler)
    try:
        yield
    finally:
        sys.setprofile(before)
