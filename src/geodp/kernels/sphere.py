"""Logarithms on the sphere, summed on the lattice; the formulas of spaces/sphere.py.

Points close to the antipode of the base point are left to numpy.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from geodp.kernels import hessians
from geodp.kernels.functions import angle
from geodp.kernels.kernel import Array
from geodp.kernels.lanes import WIDTH, both, choose, gather, load, root, spread, store
from geodp.kernels.loop import compiled, give, keep, present
from geodp.kernels.single import Single
from geodp.spaces.batch import length

_NORM = 0.99e-6  # below what ``contains`` allows
_NEAR = 1e-9  # of a sine: nearer to the antipode it is for numpy to decide


@lru_cache(maxsize=32)
def _logs_of(dim: int) -> Any:
    """Its base holds p, its unit vector, the axis of the reflection over its length, and R."""
    count_entries = dim + 1
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
        normal, axis = count_entries, 2 * count_entries
        radius = base[3 * count_entries]
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // count_entries, count)
            cos, norm = spread(0.0), spread(0.0)
            for k in range(count_entries):
                q = gather(x, at * count_entries + k, count_entries)
                store(acc, (work + k) * WIDTH, q)
                cos = cos + q * base[normal + k]
                norm = norm + q * q
            size = root(norm)
            off = size / radius - 1.0
            ok = both(ok, off * off <= _NORM * _NORM)
            ahead = spread(0.0) <= cos
            sign = choose(ahead, spread(-1.0), spread(1.0))
            along = spread(0.0)
            for k in range(count_entries):  # q - p, or q + p beyond a right angle: exact
                step = load(acc, (work + k) * WIDTH) + sign * base[k]
                store(acc, (work + k) * WIDTH, step)
                along = along + step * base[normal + k]
            again = spread(0.0)
            for k in range(count_entries):
                side = load(acc, (work + k) * WIDTH) - along * base[normal + k]
                store(acc, (work + k) * WIDTH, side)
                again = again + side * base[normal + k]
            square, lift = spread(0.0), spread(0.0)
            for k in range(count_entries):
                side = load(acc, (work + k) * WIDTH) - again * base[normal + k]
                store(acc, (work + k) * WIDTH, side)
                square = square + side * side
                lift = lift + side * base[axis + k]
            sin = root(square)
            theta = angle(sin, cos) * radius
            far = choose(ahead, spread(1.0), sin)
            ok = both(ok, size * _NEAR <= far)
            stretch = theta / (sin + 1e-300)
            theta = theta * theta
            ok = both(ok, theta <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * (dim + 1)
            for k in range(1, count_entries):
                side = load(acc, (work + k) * WIDTH) - lift * base[normal + k]
                give(acc, rows, place, k - 1, side * stretch, unit, ok)
            give(acc, rows, place, dim, theta, unit2, ok)

    return run


def sphere(dim: int, radius: float) -> Single:
    """The kernel of ``Sphere``."""

    def base(p: Array) -> Array:
        unit = p / length(p)[:, None]
        axis = unit.copy()
        axis[:, 0] += np.copysign(1.0, unit[:, 0])
        parts = [p, unit, axis / np.abs(axis[:, :1]), np.full((len(p), 1), radius)]
        return np.concatenate(parts, axis=1)

    hessian = partial(hessians.curved, dim, 1 / radius**2)
    return Single(dim + 1, dim, _logs_of(dim), base, dim + 1, hessian)
