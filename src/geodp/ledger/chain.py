"""Appending to the chain of entries, inside a writer's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from geodp.errors import LedgerError, LedgerRefusal
from geodp.ledger import tables
from geodp.ledger.canonical import GENESIS, canonical, entry_hash

MOVE = "move"
"""The kind of the entry that closes a ledger and says where it went."""

ARRIVE = "arrive"
"""The kind of the entry that opens it there."""

_LAST_TWO = sa.select(tables.entries).order_by(tables.entries.c.number.desc()).limit(2)
_ADD = sa.insert(tables.entries)
_NEW_END = sa.update(tables.ledger)


class End(NamedTuple):
    """Where a chain ends: how many entries there are, and the hash of the last."""

    entries: int
    head: str


def end_of(connection: sa.Connection, row: sa.Row[Any]) -> End:
    """Where a chain that is not closed ends; LedgerRefusal where the ledger was moved away."""
    end, place = whole_end(connection, row), moved_to(connection)
    if place is not None:
        raise LedgerRefusal(
            f"The ledger refuses: it was moved to {place!r} and is closed here. Use it there."
        )
    return end


def moved_to(connection: sa.Connection) -> str | None:
    """Where the ledger went, None while it is here: a closing entry is the last of its chain."""
    last = connection.execute(_LAST_TWO).first()
    return str(json.loads(last.body)["to"]) if last is not None and last.kind == MOVE else None


def whole_end(connection: sa.Connection, row: sa.Row[Any]) -> End:
    """The end of the chain, once it is seen that the last entry is the one the ledger names.

    A file that lost its tail, or an entry that was changed, is found here before it can pay.
    """
    last = connection.execute(_LAST_TWO).all()
    if row.entries == 0 and not last:
        return End(0, GENESIS)
    whole = bool(last) and last[0].number == row.entries and last[0].hash == row.head
    if whole:
        previous = GENESIS if len(last) == 1 else last[1].hash
        entry = last[0]
        whole = entry.hash == entry_hash(previous, entry.number, entry.at, entry.kind, entry.body)
    if not whole:
        raise LedgerError(
            "The ledger is damaged: its last entry is not the one that it names. Restore a backup; "
            "'geodp ledger verify' shows what is wrong."
        )
    return End(row.entries, row.head)


def append(
    connection: sa.Connection, row: sa.Row[Any], kind: str, *bodies: Mapping[str, Any]
) -> End:
    """Add an entry for each body; the ledger's row must be locked. Returns the new end.

    The time is this machine's and is for reading only: entries are in the order of their numbers.
    """
    return extend(connection, end_of(connection, row), [(kind, body) for body in bodies])


def extend(connection: sa.Connection, end: End, news: list[tuple[str, Mapping[str, Any]]]) -> End:
    """Add entries after an end that has been checked."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    rows = []
    for kind, body in news:
        text, number = canonical(body), end.entries + 1
        end = End(number, entry_hash(end.head, number, at, kind, text))
        rows.append({"number": number, "at": at, "kind": kind, "body": text, "hash": end.head})
    connection.execute(_ADD, rows)
    connection.execute(_NEW_END, {"entries": end.entries, "head": end.head})
    return end
