"""Whose records are whose: --entities and --per-entity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from geodp.cli.build import Given
from geodp.cli.options import Decorator
from geodp.errors import InputError
from geodp.statistics.entities import Entities, PerEntity, entities_of
from geodp.statistics.protocol import Statistic

entities_option = click.option(
    "--entities",
    metavar="FILE|COLUMN",
    help="Whose record each is, where a person has several: a text file with one id a line, a .npy "
    "array, or the name of an array (column) in a .npz (.parquet) FILE of records. All records of "
    "a person then count as one, by their mean.",
)
per_entity_option: Decorator[Any] = click.option(
    "--per-entity",
    type=click.IntRange(1, 10**6),
    metavar="K",
    help="Instead of their mean, the first K records of each person.",
)


def entities(given: Given, files: Sequence[str], records: Any) -> Entities | None:
    """The entities of the records that were read, None where each record is by itself."""
    asked, most = given["entities"], given.get("per_entity")
    if asked is None:
        return entities_of(None, 0, most)
    if records is None:
        raise InputError("--entities groups records; a --value has none.")
    return entities_of(_ids(asked, files, records), len(records), most)


def of_entities(statistic: Statistic, groups: Entities | None) -> Statistic:
    """The statistic that is released."""
    return statistic if groups is None else PerEntity(statistic, groups.rule)


def _ids(asked: str, files: Sequence[str], records: Any) -> Any:
    column = getattr(records, "ids", None)
    if column is not None and not Path(asked).exists():
        return column(asked)
    try:
        if len(files) == 1 and files[0].endswith(".npz") and not Path(asked).exists():
            return _array(files[0], asked)
        if asked.endswith(".npy"):
            return _array(asked, None)
        return Path(asked).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"--entities {asked!r} is neither a file of ids nor a column of the records' file."
        ) from error


def _array(path: str, name: str | None) -> Any:
    import numpy as np

    found = np.load(path, allow_pickle=False)
    return found if name is None else found[name]
