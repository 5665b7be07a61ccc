"""Sums over the rows that a pass writes: of functions of one record's log-coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.kernel import Array, Limbs, Marks, Pass, aligned, total_of
from geodp.kernels.lanes import WIDTH
from geodp.spaces.lattice import split, unit, value_of

_ROW_FLOATS = 2**15  # of a piece: its rows stay in the cache between the pass and the sum


class Reducer(ABC):
    """A sum of ``size`` numbers, a record's term, over records."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers a term has."""

    @abstractmethod
    def begin(self) -> Any:
        """Room for its sums, zeros."""

    @abstractmethod
    def add(self, acc: Any, rows: Array, count: int, unit: float, left: NDArray[np.uint8]) -> None:
        """The terms of the rows of ``count`` records; what is left out is marked."""

    @abstractmethod
    def finish(self, acc: Any, count: int, scale: float) -> Limbs:
        """Lattice sums ``(size, 2)`` of ``count`` records."""

    def sums(self, fused: Pass, block: Array, scale: float, limit: float) -> tuple[Limbs, Marks]:
        """Of a contiguous block, seen from the base point of ``fused``: the sums, no term being
        longer than ``scale``, and which records were left out of them."""
        acc, marks = self.begin(), np.zeros(len(block), dtype=np.uint8)
        step = max(1, _ROW_FLOATS // (fused.dim + 1))
        for start in range(0, len(block), step):
            part, left = block[start : start + step], marks[start : start + step]
            rows, left[:] = fused.rows(part, limit)
            self.add(acc, rows, len(part), unit(scale), left)
        count = len(block) - int(np.count_nonzero(marks))
        return self.finish(acc, count, scale), marks.view(np.bool_)

    def mean(self, fused: Pass, block: Array, scale: float, limit: float) -> Array | None:
        """The mean term of what is not left out, shape ``(size,)``; None where all is."""
        limbs, left = self.sums(fused, block, scale, limit)
        count = len(block) - int(np.count_nonzero(left))
        return value_of(limbs.T, scale) / count if count else None


@final
@dataclass(frozen=True)
class Compiled(Reducer):
    """``count`` numbers; ``run`` is as ``loop.reducer`` says, with a public ``parameter`` and
    ``work`` lanes' worth of space. ``offset`` is what a term has beyond what is added up."""

    count: int
    run: Callable[..., None]
    parameter: float = 0.0
    work: int = 0
    offset: Array | None = None

    @property
    def size(self) -> int:
        return self.count

    def begin(self) -> Any:
        return aligned(2 * self.count * WIDTH)

    def add(self, acc: Any, rows: Array, count: int, unit: float, left: NDArray[np.uint8]) -> None:
        work = aligned(self.work * WIDTH)
        self.run(rows.reshape(-1), count, self.parameter, unit, acc, work, left)

    def finish(self, acc: Any, count: int, scale: float) -> Limbs:
        limbs = total_of(acc)
        return limbs if self.offset is None else limbs + split(self.offset, scale).T * count


@final
@dataclass(frozen=True)
class Constant(Reducer):
    """Every term is ``value``."""

    value: Array

    @property
    def size(self) -> int:
        return len(self.value)

    def begin(self) -> Any:
        return np.zeros(0)

    def add(self, acc: Any, rows: Array, count: int, unit: float, left: NDArray[np.uint8]) -> None:
        pass

    def finish(self, acc: Any, count: int, scale: float) -> Limbs:
        return np.asarray(split(self.value, scale).T * count)
