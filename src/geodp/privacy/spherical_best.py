"""The spherical law with the least error for a promise: a float search, never a proof.

What is found is calibrated like any other law: a poor search would cost accuracy, not privacy.
The promise restricts the family: pure ε needs shape = dim − 1 and power ≤ 1. GDP and zCDP need
shape = dim − 1 and power ≤ 2, and between powers 1 and 2 the error was monotone wherever it was
computed: the two ends are compared. So they are for Rényi DP at one order, where to certify another
member takes half a minute. For several (ε, δ)-releases the shape is dim − 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from geodp.errors import GuaranteeError
from geodp.noise.base import Noise
from geodp.noise.strategies import Gaussian, L2Laplace, SphericalGamma
from geodp.privacy.families import ratio_for
from geodp.privacy.guarantees import ApproxDP, Guarantee
from geodp.privacy.shares import equal_part
from geodp.privacy.spherical_estimates import estimated_ratio
from geodp.privacy.spherical_optima import tabulated

_WORTH = 1e-3  # relative gain in length below which a law without parameters is taken
_WORTH_COMPOSED = 1e-2  # the same for several releases, where other laws take seconds to certify
_POWERS = (0.15, 60.0)
_STARTS = tuple((pole, power) for pole in (0.0, 0.15, 0.6) for power in (0.7, 1.0, 1.5, 3.0, 6.0))

Error = Callable[[float, float], float]  # of pole and power


@lru_cache(maxsize=256)
def best_noise(dim: int, guarantee: Guarantee, moment: int, releases: int = 1) -> SphericalGamma:
    """The law of least E R^moment (1: mean length, 2: mean squared error) that keeps a promise.

    For several equal releases it keeps the promise in total. For common (ε, δ) the search was done
    beforehand, and ``spherical_optima`` holds what it found. The Gaussian (power 2) or the
    ℓ2-Laplace (power 1) where no other member is clearly better.

    >>> from geodp.privacy.guarantees import GaussianDP
    >>> best_noise(3, GaussianDP(1), 2)
    SphericalGamma(shape=2.0, power=2.0)
    >>> 5 < best_noise(2, ApproxDP(0.1, 0.1), 2).power < 6
    True
    """
    known = tabulated(dim, guarantee, moment) if releases == 1 else None
    return searched(dim, guarantee, moment, releases) if known is None else known


def searched(dim: int, guarantee: Guarantee, moment: int, releases: int) -> SphericalGamma:
    """The same by the search alone, without the table of common promises."""
    composed = isinstance(guarantee, ApproxDP) and releases > 1
    each = guarantee if composed else equal_part(guarantee, releases)
    count = releases if composed else 1

    def length(noise: Noise, ratio: float) -> float:
        law = noise.law(dim)
        mean = law.mean_radius() if moment == 1 else math.sqrt(law.mean_square())
        return math.log(mean / ratio) if ratio > 0 and mean < math.inf else math.inf

    def plain(noise: Noise) -> float:
        """By certified scales, which the winner needs anyway; for several releases by estimates."""
        try:
            if composed:
                return length(noise, estimated_ratio(noise.law(dim), each, count))
            return length(noise, float(ratio_for(noise, dim, each)))
        except (GuaranteeError, ArithmeticError, ValueError):
            return math.inf

    def error(pole: float, power: float) -> float:
        if not (0 <= pole < dim and _POWERS[0] <= power <= _POWERS[1]):
            return math.inf
        noise = SphericalGamma(_shape(dim, pole), power)
        try:
            return length(noise, estimated_ratio(noise.law(dim), each, count))
        except (GuaranteeError, ArithmeticError, ValueError):
            return math.inf

    least, simple = min((plain(Gaussian()), 2.0), (plain(L2Laplace()), 1.0))
    with np.errstate(all="ignore"):
        found = _SEARCHES["composed" if composed else each.notion](error)
        if found is not None:
            noise = SphericalGamma(_shape(dim, _short(found[0])), _short(found[1]))
            if least - plain(noise) > (_WORTH_COMPOSED if composed else _WORTH):
                return noise
    return SphericalGamma(dim - 1.0, simple)


# ---- where each promise has members -------------------------------------------------------------

Search = Callable[[Error], tuple[float, float] | None]


def _pure(error: Error) -> tuple[float, float] | None:
    return 0.0, _power(error, (0.15, 0.25, 0.5, 0.75, 1.0))


def _composed(error: Error) -> tuple[float, float] | None:
    return 0.0, _power(error, (0.7, 1.0, 1.3, 1.6, 2.0, 2.5, 3.5, 6.0))


def _approx(error: Error) -> tuple[float, float] | None:
    """Nelder and Mead from the best of a grid, in (√pole, log power): no edge at pole 0."""
    from scipy.optimize import minimize

    start = min(_STARTS, key=lambda point: error(*point))
    if error(*start) == math.inf:
        return None
    at = np.array([math.sqrt(start[0]), math.log(start[1])])
    found = minimize(
        lambda x: error(float(x[0]) ** 2, math.exp(float(x[1]))),
        at,
        method="Nelder-Mead",
        options={
            "initial_simplex": at + np.array([[0, 0], [0.15, 0.1], [0.05, -0.2]]),
            "xatol": 1e-3,
            "fatol": 1e-6,
            "maxfev": 150,
        },
    )
    pole, power = float(found.x[0]) ** 2, math.exp(float(found.x[1]))
    return (0.0, power) if error(0.0, power) <= error(pole, power) + 1e-5 else (pole, power)


def _power(error: Error, grid: tuple[float, ...]) -> float:
    """The power of least error without a pole: the best of a grid, then between its neighbours."""
    from scipy.optimize import minimize_scalar

    values = [error(0.0, power) for power in grid]
    best = int(np.argmin(values))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(
        lambda x: error(0.0, math.exp(x)),
        bounds=tuple(map(math.log, ends)),
        method="bounded",
        options={"xatol": 2e-3},
    )
    return math.exp(float(found.x)) if found.fun < values[best] else grid[best]


def _none(_: Error) -> None:
    return None


_SEARCHES: dict[str, Search] = {
    "pure": _pure,
    "approx": _approx,
    "composed": _composed,
    "gdp": _none,
    "zcdp": _none,
    "renyi": _none,
}


def _short(x: float) -> float:
    """Four significant digits: the same law on every machine."""
    return float(f"{x:.4g}")


def _shape(dim: int, pole: float) -> float:
    return round(dim - 1 - pole, 10)
