"""Whose records are whose: --entities and --per-entity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from geodp.cli import reading
from geodp.cli.build import Given
from geodp.cli.options import Decorator
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
    asked = given["entities"]
    if asked is None:
        return reading.records(files, given, layout, guess=guess), None
    if Path(asked).is_file():
        ids = _separate(asked)
        return reading.records(files, given, layout, guess=guess), ids
    return reading.grouped(files, given, layout, asked)


def entities(given: Given, ids: Any, n: int) -> Entities | None:
    """The entities of ``n`` records with these ids, None where each record is by itself."""
    return entities_of(ids, n, given.get("per_entity"))


def of_entities(statistic: Statistic, groups: Entities | None) -> Statistic:
    """The statistic that is released."""
    return statistic if groups is None else PerEntity(statistic, groups.rule)


def _separate(path: str) -> Any:
    return load_npy(path, named(path)) if path.lower().endswith(".npy") else text_lines(path)
