"""What a compiled pass is to the rest of geodp, and how its sums come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from geodp.kernels.lanes import WIDTH

if TYPE_CHECKING:
    from geodp.kernels.reduce import Reducer

Array = NDArray[np.float64]
Limbs = NDArray[np.int64]
Marks = NDArray[np.bool_]


class Kernel(ABC):
    """One pass over records in ``dim`` coordinates."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Coordinates of a logarithm."""

    @abstractmethod
    def at(self, p: Array) -> Pass:
        """The pass at one base point."""

    @abstractmethod
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
        """A pass at each of ``p``, shape ``(V, ...)``, over its own ``counts`` rows from ``starts``
        on; ``rows`` are contiguous.

        Shapes ``(V, dim + 1, 2)`` and, all those rows one after the other, ``(sum(counts),)``; else
        as ``Pass.sums``.
        """

    @abstractmethod
    def hessian(self) -> Reducer | None:
        """The compiled sum of Hessians of half the squared distance, if there is one."""

    @property
    @abstractmethod
    def factors(self) -> tuple[Kernel, ...]:
        """The kernels of the factors of a product; ``(self,)`` for all others."""


class Pass(ABC):
    """A kernel at a base point.

    A block is contiguous, shape ``(n, ...)``. Left out is whatever is no point, lies farther than
    ``limit`` from the base point, or is a case for the reference; each record by itself.
    """

    @property
    @abstractmethod
    def dim(self) -> int:
        """Coordinates of a logarithm."""

    @abstractmethod
    def sums(self, block: Array, unit: float, unit2: float, limit: float) -> tuple[Limbs, Marks]:
        """Lattice sums ``(dim + 1, 2)``, squares last, and which records were left out of them."""

    @abstractmethod
    def rows(self, block: Array, limit: float) -> tuple[Array, NDArray[np.uint8]]:
        """Coordinates and squares, shape ``(groups, dim + 1, WIDTH)``, and which records were left.

        A group holds ``WIDTH`` records; the last is moved back to end with the block. Zeros stand
        for records that an earlier group has had, and for those that are left.
        """

    @abstractmethod
    def exp(self, z: Array) -> Array | None:
        """The points with coordinates ``(n, dim)``; None where numpy has to find them. Nothing is
        proven of their rounding, and extreme ones are without meaning."""


def by_records(rows: Array, count: int) -> Array:
    """Rows of ``count`` records one record after the other, ``(count, dim + 1)``."""
    whole = count // WIDTH
    out = np.empty((count, rows.shape[1]))
    out[: whole * WIDTH] = rows[:whole].transpose(0, 2, 1).reshape(whole * WIDTH, rows.shape[1])
    if rest := count - whole * WIDTH:
        last = min(count, WIDTH)  # the lanes of the last group that hold records
        out[-rest:] = rows[whole, :, last - rest : last].T
    return out


def in_rows(x: Array) -> Array:
    """Numbers ``(n, k)`` in groups ``(groups, k, WIDTH)``, zeros behind the last."""
    full = np.zeros((groups(len(x)) * WIDTH, x.shape[1]))
    full[: len(x)] = x
    return np.ascontiguousarray(full.reshape(-1, WIDTH, x.shape[1]).transpose(0, 2, 1))


def groups(count: int) -> int:
    """Of ``WIDTH`` records."""
    return -(-count // WIDTH)


def total_of(acc: Array) -> Limbs:
    """Limbs of lanes' sums ``(..., 2 * k * WIDTH)``, shape ``(..., k, 2)``."""
    lanes = acc.reshape(*acc.shape[:-1], -1, 2, WIDTH)
    return np.asarray(lanes.astype(np.int64).sum(axis=-1))


def aligned(size: int) -> Any:
    """Zeros at an address that is a multiple of 64 bytes, one line of the cache."""
    raw = np.zeros(size + 8)
    start = -(raw.ctypes.data // 8) % 8
    return raw[start : start + size]
