"""Records in a Dask array: passes run where its chunks are, on threads or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, final

import numpy as np

from geodp.errors import InputError
from geodp.io.dask_checks import check_workers, failures
from geodp.io.dask_frame import array_of_lists
from geodp.progress import tick
from geodp.spaces.base import Array, Space
from geodp.spaces.lattice import LogSum
from geodp.statistics.aggregate import Aggregate, ClipPass, LogPass, TermPass
from geodp.statistics.domain import Ball
from geodp.statistics.records import ClippedRecords, raw_block
from geodp.statistics.terms import Terms

_FAN_IN = 8  # states that are merged at a time
_TOGETHER = 2**27  # floats of the jobs that are run together


@final
class DaskRecords:
    """A Dask array ``(n, *point_shape)``, chunked along its records, for ``gd.release``.

    Computed by the ``distributed`` client of this process if there is one, by Dask's threads else.
    The value is bit for bit that of the same records in memory. What cannot be computed (chunks of
    unknown size or of another shape, a worker without geodp) is refused here, before anything is
    spent; that takes one look at the shapes of all chunks.

    Maps may be chunked along their places too: the means of some places are solved together, on a
    worker that has all people's points there. Entities are averaged on workers likewise.

    >>> import dask.array as da, numpy as np, geodp as gd
    >>> records = DaskRecords(da.from_array(np.zeros((100, 2)), chunks=(30, 2)))
    >>> gd.FrechetMean(gd.Ball(gd.Euclidean(2), [1.0, 0.0], 3.0)).evaluate(records).value
    array([0., 0.])
    """

    __slots__ = ("_array", "_frame", "_given")

    def __init__(self, array: Any) -> None:
        if getattr(array, "chunks", None) is None or not hasattr(array, "to_delayed"):
            raise InputError(
                "DaskRecords takes a dask.array of records along its first axis; Dask comes by "
                "pip install 'geodp[dask]'."
            )
        if array.dtype.kind not in "iuf":
            raise InputError(f"The Dask array holds {array.dtype} values; numbers are needed.")
        if any(size != size for axis in array.chunks for size in axis):
            raise InputError(
                "The Dask array has chunks of unknown size, and the number of records must be "
                "known: call its method compute_chunk_sizes() first."
            )
        check_workers()
        _check_chunks(array)
        self._given, self._frame = array, None
        self._array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))

    @classmethod
    def from_dataframe(cls, frame: Any, space: Space, column: str) -> DaskRecords:
        """The points of ``space`` in a column of fixed-size lists of a Dask dataframe.

        The column's type may be pyarrow's fixed-size list, or Python objects; a list that is null,
        holds a null or has another length is then a malformed record, for the public rule. ``ids``
        takes whose they are from another column. ``InputError`` for a column of another type.

        >>> import pandas, dask.dataframe as dd, geodp as gd, dask
        >>> rows = pandas.DataFrame({"x": [[1.0, 2.0], [3.0, 4.0]], "who": ["ann", "bob"]})
        >>> with dask.config.set({"dataframe.convert-string": False}):
        ...     frame = dd.from_pandas(rows, npartitions=2)
        >>> found = DaskRecords.from_dataframe(frame, gd.Euclidean(2), "x")
        >>> found.shape, found.ids("who")
        ((2, 2), ['ann', 'bob'])
        """
        check_workers()
        found = cls(array_of_lists(frame, space, column))
        found._frame = frame
        return found

    def ids(self, column: str) -> list[Any]:
        """Another column of the dataframe, such as whose record each is, for ``entities=``."""
        if self._frame is None or column not in self._frame.columns:
            raise InputError(f"The Dask records have no column {column!r} of ids.")
        with failures():
            found: list[Any] = self._frame[column].compute().tolist()
        return found

    @property
    def dtype(self) -> Any:
        """That of the array."""
        return self._array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array."""
        return tuple(map(int, self._array.shape))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        with failures():
            return np.asarray(self._array[rows].compute())

    def _blocks(self) -> list[Any]:
        return list(self._array.to_delayed().reshape(-1))

    def blocks(self) -> Iterator[Array]:
        """The chunks one after the other, brought here."""
        for block in self._blocks():
            with failures():
                found = np.asarray(block.compute())
            yield found

    def run(self, aggregate: Aggregate[Any, Any]) -> Any:
        """One pass: chunks where they are, states merged in a tree."""
        import dask

        update, merge = dask.delayed(_update), dask.delayed(_merge)
        states = [update(aggregate, block) for block in self._blocks()]
        while len(states) > 1:
            groups = [states[i : i + _FAN_IN] for i in range(0, len(states), _FAN_IN)]
            states = [merge(aggregate, group) for group in groups]
        tick("evaluating")
        with failures():
            state = states[0].compute()
        tick("evaluating")
        return aggregate.finish(state)

    def mapped(self, function: Any, jobs: Sequence[tuple[Any, Any]]) -> Iterator[Any]:
        """``function(raw, argument)`` of every job, an index and an argument, on workers."""
        import dask

        work = dask.delayed(partial(_apply, function), pure=False)
        for group in _groups(self._given, jobs):
            tasks = [work(self._given[index], dask.delayed(argument)) for index, argument in group]
            with failures():
                found = dask.compute(*tasks)
            yield from found

    def clipped_by(self, ball: Ball) -> ClippedRecords:
        """``ball.clip`` of these records."""
        return _DaskClipped(ball, self)

    def __repr__(self) -> str:
        return "<records in a Dask array>"


def _check_chunks(array: Any) -> None:
    """Every chunk has the shape that the array declares; no value is looked at."""
    import dask

    wanted = list(product(*array.chunks))
    blocks = array.to_delayed().reshape(-1)
    with failures(" Nothing was spent."):
        found = dask.compute(*(dask.delayed(np.shape)(block) for block in blocks))
    if list(found) != wanted:
        raise InputError(
            "The chunks of the Dask array are ragged: one has another shape than the array "
            "declares. Nothing was spent."
        )


def _groups(array: Any, jobs: Sequence[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    """Jobs that are run together: as many as workers hold the records of."""
    group, size = list[tuple[Any, Any]](), 0
    for job in jobs:
        group.append(job)
        size += int(array[job[0]].size)
        if size >= _TOGETHER:
            yield group
            group, size = [], 0
    if group:
        yield group


@final
class _DaskClipped(ClippedRecords):
    """Clipped records that stay where they are; every pass clips them again."""

    __slots__ = ("_share",)

    _share: float

    def __init__(self, ball: Ball, source: DaskRecords) -> None:
        self.ball, self.source, self.share = ball, source, None
        self.kernel = ball.kernel_for(len(source))
        found = source.run(ClipPass(ball, len(source)))
        self.center_log = None if found.center_sum is None else found.center_sum.mean_log
        self._share = found.moved / found.size

    @property
    def _own_share(self) -> float:
        return self._share

    def chunks(self) -> Iterator[Array]:
        for block in self.source.blocks():
            yield from self.ball.clip_block(block, self.kernel).chunks()

    def log_sum(self, x: Array, scale: float, factor: int | None = None) -> LogSum:
        total: LogSum = self.source.run(LogPass(self.ball, len(self), x, scale, factor))
        return total

    def term_sum(self, terms: Terms) -> LogSum:
        total: LogSum = self.source.run(TermPass(self.ball, len(self), terms))
        return total

    def subsample(self, size: int) -> Array:
        rows = raw_block(self.source[:: max(1, len(self) // size)], 0, len(self), copy=True)
        return np.concatenate(list(self.ball.clip_block(rows, self.kernel).chunks()))


def _update(aggregate: Aggregate[Any, Any], block: Any) -> Any:
    return aggregate.update(aggregate.init(), np.ascontiguousarray(block))


def _merge(aggregate: Aggregate[Any, Any], states: list[Any]) -> Any:
    total, *rest = states
    for state in rest:
        total = aggregate.merge(total, state)
    return total


def _apply(function: Any, raw: Any, argument: Any) -> Any:
    with np.errstate(all="ignore"):
        raw = np.array(raw, dtype=np.float64, order="C")
    return function(raw, argument)
