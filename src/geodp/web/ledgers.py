"""What the page shows of a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import geodp as gd
from geodp.cli.ledgers import amount_lines, entry_lines, short
from geodp.errors import InputError
from geodp.privacy.guarantees import Guarantee

_LAST = 50


@final
@dataclass(frozen=True)
class LedgerFacts:
    """A ledger's facts, its amounts in words, and its latest entries in lines."""

    shown: dict[str, Any]
    amounts: tuple[tuple[str, str], ...]
    entries: tuple[tuple[str, ...], ...]
    part: float
    receipts: tuple[tuple[int, str], ...]


def ledger_facts(place: str) -> LedgerFacts | None:
    """Of the ledger at a place; None where none is named."""
    if not place:
        return None
    ledger = gd.Ledger(place)
    shown = ledger.show()
    spent_by = [row | {"spent": short(row["spent"])} for row in shown["datasets"]]
    budget = ledger.budget
    spent = float(ledger.spent() / budget.limit)
    return LedgerFacts(
        shown | {"datasets": spent_by},
        tuple(amount_lines(shown["budget"])),
        tuple(entry_lines(reversed(ledger.history(_LAST)))),
        min(max(spent, 0.0), 1.0),
        tuple(_receipts(ledger)),
    )


def _receipts(ledger: gd.Ledger) -> Iterator[tuple[int, str]]:
    """The latest releases, by the entry that paid, in words."""
    for row in reversed(ledger.export()["releases"][-_LAST:]):
        if row["receipt"] is not None:
            asked = row["receipt"]["request"]
            promise = Guarantee.from_json(asked["guarantee"]).label
            yield row["reservation"], f"{asked['statistic']} on {asked['space']}, {promise}"


def stored_receipt(place: str, entry: str) -> gd.Release:
    """The receipt of the release that an entry paid for; ``InputError`` where there is none."""
    for row in gd.Ledger(place).export()["releases"]:
        if str(row["reservation"]) == entry and row["receipt"] is not None:
            return gd.Release.from_json(row["receipt"])
    raise InputError("The ledger holds no receipt of this entry.")
