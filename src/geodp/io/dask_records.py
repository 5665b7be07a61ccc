"""Records in a Dask array: passes run where its chunks are, on threads or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, final

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.progress import tick
from geodp.spaces.base import Array
from geodp.spaces.lattice import LogSum
from geodp.statistics.aggregate import Aggregate, ClipPass, LogPass
from geodp.statistics.domain import Ball
from geodp.statistics.records import ClippedRecords, raw_block
from geodp.statistics.terms import Terms, term_sum

_FAN_IN = 8  # states that are merged at a time
_PROBE = (
    "(__import__('geodp').__name__, __import__('importlib.metadata').metadata.version('geodp'), "
    "__import__('numpy').__version__)"
)


@final
class DaskRecords:
    """A Dask array ``(n, *point_shape)``, chunked along its records, for ``gd.release``.

    Computed by the ``distributed`` client of this process if there is one, by Dask's threads else.
    The value is bit for bit that of the same records in memory. What cannot be computed (chunks of
    unknown size or of another shape, a worker without geodp) is refused here, before anything is
    spent; that takes one look at the shapes of all chunks.

    >>> import dask.array as da, numpy as np, geodp as gd
    >>> records = DaskRecords(da.from_array(np.zeros((100, 2)), chunks=(30, 2)))
    >>> gd.FrechetMean(gd.Ball(gd.Euclidean(2), [1.0, 0.0], 3.0)).evaluate(records).value
    array([0., 0.])
    """

    __slots__ = ("_array",)

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
        _check_workers()
        self._array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))
        self._check_chunks()

    def _check_chunks(self) -> None:
        """Every chunk has the shape that the array declares; no value is looked at."""
        import dask

        wanted = [(rows, *self.shape[1:]) for rows in self._array.chunks[0]]
        try:
            found = dask.compute(*(dask.delayed(np.shape)(block) for block in self._blocks()))
        except Exception as error:  # the message of a task may show records
            raise InputError(
                f"A chunk of the Dask array cannot be computed ({type(error).__name__}). Nothing "
                "was spent."
            ) from None
        if list(found) != wanted:
            raise InputError(
                "The chunks of the Dask array are ragged: one has another shape than the array "
                "declares. Nothing was spent."
            )

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
        return np.asarray(self._array[rows].compute())

    def _blocks(self) -> list[Any]:
        return list(self._array.to_delayed().reshape(-1))

    def blocks(self) -> Iterator[Array]:
        """The chunks one after the other, brought here."""
        for block in self._blocks():
            yield np.asarray(block.compute())

    def run(self, aggregate: Aggregate[Any, Any]) -> Any:
        """One pass: chunks where they are, states merged in a tree."""
        import dask

        update, merge = dask.delayed(_update), dask.delayed(_merge)
        states = [update(aggregate, block) for block in self._blocks()]
        while len(states) > 1:
            groups = [states[i : i + _FAN_IN] for i in range(0, len(states), _FAN_IN)]
            states = [merge(aggregate, group) for group in groups]
        tick("evaluating")
        result = aggregate.finish(states[0].compute())
        tick("evaluating")
        return result

    def clipped_by(self, ball: Ball) -> ClippedRecords:
        """``ball.clip`` of these records."""
        if ball.space.cells > 1:
            raise ConditionError(
                "Maps are not computed on Dask: their means are taken place by place. Use an array "
                "or a memory map."
            )
        return _DaskClipped(ball, self)

    def __repr__(self) -> str:
        return "<records in a Dask array>"


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
        return reduce(LogSum.merge, (term_sum(terms, chunk) for chunk in self.chunks()))

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


def _check_workers() -> None:
    """Every worker of the client, if there is one, runs the same geodp and numpy as we do."""
    try:
        from distributed import get_client

        client = get_client()
    except (ImportError, ValueError):
        return
    try:
        found = set(client.run(eval, _PROBE).values())
    except Exception as error:
        raise InputError(
            f"A worker of the cluster cannot import geodp ({type(error).__name__}): install the "
            "same version on every worker. Nothing was spent."
        ) from None
    if found - {eval(_PROBE)}:
        raise InputError(
            "A worker of the cluster has another version of geodp or numpy than this process, and "
            "results would differ: install the same on every worker. Nothing was spent."
        )
