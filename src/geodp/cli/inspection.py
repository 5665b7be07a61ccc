"""geodp inspect: the curator's own look at raw records."""

from __future__ import annotations

from typing import Any

import click

from geodp.cli import build, grouping, options, reading
from geodp.cli.asking import SPELLED
from geodp.cli.output import Output, check_writable
from geodp.cli.program import EXIT_CODES
from geodp.errors import InputError
from geodp.io import inspect_records, layout_for, read_point
from geodp.io.understood import understood
from geodp.statistics.declarations import DECLARED

_WARNING = "NOT PRIVATE: what follows is read off the raw records. For the curator alone."
_DECLARED = (
    ("columns", "columns"),
    ("physical_unit", "unit"),
    ("component_order", "order"),
    ("frame", "frame"),
)


@click.command(epilog=EXIT_CODES, short_help="Look at the raw records. NOT PRIVATE.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.space_option
@options.file_options
@options.ball_options
@click.option(
    "--reference",
    metavar="P",
    help="A public point of known size (origin, a file or numbers, as declared) to see the unit "
    "by. Default, for tensors in a unit of diffusivity: free water.",
)
@grouping.entities_option
@click.option("--picture", metavar="PATH", help="Draw the records as understood (.png, .svg).")
@options.json_option
def inspect(files: tuple[str, ...], quiet: bool, **given: Any) -> None:
    """Look at the raw records in FILE (- for standard input). NOT PRIVATE.

    Shape and type, what was understood of order, unit and frame, how many records are points of the
    space and why the others are not, and, with a ball, how many the public rule would move.
    """
    output = Output(quiet)
    space, layout = build.space_and_layout(given)
    typed, given = given, dict(reading.declared(files, given, space))
    ball = build.ball(given, layout, required=False, declared_alone=True)
    reference = None
    if given["reference"] is not None:
        spelled = {name: given[name] for name in SPELLED}
        of_cell = layout_for(space.cell, **spelled | ({"columns": None} if layout.names else {}))
        reference = read_point(given["reference"], of_cell, "The reference")
        if not space.cell.contains(reference):
            raise InputError(f"The reference is no point of {space.cell.spec}.")
    check_writable(given["picture"], *files, given["mask"], given["atlas"])
    declared = understood(
        layout,
        ball,
        unit=given["physical_unit"],
        order=given["component_order"],
        frame=given["frame"],
        reference=reference,
    )
    records, ids = grouping.read(files, given, layout, guess=True)
    groups = grouping.entities(given, ids, len(records))
    declared["columns"] = reading.columns(files, given, layout)
    declared["from_metadata"] = [k for k in DECLARED if given[k] is not None and typed[k] is None]
    facts = declared | inspect_records(records, space, ball)
    if groups is not None:
        facts["entities"] = {"number": len(groups), "records_of_each": groups.sizes()}
    if given["picture"] is not None:
        from geodp.plots.entries import draw_records

        draw_records(records, space, given["picture"], ball, unit=given["physical_unit"])
        facts["picture"] = given["picture"]
    output.document(facts)
    output.prose("\n".join(_page(facts)))


def _page(facts: dict[str, Any]) -> list[str]:
    n, places, points = facts["records"], facts["places"], facts["points"]
    known = facts["from_metadata"]
    what = "records" if places == 1 else f"places in {n} records"
    lines = [
        _WARNING,
        f"{n} records of {facts['space']}: shape {tuple(facts['shape'])}, {facts['dtype']}",
        *(
            f"  {name}: {facts[key]}{', as the file says' if key in known else ''}"
            for key, name in _DECLARED
            if facts[key] is not None
        ),
        f"  points of the space: {points}{'' if places == 1 else f' ({what})'}",
        f"  other {what}: {n * places - points} (of these with NaN or infinity: "
        f"{n * places - facts['finite']})",
    ]
    if (groups := facts.get("entities")) is not None:
        each = ", ".join(f"{name} {count:g}" for name, count in groups["records_of_each"].items())
        lines.append(f"  entities: {groups['number']}; records of each: {each}")
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
    if (reference := facts["reference"]) is not None:
        inside = {None: "", True: ", inside the ball", False: ", outside the ball"}
        lines.append(
            f"  {reference['what']}, lies {reference['distance']:.4g} from {start}"
            f"{inside[reference['in_ball']]}"
        )
    quantiles = facts["distance_quantiles"]
    if quantiles is not None:
        row = ", ".join(f"{name}: {value:.4g}" for name, value in quantiles.items())
        lines.append(f"  distance from {start}: {row}")
    if (picture := facts.get("picture")) is not None:
        lines.append(f"  picture: {picture}")
    return lines + [f"  hint: {hint}" for hint in facts["hints"]]
