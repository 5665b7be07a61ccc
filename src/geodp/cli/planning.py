"""geodp plan and geodp calibrate: what a release would cost, from public facts."""

from __future__ import annotations

from typing import Any

import click

import geodp as gd
from geodp.cli import build, options
from geodp.cli.output import Output
from geodp.cli.program import EXIT_CODES
from geodp.errors import InputError


@click.command(epilog=EXIT_CODES)
@options.space_option
@options.layout_options
@options.ball_options
@options.guarantee_options
@click.option(
    "--n",
    type=click.IntRange(2, 2**53),
    required=True,
    metavar="N",
    help="The public number of records.",
)
@click.option(
    "--mechanism",
    type=click.Choice(build.MECHANISMS),
    multiple=True,
    default=["best"],
    help="Consider this one; may be repeated. Default: all.",
)
@options.footpoint_option
@options.bound_option
@options.json_option
def plan(n: int, quiet: bool, **given: Any) -> None:
    """Rank mechanisms by the distance a release will land from the mean. Reads no data."""
    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    domain = build.ball(given, layout, required=True)
    considered = build.mechanisms(given, layout, *given["mechanism"])
    if domain is None:
        raise InputError("The ball is missing.")
    statistic = gd.FrechetMean(domain, given["bound"])
    build.check_one_serves(considered, space, promise, domain)
    outcome = gd.plan(statistic, n, promise, considered)
    output.document(outcome.to_json())
    output.prose(repr(outcome))


@click.command(epilog=EXIT_CODES)
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
@click.option(
    "--mechanism",
    type=click.Choice(build.MECHANISMS[1:]),
    required=True,
    help="The mechanism to calibrate.",
)
@options.footpoint_option
@options.json_option
def calibrate(sensitivity: float, quiet: bool, **given: Any) -> None:
    """The least noise scale that gives the guarantee at a sensitivity. Reads no data.

    A ball is needed where the curvature is positive (spheres).
    """
    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    (mechanism,) = build.mechanisms(given, layout, given["mechanism"])
    domain = build.ball(given, layout, required=False)
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
            "footpoint": facts["footpoint"],
            "tangent_sensitivity": facts["tangent_sensitivity"],
        }
    )
    output.prose(
        f"{mechanism.name} on {space.spec}\n  scale: {cal.scale:.6g}\n"
        f"  guarantee: {promise.text}\n  expected distance: {distance:.4g}"
    )
