"""From FILE arguments to records, as they are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geodp.cli.build import Given
from geodp.errors import InputError
from geodp.io import Layout, Tensors, read_subjects, read_voxels
from geodp.io.grouped import grouped_layout
from geodp.io.matrices_layout import in_words
from geodp.io.nifti import Grid, Volume, is_volume
from geodp.io.parquet import ParquetFacts
from geodp.io.places import Places, places_of
from geodp.io.records import is_parquet, read_layout
from geodp.io.source import named
from geodp.spaces.base import Space
from geodp.statistics.declarations import agreed


def declared(files: Sequence[str], given: Given, space: Space) -> Given:
    """The options, and of physical unit, component order and frame what a Parquet file's metadata
    say where the options do not; no record is read."""
    if len(files) != 1 or not is_parquet(files[0]):
        return given
    return dict(given) | agreed(given, ParquetFacts.of(files[0], space).declared)


def records(files: Sequence[str], given: Given, layout: Layout, *, guess: bool = False) -> Any:
    """The records in one file, or in the volumes of several subjects."""
    kinds = {is_volume(name) for name in files}
    if kinds == {True}:
        return _volumes(files, given, layout)
    name = _single(files, given)
    return read_layout(name, layout, key=given["key"], header=given["header"], guess=guess)


def grouped(
    files: Sequence[str], given: Given, layout: Layout, columns: Sequence[str]
) -> tuple[Any, list[Any]]:
    """The records in one file, and what stands beside each in some columns of it."""
    if any(map(is_volume, files)):
        raise InputError(f"{columns[0]!r} is no file, and a NIfTI file has no columns.")
    name = _single(files, given)
    return grouped_layout(name, layout, columns, key=given["key"], header=given["header"])


def check_unit(files: Sequence[str], given: Given, unit: str | None) -> None:
    """Refuse a promise to persons that would be one to the voxels of one volume."""
    voxels = bool(files) and all(map(is_volume, files)) and not given["subjects"]
    if not voxels or given["entities"] is not None:
        return
    if unit is not None and unit.strip().casefold() not in ("record", "voxel"):
        raise InputError(
            f"Without --subjects each voxel of FILE is one record, and no voxel is one {unit}. "
            "Name one FILE for each, with --subjects; or, to try things out, say --unit voxel."
        )


def _single(files: Sequence[str], given: Given) -> str:
    for name in ("mask", "atlas", "subjects"):
        if given[name]:
            raise InputError(f"--{name} belongs to NIfTI files alone.")
    if len(files) != 1:
        raise InputError("Name one FILE of records; only NIfTI files may be several (--subjects).")
    return files[0]


def columns(files: Sequence[str], given: Given, layout: Layout) -> str:
    """What the numbers of a record are, in words: as declared, or as a volume's header says."""
    if not is_volume(files[0]):
        among = f", in the columns {', '.join(layout.names)}" if layout.names else ""
        return layout.columns + among
    order = _declared(given).order_of(Volume.open(files[0]))
    return in_words(order, layout.space.cell.point_shape[0])


def grid(files: Sequence[str], given: Given) -> Places | Grid | None:
    """Where the places of records are: the mask's or atlas's, or the first volume's voxels."""
    places = places_of(given["mask"], given["atlas"])
    if places is None and is_volume(files[0]):
        return Volume.open(files[0]).grid
    return places


def _volumes(files: Sequence[str], given: Given, layout: Layout) -> Any:
    if given["key"] is not None or given["header"] is not None:
        raise InputError("A NIfTI file has no keys and no header line; leave these options out.")
    layout.check_unnamed(named(files[0]))
    declared = _declared(given)
    if given["subjects"]:
        return read_subjects(files, layout.space, declared)
    if len(files) > 1:
        raise InputError(
            "Several NIfTI files are those of several people: say --subjects, with the public "
            "--mask or --atlas that their records are made of."
        )
    return read_voxels(files[0], layout.space, declared)


def _declared(given: Given) -> Tensors:
    order = given["columns"] if given["layout"] is None else given["layout"]
    unit, mask, atlas = given["physical_unit"], given["mask"], given["atlas"]
    return Tensors(unit, order, mask=mask, atlas=atlas)
