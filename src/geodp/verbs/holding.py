"""The whole price of an inference, held before its first number and given back where it is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from geodp.ledger.described import described
from geodp.ledger.holds import Hold, Wanted
from geodp.ledger.ledger import Ledger
from geodp.ledger.totals import Part
from geodp.statistics.entities import Entities
from geodp.verbs.infer_plan import Prepared
from geodp.verbs.paying import price_to_hold


@contextmanager
def held(ledger: Ledger, wanted: Sequence[Wanted]) -> Iterator[Sequence[Hold]]:
    """Holds for all that is wanted, or LedgerRefusal with nothing spent; what is left of them goes
    back at the end, whichever it is."""
    from geodp.ledger.holding import free, hold

    holds = hold(ledger, wanted)
    try:
        yield holds
    finally:
        free(ledger, holds)


def wanted_by(
    ready: Prepared,
    ledger: Ledger,
    part: Part,
    request_id: str | None,
    records: Any,
    persons: Entities | None,
) -> Wanted:
    """What an inference of one part of the data asks a ledger to hold."""
    from geodp.ledger.holding import digest_of

    prices = [
        (
            part_request(request_id, name),
            price_to_hold(
                ready.mechanism_of(name),
                ready.statistic(name),
                ready.n,
                promise,
                ledger.budget.notion,
            ),
        )
        for name, promise in ready.split.items()
    ]
    event = {
        "space": ready.ball.space.spec,
        "n": ready.n,
        "guarantee": ready.guarantee.to_json(),
        "mechanism": ready.mechanism.name,
        "shares": {name: promise.to_json() for name, promise in ready.split.items()},
    }
    asked = {
        "ball": [described(ready.ball.center), ready.ball.radius],
        "mechanism": described(ready.mechanism),
        "spread": ready.spread,
        "entities": None if persons is None else persons.fingerprint,
    }
    digest = digest_of(ledger, records)
    return Wanted(part, digest, part_request(request_id, "hold"), event, asked, prices)


def part_request(request_id: str | None, name: str) -> str | None:
    """The request id of one part of an inference."""
    return None if request_id is None else f"{request_id}/{name}"
