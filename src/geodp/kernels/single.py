"""The kernel of a space that is no product: one compiled function, and what it is run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.kernel import (
    Array,
    Kernel,
    Limbs,
    Marks,
    Pass,
    aligned,
    by_records,
    groups,
    in_rows,
    total_of,
)
from geodp.kernels.lanes import WIDTH

if TYPE_CHECKING:
    from geodp.kernels.reduce import Reducer

_NONE = np.empty(0)  # no rows are wanted
_SEGMENTS = 256  # whose sums are held at a time


@final
@dataclass(frozen=True)
class Exponential:
    """A compiled exponential map (see ``loop.points``); ``base`` turns one point into what it needs
    of it, ``work`` is as for kernels."""

    run: Callable[..., None]
    base: Callable[[Array], Array]
    work: int

    def points(self, p: Array, z: Array) -> Array:
        """The points with coordinates ``(n, dim)`` at ``p``."""
        rows = in_rows(z)
        out, work = np.empty((len(rows), p.size, WIDTH)), aligned(self.work * WIDTH)
        self.run(rows.reshape(-1), len(rows), self.base(p), work, out.reshape(-1))
        return by_records(out, len(rows) * WIDTH)[: len(z)].reshape(len(z), *p.shape)


@final
@dataclass(frozen=True)
class Single(Kernel):
    """A pass over records of ``floats`` numbers each.

    ``run`` is the compiled function (see ``loop``); ``base`` turns base points ``(V, ...)`` into
    what it needs of each, ``(V, k)``; ``work`` is the number of lanes' worth of space that it needs
    behind its sums; ``hessians`` makes the sum of Hessians, ``exps`` the exponential map.
    """

    floats: int
    size: int  # coordinates
    run: Callable[..., None]
    base: Callable[[Array], Array]
    work: int = 0
    hessians: Callable[[], Reducer | None] = lambda: None
    exps: Callable[[], Exponential] | None = None

    @property
    def dim(self) -> int:
        return self.size

    @property
    def factors(self) -> tuple[Kernel, ...]:
        return (self,)

    @property
    def sums(self) -> int:
        """Floats of the lanes' sums."""
        return 2 * (self.size + 1) * WIDTH

    def at(self, p: Array) -> Pass:
        return _SinglePass(self, self.base(p[None])[0], p)

    def many(
        self,
        p: Array,
        rows: Array,
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        unit: float,
        unit2: float,
        limit: float,
    ) -> tuple[Limbs, Marks]:
        flat, floats = _flat(rows), self.floats
        limbs = np.empty((len(p), self.size + 1, 2), dtype=np.int64)
        left = np.zeros(int(counts.sum()), dtype=np.uint8)
        ends = np.cumsum(counts)
        bases, square = self.base(p), limit * limit
        wide = self.sums + self.work * WIDTH
        for first in range(0, len(p), _SEGMENTS):
            some = slice(first, first + _SEGMENTS)
            acc = aligned(wide * len(bases[some])).reshape(-1, wide)
            ranges = zip(starts[some].tolist(), counts[some].tolist(), ends[some], strict=True)
            for base, own, (start, count, end) in zip(bases[some], acc, ranges, strict=True):
                stop = start + max(count, WIDTH)  # lanes beyond are not looked at
                x = flat[start * floats : stop * floats]
                if stop > len(rows):
                    x = _flat(_widened(rows[start : start + count]))
                marks = left[end - count : end]
                self.run(x, count, base, unit, unit2, square, own, marks, _NONE)
            limbs[some] = total_of(acc[:, : self.sums])
        return limbs, left.view(np.bool_)

    def hessian(self) -> Reducer | None:
        return self.hessians()


@final
@dataclass(frozen=True)
class _SinglePass(Pass):
    kernel: Single
    base: Array
    point: Array

    @property
    def dim(self) -> int:
        return self.kernel.size

    def sums(self, block: Array, unit: float, unit2: float, limit: float) -> tuple[Limbs, Marks]:
        acc, left = self._run(block, unit, unit2, limit, _NONE)
        return total_of(acc[: self.kernel.sums]), left.view(np.bool_)

    def rows(self, block: Array, limit: float) -> tuple[Array, NDArray[np.uint8]]:
        rows = np.empty((groups(len(block)), self.dim + 1, WIDTH))
        _, left = self._run(block, 1.0, 1.0, limit, rows.reshape(-1))
        return rows, left

    def exp(self, z: Array) -> Array | None:
        exps = self.kernel.exps
        return None if exps is None else exps().points(self.point, z)

    def _run(
        self, block: Array, unit: float, unit2: float, limit: float, out: Array
    ) -> tuple[Array, NDArray[np.uint8]]:
        kernel, count = self.kernel, len(block)
        flat = _flat(_widened(block.reshape(count, kernel.floats)))
        acc = aligned(kernel.sums + kernel.work * WIDTH)
        left = np.zeros(count, dtype=np.uint8)
        kernel.run(flat, count, self.base, unit, unit2, limit * limit, acc, left, out)
        return acc, left


def _flat(rows: Array) -> Array:
    """A view that the compiled code may only read."""
    flat = rows.reshape(-1).view(np.ndarray)
    flat.flags.writeable = False
    return flat


def _widened(rows: Array) -> Array:
    """As many rows as there are lanes, if there are fewer; lanes beyond are not looked at."""
    count = len(rows)
    if count >= WIDTH:
        return rows
    return np.concatenate([rows, np.zeros((WIDTH - count, *rows.shape[1:]))])
