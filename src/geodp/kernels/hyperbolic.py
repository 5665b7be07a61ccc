"""Logarithms in hyperbolic space, summed on the lattice; the formulas of spaces/hyperbolic.py.

Records at the origin of the hyperboloid, or within 1e-140 of it, are left to numpy.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from geodp.kernels import hessians
from geodp.kernels.functions import log
from geodp.kernels.kernel import Array
from geodp.kernels.lanes import WIDTH, both, choose, gather, load, root, spread, store
from geodp.kernels.loop import compiled, give, keep, present
from geodp.kernels.single import Single
from geodp.spaces.batch import length

_TIME = 0.99e-6  # below what ``contains`` allows
_TINY, _HUGE = 1e-280, 1e280


@lru_cache(maxsize=32)
def _logs_of(dim: int) -> Any:
    """Its base holds x, its direction u, |x|, x0, √k and 1/√k, for curvature -1."""
    stride = dim + 1
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
        a, x0 = base[2 * dim], base[2 * dim + 1]
        scale, radius = base[2 * dim + 2], base[2 * dim + 3]
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // stride, count)
            b2, gap = spread(0.0), spread(0.0)
            for k in range(dim):
                y = gather(x, at * stride + 1 + k, stride) / radius
                store(acc, (work + k) * WIDTH, y)
                b2 = b2 + y * y
                gap = gap + (y - base[k]) * (y + base[k])
            ok = both(ok, both(spread(_TINY) < b2, b2 < _HUGE))
            b, y0 = root(b2), root(b2 + 1.0)
            off = gather(x, at * stride, stride) * scale / y0 - 1.0
            ok = both(ok, off * off <= _TIME * _TIME)
            gap = gap / (b + a)
            rise = gap * ((b + a) / (b * x0 + y0 * a))
            near = spread(a) <= b * 2.0
            half = spread(0.0)
            if a > 0.0:
                for k in range(dim):
                    y, u = load(acc, (work + k) * WIDTH), base[dim + k]
                    close = (y - base[k]) / b - u * (gap / b)
                    lean = choose(near, close, y / b - u)
                    store(acc, (work + k) * WIDTH, lean)
                    half = half + lean * lean
                half = half * 0.25
                front = rise - b * half * (2.0 * x0)
                size = spread(0.0)
                for k in range(dim):
                    lean, u = load(acc, (work + k) * WIDTH), base[dim + k]
                    image = front * u + b * (lean + half * (2.0 * u))
                    store(acc, (work + k) * WIDTH, image)
                    size = size + image * image
            else:
                size = b2
            # sinh²(ρ/2): of the difference of the distances from the origin, and of the directions
            chord = rise * rise / ((root(rise * rise + 1.0) + 1.0) * 2.0) + b * half * a
            rho = log(root(chord) + root(chord + 1.0)) * (2.0 * radius)
            stretch = rho / (root(size) + 1e-160)
            square = rho * rho
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * (dim + 1)
            for k in range(dim):
                give(acc, rows, place, k, load(acc, (work + k) * WIDTH) * stretch, unit, ok)
            give(acc, rows, place, dim, square, unit2, ok)

    return run


def hyperbolic(dim: int, k: float) -> Single:
    """The kernel of ``Hyperbolic`` of curvature ``-k``."""
    root_k, radius = math.sqrt(k), 1.0 / math.sqrt(k)

    def base(p: Array) -> Array:
        x = p[:, 1:] / radius
        a = length(x)[:, None]
        u = np.divide(x, a, out=np.zeros_like(x), where=a > 0)
        tail = np.broadcast_to([root_k, radius], (len(p), 2))
        return np.concatenate([x, u, a, np.hypot(a, 1.0), tail], axis=1)

    hessian = partial(hessians.curved, dim, -k)
    return Single(dim + 1, dim, _logs_of(dim), base, dim, hessian)
