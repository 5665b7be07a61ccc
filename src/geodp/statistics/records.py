"""Records as they come in, and after the public rule: read in chunks, never copied whole."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from geodp.errors import InputError
from geodp.kernels.threads import each
from geodp.progress import tick
from geodp.spaces.base import Array, BoolArray
from geodp.spaces.lattice import LogSum
from geodp.statistics.terms import Terms, fused_term_sum, term_sum

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel
    from geodp.statistics.domain import Ball

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class ClippedRecords(ABC):
    """Records after the public rule; only ``Ball.clip`` makes them. Nothing of them prints.

    ``center_log`` is the mean of their log-coordinates at the ball's centre, which clipping knows
    anyway (None for maps). Many records, on a space that has one, are passed over by a ``kernel``.
    """

    __slots__ = ("ball", "center_log", "kernel", "share", "source")

    ball: Ball
    source: Any  # the raw records
    center_log: Array | None
    kernel: Kernel | None
    share: float | None  # of raw records, where these are made from several

    def __len__(self) -> int:
        return len(self.source)

    @property
    def replaced_share(self) -> float:
        """The share of records (of their points, for maps) that the rule moved or replaced: private
        until noise is added."""
        return self._own_share if self.share is None else self.share

    @property
    @abstractmethod
    def _own_share(self) -> float: ...

    @abstractmethod
    def chunks(self) -> Iterator[Array]:
        """Clipped chunks ``(rows, *point_shape)``, in order, as fresh contiguous float64 arrays."""

    @abstractmethod
    def log_sum(self, x: Array, scale: float, factor: int | None = None) -> LogSum:
        """``Space.log_sum`` of all records at ``x``, or of their parts in one factor of the space.

        Exact sums: the same for every number of threads and workers.
        """

    @abstractmethod
    def term_sum(self, terms: Terms) -> LogSum:
        """The sum of all records' terms, exact likewise."""

    @abstractmethod
    def subsample(self, size: int) -> Array:
        """About ``size`` clipped records at evenly spaced positions, which depend on n alone."""

    def __repr__(self) -> str:
        return f"<clipped records in {self.ball!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("Clipped records are not pickled: they hold raw records.")


@final
class LocalRecords(ClippedRecords):
    """Records of this process.

    Holds the raw array (or memory map) and the replaced records beside it, so that a clipped copy
    of the whole input never exists. ``rough`` says which of the others ``project`` still changes,
    so that exact records are not projected again on every pass. ``moved`` marks the replaced ones,
    in maps the places one by one. ``center_sum`` is the sum of logs at the ball's centre.
    """

    __slots__ = ("_moved", "_replaced", "_rough", "center_sum")

    def __init__(
        self,
        ball: Ball,
        source: Any,
        moved: BoolArray,
        replaced: tuple[Array, ...],
        rough: BoolArray | None,
        center_sum: LogSum | None,
        kernel: Kernel | None = None,
    ):
        self.ball = ball
        self.source = source
        self._moved = moved
        self._replaced = replaced
        self._rough = rough
        self.center_sum = center_sum
        self.center_log = None if center_sum is None else center_sum.mean_log
        self.kernel = kernel
        self.share = None

    @property
    def moved_count(self) -> tuple[int, int]:
        """How many records (points of maps) the rule changed, and of how many."""
        return int(np.count_nonzero(self._moved)), self._moved.size

    @property
    def _own_share(self) -> float:
        count, size = self.moved_count
        return count / size

    @property
    def _rows(self) -> int:
        """Records per entry of ``_replaced``."""
        return self.ball.chunk_rows if self.kernel is None else self.ball.block_rows

    def chunks(self) -> Iterator[Array]:
        rows, found = self.ball.chunk_rows, np.zeros(len(self), dtype=bool)
        for block in range(len(self._replaced)):
            clipped, first = self._clipped(block, copy=True), block * self._rows
            for start in range(0, len(clipped), rows):
                chunk, at = clipped[start : start + rows], first + start
                self._project(chunk, at, found)
                yield chunk
        self._rough = found

    def _project(self, chunk: Array, start: int, found: BoolArray) -> None:
        """Remove rounding from the rough ones of a chunk in place, and note which they are."""
        known = self._rough
        rough = np.arange(len(chunk))
        if known is not None:
            rough = np.flatnonzero(known[start : start + len(chunk)])
        if len(rough):
            with np.errstate(all="ignore"):
                exact = self.ball.space.project(chunk[rough])
                differs = (exact != chunk[rough]).reshape(len(rough), -1).any(axis=1)
            chunk[rough] = exact
            found[start + rough[differs]] = True

    def _clipped(self, block: int, copy: bool = False) -> Array:
        """A block with its replaced records in place; others may still need ``project``."""
        start = block * self._rows
        moved = self._moved[start : start + self._rows]
        raw = raw_block(self.source, start, self._rows, copy=copy or bool(moved.any()))
        if moved.any():
            raw[moved] = self._replaced[block]
        return raw

    def log_sum(self, x: Array, scale: float, factor: int | None = None) -> LogSum:
        whole = self.ball.space
        space = whole if factor is None else whole.factors[factor]
        if self.kernel is None:
            chunks = self.chunks()
            if factor is not None:
                chunks = (whole.split(chunk)[factor] for chunk in chunks)
            parts = (space.log_sum(x, chunk, scale) for chunk in chunks)
            return _summed(parts)

        kernel = self.kernel if factor is None else self.kernel.factors[factor]
        fused = kernel.at(x)

        def one(block: int) -> LogSum:
            with np.errstate(all="ignore"):
                part = self._clipped(block)
                if factor is not None:
                    part = whole.split(part)[factor]
                return space.log_sum(x, part, scale, fused)

        return _summed(each(one, range(len(self._replaced))))

    def term_sum(self, terms: Terms) -> LogSum:
        kernel, space, limit = self.kernel, self.ball.space, 4 * self.ball.reach
        reducer = None if kernel is None else terms.reducer(kernel)
        if kernel is None or reducer is None:
            return _summed(term_sum(terms, chunk) for chunk in self.chunks())
        fused = kernel.at(terms.origin)

        def one(block: int) -> LogSum:
            with np.errstate(all="ignore"):
                part = self._clipped(block)
                return fused_term_sum(terms, space, fused, reducer, part, limit)

        return _summed(each(one, range(len(self._replaced))))

    def subsample(self, size: int) -> Array:
        step = max(1, len(self) // size)
        with np.errstate(all="ignore"):
            rows = np.array(self.source[::step], dtype=np.float64, order="C")
            starts = range(0, len(self), self._rows)
            for start, replaced in zip(starts, self._replaced, strict=True):
                moved = self._moved[start : start + self._rows]
                chosen = np.arange(-start % step, len(moved), step)
                chosen = chosen[moved[chosen]]
                rows[(start + chosen) // step] = replaced[np.cumsum(moved)[chosen] - 1]
            for block in np.split(rows, range(self._rows, len(rows), self._rows)):  # views of rows
                block[...] = self.ball.space.project(block)
            return rows


def _summed(parts: Iterator[LogSum]) -> LogSum:
    """Their sum. A pass has no public number: how many there are depends on the records."""
    total = next(parts)
    for part in parts:
        tick("evaluating")
        total = total.merge(part)
    tick("evaluating")
    return total


def source_of(records: Any) -> Any:
    """The raw array behind records, clipped or not; for a data set's digest."""
    return records.source if isinstance(records, ClippedRecords) else records


_SPELLED = " Rows of numbers become points by geodp.io.points_of(rows, space, layout=...)."


def as_records(records: Any, shape: tuple[int, ...]) -> Any:
    """An array ``(n, *shape)`` of real dtype; memory maps, and whatever else has a shape, a numpy
    dtype and rows that are read by slices, as they are.

    Where Python objects came in, each record is read by itself, and one that holds no real numbers
    of the right shape becomes NaN: its dtype must not decide over the others.
    """
    if records is None:
        raise InputError("No records were given.")
    if isinstance(records, (str, os.PathLike)):
        raise InputError(
            "Records are an array of points. Read a file by geodp.io.read_records(path, space)."
        )
    if not _sliced(records, len(shape) + 1) or records.dtype == object:
        records = from_objects(records, shape)
    if records.dtype.kind in "iuf" and isinstance(records, np.ma.MaskedArray):
        with np.errstate(all="ignore"):
            records = np.ma.filled(records.astype(np.float64), np.nan)
    if records.dtype.kind not in "iuf":
        raise InputError(
            f"The records have dtype {records.dtype}; real numbers (float64, float32, integers) "
            "are needed."
        )
    if records.shape[1:] != shape or len(records.shape) != len(shape) + 1:
        expected, axes = ", ".join(["n", *map(str, shape)]), len(records.shape)
        raise InputError(
            f"The records have {axes} axes, the last ones {records.shape[1:]}; an array of "
            f"shape ({expected}) is needed.{_SPELLED * (axes == 2)}"
        )
    if len(records) < 2:
        raise InputError("At least two records are needed.")
    return records


def _sliced(records: Any, axes: int) -> bool:
    """Whether rows can be read block by block: arrays, memory maps, data sets of HDF5 or Zarr."""
    if isinstance(records, np.ndarray):
        return True
    dtype, shape = getattr(records, "dtype", None), getattr(records, "shape", ())
    reads = hasattr(records, "__getitem__") and hasattr(records, "__len__")
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf" and len(shape) == axes and reads


def from_objects(records: Any, shape: tuple[int, ...]) -> Any:
    """One array of the records; record by record where together they make none of numbers."""
    if isinstance(records, np.ma.MaskedArray):
        records = np.ma.filled(records, np.nan)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a warning here would depend on a record
        whole = _array(records)
        if whole is not None and whole.dtype.kind in "iuf":
            return whole
        rows = records if isinstance(records, (list, tuple)) else []
        if whole is not None and whole.dtype == object and whole.ndim > 0:
            rows = whole.tolist()
        read = [_array(record) for record in rows]
        fits = [a is not None and a.shape == shape and a.dtype.kind in "iuf" for a in read]
        if whole is not None and not any(fits):  # no record at all: the wrong kind of array
            return whole
        out = np.full((len(rows), *shape), np.nan)
        for row, array, fit in zip(out, read, fits, strict=True):
            if fit:
                row[...] = array
    return out


def _array(x: Any) -> Any:
    """``np.asarray``, None where it fails: whatever an object raises may tell what it holds."""
    try:
        return np.asarray(x)
    except Exception:
        return None


def raw_block(source: Any, start: int, rows: int, copy: bool = False) -> Array:
    """Rows ``start`` and on as contiguous float64, a view of the source where that is possible."""
    with np.errstate(all="ignore"):
        if copy:
            return np.array(source[start : start + rows], dtype=np.float64, order="C")
        return np.require(source[start : start + rows], np.float64, ["C", "A"])


def mapped(
    source: Any, function: Callable[[Array, Argument], Result], jobs: Sequence[tuple[Any, Argument]]
) -> Iterator[Result]:
    """``function(raw, argument)`` of every job, an index of the source and an argument, in order:
    on threads, or where the records are."""
    elsewhere = getattr(source, "mapped", None)
    if elsewhere is not None:
        yield from elsewhere(function, jobs)
        return

    def one(job: tuple[Any, Argument]) -> Result:
        index, argument = job
        with np.errstate(all="ignore"):
            raw = np.array(source[index], dtype=np.float64, order="C")
        return function(raw, argument)

    yield from each(one, jobs)


def raw_chunks(source: Any, rows: int) -> Iterator[tuple[int, Array]]:
    """Starts and fresh copies of all chunks."""
    for start in range(0, len(source), rows):
        yield start, raw_block(source, start, rows, copy=True)
