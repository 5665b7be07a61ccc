"""A compiled pass as a value: what it is run with, and how its sums come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.lanes import WIDTH

Array = NDArray[np.float64]
_SEGMENTS = 256  # whose sums are held at a time


@dataclass(frozen=True)
class Kernel:
    """One pass over records of ``floats`` numbers each, in ``dim`` coordinates.

    ``run`` is the compiled function (see ``loop``); ``base`` turns base points ``(V, ...)`` into
    what it needs of each, ``(V, k)``; ``work`` is the number of lanes' worth of space that it needs
    behind its sums.
    """

    floats: int
    dim: int
    run: Callable[..., None]
    base: Callable[[Array], Array]
    work: int = 0

    def at(self, p: Array) -> Pass:
        """The pass at one base point."""
        return Pass(self, self.base(p[None])[0])

    def many(
        self,
        p: Array,
        rows: Array,
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        unit: float,
        unit2: float,
        limit: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """A pass at each of ``p``, shape ``(V, ...)``, over its own ``counts`` rows from ``starts``
        on; ``rows`` are contiguous.

        Shapes ``(V, dim + 1, 2)`` and, all those rows one after the other, ``(sum(counts),)``; else
        as ``Pass.sums``.
        """
        flat, floats = _flat(rows, 1)[0], self.floats
        size = 2 * (self.dim + 1) * WIDTH
        limbs = np.empty((len(p), self.dim + 1, 2), dtype=np.int64)
        left = np.zeros(int(counts.sum()), dtype=np.uint8)
        ends = np.cumsum(counts)
        bases, square = self.base(p), limit * limit
        wide = size + self.work * WIDTH
        for first in range(0, len(p), _SEGMENTS):
            some = slice(first, first + _SEGMENTS)
            acc = _aligned(wide * len(bases[some])).reshape(-1, wide)
            ranges = zip(starts[some].tolist(), counts[some].tolist(), ends[some], strict=True)
            for base, own, (start, count, end) in zip(bases[some], acc, ranges, strict=True):
                stop = start + max(count, WIDTH)  # lanes beyond are not looked at
                x = flat[start * floats : stop * floats]
                if stop > len(rows):
                    x = _flat(_widened(rows[start : start + count]), 1)[0]
                self.run(x, count, base, unit, unit2, square, own, left[end - count : end])
            limbs[some] = _total(acc[:, :size])
        return limbs, left.view(np.bool_)


@dataclass(frozen=True)
class Pass:
    """A kernel with its base point."""

    kernel: Kernel
    base: Array

    def sums(
        self, block: Array, unit: float, unit2: float, limit: float
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Lattice sums ``(dim + 1, 2)``, squares last, and which records were left out of them.

        ``block`` is contiguous, shape ``(n, ...)``. Left out is whatever is no point, lies farther
        than ``limit`` from the base point, or is a case for the reference; each record by itself.
        """
        kernel, count = self.kernel, len(block)
        rows = _widened(block.reshape(count, kernel.floats))
        flat = _flat(rows, 1)[0]
        size = 2 * (kernel.dim + 1) * WIDTH
        acc = _aligned(size + kernel.work * WIDTH)
        left = np.zeros(len(rows), dtype=np.uint8)
        kernel.run(flat, count, self.base, unit, unit2, limit * limit, acc, left)
        return _total(acc[None, :size])[0], left[:count].view(np.bool_)


def _flat(blocks: Array, count: int) -> Array:
    """A view that the compiled code may only read."""
    flat = blocks.reshape(count, -1).view(np.ndarray)
    flat.flags.writeable = False
    return flat


def _widened(rows: Array) -> Array:
    """As many rows as there are lanes, if there are fewer; lanes beyond are not looked at."""
    count = len(rows)
    if count >= WIDTH:
        return rows
    return np.concatenate([rows, np.broadcast_to(rows[:1], (WIDTH - count, *rows.shape[1:]))])


def _total(acc: Array) -> NDArray[np.int64]:
    """Limbs of the lanes' sums, ``(V, dim + 1, 2)``."""
    lanes = acc.reshape(len(acc), -1, 2, WIDTH)
    return np.asarray(lanes.astype(np.int64).sum(axis=-1))


def _aligned(size: int) -> Any:
    """Zeros at an address that is a multiple of 64 bytes, one line of the cache."""
    raw = np.zeros(size + 8)
    start = -(raw.ctypes.data // 8) % 8
    return raw[start : start + size]
