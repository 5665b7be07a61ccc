"""geodp plan and geodp calibrate: what a release would cost, from public facts."""

from __future__ import annotations

from typing import Any

import click

import geodp as gd
from geodp.cli import build, counting, options, strategies
from geodp.cli.grouping import per_entity_option
from geodp.cli.output import Output
from geodp.cli.program import EXIT_CODES
from geodp.errors import InputError, LedgerRefusal
from geodp.io import Layout

_OF_INFERENCES = ("confidence", "spread")


@click.command(epilog=EXIT_CODES, short_help="Rank mechanisms by expected error.")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@options.space_option
@options.layout_options
@options.ball_options
@options.guarantee_options
@click.option(
    "--n",
    callback=counting.whole_number,
    metavar="N",
    help="The public number of records, such as 1000 or 1e6. Default: what the metadata of FILE "
    "say.",
)
@click.option(
    "--releases",
    type=click.IntRange(1, 10_000),
    default=1,
    metavar="K",
    help="How many equal releases the guarantee is for, all in all (default 1).",
)
@options.statistic_option
@options.mechanism_option(
    multiple=True,
    default=["best"],
    help="Consider this one; may be repeated. Default: best, all but "
    f"{strategies.SLOW}, whose running time depends on the data.",
)
@options.footpoint_option
@options.bound_option
@options.replaced_option
@click.option(
    "--entities",
    is_flag=True,
    help="Persons have several records each, which count as one: N is the number of persons.",
)
@per_entity_option
@click.option(
    "--subjects",
    is_flag=True,
    help="Several NIfTI files, each FILE one person's: N is their number.",
)
@click.option(
    "--infer",
    is_flag=True,
    help="Plan what geodp infer would release: the promise of each number, and how wide the "
    "region of the mean would be.",
)
@click.option("--confidence", type=float, metavar="P", help="With --infer; default: 0.95.")
@click.option("--spread", type=float, metavar="S", help="With --infer, as for geodp infer.")
@options.ledger_options
@options.json_option
def plan(
    files: tuple[str, ...], n: int | None, releases: int, replaced: str, quiet: bool, **given: Any
) -> None:
    """Rank mechanisms by the distance a release will land from the mean. Reads no data.

    With --infer: the numbers of an inference, and the region's radius, by the noise alone and about
    that for records that scatter over half the ball.

    A Parquet FILE tells the number of records, unit, order and frame by its metadata alone, NIfTI
    FILE... with --subjects the number of persons.
    With a --ledger each mechanism's price is shown, and what its budget would not pay for cannot
    serve (exit code 3 where that is all); with a --dataset, by what this data set, or its --group,
    has left. Spends nothing.
    """
    output = Output(quiet)
    paying = _paying(given)
    space, layout = build.space_and_layout(given)
    n, given = counting.counted(files, n, given, space)
    promise = build.guarantee(given)
    if given["infer"]:
        _inference(n, releases, replaced, output, paying, given, layout)
        return
    for name in _OF_INFERENCES:
        if given[name] is not None:
            raise InputError(f"--{name} belongs to inferences: say --infer too.")
    domain = build.ball(given, layout, required=strategies.needs_ball(given))
    considered = strategies.mechanisms(given, layout, *given["mechanism"])
    statistic = strategies.statistic(given, space, domain)
    strategies.check_serves(considered, statistic, promise, given)
    outcome = gd.plan(
        statistic,
        n,
        promise,
        considered,
        releases,
        paying,
        replaced=replaced,
        entities=given["entities"] or None,
        per_entity=given["per_entity"],
        dataset=given["dataset"],
        group=given["group"],
    )
    output.document(outcome.to_json())
    output.prose(repr(outcome))
    if outcome.pays is False:
        raise LedgerRefusal("The ledger would not pay for any of these. Nothing is spent.")


def _inference(
    n: int,
    releases: int,
    replaced: str,
    output: Output,
    paying: gd.Ledger | None,
    given: build.Given,
    layout: Layout,
) -> None:
    """Show the plan of an inference; refused where its ledger would not pay."""
    from geodp.verbs.infer_preview import inference_plan

    usual = {"statistic": None, "mechanism": ("best",), "footpoint": None, "bound": "sharp"}
    wrong = [name for name, value in usual.items() if given[name] != value]
    if wrong or releases > 1:
        name = wrong[0] if wrong else "releases"
        raise InputError(f"geodp infer has no --{name}: leave it out with --infer.")
    if given["per_entity"] is not None:
        raise InputError("An inference takes the means of persons: leave out --per-entity.")
    promise = build.guarantee(given)
    domain = build.ball(given, layout, required=True)
    assert domain is not None
    outcome = inference_plan(
        domain,
        n,
        promise,
        0.95 if given["confidence"] is None else given["confidence"],
        how={"replaced": replaced, "spread": given["spread"]},
        ledger=paying,
        dataset=given["dataset"],
        group=given["group"],
    )
    output.document(outcome.to_json())
    output.prose(repr(outcome))
    if outcome.pays is False:
        raise outcome.refusal


def _paying(given: build.Given) -> gd.Ledger | None:
    """The ledger whose budget is looked at; a plan needs no data set's name."""
    if given["ledger"] is None:
        return build.ledger(given)
    if given["group"] is not None and given["dataset"] is None:
        raise InputError("--group is one of a --dataset: name the data set too.")
    return gd.Ledger(given["ledger"], given["ledger_key"])


@click.command(epilog=EXIT_CODES, short_help="The noise scale for a sensitivity.")
@options.space_option
@options.layout_options
@options.ball_options
@options.guarantee_options
@click.option(
    "--sensitivity",
    type=float,
    required=True,
    metavar="D",
    help="How far one record can move the value, a length on the space.",
)
@options.one_mechanism_option
@options.footpoint_option
@options.json_option
def calibrate(sensitivity: float, quiet: bool, **given: Any) -> None:
    """The least noise scale that gives the guarantee at a sensitivity. Reads no data.

    Wrapped mechanisms need a ball where the curvature is positive (spheres, shapes), the truncated
    ones and the K-norm gradient everywhere.
    """
    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    (mechanism,) = strategies.mechanisms(given, layout, given["mechanism"])
    domain = build.ball(given, layout, required=False)
    if domain is None:
        strategies.check_ball((mechanism,), space, promise)
    cal = gd.calibrate(mechanism, space, sensitivity, promise, ball=domain)
    facts = cal.facts()
    distance = cal.expected_distance()
    output.document(
        {
            "mechanism": mechanism.name,
            "space": space.spec,
            "sensitivity": sensitivity,
            "scale": cal.scale,
            "guarantee": promise.to_json(),
            "guarantee_in_words": promise.text,
            "expected_distance": distance,
            "mean_squared_error": cal.mean_squared_error(),
        }
        | {key: facts[key] for key in ("footpoint", "tangent_sensitivity") if key in facts}
    )
    output.prose(
        f"{mechanism.name} on {space.spec}\n  scale: {cal.scale:.6g}\n"
        f"  guarantee: {promise.text}\n  expected distance: {distance:.4g}"
    )
