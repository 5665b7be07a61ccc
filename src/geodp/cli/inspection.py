"""geodp inspect: the curator's own look at raw records."""

from __future__ import annotations

from typing import Any

import click

from geodp.cli import build, options
from geodp.cli.output import Output
from geodp.cli.program import EXIT_CODES
from geodp.io import inspect_records
from geodp.io.records import read_layout

_WARNING = "NOT PRIVATE: what follows is read off the raw records. For the curator alone."


@click.command(epilog=EXIT_CODES)
@click.argument("file")
@options.space_option
@options.file_options
@options.ball_options
@options.json_option
def inspect(file: str, quiet: bool, **given: Any) -> None:
    """Look at the raw records in FILE (- for standard input). NOT PRIVATE.

    Shape and type, how many records are points of the space and why the others are not, and, with
    a ball, how many the public rule would move.
    """
    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    ball = build.ball(given, layout, required=False)
    records = read_layout(file, layout, key=given["key"], header=given["header"], guess=True)
    facts = inspect_records(records, space, ball)
    output.document(facts)
    output.prose("\n".join(_page(facts)))


def _page(facts: dict[str, Any]) -> list[str]:
    n, points = facts["records"], facts["points"]
    lines = [
        _WARNING,
        f"{n} records of {facts['space']}: shape {tuple(facts['shape'])}, {facts['dtype']}",
        f"  points of the space: {points}",
        f"  other records: {n - points} (of these with NaN or infinity: {n - facts['finite']})",
    ]
    for found in facts["matrices"]:
        lines.append(
            f"  {found['size']}x{found['size']} matrices: {found['asymmetric']} not symmetric, "
            f"{found['indefinite']} indefinite, {found['rank_deficient']} rank-deficient"
        )
    ball = facts.get("ball")
    if ball is not None:
        lines.append(
            f"  public rule, radius {ball['radius']:g}: {ball['moved_to_edge']} move to the edge, "
            f"{ball['replaced_by_center']} become the centre"
        )
    start = "the space's origin" if facts["distance_from"] == "origin" else "the ball's centre"
    quantiles = facts["distance_quantiles"]
    if quantiles is not None:
        row = ", ".join(f"{name}: {value:.4g}" for name, value in quantiles.items())
        lines.append(f"  distance from {start}: {row}")
    return lines + [f"  hint: {hint}" for hint in facts["hints"]]
