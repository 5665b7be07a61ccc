"""A ledger checked from its export alone, without the database and without secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from geodp.errors import GeodpError, InputError
from geodp.ledger.budget import Budget, stored
from geodp.ledger.canonical import GENESIS, canonical, entry_hash, sha256
from geodp.ledger.chain import ARRIVE, MOVE
from geodp.ledger.charges import Charges
from geodp.ledger.check import Check
from geodp.ledger.reading import EXPORT
from geodp.ledger.seal import seal_of
from geodp.ledger.spends import price_in
from geodp.ledger.tables import HOLDS
from geodp.ledger.totals import Part, part_of, total
from geodp.privacy.guarantees import Guarantee

Export = Mapping[str, Any]


PAID = ("reserve", "spend", "hold")
"""The kinds of entries that cost something."""

_CLOSED = ("commit", "fail", "cancel", "unhold")
_STATES = {
    "commit": ("committed",),
    "fail": ("failed",),
    "cancel": ("cancelled",),
    "unhold": ("freed",),
    "spend": ("spent",),
    "hold": HOLDS,
}
"""By the kind of an entry, the states of what it is about."""


class _Failed(Exception):
    """A check that does not hold; its message is the detail."""


def check_export(document: Export) -> list[Check]:
    """Everything that can be recomputed from an export; InputError for another document."""
    if not isinstance(document, Mapping) or document.get("schema") != EXPORT:
        raise InputError(f"This is no export of a ledger of schema {EXPORT}.")
    checks: dict[str, Callable[[Export], str]] = {
        "chain": _chain,
        "opening": _opening,
        "place": _place,
        "totals": _totals,
        "releases": _releases,
        "receipts": _receipts,
    }
    return [_run(name, check, document) for name, check in checks.items()]


def _run(name: str, check: Callable[[Export], str], document: Export) -> Check:
    try:
        return Check(name, True, check(document))
    except (_Failed, GeodpError) as error:
        return Check(name, False, str(error))
    except (KeyError, TypeError, ValueError, ArithmeticError, IndexError, AttributeError):
        return Check(name, False, "A part of the ledger is of the wrong kind.")


def _chain(document: Export) -> str:
    head = GENESIS
    for number, entry in enumerate(document["entries"], 1):
        said = entry_hash(head, number, entry["at"], entry["kind"], canonical(entry["body"]))
        if entry["number"] != number or entry["hash"] != said:
            raise _Failed(f"Entry {number} is not the one that was written.")
        head = said
    facts = document["ledger"]
    if (facts["entries"], facts["head"]) != (len(document["entries"]), head):
        raise _Failed("The chain does not end where the ledger says: entries are missing.")
    return f"{len(document['entries'])} entries, each bound to the one before; head {head[:16]}."


def _opening(document: Export) -> str:
    first, facts = document["entries"][0], document["ledger"]
    if first["kind"] != "open" or any(first["body"][name] != facts[name] for name in first["body"]):
        raise _Failed("The ledger's unit, neighbours, budget or key is not the one it opened with.")
    return f"Unit {facts['unit']}, {facts['neighbours']}, budget and key as opened."


def _place(document: Export) -> str:
    """A closing entry is the last, or followed by the one that opens the ledger elsewhere."""
    kinds = [entry["kind"] for entry in document["entries"]]
    for number, kind in enumerate(kinds):
        before = kinds[number - 1] if number else ""
        if (before == MOVE) != (kind == ARRIVE):
            raise _Failed("The ledger was used after it was moved away.")
    if kinds[-1] == MOVE:
        return f"Closed: it was moved to {document['entries'][-1]['body']['to']}."
    return f"Moved {kinds.count(MOVE)} times, and not closed."


def _totals(document: Export) -> str:
    budget = Budget.read(document["ledger"]["budget"])
    charges = Charges()
    for entry in document["entries"]:
        number, kind, body = entry["number"], entry["kind"], entry["body"]
        if kind in PAID and body["notion"] != budget.notion:
            raise _Failed(f"Entry {number} is priced in another notion.")
        if kind == "spend":
            _promised(body, budget.notion)
        charges.add(number, kind, body)
    charged = charges.charged
    kept = {
        Part(d["name"], d["partition"], d["label"]): stored(d["spent"])
        for d in document["datasets"]
    }
    known = {part_of(d["name"], _group(d)): d["digest"] for d in document["datasets"]}
    if known != _registered(document):
        raise _Failed("The digests kept are not those that were registered.")
    if kept != charged:
        raise _Failed("The totals kept are not the sums of the entries.")
    if total(charged) > budget.limit:
        raise _Failed("More was spent than the budget allows.")
    return f"Spent {budget.text(total(charged))}, within the budget, the sum of the entries."


def _promised(body: Mapping[str, Any], notion: str) -> None:
    """What another program's promise costs, to what another machine's rounding may change."""
    needed = price_in(Guarantee.from_json(body["guarantee"]), notion)
    if stored(body["price"]) < needed * (1 - Fraction(1, 10**9)):
        raise _Failed("A spend of another program costs more than was charged for it.")


def _group(row: Mapping[str, Any]) -> str | None:
    return f"{row['partition']}={row['label']}" if row["partition"] or row["label"] else None


def _registered(document: Export) -> dict[Part, str | None]:
    bodies = [entry["body"] for entry in document["entries"] if entry["kind"] == "register"]
    return {part_of(body["dataset"], body["group"]): body["digest"] for body in bodies}


def _releases(document: Export) -> str:
    kinds: dict[str, set[int]] = {kind: set() for kind in (*PAID, *_CLOSED)}
    asked, sums = {}, {}
    for entry in document["entries"]:
        if entry["kind"] in PAID:
            kinds[entry["kind"]].add(entry["number"])
            asked[entry["number"]] = entry["body"]
        elif entry["kind"] in kinds:
            reservation = entry["body"]["reservation"]
            if any(reservation in kinds[closed] for closed in _CLOSED):
                raise _Failed(f"Reservation {reservation} was closed twice.")
            kinds[entry["kind"]].add(reservation)
            sums[reservation] = entry["body"].get("receipt_sha256")
    states: Counter[str] = Counter()
    for row in document["releases"]:
        number, state = row["reservation"], row["state"]
        states[state] += 1
        if number not in asked:
            raise _Failed("There is a release without a reservation.")
        named = asked[number] | ({"request_id": None} if state in ("cancelled", "freed") else {})
        if any(row[name] != named[name] for name in ("request_id", "fingerprint")):
            raise _Failed(f"Reservation {number} was made by another request.")
        if any((state in said) != (number in kinds[kind]) for kind, said in _STATES.items()):
            raise _Failed(f"Entries and state of reservation {number} disagree.")
        if state == "committed" and sha256(canonical(row["receipt"])) != sums[number]:
            raise _Failed(f"The receipt of reservation {number} is not the one committed.")
    if {row["reservation"] for row in document["releases"]} != set(asked):
        raise _Failed("There is a reservation whose release is missing.")
    listed = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f"Every release has its reservation: {listed or 'none yet'}."


def _receipts(document: Export) -> str:
    hashes = {entry["number"]: entry["hash"] for entry in document["entries"]}
    count = 0
    for row in document["releases"]:
        if row["receipt"] is None:
            continue
        number, mark = row["reservation"], row["receipt"]["outcome"]["ledger"]
        if (mark["id"], mark["entry"]) != (document["ledger"]["id"], number) or mark[
            "hash"
        ] != hashes[number]:
            raise _Failed(f"The receipt of reservation {number} names another entry.")
        seal = seal_of(row["receipt"])
        if seal is None or seal.public_key != document["ledger"]["public_key"] or not seal.holds:
            raise _Failed(f"The receipt of reservation {number} is not signed by this ledger.")
        count += 1
    return f"{count} receipts, each signed by this ledger and naming its entry."
