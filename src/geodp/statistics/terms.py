"""What a mean over records is made of: one record's term, by numpy or in a compiled pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.lattice import LogSum

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel, Pass
    from geodp.kernels.reduce import Reducer


class Terms(Protocol):
    """A vector for each record, no longer than ``largest``, that depends on the record and on its
    view from a public point alone."""

    @property
    def largest(self) -> float:
        """Public bound on the length of a term."""

    @property
    def origin(self) -> Array:
        """The point that records are seen from."""

    def terms(self, chunk: Array) -> Array:
        """The terms ``(n, size)`` of clipped records ``(n, *point_shape)``."""

    def reducer(self, kernel: Kernel) -> Reducer | None:
        """The compiled sum of the same terms, if there is one."""


def term_sum(terms: Terms, chunk: Array) -> LogSum:
    """Of a chunk of points."""
    return LogSum.of(terms.terms(chunk), 2 * terms.largest)


def fused_term_sum(
    terms: Terms, space: Space, fused: Pass, reducer: Reducer, block: Array, limit: float
) -> LogSum:
    """The same in a compiled pass; points need no ``project`` then. ``limit`` is a bound on the
    records' distances from the point that ``fused`` sees them from."""
    scale = 2 * terms.largest
    limbs, left = reducer.sums(fused, block, scale, limit)
    count = len(block) - int(np.count_nonzero(left))
    total = LogSum.of_limbs(count, scale, np.concatenate([limbs, np.zeros_like(limbs[:1])]))
    return total.merge(term_sum(terms, space.project(block[left]))) if left.any() else total
