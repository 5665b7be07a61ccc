"""geodp release: the one command that spends privacy."""

from __future__ import annotations

import warnings
from typing import Any

import click

import geodp as gd
from geodp.cli import build, options, strategies
from geodp.cli.output import Output, Progress, check_writable
from geodp.cli.program import EXIT_CODES
from geodp.errors import InputError
from geodp.io import Layout, read_point
from geodp.io.records import read_layout
from geodp.verbs.paying import Purse
from geodp.verbs.plan import ranked
from geodp.verbs.replaced import replaced_part

_FILES = ("value", "center", "footpoint")  # options that may name a file
_SEEDED = (
    "NOT PRIVATE: --seed makes the noise repeatable. This is a simulation; do not publish it as a "
    "private release."
)


@click.command(epilog=EXIT_CODES)
@click.argument("file", required=False)
@options.space_option
@options.file_options
@options.ball_options
@options.guarantee_options
@options.statistic_option
@options.mechanism_option(
    default="best",
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
@options.json_option
def release(file: str | None, quiet: bool, **given: Any) -> None:
    """Release the Fréchet mean of the records in FILE (- for standard input), or a relative of it.

    FILE is .npy, .npz or CSV (with --header or --no-header). Records outside the ball are moved to
    its edge, and what is no point of the space to its centre, silently: look at the data with
    "geodp inspect" first. The receipt is printed as JSON.
    """
    output, progress = Output(quiet), Progress(quiet)
    ledger = build.ledger(given)
    if given["unit"] is not None and not given["unit"].strip():
        raise InputError("--unit says in words what one record is.")
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    own = given["value"] is not None
    domain = build.ball(given, layout, required=not own and strategies.needs_ball(given))
    considered = strategies.mechanisms(given, layout, given["mechanism"])
    mean = None if own else strategies.statistic(given, space, domain)
    if mean is None:
        strategies.check_one_serves(considered, space, promise, domain)
    else:
        strategies.check_serves(considered, mean, promise, given)
    check_writable(given["out"], file, *(given[name] for name in _FILES))
    if given["seed"] is not None and ledger is None:
        click.echo(_SEEDED, err=True)
    replaced_part(given["replaced"])
    records, statistic = _subject(file, given, layout, mean, domain)
    with warnings.catch_warnings(), progress.running("evaluating the mean"):
        warnings.simplefilter("ignore")  # a warning could depend on a record
        mechanism = _chosen(considered, statistic, records, promise, ledger, given["replaced"])
        receipt = gd.release(
            records,
            statistic,
            promise,
            mechanism,
            replaced=given["replaced"],
            unit=given["unit"],
            ledger=ledger,
            dataset=given["dataset"],
            group=given["group"],
            request_id=given["request_id"],
            rng=_generator(given),
        )
    try:
        _save(receipt, given["out"])
    finally:  # what was spent is shown, come what may
        output.document(receipt.to_json())
        output.prose(repr(receipt))


def _subject(
    file: str | None,
    given: build.Given,
    layout: Layout,
    mean: gd.Statistic | None,
    domain: gd.Ball | None,
) -> tuple[Any, gd.Statistic]:
    """The records and the statistic, or None and the value that was computed elsewhere."""
    if mean is not None:
        if given["sensitivity"] is not None:
            raise InputError("--sensitivity belongs to a --value of your own; leave it out.")
        if file is None:
            raise InputError("Name the FILE of records, or - for standard input.")
        found = read_layout(file, layout, key=given["key"], header=given["header"])
        return (found if mean.ball is None else mean.ball.accept(found)), mean
    if file is not None:
        raise InputError("Give records or a --value, not both.")
    if given["statistic"] is not None:
        raise InputError("--statistic is for records; a --value is computed already.")
    if given["sensitivity"] is None:
        raise InputError("A --value needs the --sensitivity that you proved for it.")
    if not 0 < given["sensitivity"] < float("inf"):
        raise InputError("The sensitivity must be finite and positive.")
    point = read_point(given["value"], layout, "The value")
    return None, gd.GivenValue(layout.space, point, given["sensitivity"], domain)


def _chosen(
    considered: tuple[Any, ...],
    statistic: gd.Statistic,
    records: Any,
    promise: Any,
    ledger: gd.Ledger | None,
    replaced: str,
) -> Any:
    if len(considered) == 1:
        return considered[0]
    n = 2 if records is None else len(records)  # a given value's sensitivity knows no n
    purse = Purse() if ledger is None else Purse(ledger.budget.notion)
    return ranked(statistic, n, promise, considered, purse, replaced).best


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
