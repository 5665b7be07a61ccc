"""A compiled pass as a value: what it is run with, and how its sums come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.lanes import WIDTH

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """One pass over records of ``floats`` numbers each, in ``dim`` coordinates.

    ``run`` is the compiled function (see ``loop``); ``base(p)`` holds what it needs of the base
    point; ``work`` is the number of lanes' worth of space it needs behind its sums.
    """

    floats: int
    dim: int
    run: Callable[..., None]
    base: Callable[[Array], Array]
    work: int = 0

    def at(self, p: Array) -> Pass:
        """The pass at one base point."""
        return Pass(self, self.base(p))


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
        rows = block.reshape(count, kernel.floats)
        if count < WIDTH:  # lanes beyond are not looked at
            rows = np.concatenate([rows, np.broadcast_to(rows[:1], (WIDTH - count, kernel.floats))])
        flat = rows.reshape(-1).view(np.ndarray)
        flat.flags.writeable = False
        size = 2 * (kernel.dim + 1) * WIDTH
        acc = _aligned(size + kernel.work * WIDTH)
        left = np.zeros(len(rows), dtype=np.uint8)
        kernel.run(flat, count, self.base, unit, unit2, limit * limit, acc, left)
        limbs = acc[:size].reshape(kernel.dim + 1, 2, WIDTH).astype(np.int64).sum(axis=-1)
        return limbs, left[:count].view(np.bool_)


def _aligned(size: int) -> Any:
    """Zeros at an address that is a multiple of 64 bytes, one line of the cache."""
    raw = np.zeros(size + 8)
    start = -(raw.ctypes.data // 8) % 8
    return raw[start : start + size]
