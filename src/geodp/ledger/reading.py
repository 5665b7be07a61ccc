"""Looking into a ledger: what is spent, what happened, and all of it as one document."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from geodp.errors import LedgerError
from geodp.ledger import tables
from geodp.ledger.budget import stored
from geodp.ledger.chain import moved_to
from geodp.ledger.store import Store
from geodp.ledger.totals import Part, total
from geodp.privacy.numbers import decimal

if TYPE_CHECKING:
    from geodp.ledger.ledger import Ledger

EXPORT = "geodp/ledger/v1"
_entries = tables.entries


def spent(store: Store) -> dict[Part, Fraction]:
    """What each data set and group has been charged."""
    with store.reading() as connection:
        store.row(connection)
        rows = connection.execute(sa.select(tables.datasets)).all()
    return {Part(row.name, row.partition, row.label): stored(row.spent) for row in rows}


def show(ledger: Ledger) -> dict[str, Any]:
    """See ``Ledger.show``."""
    store = ledger.store
    states = tables.releases.c.state
    with store.reading() as connection:
        row = store.row(connection)
        counted = connection.execute(
            sa.select(states, sa.func.count().label("number")).group_by(states)
        ).all()
        rows = connection.execute(sa.select(tables.datasets)).all()
        place = moved_to(connection)
    parts = {Part(d.name, d.partition, d.label): stored(d.spent) for d in rows}
    return {
        "ledger": store.shown,
        "id": row.id,
        "version": row.version,
        "unit": row.unit,
        "neighbours": row.neighbours,
        "budget": ledger.budget.to_json(total(parts)),
        "datasets": [
            {"dataset": part.dataset, "group": part.group, "spent": decimal(amount)}
            for part, amount in sorted(parts.items())
        ],
        "releases": {s.state: s.number for s in sorted(counted) if s.state not in tables.HOLDS},
        "holds": {s.state: s.number for s in sorted(counted) if s.state in tables.HOLDS},
        "entries": row.entries,
        "head": row.head,
        "moved_to": place,
        "public_key": row.public_key,
    }


def history(store: Store, last: int | None = None) -> list[dict[str, Any]]:
    """See ``Ledger.history``."""
    with store.reading() as connection:
        store.row(connection)
        query = sa.select(_entries).order_by(_entries.c.number.desc()).limit(last)
        rows = connection.execute(query).all()
    return [_entry(row) for row in reversed(rows)]


def export(store: Store) -> dict[str, Any]:
    """See ``Ledger.export``."""
    with store.reading() as connection:
        return export_from(connection, store.row(connection))


def export_from(connection: sa.Connection, row: sa.Row[Any]) -> dict[str, Any]:
    """The export as it is seen inside a transaction; ``row`` is the ledger's."""
    entries = connection.execute(sa.select(_entries).order_by(_entries.c.number)).all()
    datasets = connection.execute(sa.select(tables.datasets)).all()
    query = sa.select(tables.releases).order_by(tables.releases.c.reservation)
    releases = connection.execute(query).all()
    try:
        facts = dict(row._mapping)
        del facts["one"], facts["key_path"]
        return {
            "schema": EXPORT,
            "ledger": facts | {"budget": json.loads(row.budget)},
            "entries": [_entry(entry) for entry in entries],
            "datasets": [dict(d._mapping) for d in sorted(datasets)],
            "releases": [
                dict(r._mapping) | {"receipt": None if r.receipt is None else json.loads(r.receipt)}
                for r in releases
            ],
        }
    except ValueError as error:
        raise LedgerError("The ledger is damaged: a text in it is no JSON.") from error


def damage(store: Store) -> str | None:
    """What the database finds wrong with itself, None if nothing."""
    if not store.is_file:
        return None
    try:
        with store.reading() as connection:
            said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().first()
    except LedgerError as error:
        return str(error)
    return None if said == "ok" else "The database file is damaged; restore a backup."


def _entry(row: sa.Row[Any]) -> dict[str, Any]:
    try:
        body = json.loads(row.body)
    except ValueError as error:
        raise LedgerError("The ledger is damaged: an entry is no JSON.") from error
    return {
        "number": row.number,
        "at": row.at,
        "kind": row.kind,
        "body": body,
        "hash": row.hash,
    }
