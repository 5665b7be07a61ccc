"""The kernel of a product: its factors' passes write rows, which are put side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.kernel import Array, Kernel, Limbs, Marks, Pass, aligned, total_of
from geodp.kernels.lanes import WIDTH, load
from geodp.kernels.loop import gain, reducer
from geodp.kernels.reduce import Reducer

_ROW_FLOATS = 2**15  # of a piece, so that its rows stay in the cache


@lru_cache(maxsize=32)
def _coordinates_of(dim: int) -> Any:
    """Lattice sums of all but the last row; ``parameter`` 1: of the last row alone."""

    @reducer
    def run(
        rows: Any, count: int, parameter: float, unit: float, acc: Any, work: Any, left: Any
    ) -> None:
        first, last = (dim, dim + 1) if parameter > 0.0 else (0, dim)
        for start in range(0, count, WIDTH):
            for k in range(first, last):
                place = (start // WIDTH * (dim + 1) + k) * WIDTH
                gain(acc, k, load(rows, place), unit)

    return run


@final
@dataclass(frozen=True)
class Combined(Kernel):
    """``parts`` are the kernels of the factors, ``shapes`` the shapes of their points, which lie
    one after the other in a record."""

    parts: tuple[Kernel, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    @property
    def factors(self) -> tuple[Kernel, ...]:
        return self.parts

    def split(self, x: Array) -> list[Array]:
        """The factors' shares of points ``(n, floats)``, contiguous."""
        out, at = [], 0
        for shape in self.shapes:
            size = math.prod(shape)
            out.append(np.ascontiguousarray(x[:, at : at + size]).reshape(len(x), *shape))
            at += size
        return out

    def at(self, p: Array) -> Pass:
        points = self.split(p[None])
        return _CombinedPass(
            self, tuple(k.at(x[0]) for k, x in zip(self.parts, points, strict=True))
        )

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
        limbs = np.empty((len(p), self.dim + 1, 2), dtype=np.int64)
        left = []
        for i, (start, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True)):
            block = rows[start : start + count]
            limbs[i], marks = self.at(p[i]).sums(block, unit, unit2, limit)
            left.append(marks)
        return limbs, np.concatenate(left)

    def hessian(self) -> Reducer | None:
        found = [part.hessian() for part in self.parts]
        if any(one is None for one in found):
            return None
        return _Blocks(tuple(r for r in found if r), tuple(part.dim for part in self.parts))


@final
@dataclass(frozen=True)
class _CombinedPass(Pass):
    kernel: Combined
    parts: tuple[Pass, ...]

    @property
    def dim(self) -> int:
        return self.kernel.dim

    def sums(self, block: Array, unit: float, unit2: float, limit: float) -> tuple[Limbs, Marks]:
        dim, marks = self.dim, np.zeros(len(block), dtype=np.uint8)
        run = _coordinates_of(dim)
        acc, none = aligned(2 * (dim + 1) * WIDTH), np.empty(0)
        step = max(1, _ROW_FLOATS // (dim + 1))
        for start in range(0, len(block), step):
            part, left = block[start : start + step], marks[start : start + step]
            rows, left[:] = self.rows(part, limit)
            run(rows.reshape(-1), len(part), 0.0, unit, acc, none, left)
            run(rows.reshape(-1), len(part), 1.0, unit2, acc, none, left)
        return total_of(acc), marks.view(np.bool_)

    def rows(self, block: Array, limit: float) -> tuple[Array, NDArray[np.uint8]]:
        shares = self.kernel.split(block)
        found = [one.rows(x, limit) for one, x in zip(self.parts, shares, strict=True)]
        left = np.bitwise_or.reduce([marks for _, marks in found])
        square = found[0][0][:, -1]
        for rows, _ in found[1:]:
            square = square + rows[:, -1]
        whole = np.concatenate([*(rows[:, :-1] for rows, _ in found), square[:, None]], axis=1)
        out = in_groups(left) | (square > limit * limit)
        if out.any():
            whole = np.where(out[:, None], 0.0, whole)
            left |= by_record(out, len(block))
        return whole, left

    def exp(self, z: Array) -> Array | None:
        found, at = [], 0
        for part, shape in zip(self.parts, self.kernel.shapes, strict=True):
            points = part.exp(z[:, at : at + part.dim])
            if points is None:
                return None
            found.append(points.reshape(len(z), math.prod(shape)))
            at += part.dim
        return np.concatenate(found, axis=1)


def in_groups(marks: NDArray[np.uint8]) -> Marks:
    """Marks of records as those of lanes, ``(groups, WIDTH)``."""
    count = len(marks)
    out = np.zeros((-(-count // WIDTH), WIDTH), dtype=bool)
    whole = count // WIDTH
    out[:whole] = marks[: whole * WIDTH].reshape(whole, WIDTH)
    if whole < len(out):  # moved back; lanes that an earlier group has had hold zeros anyway
        tail = marks[max(0, count - WIDTH) :]
        out[whole, : len(tail)] = tail
    return out


def by_record(out: Marks, count: int) -> NDArray[np.uint8]:
    """The inverse of ``in_groups``, an or where two lanes hold one record."""
    marks = np.zeros(count, dtype=np.uint8)
    whole = count // WIDTH
    marks[: whole * WIDTH] = out[:whole].reshape(-1)
    if whole < len(out):
        first = max(0, count - WIDTH)
        marks[first:] |= out[whole, : count - first]
    return marks


@final
@dataclass(frozen=True)
class _Blocks(Reducer):
    """Hessians of a product: the factors' on the diagonal, zeros elsewhere."""

    parts: tuple[Reducer, ...]
    dims: tuple[int, ...]

    @property
    def size(self) -> int:
        dim = sum(self.dims)
        return dim * (dim + 1) // 2

    def begin(self) -> list[Any]:
        return [part.begin() for part in self.parts]

    def add(
        self, acc: list[Any], rows: Array, count: int, unit: float, left: NDArray[np.uint8]
    ) -> None:
        while True:  # until no factor leaves a record that others have added
            before, trial, at = left.copy(), self.begin(), 0
            for part, room, dim in zip(self.parts, trial, self.dims, strict=True):
                own = np.concatenate([rows[:, at : at + dim], rows[:, -1:]], axis=1)
                part.add(room, own, count, unit, left)
                at += dim
            if np.array_equal(before, left):
                break
            rows = np.where(in_groups(left)[:, None], 0.0, rows)
        for room, found in zip(acc, trial, strict=True):
            room += found

    def finish(self, acc: list[Any], count: int, scale: float) -> Limbs:
        dim = sum(self.dims)
        whole, at = np.zeros((dim, dim, 2), dtype=np.int64), 0
        for part, room, size in zip(self.parts, acc, self.dims, strict=True):
            own = whole[at : at + size, at : at + size]
            own[np.tril_indices(size)] = part.finish(room, count, scale)
            at += size
        return whole[np.tril_indices(dim)]
