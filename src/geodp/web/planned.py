"""A release in two steps: a plan with a digest, and the confirmation that spends, once."""

from __future__ import annotations

import secrets
import threading
import warnings
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any, final

import geodp as gd
from geodp.errors import InputError
from geodp.ledger.canonical import canonical, sha256
from geodp.mechanisms import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.verbs.plan_table import Plan

_KEPT = 20
_GONE = (
    "This plan is no longer held, or its digest is another one: nothing was spent. Make the plan "
    "again."
)


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """A release as it was asked for; the records are held, and shown nowhere."""

    records: Any = field(repr=False)
    source: str
    statistic: gd.Statistic
    guarantee: Guarantee
    mechanism: Mechanism
    unit: str | None
    ledger: gd.Ledger | None
    dataset: str | None
    group: str | None
    plan: Plan

    def document(self) -> dict[str, Any]:
        """Everything public that is about to be done."""
        paying = None if self.ledger is None else self.ledger.id
        ball = self.statistic.ball
        return {
            "plan": self.plan.to_json(),
            "mechanism": self.mechanism.name,
            "ball": None
            if ball is None
            else [
                ball.center.tolist(),
                ball.radius,
                ball.physical_unit,
                ball.component_order,
                ball.frame,
            ],
            "file": self.source,
            "unit": self.unit,
            "ledger": paying,
            "dataset": self.dataset,
            "group": self.group,
        }


@final
@dataclass(eq=False)
class Planned:
    """A plan that waits for its confirmation."""

    asked: Asked
    digest: str
    nonce: str
    outcome: gd.Release | None = None
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

    def hold(self, asked: Asked) -> Planned:
        """Keep a plan until it is confirmed, under its digest and a nonce of its own."""
        planned = Planned(asked, sha256(canonical(asked.document())), secrets.token_hex(16))
        with self._lock:
            self._held[planned.nonce] = planned
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return planned

    def get(self, nonce: str) -> Planned | None:
        """The plan of that nonce, confirmed or not."""
        with self._lock:
            return self._held.get(nonce)

    def confirm(self, digest: str, nonce: str) -> gd.Release:
        """Release what was planned; a second confirmation gets the first one's receipt.

        ``InputError`` where there is no such plan, ``LedgerRefusal`` where the ledger does not pay.
        """
        planned = self.get(nonce)
        if planned is None or planned.digest != digest:
            raise InputError(_GONE)
        with planned.lock:
            if planned.outcome is None:
                planned.outcome = _released(planned)
                planned.asked = replace(planned.asked, records=None)
            return planned.outcome


def _released(planned: Planned) -> gd.Release:
    asked = planned.asked
    paid: dict[str, Any] = {}
    if asked.ledger is not None:
        paid = {
            "ledger": asked.ledger,
            "dataset": asked.dataset,
            "group": asked.group,
            "request_id": planned.request_id,
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning could depend on a record
        return gd.release(
            asked.records,
            asked.statistic,
            asked.guarantee,
            asked.mechanism,
            unit=asked.unit,
            **paid,
        )
