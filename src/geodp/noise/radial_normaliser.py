"""Normalisers of the radial laws on SPD(m), as integrals over volume (floats).

By Weyl's denominator formula prod 2 sinh((li - lj)/2) = det exp(rho_j li), so the Gaussian's
integral over ordered eigenvalues is a Pfaffian (de Bruijn 1955). The Laplace kernel is a mixture,
exp(-t/s) = integral of exp(-x t^2/2) times a Levy density in x, so its integral is one more.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from flint import arb

_BITS = 1200


@lru_cache(maxsize=256)
def log_normaliser(kernel: str, size: int, scale: float) -> float:
    """log of the integral of f(distance) over SPD(size), f Laplace or Gaussian.

    >>> round(log_normaliser("gaussian", 1, 1.0), 6)
    0.918939
    """
    return _gaussian(size, scale) if kernel == "gaussian" else _laplace(size, scale)


def _gaussian(size: int, scale: float) -> float:
    from flint import arb, arb_mat

    from geodp.rounding.precision import working_precision

    with working_precision(_BITS):
        s = arb(scale)
        rho = [arb(size - 1 - 2 * i) / 2 for i in range(size)]
        grow = [(s**2 * r**2 / 2).exp() for r in rho]
        odd = size % 2
        side = size + odd
        rows = [[arb(0)] * side for _ in range(side)]
        for i in range(size):
            for j in range(size):
                rows[i][j] = 2 * arb.pi() * s**2 * grow[i] * grow[j]
                rows[i][j] *= (s * (rho[i] - rho[j]) / 2).erf()
            if odd:
                rows[i][size] = (2 * arb.pi()).sqrt() * s * grow[i]
                rows[size][i] = -rows[i][size]
        chamber = arb_mat(rows).det().abs_upper().sqrt()
        return float((chamber * _constant(size)).log())


def _constant(size: int) -> arb:
    """From Lebesgue measure on ordered eigenvalues, weight prod 2 sinh, to volume.

    Vol O(m)/2^m times 2^(m(m-1)/4), since off-diagonal entries count with sqrt 2.
    """
    from flint import arb

    total = arb(1)
    for k in range(1, size + 1):
        total *= 2 * arb.pi() ** (arb(k) / 2) / (arb(k) / 2).gamma()
    return total / arb(2) ** size * arb(2) ** (arb(size * (size - 1)) / 4)


def _laplace(size: int, scale: float) -> float:
    c = 1 / scale
    # x = 1/s^2; integrand in u = log s is smooth and dies off on both sides
    logs = []
    grid = np.linspace(-9.0, 7.0, 321) + math.log(scale)
    for u in grid:
        s = math.exp(u)
        log_levy = math.log(c) - 0.5 * math.log(2 * math.pi) + u - (c * s) ** 2 / 2
        logs.append(log_levy + math.log(2) + _gaussian(size, s))
    top = max(logs)
    step = grid[1] - grid[0]
    return float(top + math.log(sum(math.exp(x - top) for x in logs) * step))
