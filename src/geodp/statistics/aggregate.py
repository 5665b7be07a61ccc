"""What is computed of many records in one pass, as a monoid that knows no engine.

An engine folds ``update`` over its chunks wherever they are, ``merge``s what comes of them in any
order, and ``finish``es once. Sums are exact, so the result does not depend on chunks, order or
number of workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from geodp.spaces.base import Array
from geodp.spaces.lattice import LogSum
from geodp.statistics.domain import Ball
from geodp.statistics.terms import Terms

State = TypeVar("State")
Result = TypeVar("Result")


class Aggregate(ABC, Generic[State, Result]):
    """``finish(merge(update(init(), chunk), ...))``; picklable, holds no records."""

    @abstractmethod
    def init(self) -> State:
        """The state of no records: neutral in ``merge``."""

    @abstractmethod
    def update(self, state: State, chunk: Array) -> State:
        """The state with the raw records ``(rows, *point_shape)`` of a chunk added."""

    @abstractmethod
    def merge(self, one: State, other: State) -> State:
        """The state of both; associative and commutative."""

    @abstractmethod
    def finish(self, state: State) -> Result:
        """What all records give."""


def fold(aggregate: Aggregate[State, Result], chunks: Iterable[Array]) -> Result:
    """The local engine: chunk after chunk.

    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(1), [0.0], 10.0)
    >>> chunks = [np.array([[1.0]]), np.array([[2.0], [6.0]])]
    >>> fold(LogPass(ball, 3, ball.center, 40.0), chunks).mean_log
    array([3.])
    """
    state = aggregate.init()
    for chunk in chunks:
        state = aggregate.update(state, chunk)
    return aggregate.finish(state)


@final
@dataclass(frozen=True)
class LogPass(Aggregate[LogSum | None, LogSum]):
    """The sums of logs at ``x`` over ``n`` clipped records, ``ClippedRecords.log_sum``."""

    ball: Ball
    n: int
    x: Array
    scale: float
    factor: int | None = None

    def init(self) -> LogSum | None:
        return None

    def update(self, state: LogSum | None, chunk: Array) -> LogSum | None:
        clipped = self.ball.clip_block(chunk, self.ball.kernel_for(self.n))
        return self.merge(state, clipped.log_sum(self.x, self.scale, self.factor))

    def merge(self, one: LogSum | None, other: LogSum | None) -> LogSum | None:
        return _both(one, other)

    def finish(self, state: LogSum | None) -> LogSum:
        assert state is not None
        return state


@final
@dataclass(frozen=True)
class TermPass(Aggregate[LogSum | None, LogSum]):
    """The sum of ``terms`` over ``n`` clipped records, ``ClippedRecords.term_sum``."""

    ball: Ball
    n: int
    terms: Terms

    def init(self) -> LogSum | None:
        return None

    def update(self, state: LogSum | None, chunk: Array) -> LogSum | None:
        clipped = self.ball.clip_block(chunk, self.ball.kernel_for(self.n))
        return self.merge(state, clipped.term_sum(self.terms))

    def merge(self, one: LogSum | None, other: LogSum | None) -> LogSum | None:
        return _both(one, other)

    def finish(self, state: LogSum | None) -> LogSum:
        assert state is not None
        return state


@final
@dataclass(frozen=True)
class Clipping:
    """What clipping finds out: sums of logs at the centre, and how many records were moved."""

    center_sum: LogSum | None
    moved: int
    size: int


@final
@dataclass(frozen=True)
class ClipPass(Aggregate[Clipping, Clipping]):
    """The first pass over ``n`` records."""

    ball: Ball
    n: int

    def init(self) -> Clipping:
        return Clipping(None, 0, 0)

    def update(self, state: Clipping, chunk: Array) -> Clipping:
        clipped = self.ball.clip_block(chunk, self.ball.kernel_for(self.n))
        return self.merge(state, Clipping(clipped.center_sum, *clipped.moved_count))

    def merge(self, one: Clipping, other: Clipping) -> Clipping:
        total = _both(one.center_sum, other.center_sum)
        return Clipping(total, one.moved + other.moved, one.size + other.size)

    def finish(self, state: Clipping) -> Clipping:
        return state


def _both(one: LogSum | None, other: LogSum | None) -> LogSum | None:
    """The sum of two, either of which may be of no records."""
    if one is None or other is None:
        return one or other
    return one.merge(other)
