"""Making a ledger, and the facts of one that never change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from geodp.errors import LedgerError
from geodp.ledger import tables
from geodp.ledger.budget import Budget
from geodp.ledger.canonical import GENESIS, canonical
from geodp.ledger.chain import append
from geodp.ledger.keys import Keys
from geodp.ledger.store import Store
from geodp.privacy.guarantees import Guarantee


def create(
    store: Store, key: Path, identity: str, guarantee: Guarantee, unit: str, neighbours: str
) -> None:
    """Keys first, then file and tables in one transaction; all or nothing."""
    budget = Budget.of(guarantee)
    keys = Keys.fresh(identity)
    keys.save(key)
    made = False
    try:
        store.create()
        made = True
        _fill(store, key, keys, budget, unit, neighbours)
    except BaseException:
        if made:
            store.discard()
        key.unlink(missing_ok=True)
        raise


def _fill(store: Store, key: Path, keys: Keys, budget: Budget, unit: str, neighbours: str) -> None:
    described = {
        "version": tables.VERSION,
        "id": keys.ledger,
        "unit": unit,
        "neighbours": neighbours,
        "budget": budget.describe(),
        "public_key": keys.public,
    }
    with store.writing() as connection:
        if store.has_tables(connection):
            raise LedgerError(f"{store.shown!r} holds a ledger already.")
        tables.metadata.create_all(connection)
        connection.execute(
            sa.insert(tables.ledger),
            described
            | {
                "one": 1,
                "budget": canonical(described["budget"]),
                "key_path": str(key.absolute()),
                "entries": 0,
                "head": GENESIS,
            },
        )
        append(connection, store.locked(connection), "open", described)


def facts(store: Store) -> dict[str, Any]:
    """id, unit, neighbours, budget, public_key and key_path."""
    with store.reading() as connection:
        row = store.row(connection)
    try:
        budget = json.loads(row.budget)
        Budget.read(budget)
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise LedgerError(f"The ledger {store.shown!r} is damaged: its budget is no budget.") from (
            error
        )
    return {
        "id": row.id,
        "unit": row.unit,
        "neighbours": row.neighbours,
        "budget": budget,
        "public_key": row.public_key,
        "key_path": row.key_path,
    }
