"""Rows that take longer than a form may wait: worked out by another process, kept for later."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from typing import TypeAlias, final

from geodp.web.estimates import Estimate, estimate, is_quick, mechanisms, refusal
from geodp.web.fields import Fields
from geodp.web.question import STATISTICS, Question, question_of

_KEPT = 2000
_TOGETHER = 0.2  # seconds in which rows come in together

Key: TypeAlias = "tuple[tuple[tuple[str, str], ...], str, str]"

ASKED = (
    *("space", "center", "radius", "eigenvalues", "degrees"),
    *("n", "notion", "amount", "second", "releases"),
)
"""The fields that a row follows from."""


def work(key: Key) -> Estimate:
    """A row from the texts of a form; runs in the other process."""
    texts, statistic, mechanism = key
    fields = Fields(dict(texts))
    question = question_of(fields)
    assert question is not None
    return estimate(question, statistic, mechanisms()[mechanism])


def _settle(parent: int) -> None:
    """Let the page go first, and end with it, however it ends; the page alone hears Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


@final
class Desk:
    """Gives rows that are known, and has the others worked out meanwhile.

    Refusals and quick rows are made at once. What an earlier question still waits for is dropped
    when the next one comes.
    """

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor
        self._running: dict[Key, Future[Estimate]] = {}
        self._known: OrderedDict[Key, Estimate] = OrderedDict()
        self._lock = threading.Lock()

    def rows(
        self, texts: Mapping[str, str], question: Question, patience: float = 0.0
    ) -> list[Estimate | Key]:
        """A row for each statistic and mechanism; a key where it is not known yet.

        ``patience`` is how many seconds to wait for the next row that comes in.
        """
        asked = tuple((name, texts.get(name, "")) for name in ASKED)
        # by mechanism first: their order is also that of how long they take
        keys = [(asked, statistic, name) for name in mechanisms() for statistic in STATISTICS]
        with self._lock:
            waited = [self._running[key] for key in keys if key in self._running]
        if patience and waited:
            wait(waited, patience, FIRST_COMPLETED)
            wait(waited, _TOGETHER, ALL_COMPLETED)
        with self._lock:
            self._collect()
            self._make([key for key in keys if key not in self._known], question)
            missing = [key for key in keys if key not in self._known]
            for old in set(self._running) - set(missing):
                if self._running[old].cancel():
                    del self._running[old]
            for key in missing:
                if key not in self._running:
                    self._running[key] = self._pool().submit(work, key)
            keys.sort(key=lambda key: list(STATISTICS).index(key[1]))
            return [self._known.get(key, key) for key in keys]

    def close(self) -> None:
        """End the other process."""
        with self._lock:
            executor, self._executor = self._executor, None
            self._running.clear()
        if executor is not None:
            for process in list((getattr(executor, "_processes", None) or {}).values()):
                process.terminate()
            executor.shutdown(cancel_futures=True)

    def _make(self, keys: list[Key], question: Question) -> None:
        """Refusals and quick rows."""
        refused = {statistic: refusal(question, statistic) for statistic in STATISTICS}
        for key in keys:
            _, statistic, name = key
            reason = refused[statistic]
            if reason is not None:
                self._keep(key, Estimate(statistic, name, why_not=reason))
            elif is_quick(question, statistic, mechanisms()[name]):
                self._keep(key, estimate(question, statistic, mechanisms()[name]))

    def _collect(self) -> None:
        for key in [key for key, future in self._running.items() if future.done()]:
            future = self._running.pop(key)
            if future.cancelled():
                continue
            error = future.exception()
            if error is None:
                self._keep(key, future.result())
            else:  # its message could say anything
                self._keep(key, Estimate(key[1], key[2], why_not="This row could not be computed."))
                self._executor = None

    def _keep(self, key: Key, row: Estimate) -> None:
        self._known[key] = row
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _pool(self) -> Executor:
        if self._executor is None:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(
                1, mp_context=context, initializer=_settle, initargs=(os.getpid(),)
            )
        return self._executor
