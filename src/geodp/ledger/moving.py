"""A ledger moved to another place: the same chain goes on there, and the old one is closed.

The order keeps every budget safe wherever a program is killed. The old ledger is held while its
rows, with the closing entry, are copied and the copy is verified; the copy ends with the closing
entry too, so it pays for nothing. Then the old one's closing entry is committed, and last an entry
opens the new one. A move that broke off in between is finished by asking for it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from geodp.errors import InputError, LedgerError, LedgerRefusal
from geodp.ledger import tables
from geodp.ledger.chain import ARRIVE, MOVE, End, append, extend, moved_to, whole_end
from geodp.ledger.checking import check_export
from geodp.ledger.keys import Keys
from geodp.ledger.reading import export_from
from geodp.ledger.store import Store

if TYPE_CHECKING:
    from geodp.ledger.ledger import Ledger

_TABLES = (tables.ledger, tables.entries, tables.datasets, tables.releases)
_Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def move(old: Ledger, new: Ledger) -> None:
    """See ``Ledger.move``; ``new`` is not there yet, or a copy whose move broke off."""
    if new.store.shown == old.store.shown:
        raise InputError("A ledger moves to another place; this is where it is.")
    keys = old.keys
    place = _closed_towards(old.store)
    if place is None:
        _close_and_copy(old, new, keys)
    elif place != new.store.shown:
        raise LedgerRefusal(f"The ledger was moved to {place!r} already; move it from there.")
    _open(old.store, new.store)


def _closed_towards(store: Store) -> str | None:
    with store.reading() as connection:
        store.row(connection)
        return moved_to(connection)


def _close_and_copy(old: Ledger, new: Ledger, keys: Keys) -> None:
    """Copy under the old ledger's lock; its closing entry is durable only once the copy is."""
    path, made, copied = new.key_path_for(old.key_path), False, False
    wrote_key = not _holds(path, keys)
    if wrote_key:
        keys.save(path)
    try:
        with old.store.writing() as connection:
            row = old.store.locked(connection)
            append(connection, row, MOVE, {"to": new.store.shown})
            document = _verified(export_from(connection, old.store.row(connection)))
            new.store.create()
            made = True
            _copy(connection, new.store, path, document)
            copied = True
    except BaseException:
        if made and not copied:  # a whole copy stays: the old ledger may be closed by now
            new.store.discard()
        if wrote_key and not copied:
            path.unlink(missing_ok=True)
        raise


def _verified(document: Mapping[str, Any]) -> Mapping[str, Any]:
    failed = [check for check in check_export(document) if not check.passed]
    if failed:
        raise LedgerError(
            f"The ledger does not verify, so it is not moved: {failed[0].name}: {failed[0].detail}"
        )
    return document


def _copy(source: sa.Connection, store: Store, key: Path, document: Mapping[str, Any]) -> None:
    with store.writing() as connection:
        if store.has_tables(connection):
            raise LedgerError(f"{store.shown!r} holds a ledger already.")
        tables.metadata.create_all(connection)
        for table in _TABLES:
            rows = [dict(row._mapping) for row in source.execute(sa.select(table))]
            if table is tables.ledger:
                rows = [row | {"key_path": str(key.absolute())} for row in rows]
            if rows:
                connection.execute(sa.insert(table), rows)
        if _verified(export_from(connection, store.row(connection))) != document:
            raise LedgerError("The copy of the ledger is not the same; it was not moved.")


def _open(old: Store, new: Store) -> None:
    with old.reading() as connection:
        head = old.row(connection).head
    with new.writing() as connection:
        row = new.locked(connection)
        end: End = whole_end(connection, row)
        if end.head != head:
            raise LedgerError(
                f"{new.shown!r} holds another ledger, or this one has been opened there already."
            )
        extend(connection, end, [(ARRIVE, {"from": old.shown})])


def _holds(path: Path, keys: Keys) -> bool:
    """Whether these keys are there already: the same file, or one that a broken-off move left."""
    return path.exists() and Keys.load(path, keys.ledger) == keys
