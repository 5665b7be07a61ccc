"""Matrices from their log-coordinates: y = L V diag(exp λ) Vᵀ Lᵀ with V diag(λ) Vᵀ = unvech(z + s).

With p = L Lᵀ and s = 0 this is the affine-invariant exponential map at p; with L = 1 and s the
chart of p the log-Euclidean one. Nothing is proven of its rounding: who moves records by it looks
at the logarithms of what comes out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from geodp.kernels.functions import exp
from geodp.kernels.jacobi import ROOT2, SMALL, SWEEPS
from geodp.kernels.lanes import WIDTH, bits, load, spread, store
from geodp.kernels.loop import points
from geodp.kernels.spd_any import entry, identity, off_diagonal, sweep


def work(size: int) -> int:
    """Lanes of work space."""
    return size * (size + 1) + 2 + size * (size + 1) // 2 + 2 * size * size


@lru_cache(maxsize=32)
def points_of(size: int) -> Any:
    """Its base holds L, row by row, and s. Work: what ``sweep`` needs, Vᵀ, and L V exp(λ/2)."""
    dim = size * (size + 1) // 2
    vectors = 2 * (dim + 1) + dim
    frame = vectors + size * size

    @points
    def run(rows: Any, groups: int, base: Any, work: Any, out: Any) -> None:
        for group in range(groups):
            norm = spread(0.0)
            index = 0
            for i in range(size):
                for j in range(i + 1):
                    z = load(rows, (group * dim + index) * WIDTH) + base[size * size + index]
                    norm = norm + z * z
                    z = z * (1.0 if i == j else 1.0 / ROOT2)
                    store(work, entry(size, i, j) * WIDTH, z)
                    index += 1
            identity(size, work, vectors)
            small = norm * SMALL
            for _ in range(SWEEPS):
                active = small < off_diagonal(size, work)
                if bits(active) == 0:
                    break
                sweep(size, vectors, work, active)
            for k in range(size):
                half = exp(load(work, entry(size, k, k) * WIDTH) * 0.5)
                for i in range(size):
                    total = spread(0.0)
                    for j in range(i + 1):
                        v = load(work, (vectors + k * size + j) * WIDTH)
                        total = total + v * base[i * size + j]
                    store(work, (frame + i * size + k) * WIDTH, total * half)
            for i in range(size):
                for j in range(i + 1):
                    total = spread(0.0)
                    for k in range(size):
                        a = load(work, (frame + i * size + k) * WIDTH)
                        total = total + a * load(work, (frame + j * size + k) * WIDTH)
                    place = group * size * size
                    store(out, (place + i * size + j) * WIDTH, total)
                    store(out, (place + j * size + i) * WIDTH, total)

    return run
