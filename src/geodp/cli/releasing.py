"""geodp release: the one command that spends privacy."""

from __future__ import annotations

import warnings
from typing import Any

import click

import geodp as gd
from geodp.cli import build, grouping, options, reading, strategies
from geodp.cli.asking import Asked, asked
from geodp.cli.output import Output, check_writable
from geodp.cli.program import EXIT_CODES
from geodp.cli.progress import progress_option, shown
from geodp.errors import InputError
from geodp.io import read_point
from geodp.statistics.entities import Entities
from geodp.verbs.paying import Purse
from geodp.verbs.plan import ranked
from geodp.verbs.replaced import replaced_part

_FILES = ("value", "center", "footpoint")  # options that may name a file
_SEEDED = (
    "NOT PRIVATE: --seed makes the noise repeatable. This is a simulation; do not publish it as a "
    "private release."
)


@click.command(epilog=EXIT_CODES, short_help="Release a mean of the records.")
@click.argument("files", nargs=-1, metavar="[SPEC] FILE...")
@options.spec_or_space_option
@options.file_options
@options.ball_options
@options.guarantee_options
@options.statistic_option
@options.mechanism_option(
    default=None,
    help=f"Default: best, the one with the least expected distance; never {strategies.SLOW}, whose "
    "running time depends on the data.",
)
@options.footpoint_option
@options.bound_option
@options.replaced_option
@click.option(
    "--unit",
    callback=options.writable_text,
    metavar="TEXT",
    help="What one record is: person, scan. Default: the ledger's unit, else record.",
)
@grouping.entities_option
@grouping.per_entity_option
@click.option("--value", metavar="FILE", help="Release this point, which you computed, instead.")
@click.option("--sensitivity", type=float, metavar="D", help="The sensitivity you proved for it.")
@click.option("--seed", type=click.IntRange(min=0), help="Simulate with this seed: NOT PRIVATE.")
@click.option("--out", metavar="PATH", help="Save the receipt here too.")
@options.ledger_options
@click.option(
    "--request-id",
    callback=options.writable_text,
    metavar="ID",
    help="A text for this request alone: a retry with it returns the stored release.",
)
@progress_option
@options.json_option
def release(files: tuple[str, ...], quiet: bool, **given: Any) -> None:
    """Release the Fréchet mean of the records in FILE (- for standard input), a relative of it, or
    their Fréchet variance.

    FILE is .npy, .npz, CSV (with --header or --no-header), TPS or NIfTI. Records outside the ball
    are moved to its edge, and what is no point of the space to its centre, silently: look at the
    data with "geodp inspect" first. The receipt is printed as JSON.

    SPEC is a JSON file that asks for all of it, {"schema": "geodp/release/v1", "request": ...}, the
    request as on a receipt. Options say how FILE is spelled, and who pays.
    """
    output = Output(quiet)
    ledger = build.ledger(given)
    request = asked(files, given)
    reading.check_unit(request.files, request.given, request.unit or (ledger and ledger.unit))
    check_writable(given["out"], *files, *(given[name] for name in (*_FILES, "mask", "atlas")))
    if given["seed"] is not None and ledger is None:
        click.echo(_SEEDED, err=True)
    replaced_part(request.given["replaced"])
    records, groups, statistic = _subject(request)
    with warnings.catch_warnings(), shown(quiet, given["progress"]) as hook:
        warnings.simplefilter("ignore")  # a warning could depend on a record
        # a given value's sensitivity knows no n
        n = 2 if records is None else len(records if groups is None else groups)
        mechanism = _chosen(request, grouping.of_entities(statistic, groups), n, ledger)
        receipt = gd.release(
            records,
            statistic,
            request.promise,
            mechanism,
            replaced=request.given["replaced"],
            unit=request.unit,
            entities=groups,
            ledger=ledger,
            dataset=given["dataset"],
            group=given["group"],
            request_id=given["request_id"],
            rng=_generator(given),
            progress=hook,
        )
    try:
        _save(receipt, given["out"])
    finally:  # what was spent is shown, come what may
        output.document(receipt.to_json())
        output.prose(repr(receipt))


def _subject(request: Asked) -> tuple[Any, Entities | None, gd.Statistic]:
    """The records, whose they are, and the statistic; or a value that was computed elsewhere."""
    given, mean, layout = request.given, request.mean, request.layout
    if mean is not None:
        if given["sensitivity"] is not None:
            raise InputError("--sensitivity belongs to a --value of your own; leave it out.")
        if not request.files:
            raise InputError("Name the FILE of records, or - for standard input.")
        found, ids = grouping.read(request.files, given, layout)
        groups = request.entities(ids, len(found))
        request.check_count(len(found if groups is None else groups))
        domain = request.domain
        return (found if domain is None else domain.accept(found)), groups, mean
    if request.files:
        raise InputError("Give records or a --value, not both.")
    for name in ("entities", "per_entity"):
        if given[name] is not None:
            raise InputError("Entities are groups of records; a --value has none.")
    if given["statistic"] is not None:
        raise InputError("--statistic is for records; a --value is computed already.")
    if given["sensitivity"] is None:
        raise InputError("A --value needs the --sensitivity that you proved for it.")
    if not 0 < given["sensitivity"] < float("inf"):
        raise InputError("The sensitivity must be finite and positive.")
    point = read_point(given["value"], layout, "The value")
    return None, None, gd.GivenValue(layout.space, point, given["sensitivity"], request.domain)


def _chosen(request: Asked, statistic: gd.Statistic, n: int, ledger: gd.Ledger | None) -> Any:
    if len(request.considered) == 1:
        return request.considered[0]
    purse = Purse() if ledger is None else Purse(ledger.budget.notion)
    replaced = request.given["replaced"]
    return ranked(statistic, n, request.promise, request.considered, purse, replaced).best


def _generator(given: build.Given) -> Any:
    if given["seed"] is None:
        return None
    import numpy as np

    return np.random.default_rng(given["seed"])


def _save(receipt: gd.Release, path: str | None) -> None:
    if path is None:
        return
    try:
        receipt.save(path)
    except OSError as error:
        raise InputError(
            f"The receipt could not be written to {path!r}; it is on standard output."
        ) from error
