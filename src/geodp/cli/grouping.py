"""Whose records are whose: --entities and --per-entity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from geodp.cli import reading
from geodp.cli.build import Given
from geodp.cli.options import Decorator
from geodp.errors import InputError
from geodp.io import Layout
from geodp.io.arrays import load_npy
from geodp.io.source import named, text_lines
from geodp.statistics.entities import Entities, PerEntity, entities_of
from geodp.statistics.protocol import Statistic

entities_option = click.option(
    "--entities",
    metavar="FILE|COLUMN",
    help="Whose record each is, where a person has several: a column of ids in the FILE of records "
    "(.parquet; CSV with --header; .npz, an array), or else a file of its own, text with one id a "
    "line or .npy. All records of a person then count as one, by their mean.",
)
per_entity_option: Decorator[Any] = click.option(
    "--per-entity",
    type=click.IntRange(1, 10**6),
    metavar="K",
    help="Instead of their mean, the first K records of each person.",
)


def read(
    files: Sequence[str], given: Given, layout: Layout, *, guess: bool = False
) -> tuple[Any, Any]:
    """The records, and the id of each; None where each record is by itself."""
    found, (ids,) = _beside(files, given, layout, ["entities"], guess)
    return found, ids


def read_labelled(files: Sequence[str], given: Given, layout: Layout) -> tuple[Any, Any, Any]:
    """The records, the id and the public label of each; None where there are none."""
    found, (ids, labels) = _beside(files, given, layout, ["entities", "by"], False)
    if labels is not None and not all(str(label).strip() for label in labels):
        raise InputError(
            "Some records have no label. Which group a record is in is public, so geodp does not "
            "guess: give every record a label."
        )
    return found, ids, labels


def _beside(
    files: Sequence[str], given: Given, layout: Layout, options: Sequence[str], guess: bool
) -> tuple[Any, list[Any]]:
    """The records, and what each option names: a file of its own, or a column of the records'."""
    asked = [given[option] for option in options]
    known = {name: _separate(name) for name in asked if name is not None and Path(name).is_file()}
    columns = [name for name in dict.fromkeys(asked) if name is not None and name not in known]
    if columns:
        found, cells = reading.grouped(files, given, layout, columns)
        known |= dict(zip(columns, cells, strict=True))
    else:
        found = reading.records(files, given, layout, guess=guess)
    return found, [None if name is None else known[name] for name in asked]


def entities(given: Given, ids: Any, n: int) -> Entities | None:
    """The entities of ``n`` records with these ids, None where each record is by itself."""
    return entities_of(ids, n, given.get("per_entity"))


def of_entities(statistic: Statistic, groups: Entities | None) -> Statistic:
    """The statistic that is released."""
    return statistic if groups is None else PerEntity(statistic, groups.rule)


def _separate(path: str) -> Any:
    return load_npy(path, named(path)) if path.lower().endswith(".npy") else text_lines(path)
