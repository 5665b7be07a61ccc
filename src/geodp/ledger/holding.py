"""Holding the whole price of several releases, before the first of them looks at a record.

A hold charges once. The releases that it is for draw from it, each in its own reservation, and what
is left goes back when they are done, however they end: nothing was drawn for it. A program that is
killed leaves its hold charged; the same request takes it up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from geodp.errors import GeodpError, LedgerRefusal
from geodp.ledger import tables
from geodp.ledger.chain import append
from geodp.ledger.charging import charge, give_back, other_request, prior
from geodp.ledger.digest import keyed_digest
from geodp.ledger.drawing import left_in
from geodp.ledger.holds import Hold, Wanted
from geodp.ledger.totals import Part
from geodp.privacy.numbers import decimal

if TYPE_CHECKING:
    from geodp.ledger.ledger import Ledger

_releases = tables.releases


def digest_of(ledger: Ledger, records: Any) -> str:
    """By which the ledger knows the records again."""
    return keyed_digest(ledger.keys.digest, records)


def hold(ledger: Ledger, wanted: Sequence[Wanted]) -> list[Hold]:
    """Charge all of it in one transaction, or nothing: LedgerRefusal, or MismatchError for other
    records or another request. A hold of the same request that is still there is taken up."""
    store = ledger.store
    try:
        with store.writing() as connection:
            return [Hold(ledger, one.part, _number(ledger, connection, one)) for one in wanted]
    except LedgerRefusal as refusal:
        raise LedgerRefusal(f"{refusal} Nothing is spent.") from refusal


def free(ledger: Ledger, holds: Sequence[Hold]) -> None:
    """Give back what is left of them; those that were given back already stay as they are."""
    try:
        with ledger.store.writing() as connection:
            for one in holds:
                if one.number is not None:
                    _free(ledger, connection, one.part, one.number)
    except GeodpError:  # it stays charged then, which is the private side
        return


def _number(ledger: Ledger, connection: sa.Connection, wanted: Wanted) -> int | None:
    row = ledger.store.locked(connection)
    before = prior(connection, wanted.request_id)
    if before is not None and before.fingerprint != wanted.fingerprint:
        raise other_request(wanted.request_id)
    if before is not None:
        return int(before.reservation)
    price = sum((p for ask, p in wanted.prices if prior(connection, ask) is None), Fraction(0))
    if not price:
        return None
    body = {
        "dataset": wanted.part.dataset,
        "group": wanted.part.group,
        "digest": wanted.digest,
        "request_id": wanted.request_id,
        "fingerprint": wanted.fingerprint,
        "notion": ledger.budget.notion,
        "price": decimal(price),
        "event": wanted.event,
    }
    return charge(connection, row, ledger.budget, price, ("hold", body), "held").entries


def _free(ledger: Ledger, connection: sa.Connection, part: Part, number: int) -> None:
    row = ledger.store.locked(connection)  # before anything is read: nobody else gives it back
    left = left_in(connection, number)
    if left is None:
        return
    where = _releases.c.reservation == number
    freed = {"state": "freed", "request_id": None}  # the request may be made again
    connection.execute(sa.update(_releases).where(where).values(freed))
    body = {"reservation": number, "price": decimal(left)}
    append(connection, row, "unhold", body)
    give_back(connection, part, left)
