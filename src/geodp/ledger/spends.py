"""Spends of other programs: what was released about the same people without geodp."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from geodp.arguments import text_or_none
from geodp.errors import GuaranteeError, InputError, LedgerRefusal, MismatchError
from geodp.ledger import tables
from geodp.ledger.budget import added, rounded_up
from geodp.ledger.canonical import canonical, sha256
from geodp.ledger.charging import charge, other_request, prior
from geodp.ledger.receipt import Mark
from geodp.ledger.totals import part_of
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import decimal
from geodp.privacy.promised import promised

if TYPE_CHECKING:
    from geodp.ledger.ledger import Ledger

_LONGEST = 1000  # characters of a note


def spend(
    ledger: Ledger,
    guarantee: Guarantee,
    dataset: object,
    group: object,
    note: object,
    unit: str | None,
    neighbours: str | None,
    request_id: object,
) -> Mark:
    """See ``Ledger.spend``."""
    if not isinstance(guarantee, Guarantee):
        raise InputError("A spend is stated as a guarantee such as gd.GaussianDP(0.5).")
    _same(ledger, unit, neighbours)
    part = part_of(dataset, group)
    notion = ledger.budget.notion
    asked = {
        "dataset": part.dataset,
        "group": part.group,
        "guarantee": guarantee.to_json(),
        "unit": ledger.unit,
        "neighbours": ledger.neighbours,
        "note": _written(note, "The note says which program released what"),
    }
    request = None if request_id is None else _written(request_id, "A request id is a text")
    price = price_in(guarantee, notion)
    body = asked | {
        "digest": None,
        "request_id": request,
        "fingerprint": sha256(canonical(asked)),
        "notion": notion,
        "price": decimal(price),
    }
    with ledger.store.writing() as connection:
        row = ledger.store.locked(connection)
        before = prior(connection, request)
        if before is not None and before.fingerprint != body["fingerprint"]:
            raise other_request(request)
        if before is not None:
            return _mark(ledger, connection, before.reservation)
        end = charge(connection, row, ledger.budget, price, ("spend", body), "spent")
        return _mark(ledger, connection, end.entries)


def price_in(guarantee: Guarantee, notion: str) -> Fraction:
    """What every mechanism that keeps the promise costs at most in a ledger's notion, rounded up
    where it is converted; LedgerRefusal where nothing follows from the promise there."""
    if guarantee.notion == notion:
        return added(guarantee, notion)
    try:
        return rounded_up(promised(guarantee).charge(notion))
    except GuaranteeError as error:
        raise LedgerRefusal(
            f"The ledger refuses: it counts in {notion}, and from {guarantee.label} alone no price "
            f"follows there: {error} State what is known of the mechanism in {notion}."
        ) from error


def _same(ledger: Ledger, unit: str | None, neighbours: str | None) -> None:
    if unit is not None and unit != ledger.unit:
        raise MismatchError(
            f"The ledger protects one {ledger.unit} and the spend is stated for one {unit}: state "
            f"what it promises to one {ledger.unit}, or use a ledger of that unit."
        )
    if neighbours is not None and neighbours != ledger.neighbours:
        raise MismatchError(
            f"The ledger is about neighbours that differ as '{ledger.neighbours}', the spend about "
            f"'{neighbours}': their prices do not add up. State the spend for the ledger's "
            "neighbours; to replace one record is to remove one and to add one, which at most "
            "doubles epsilon and mu."
        )


def _written(text: object, what: str) -> str:
    said = (text_or_none(text, what) or "").strip()
    if not 0 < len(said) <= _LONGEST:
        raise InputError(f"{what}, in 1 to {_LONGEST} characters.")
    return said


def _mark(ledger: Ledger, connection: sa.Connection, number: int) -> Mark:
    query = sa.select(tables.entries).where(tables.entries.c.number == number)
    entry = connection.execute(query).one()
    body: Mapping[str, Any] = json.loads(entry.body)
    return Mark(
        ledger.id,
        number,
        entry.hash,
        *(body[name] for name in ("dataset", "group", "notion", "price")),
    )
