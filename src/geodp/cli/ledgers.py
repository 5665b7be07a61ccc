"""geodp ledger: make a budget that lasts, look at it, and check it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import click

import geodp as gd
from geodp.cli import build, options
from geodp.cli.output import Output, check_writable
from geodp.cli.program import CHECK_FAILED, EXIT_CODES
from geodp.io.document import read_document
from geodp.privacy.guarantees import Guarantee

_PLACE = click.argument("place", metavar="LEDGER")


@click.group(epilog=EXIT_CODES)
def ledger() -> None:
    """The budget that lasts: a file, or a PostgreSQL database given by a postgresql:// URL.

    A ledger is for one set of people. It remembers every release about them, and refuses what the
    budget no longer pays for.
    """


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@options.guarantee_options
@click.option(
    "--unit",
    callback=options.writable_text,
    required=True,
    metavar="TEXT",
    help="Whom it protects: person, scan.",
)
@options.ledger_key_option
@options.json_option
def init(place: str, unit: str, key_file: str | None, quiet: bool, **given: Any) -> None:
    """Make LEDGER with a budget and its keys.

    The budget is --gdp, --zcdp, --pure, or --approx (kept as the largest Gaussian DP that implies
    it). The key file signs receipts and must stay secret: back it up, and keep it from others.
    """
    output = Output(quiet)
    made = gd.Ledger.create(place, build.guarantee(given), unit=unit, key=key_file)
    facts = made.show()
    output.document(facts | {"key_file": str(made.key_path)})
    output.prose(f"{_page(facts)}\n  keys: {made.key_path} (secret)")


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@click.option("--dataset", required=True, callback=options.writable_text, help="About which data.")
@click.option("--group", callback=options.writable_text, help="A public part of it: site=A.")
@options.guarantee_options
@click.option("--note", required=True, callback=options.writable_text, help="What it was; public.")
@click.option("--unit", callback=options.writable_text, help="Whom the promise is made to.")
@click.option("--neighbours", callback=options.writable_text, help="Its neighbour relation.")
@click.option("--request-id", callback=options.writable_text, help="Makes a retry safe.")
@options.json_option
def spend(
    place: str,
    dataset: str,
    group: str | None,
    note: str,
    unit: str | None,
    neighbours: str | None,
    request_id: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Enter in LEDGER what another program released about its people.

    The promise is that program's own, to one of the ledger's units and neighbours (one record
    replaced); it is converted to the ledger's notion where that is possible.
    """
    output = Output(quiet)
    opened = gd.Ledger(place)
    mark = opened.spend(
        build.guarantee(given),
        dataset=dataset,
        group=group,
        note=note,
        unit=unit,
        neighbours=neighbours,
        request_id=request_id,
    )
    facts = opened.show()
    output.document({"entry": vars(mark), "budget": facts["budget"]})
    output.prose(f"Entry {mark.entry}: {dataset} pays {short(mark.price)}.\n{_page(facts)}")


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@click.argument("to", metavar="NEW")
@options.ledger_key_option
@click.option("--new-key", "new_key", metavar="FILE", help="Where the key goes (default: beside).")
@options.json_option
def move(place: str, to: str, key_file: str | None, new_key: str | None, quiet: bool) -> None:
    """Move LEDGER to NEW, a file or a PostgreSQL database without a ledger; LEDGER closes.

    The chain is verified before and after and goes on at NEW. LEDGER then refuses further spends
    and says where it went. If a move breaks off, the same command ends it.
    """
    output = Output(quiet)
    made = gd.Ledger(place, key_file).move(to, new_key)
    facts = made.show()
    output.document(facts | {"key_file": str(made.key_path)})
    output.prose(f"{_page(facts)}\n  keys: {made.key_path} (secret)\n{place} is closed.")


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@options.json_option
def show(place: str, quiet: bool) -> None:
    """What LEDGER allows, has spent, and has left."""
    output = Output(quiet)
    facts = gd.Ledger(place).show()
    output.document(facts)
    output.prose(_page(facts))


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N entries.")
@options.json_option
def history(place: str, last: int | None, quiet: bool) -> None:
    """What happened in LEDGER, entry by entry."""
    output = Output(quiet)
    opened = gd.Ledger(place)
    entries = opened.history(last)
    output.document({"ledger": opened.store.shown, "entries": entries})
    output.prose("\n".join(_lines(entries)))


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@click.option("--out", metavar="PATH", help="Save the document here, not on standard output.")
@options.json_option
def export(place: str, out: str | None, quiet: bool) -> None:
    """Everything in LEDGER but its secrets, as one JSON document that "verify" can check."""
    output = Output(quiet)
    check_writable(out)
    document = gd.Ledger(place).export()
    if out is None:
        output.document(document)
        return
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, indent=1)
    output.document({"export": out, "entries": document["ledger"]["entries"]})
    output.prose(f"Wrote {out}.")


@ledger.command(epilog=EXIT_CODES)
@_PLACE
@click.option(
    "--against",
    multiple=True,
    metavar="FILE",
    help="A receipt, or an export of a copy, whose entries must be here; may be repeated.",
)
@options.json_option
@click.pass_context
def verify(ctx: click.Context, place: str, against: tuple[str, ...], quiet: bool) -> None:
    """Recompute the chain, the totals and the signatures of LEDGER, or of an export (.json).

    With --against it is seen whether entries are missing here, or two copies were used.
    """
    output = Output(quiet)
    others = [_document(path) for path in against]
    if place.endswith(".json"):
        from geodp.ledger.branches import check_all

        checks = check_all(_document(place), others)
    else:
        checks = gd.Ledger(place).verify(others)
    passed = all(check.passed for check in checks)
    output.document({"passed": passed, "checks": [vars(check) for check in checks]})
    output.prose("\n".join(map(repr, checks)))
    if not passed:
        ctx.exit(CHECK_FAILED)


def _document(path: str) -> Any:
    return read_document(path, None)


def _page(facts: dict[str, Any]) -> str:
    budget = facts["budget"]
    lines = [
        f"{facts['ledger']}: a budget for each {facts['unit']} ({facts['neighbours']})",
        *(f"  {name}: {said}" for name, said in amount_lines(budget)),
    ]
    for row in facts["datasets"]:
        group = "" if row["group"] is None else f" [{row['group']}]"
        lines.append(f"  {row['dataset']}{group}: {budget['adds']} {short(row['spent'])}")
    counted = ", ".join(f"{n} {state}" for state, n in facts["releases"].items()) or "none"
    held = facts["holds"].get("held", 0)
    if held:
        lines.append(f"  holds that are charged and not given back: {held}")
    if facts["moved_to"] is not None:
        lines.append(f"  CLOSED: moved to {facts['moved_to']}")
    lines.append(f"  releases: {counted}; entries: {facts['entries']}; head {facts['head'][:16]}")
    return "\n".join(lines)


def amount_lines(budget: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Limit, spent and left, each in words."""
    for name in ("limit", "spent", "left"):
        yield name, _amount(budget[f"{name}_as"])


def _amount(forms: dict[str, Any] | None) -> str:
    if forms is None:
        return "nothing"
    said = [f"{key} {forms[key]}" for key in ("mu", "rho") if key in forms]
    if "delta" in forms:
        said.append(f"epsilon {forms['epsilon']:.6g} at delta {forms['delta']}")
    elif "epsilon" in forms:
        said.append(f"epsilon {forms['epsilon']}")
    return ", or ".join(said)


def entry_lines(entries: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str, str, str]]:
    """Each entry's number, time and kind, and what it says."""
    for entry in entries:
        try:
            said = _KINDS[entry["kind"]](entry["body"])
        except (KeyError, TypeError, ValueError):  # a damaged ledger; "verify" says more
            said = "unreadable"
        yield str(entry["number"]), entry["at"], entry["kind"], said


def _lines(entries: Iterable[dict[str, Any]]) -> Iterable[str]:
    for number, at, kind, said in entry_lines(entries):
        yield f"{number:>6}  {at}  {kind:<9} {said}"


def short(exact: str) -> str:
    """An exact amount in a line of prose; one with many digits by six of them."""
    return exact if len(exact) <= 12 else f"about {float(Fraction(exact)):.6g}"


def _place(body: dict[str, Any]) -> str:
    return f"{body['dataset']} [{body['group']}]" if body["group"] else str(body["dataset"])


def _reserved(body: dict[str, Any]) -> str:
    asked = body["event"]["request"]
    held = f" of entry {body['hold']}" if "hold" in body else ""
    return (
        f"{_place(body)} pays {short(body['price'])}{held}: "
        f"{asked['statistic']} by {asked['mechanism']}"
    )


def _spent(body: dict[str, Any]) -> str:
    promise = Guarantee.from_json(body["guarantee"])
    return f"{_place(body)} pays {short(body['price'])}: {promise.label} elsewhere: {body['note']}"


def _held(body: dict[str, Any]) -> str:
    promise = Guarantee.from_json(body["event"]["guarantee"])
    return (
        f"{_place(body)} holds {short(body['price'])}: {promise.label} for "
        f"{', '.join(body['event']['shares'])}"
    )


def _about(body: dict[str, Any]) -> str:
    return f"entry {body['reservation']}"


def _opened(body: dict[str, Any]) -> str:
    stated = Guarantee.from_json(body["budget"]["stated"])
    return f"{stated.label} for each {body['unit']}"


_KINDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "open": _opened,
    "register": _place,
    "reserve": _reserved,
    "spend": _spent,
    "hold": _held,
    "unhold": lambda body: f"{_about(body)} gives back {short(body['price'])}",
    "move": lambda body: f"closed; moved to {body['to']}",
    "arrive": lambda body: f"from {body['from']}",
    "commit": _about,
    "fail": _about,
    "cancel": _about,
}
