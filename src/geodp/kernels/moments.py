"""Sums of powers of distances and of products of coordinates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from geodp.kernels.jacobi import ROOT2
from geodp.kernels.lanes import WIDTH, choose, load, root, spread, store
from geodp.kernels.loop import gain, reducer
from geodp.kernels.reduce import Compiled, Reducer


@lru_cache(maxsize=64)
def _powers_of(dim: int, half: int) -> Any:
    @reducer
    def run(
        rows: Any, count: int, parameter: float, unit: float, acc: Any, work: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            square = load(rows, (start // WIDTH * (dim + 1) + dim) * WIDTH)
            value = square
            for _ in range(half - 1):
                value = value * square
            gain(acc, 0, value, unit)

    return run


@lru_cache(maxsize=32)
def _products_of(dim: int) -> Any:
    """Of coordinates whose vector is cut at the length ``parameter``."""

    @reducer
    def run(
        rows: Any, count: int, parameter: float, unit: float, acc: Any, work: Any, left: Any
    ) -> None:
        for start in range(0, count, WIDTH):
            place = start // WIDTH * (dim + 1)
            square = spread(0.0)
            for i in range(dim):
                z = load(rows, (place + i) * WIDTH)
                square = square + z * z
            length = root(square)
            factor = choose(parameter < length, parameter / length, spread(1.0))
            index = 0
            for i in range(dim):
                z = load(rows, (place + i) * WIDTH) * factor
                store(rows, (place + i) * WIDTH, z)
                for j in range(i):
                    gain(acc, index, z * load(rows, (place + j) * WIDTH) * ROOT2, unit)
                    index += 1
                gain(acc, index, z * z, unit)
                index += 1

    return run


def distances(dim: int, power: int) -> Reducer:
    """``sum rho^power``, of an even power."""
    return Compiled(1, _powers_of(dim, power // 2))


def products(dim: int, spread: float = np.inf) -> Reducer:
    """``sum u u^T`` as the orthonormal vech, vectors longer than ``spread`` cut to it."""
    return Compiled(dim * (dim + 1) // 2, _products_of(dim), spread)
