"""The records of many means, one after the other in one array, and the sums of their logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.lattice import split, unit, value_of
from geodp.statistics.domain import Ball

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class Segments:
    """Segment i is ``counts[i]`` of the ``rows``, shape ``(R, *point_shape)``, from ``starts[i]``
    on. Whatever is computed of a segment depends on its own rows alone, bit for bit."""

    space: Space
    rows: Array
    starts: Ints
    counts: Ints
    kernel: Kernel | None

    def __len__(self) -> int:
        return len(self.starts)

    def clip(self, ball: Ball, moved: BoolArray) -> Array:
        """Put what the public rule makes of rows in their place, and mark those that it ``moved``;
        mean logs at the centre, shape ``(len(self), dim)``."""
        which, scale = np.arange(len(self)), 2 * ball.reach
        centers = np.broadcast_to(ball.center, (len(self), *self.space.point_shape))
        limbs, at, owner = self._sums(which, centers, scale, ball.radius)
        if len(at):
            self.rows[at], moved[at], z = ball.apply_rule(self.rows[at])
            _add(limbs, owner, z, scale)
        return self._means(which, limbs, scale)

    def mean_logs(self, which: Ints, x: Array, scale: float) -> Array:
        """Mean logs of the segments ``which``, each at its own of the points ``x``."""
        limbs, at, owner = self._sums(which, x, scale, scale)
        if len(at):
            z = self.space.log_coords(x[owner], self.space.project(self.rows[at]))
            _add(limbs, owner, z, scale)
        return self._means(which, limbs, scale)

    def of_factor(self, index: int, factor: Space) -> Segments:
        """The same records in one factor of a product."""
        if len(self.space.factors) == 1:
            return self
        return Segments(factor, self.space.split(self.rows)[index], self.starts, self.counts, None)

    def own(self, i: int) -> Array:
        """The rows of one segment."""
        return self.rows[self.starts[i] : self.starts[i] + self.counts[i]]

    def _sums(self, which: Ints, x: Array, scale: float, limit: float) -> tuple[Ints, Ints, Ints]:
        """What the kernel adds up, limbs ``(A, dim, 2)``; the rows that it leaves out, and which of
        ``which`` they belong to. Without a kernel that is all of them."""
        starts, counts = self.starts[which], self.counts[which]
        ends = np.cumsum(counts)
        at = np.arange(ends[-1]) + np.repeat(starts - (ends - counts), counts)
        owner = np.repeat(np.arange(len(which)), counts)
        if self.kernel is None:
            return np.zeros((len(which), self.space.dim, 2), dtype=np.int64), at, owner
        per_log, per_square = unit(scale), unit(scale * scale)
        with np.errstate(all="ignore"):
            limbs, left = self.kernel.many(x, self.rows, starts, counts, per_log, per_square, limit)
        return limbs[:, :-1], at[left], owner[left]

    def _means(self, which: Ints, limbs: Ints, scale: float) -> Array:
        sums = value_of(np.moveaxis(limbs, -1, 0), scale)
        return np.asarray(sums / self.counts[which][:, None])


def _add(limbs: Ints, owner: Ints, z: Array, scale: float) -> None:
    """Add rows of coordinates to the sums of their owners, who come in order: exact, like the
    kernel's."""
    parts = np.moveaxis(split(z, scale), 0, -1)
    present, first = np.unique(owner, return_index=True)
    limbs[present] += np.add.reduceat(parts, first, axis=0)
