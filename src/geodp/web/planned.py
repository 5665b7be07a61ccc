"""A release in two steps: a plan with a digest, and the confirmation that spends, once."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import final

from geodp.errors import InputError
from geodp.ledger.canonical import canonical, sha256
from geodp.web.tasks import Outcome, Task

_KEPT = 20
_GONE = (
    "This plan is no longer held, or its digest is another one: nothing was spent. Make the plan "
    "again."
)


@final
@dataclass(eq=False)
class Planned:
    """A plan that waits for its confirmation."""

    task: Task
    digest: str
    nonce: str
    outcome: Outcome | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def request_id(self) -> str:
        """The same for every confirmation of this plan: the ledger pays it once."""
        return f"page-{sha256(self.digest + self.nonce)[:40]}"


@final
class Plans:
    """The plans that wait, the latest few; safe between threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Planned] = OrderedDict()
        self._lock = threading.Lock()

    def hold(self, task: Task) -> Planned:
        """Keep a plan until it is confirmed, under its digest and a nonce of its own."""
        planned = Planned(task, sha256(canonical(task.document())), secrets.token_hex(16))
        with self._lock:
            self._held[planned.nonce] = planned
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return planned

    def get(self, nonce: str) -> Planned | None:
        """The plan of that nonce, confirmed or not."""
        with self._lock:
            return self._held.get(nonce)

    def confirm(self, digest: str, nonce: str) -> Outcome:
        """Do what was planned; a second confirmation gets the first one's receipt.

        ``InputError`` where there is no such plan, ``LedgerRefusal`` where the ledger does not pay.
        """
        planned = self.get(nonce)
        if planned is None or planned.digest != digest:
            raise InputError(_GONE)
        with planned.lock:
            if planned.outcome is None:
                planned.outcome = planned.task.run(planned.request_id)
                planned.task = replace(planned.task, held=None)  # type: ignore[type-var]
            return planned.outcome
