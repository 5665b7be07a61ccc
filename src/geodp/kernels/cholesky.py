"""Log-Cholesky coordinates, summed on the lattice: SPD(m), one size at a time.

y = L Lᵀ, column by column as in spaces/batch.py; z holds the strict part of L and the logarithms
of its diagonal, row by row, less those of the base point. Rounding: docs/proofs/kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from geodp.kernels import hessians
from geodp.kernels.functions import log
from geodp.kernels.jacobi import even, ranged
from geodp.kernels.kernel import Array
from geodp.kernels.lanes import WIDTH, both, gather, load, root, spread, store
from geodp.kernels.loop import compiled, give, keep, present
from geodp.kernels.single import Single

LARGEST = 32


@lru_cache(maxsize=32)
def _logs_of(size: int) -> Any:
    """Behind the sums lie the factor, packed row by row, and a diagonal."""
    dim = size * (size + 1) // 2
    factor = 2 * (dim + 1)
    diagonal = factor + dim

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
            at, ok = present(start, len(x) // (size * size), count)
            o = at * size * size
            for i in range(size):
                y = gather(x, o + i * (size + 1), size * size)
                store(acc, (diagonal + i) * WIDTH, y)
            for i in range(size):
                row = factor + (i * (i + 1)) // 2
                own = load(acc, (diagonal + i) * WIDTH)
                rest = own
                for j in range(i):
                    a = gather(x, o + i * size + j, size * size)
                    b = gather(x, o + j * size + i, size * size)
                    y, same = even(a, b, own, load(acc, (diagonal + j) * WIDTH))
                    ok = both(ok, same)
                    column = factor + (j * (j + 1)) // 2
                    for k in range(j):
                        y = y - load(acc, (row + k) * WIDTH) * load(acc, (column + k) * WIDTH)
                    y = y / load(acc, (column + j) * WIDTH)
                    store(acc, (row + j) * WIDTH, y)
                    rest = rest - y * y
                ok = both(ok, ranged(rest))
                store(acc, (row + i) * WIDTH, root(rest))
            square = spread(0.0)
            index = 0
            for i in range(size):
                for j in range(i + 1):
                    z = load(acc, (factor + index) * WIDTH)
                    if i == j:
                        z = log(z)
                    z = z - base[index]
                    store(acc, (factor + index) * WIDTH, z)
                    square = square + z * z
                    index += 1
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * (dim + 1)
            for k in range(dim):
                give(acc, rows, place, k, load(acc, (factor + k) * WIDTH), unit, ok)
            give(acc, rows, place, dim, square, unit2, ok)

    return run


def log_cholesky(size: int, chart: Callable[[Array], Array]) -> Single | None:
    """The kernel of the log-Cholesky metric, whose chart is given."""
    if size > LARGEST:
        return None
    dim = size * (size + 1) // 2
    flat = partial(hessians.flat, dim)
    return Single(size * size, dim, _logs_of(size), chart, dim + size, flat)
