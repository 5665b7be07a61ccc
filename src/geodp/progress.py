"""How far a long computation is, told to a hook that may stop it.

A step says only what is public: the stage, and how much of a public number is done. Passes of a
solver, whose number depends on records, are one stage without a number. So a hook that stops a
release before its noise is drawn has seen nothing of the records but time (docs/ledger).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import final

_PAUSE = 0.1  # seconds between two calls within a stage


@final
@dataclass(frozen=True)
class Step:
    """``done`` of ``total`` in a stage such as "clipping"; a total of 0 says that none is known."""

    stage: str
    done: int = 0
    total: int = 0


Hook = Callable[[Step], object]


@final
class Reporter:
    """Calls a hook, not too often, and remembers what the hook raised."""

    __slots__ = ("_hook", "_last", "_stage", "raised")

    def __init__(self, hook: Hook) -> None:
        self._hook, self._stage, self._last = hook, "", 0.0
        self.raised: BaseException | None = None

    def report(self, step: Step) -> None:
        """Tell the hook, unless it was told of this stage a moment ago."""
        now = time.monotonic()
        if step.stage == self._stage and now - self._last < _PAUSE:
            return
        self._stage, self._last = step.stage, now
        try:
            self._hook(step)
        except BaseException as error:
            self.raised = error
            raise

    def stopped_by(self, error: BaseException) -> bool:
        """Whether a person stopped the work: through the hook, or by an interrupt."""
        return error is self.raised or isinstance(error, KeyboardInterrupt)


_silent = Reporter(lambda _: None)
_current: ContextVar[Reporter] = ContextVar("geodp_progress", default=_silent)


def tick(stage: str, done: int = 0, total: int = 0) -> None:
    """Say how far the current work is. Called with public numbers only."""
    reporter = _current.get()
    if reporter is not _silent:
        reporter.report(Step(stage, done, total))


@contextmanager
def reporting(hook: Hook | None) -> Iterator[Reporter]:
    """Steps inside go to ``hook``; with None to whoever is told already.

    >>> with reporting(lambda step: print(step.stage, step.done, step.total)):
    ...     tick("clipping", 5, 10)
    clipping 5 10
    """
    reporter = _current.get() if hook is None else Reporter(hook)
    token = _current.set(reporter)
    try:
        yield reporter
    finally:
        _current.reset(token)


@contextmanager
def unreported() -> Iterator[None]:
    """Steps inside are not public, such as those of one person's records, and are not told."""
    token = _current.set(_silent)
    try:
        yield
    finally:
        _current.reset(token)
