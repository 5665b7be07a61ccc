"""A ledger held against what its receipts and other copies know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from geodp.errors import InputError
from geodp.ledger.canonical import canonical, sha256
from geodp.ledger.check import Check
from geodp.ledger.checking import check_export
from geodp.ledger.reading import EXPORT

Document = Mapping[str, Any]
_Named = tuple[str, dict[int, str], str | None]


def check_all(document: Document, others: Sequence[Document] = ()) -> list[Check]:
    """``check_export``, and where that passes one check for each receipt or export of a copy: all
    entries that it names are in this export.

    A copy that was restored lacks the newest of them; of two copies that both went on, each holds
    entries that the other does not. InputError for a document that names no entry.
    """
    named = [_named(other) for other in others]
    checks = check_export(document)
    if not all(check.passed for check in checks):
        return checks
    return checks + [_check(document, f"against {i}", one) for i, one in enumerate(named, 1)]


def _check(document: Document, name: str, known: _Named) -> Check:
    identity, named, receipt = known
    if identity != document["ledger"]["id"]:
        return Check(name, False, "It names another ledger than this one.")
    here = {entry["number"]: entry["hash"] for entry in document["entries"]}
    for number, said in sorted(named.items()):
        if number not in here:
            return Check(name, False, _MISSING.format(number, len(here)))
        if here[number] != said:
            return Check(name, False, _OTHER.format(number))
    if receipt is not None:
        (number,) = named
        committed = _committed(document, number)
        if committed is None:
            return Check(name, False, _MISSING.format(number, len(here)))
        if committed != receipt:
            return Check(name, False, _OTHER.format(number))
    return Check(name, True, f"All {len(named)} entries that it names are here.")


_MISSING = (
    "It follows from entry {}, and this ledger ends at {} without it: newer entries are missing "
    "here. Nothing may be released from this copy."
)
_OTHER = (
    "Entry {} led here to another one than it names: two copies of this ledger were used. What "
    "both spent adds up."
)


def _committed(document: Document, reservation: int) -> str | None:
    """The SHA-256 of the receipt that a reservation ended with; None where it has not."""
    for entry in document["entries"][reservation:]:
        if entry["kind"] == "commit" and entry["body"]["reservation"] == reservation:
            return str(entry["body"]["receipt_sha256"])
    return None


def _named(other: Document) -> _Named:
    """The ledger and the entries that a receipt or an export names; a receipt's own SHA-256, since
    two copies may reserve the same in the same second."""
    try:
        if other["schema"] == EXPORT:
            entries = {int(one["number"]): str(one["hash"]) for one in other["entries"]}
            return str(other["ledger"]["id"]), entries, None
        mark = other["outcome"]["ledger"]
        entry = {int(mark["entry"]): str(mark["hash"])}
        return str(mark["id"]), entry, sha256(canonical(other))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            "A ledger is held against a receipt that it paid for, or an export of a copy."
        ) from error
