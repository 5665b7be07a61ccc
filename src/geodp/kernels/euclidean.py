"""Differences of vectors, summed on the lattice."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from geodp.kernels import hessians
from geodp.kernels.kernel import Array
from geodp.kernels.lanes import WIDTH, both, gather, load, spread, store
from geodp.kernels.loop import compiled, give, keep, present
from geodp.kernels.single import Single


@lru_cache(maxsize=32)
def _logs_of(dim: int) -> Any:
    work = 2 * (dim + 1)

    @compiled
    def run(
        x: Any,
        count: int,
        base: Any,
        unit: float,
        unit2: float,
        limit: float,
        acc: Any,
        left: Any,
        rows: Any,
    ) -> None:
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // dim, count)
            square = spread(0.0)
            for k in range(dim):
                z = gather(x, at * dim + k, dim) - base[k]
                store(acc, (work + k) * WIDTH, z)
                square = square + z * z
            ok = both(ok, square <= limit)  # and no entry is infinite or not a number
            keep(ok, at, start, count, left)
            place = start // WIDTH * (dim + 1)
            for k in range(dim):
                z = load(acc, (work + k) * WIDTH)
                give(acc, rows, place, k, z, unit, ok)
            give(acc, rows, place, dim, square, unit2, ok)

    return run


def euclidean(dim: int) -> Single:
    """The kernel of ``Euclidean``."""

    def base(p: Array) -> Array:
        return p

    return Single(dim, dim, _logs_of(dim), base, dim, partial(hessians.flat, dim))
