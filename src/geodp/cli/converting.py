"""geodp convert: raw records, or a released value, from one format into another."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from geodp.cli import build, options, reading
from geodp.cli.output import Output, check_writable
from geodp.cli.program import EXIT_CODES
from geodp.errors import InputError
from geodp.io import LinearMap, read_receipt
from geodp.io.arrays import load_npy
from geodp.io.nifti import is_volume
from geodp.io.units import factor
from geodp.io.writing import ENDINGS, Written, write_points
from geodp.spaces.base import Array, Space
from geodp.spaces.parse import SPD

_WARNING = "NOT PRIVATE: what was written are the raw records."


@click.command(epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--space", metavar="S", help="Where records live; a receipt says it itself.")
@options.file_options
@click.option("--physical-unit", metavar="TEXT", help="What one unit of the numbers is.")
@click.option("--to-unit", metavar="TEXT", help="The unit of diffusivity to write, if another.")
@click.option(
    "--linear-map",
    metavar="FILE",
    help="A public matrix Q of m rows (.npy) for SPD records X: write Q' X Q.",
)
@click.option(
    "--to-layout",
    type=click.Choice(["lower", "upper", "diagonal-first"]),
    default="lower",
    help="The order of the components of symmetric matrices in CSV and NIfTI. Default: lower.",
)
@click.option(
    "--out", required=True, metavar="PATH", help=f"What to write: {', '.join(ENDINGS)} by its name."
)
@options.json_option
def convert(files: tuple[str, ...], quiet: bool, **given: Any) -> None:
    """Write the records in FILE in another format, order or unit. NOT PRIVATE, but for a receipt.

    FILE... are read as by geodp release. A receipt (.json) is written as its released value: with
    --mask or --atlas as a NIfTI map.
    """
    output, out = Output(quiet), given["out"]
    inputs = (given[name] for name in ("mask", "atlas", "linear_map"))
    check_writable(out, *files, *inputs)
    is_receipt = files[0].lower().endswith(".json")
    points, space, unit = _released(files, given) if is_receipt else _records(files, given)
    if given["to_unit"] is not None:
        points, unit = _in_unit(points, space, unit, given["to_unit"]), given["to_unit"]
    if given["linear_map"] is not None:
        points, space = _mapped(points, space, given["linear_map"])
    where = reading.grid(files, given) if is_volume(out) else None
    written = write_points(out, points, Written(space, given["to_layout"], where))
    output.document(
        {
            "not_private": not is_receipt,
            "out": out,
            "space": space.spec,
            "points": len(points),
            "columns": written,
            "physical_unit": unit,
        }
    )
    output.prose(f"Wrote {out}." if is_receipt else f"Wrote {out}. {_WARNING}")


def _released(files: tuple[str, ...], given: build.Given) -> tuple[Array, Space, str | None]:
    if len(files) > 1:
        raise InputError("Convert one receipt at a time.")
    if given["space"] is not None or given["physical_unit"] is not None:
        raise InputError("A receipt says its space and unit; leave these options out.")
    found = read_receipt(files[0])
    unit = None if found.domain is None else found.domain.physical_unit
    return found.value[None], found.space, unit


def _records(files: tuple[str, ...], given: build.Given) -> tuple[Any, Space, str | None]:
    if given["space"] is None:
        raise InputError("Say where the records live (--space).")
    space, layout = build.space_and_layout(given)
    unit = reading.declared(files, given, space)["physical_unit"]
    return reading.records(files, given, layout), space, unit


def _in_unit(points: Array, space: Space, unit: str | None, target: str) -> Array:
    if not space.cell.spec.startswith("spd:"):
        raise InputError("--to-unit is for symmetric matrices.")
    if unit is None:
        raise InputError("--to-unit needs the --physical-unit of the numbers.")
    return np.asarray(points, dtype=np.float64) * factor(unit, target)


def _mapped(points: Array, space: Space, path: str) -> tuple[Array, Space]:
    if not space.spec.startswith("spd:") or space.cells > 1 or len(space.factors) > 1:
        raise InputError("--linear-map is for symmetric matrices, one a record.")
    chosen = LinearMap(load_npy(path, f"The linear map {path!r}"))
    metric = space.spec.split(":")[2]
    return chosen.apply(points), SPD(chosen.matrix.shape[1], metric)
