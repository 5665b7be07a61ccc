"""geodp audit: attacks on a mechanism, with exact confidence. Reads no data."""

from __future__ import annotations

from typing import Any

import click

from geodp.cli import build, options, strategies
from geodp.cli.output import Output, Progress
from geodp.cli.program import CHECK_FAILED, EXIT_CODES

_SENSITIVITY, _MINUTES = 0.1, 0.25


@click.command(epilog=EXIT_CODES, short_help="Attack a mechanism.")
@options.space_option
@options.layout_options
@options.ball_options
@options.guarantee_options
@options.one_mechanism_option
@options.footpoint_option
@click.option(
    "--sensitivity",
    type=float,
    default=_SENSITIVITY,
    metavar="D",
    help=f"How far apart the two neighbouring values lie (default {_SENSITIVITY}).",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0.005, 600),
    default=_MINUTES,
    metavar="M",
    help="About how long, on one core; numbers of draws follow from it alone. From a quarter "
    "(default) on, noise that is 10 % too small is found.",
)
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of all draws.")
@options.json_option
@click.pass_context
def audit(
    ctx: click.Context, /, sensitivity: float, minutes: float, seed: int, quiet: bool, **given: Any
) -> None:
    """Attack a mechanism: does it keep its promise, and do its digits give anything away?

    Draws at two neighbouring inputs give lower bounds on epsilon, delta and mu, which must stay
    below what is promised; draws are held against the stated law; the last bits of released points
    are searched for traces of the value; and the same random bits must take the same path. An audit
    can refute a mechanism, not prove it. Reads no data.
    """
    from geodp.testing.audit import audit as run

    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    (mechanism,) = strategies.mechanisms(given, layout, given["mechanism"])
    domain = build.ball(given, layout, required=False)
    with Progress(quiet).running("Attacking ..."):
        report = run(
            mechanism, space, sensitivity, promise, ball=domain, minutes=minutes, seed=seed
        )
    output.document(report.to_json())
    output.prose(repr(report))
    if not report.passed:
        ctx.exit(CHECK_FAILED)
