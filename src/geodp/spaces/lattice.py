"""Exact sums: floats put on an integer lattice, so that adding them is associative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BITS = 30  # per limb; two limbs resolve scale * 2**-60, and 2**33 records fit into int64


def unit(scale: float) -> float:
    """What values up to ``scale`` are multiplied with before they are rounded to a limb."""
    return float(2.0 ** (_BITS - np.ceil(np.log2(scale))))  # a power of two: exact products


def split(values: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Two limbs of every number, shape ``(2, *values.shape)``."""
    scaled = values * unit(scale)
    high = np.rint(scaled)
    low = np.rint((scaled - high) * 2.0**_BITS)
    return np.stack([high.astype(np.int64), low.astype(np.int64)])


def value_of(limbs: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """What limbs ``(2, ...)`` stand for."""
    step = 1.0 / unit(scale)
    return np.asarray(limbs[0] * step + limbs[1] * (step * 2.0**-_BITS), dtype=np.float64)


@dataclass(frozen=True)
class LogSum:
    """A monoid: exact lattice sums of log-coordinates and squared distances of ``count`` records.

    ``coords`` has shape ``(2, dim)`` and ``squares`` ``(2,)``: two integer limbs each.
    """

    count: int
    scale: float
    coords: NDArray[np.int64]
    squares: NDArray[np.int64]

    @classmethod
    def of(cls, z: NDArray[np.float64], scale: float) -> LogSum:
        """The sums of rows ``z`` of shape ``(n, dim)``, none longer than about ``scale``."""
        squares = np.einsum("ni,ni->n", z, z)
        return cls(
            len(z), scale, split(z, scale).sum(axis=1), split(squares, scale * scale).sum(axis=1)
        )

    @classmethod
    def of_limbs(cls, count: int, scale: float, limbs: NDArray[np.int64]) -> LogSum:
        """From limbs ``(dim + 1, 2)``, that of the squares last: what a kernel adds up."""
        return cls(count, scale, np.ascontiguousarray(limbs[:-1].T), limbs[-1].copy())

    def merge(self, other: LogSum) -> LogSum:
        """The sum over both sets of records; order does not matter."""
        return LogSum(
            self.count + other.count,
            self.scale,
            self.coords + other.coords,
            self.squares + other.squares,
        )

    @property
    def mean_log(self) -> NDArray[np.float64]:
        """Mean of the log-coordinates, shape ``(dim,)``."""
        return value_of(self.coords, self.scale) / self.count

    @property
    def mean_square(self) -> float:
        """Mean of the squared distances."""
        return float(value_of(self.squares, self.scale * self.scale)) / self.count
