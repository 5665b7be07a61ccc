"""The records that a form names: a file on this machine, or one that was sent with the form."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

import geodp as gd
from geodp.errors import InputError
from geodp.io import Layout
from geodp.io.grouped import grouped_layout
from geodp.io.records import read_layout
from geodp.io.source import open_bytes
from geodp.statistics.entities import Entities, entities_of
from geodp.web.fields import Fields

_ENDINGS = (".npy", ".npz", ".csv", ".tps", ".txt", ".parquet")
_LONGEST_NAME = 60


@final
@dataclass(frozen=True)
class Upload:
    """A file that was sent with the form; no name means none was."""

    name: str
    stream: BinaryIO


@final
@dataclass(frozen=True, eq=False)
class Held:
    """Records that wait for their release, and whose they are; None where each is by itself."""

    records: Any = field(repr=False)
    entities: Entities | None = None

    @property
    def n(self) -> int:
        """How many units there are, a public number: entities, or else records."""
        return len(self.records if self.entities is None else self.entities)


def held_of(
    fields: Fields, upload: Upload | None, layout: Layout, header: bool | None, ball: gd.Ball
) -> Held | None:
    """What the form's file holds, no record's value looked at; None with a sentence where it is not
    as the form says, beside the column of ids where one is named."""
    fields.read("file", lambda path: _check(path, upload))
    if "file" in fields.errors:
        return None
    column, key = fields.text("entities") or None, fields.text("key") or None

    def held(place: str | os.PathLike[str], own: Callable[[Any], Any]) -> Held:
        if column is None:
            found = read_layout(place, layout, key=key, header=header)
            records, groups = own(ball.accept(found)), None
        else:
            found, (ids,) = grouped_layout(place, layout, [column], key=key, header=header)
            records = own(ball.accept(found))
            groups = entities_of(ids, len(records), None)
        made = Held(records, groups)
        if made.n < 2:
            raise InputError("A release needs at least two records.")
        return made

    def read(_: str) -> Held:
        if upload is None:
            return held(fields.text("file"), lambda records: records)
        with _kept(upload) as place:
            try:
                return held(place, lambda records: np.array(records[:]))
            except InputError as error:
                raise InputError(str(error).replace(str(place.parent) + os.sep, "")) from error

    return fields.read("file" if column is None else "entities", read)


def shown(fields: Fields, upload: Upload | None) -> str:
    """The name of the file, for the plan."""
    return fields.text("file") if upload is None else _safe(upload.name)


def _check(path: str, upload: Upload | None) -> None:
    if upload is not None and path:
        raise InputError("Name a file on this machine or send one, not both.")
    if upload is None:
        if not path:
            raise InputError("Name the file of records, or send one.")
        if path == "-":
            raise InputError("The page has no standard input; name a file.")
        open_bytes(path).close()


@contextmanager
def _kept(upload: Upload) -> Iterator[Path]:
    """The upload in a directory that nobody else may read, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="geodp-") as folder:
        place = Path(folder) / _safe(upload.name)
        with place.open("wb") as file:
            while block := upload.stream.read(2**20):
                file.write(block)
        yield place


def _safe(name: str) -> str:
    """A file name of plain letters that keeps its ending."""
    stem, ending = os.path.splitext(Path(name.replace("\\", "/")).name)
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in stem)
    known = ending.lower() if ending.lower() in _ENDINGS else ""
    return (kept[:_LONGEST_NAME] or "upload") + known
