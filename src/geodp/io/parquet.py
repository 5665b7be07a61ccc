"""Records in Parquet files: a column of fixed-size lists, read by row groups, never whole."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from geodp.arguments import text_or_none
from geodp.errors import InputError, MismatchError
from geodp.io.lists import check_lists, numbers_of_lists
from geodp.io.memory import memory
from geodp.io.source import named, open_bytes
from geodp.spaces.base import Space
from geodp.statistics.declarations import DECLARED
from geodp.statistics.records import as_records, raw_block

MAGIC = b"PAR1"
_KEY = b"geodp"
_DECLARED = tuple(DECLARED)
_COPIES = 3  # of a row group while it is decoded
_KEPT = 4  # row groups that are held at a time, for the threads of a pass


def write_parquet(
    path: str | os.PathLike[str],
    records: Any,
    space: Space,
    *,
    column: str = "record",
    ids: Any = None,
    row_group: int = 2**16,
    **declared: str | None,
) -> None:
    """Write records ``(n, *space.point_shape)`` as a column of fixed-size lists of float64.

    Space, physical unit, component order and frame go to the file's metadata; ``ids``, one for each
    record, to a column "id". ``records`` may be a memory map: ``row_group`` records at a time are
    read. Needs the extra ``parquet``.

    >>> import tempfile, numpy as np, geodp as gd
    >>> path = tempfile.mkdtemp() + "/records.parquet"
    >>> write_parquet(path, np.zeros((5, 2)), gd.Euclidean(2), physical_unit="mm")
    >>> ParquetRecords(path, gd.Euclidean(2)).declared["physical_unit"]
    'mm'
    """
    pa, pq = _pyarrow()
    if unknown := set(declared) - set(_DECLARED):
        raise InputError(f"Parquet records declare {', '.join(_DECLARED)}, not {min(unknown)}.")
    said = {name: text_or_none(declared.get(name), f"The {name}") for name in _DECLARED}
    source = as_records(records, space.point_shape)
    if ids is not None and len(ids) != len(source):
        raise InputError("The ids are one for each record.")
    width = math.prod(space.point_shape)
    fields = [pa.field(column, pa.list_(pa.float64(), width))]
    names = None if ids is None else pa.array(ids)
    if names is not None:
        fields.append(pa.field("id", names.type))
    facts = {"space": space.spec, "shape": list(space.point_shape), **said}
    schema = pa.schema(fields, metadata={_KEY: json.dumps(facts)})
    with pq.ParquetWriter(path, schema, write_page_checksum=True) as writer:
        for start in range(0, len(source), row_group):
            block = raw_block(source, start, row_group)
            flat = pa.array(block.reshape(-1))
            columns = [pa.FixedSizeListArray.from_arrays(flat, width)]
            if names is not None:
                columns.append(names.slice(start, len(block)))
            writer.write_table(pa.table(columns, schema=schema), row_group_size=row_group)


@final
@dataclass(frozen=True)
class ParquetFacts:
    """What the metadata of a Parquet file say, no record read: how many ``rows``, and the physical
    unit, component order and frame, each None where the file is silent."""

    rows: int
    declared: Mapping[str, str | None]

    @classmethod
    def of(cls, path: str | os.PathLike[str], space: Space) -> ParquetFacts:
        """``InputError`` for no such file, ``MismatchError`` for points of another space."""
        metadata = _opened(path).metadata
        return cls(metadata.num_rows, _declared(metadata.metadata or {}, space))


@final
class ParquetRecords:
    """Records ``(n, *space.point_shape)`` of a Parquet file, read in constant memory.

    ``column`` names the column of fixed-size lists; it may be left out where there is one only. A
    list that is null, or holds a null, is a malformed record, for the public rule. The whole file
    is decoded once when it is opened, so that one that is broken half-way is refused before
    anything is spent.

    Raises
    ------
    InputError : pyarrow is missing, the file is damaged, or the column is no such list.
    MismatchError : the file says that it holds points of another space.
    """

    __slots__ = ("_column", "_ends", "_file", "_kept", "_lock", "_space", "declared")

    def __init__(
        self, path: str | os.PathLike[str], space: Space, column: str | None = None
    ) -> None:
        name, self._file = named(path), _opened(path)
        self._space, self._lock, self._kept = space, threading.Lock(), dict[int, Any]()
        schema = self._file.schema_arrow
        self.declared: Mapping[str, str | None] = _declared(
            self._file.metadata.metadata or {}, space
        )
        self._column = _list_column(schema, column, math.prod(space.point_shape))
        groups = range(self._file.num_row_groups)
        rows = [self._file.metadata.row_group(i).num_rows for i in groups]
        width = math.prod(space.point_shape)
        if min(rows, default=0) < 0 or 8 * _COPIES * width * max(rows, default=0) > memory():
            raise InputError(
                f"{name} states a row group larger than this machine's memory: write it with "
                "smaller ones, as write_parquet does, if it is not damaged."
            )
        self._ends = np.cumsum([0, *rows])
        for i in groups:
            self._decoded(i)

    @property
    def dtype(self) -> Any:
        """Always float64."""
        return np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n, *point_shape)``."""
        return (int(self._ends[-1]), *self._space.point_shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        """Records by a slice of rows or an increasing array of row numbers, as one array."""
        if isinstance(rows, tuple):
            return self[rows[0]][(slice(None), *rows[1:])]
        at = np.arange(len(self))[rows]
        out = np.empty((len(at), *self._space.point_shape))
        first, last = np.searchsorted(self._ends, [at[0], at[-1]], "right") if len(at) else (1, 0)
        for group in range(int(first) - 1, int(last)):
            start, end = np.searchsorted(at, self._ends[[group, group + 1]])
            if start < end:
                out[start:end] = self._group(group)[at[start:end] - self._ends[group]]
        return out

    def ids(self, column: str) -> list[Any]:
        """Another column of the file, such as whose record each is, for ``entities=``."""
        if column not in self._file.schema_arrow.names:
            raise InputError(f"The Parquet file has no column {column!r}.")
        if column == self._column:
            raise InputError(f"The column {column!r} holds the records: name that of their ids.")
        with _damage():
            found: list[Any] = self._file.read(columns=[column]).column(0).to_pylist()
        return found

    def _group(self, group: int) -> Any:
        with self._lock:
            if group not in self._kept:
                while len(self._kept) >= _KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[group] = self._decoded(group)
            return self._kept[group]

    def _decoded(self, group: int) -> Any:
        pa, _ = _pyarrow()
        with _damage():
            table = self._file.read_row_group(group, columns=[self._column], use_threads=False)
            lists = pa.concat_arrays(table.column(0).chunks)
            numbers = numbers_of_lists(lists)
        return numbers.reshape(-1, *self._space.point_shape)

    def __repr__(self) -> str:
        return f"<Parquet records of {self._space.spec}>"


@contextmanager
def _damage() -> Iterator[None]:
    """A sentence for whatever pyarrow raises on a broken page: its own may show records."""
    pa, _ = _pyarrow()
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"The Parquet file is damaged: a part of it cannot be read ({type(error).__name__})."
        ) from None


def _opened(path: str | os.PathLike[str]) -> Any:
    _, pq = _pyarrow()
    open_bytes(path).close()  # a sentence where there is no file
    try:
        found = pq.ParquetFile(path, page_checksum_verification=True)
        _ = found.schema_arrow
    except MemoryError:
        raise
    except Exception as error:  # pyarrow raises a dozen kinds on damaged footers
        raise InputError(
            f"{named(path)} is damaged: it cannot be read as a Parquet file."
        ) from error
    return found


def _declared(metadata: Mapping[bytes, bytes], space: Space) -> dict[str, str | None]:
    """What the metadata say, if geodp wrote them."""
    raw = metadata.get(_KEY)
    if raw is None:
        return dict.fromkeys(_DECLARED)
    try:
        facts = dict(json.loads(raw))
        spec = str(facts["space"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("The Parquet file's geodp metadata cannot be read.") from error
    if spec != space.spec:
        raise MismatchError(
            f"The Parquet file holds points of {spec}, and they were asked for as {space.spec}."
        )
    return {name: text_or_none(facts.get(name), f"The {name}") for name in _DECLARED}


def _list_column(schema: Any, column: str | None, width: int) -> str:
    pa, _ = _pyarrow()
    lists = [f.name for f in schema if pa.types.is_fixed_size_list(f.type)]
    if column is None:
        if len(lists) != 1:
            raise InputError(
                "The Parquet file must have one column of fixed-size lists, or the column must be "
                "named. Lists of varying size are no records: write them with write_parquet."
            )
        column = lists[0]
    if column not in schema.names:
        raise InputError(f"The Parquet file has no column {column!r}.")
    check_lists(schema.field(column).type, column, width)
    return column


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError("Parquet files need pyarrow: pip install 'geodp[parquet]'.") from error
    return pyarrow, pyarrow.parquet
