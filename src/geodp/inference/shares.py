"""How an inference divides its promise among the numbers that it releases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from geodp.errors import GuaranteeError, InputError
from geodp.inference.quantiles import hotelling_quantile
from geodp.noise.strategies import Gaussian
from geodp.privacy.families import ratio_for
from geodp.privacy.guarantees import ApproxDP, GaussianDP, Guarantee
from geodp.privacy.numbers import decimal, exact
from geodp.spaces.base import Space
from geodp.statistics.domain import Ball
from geodp.statistics.sensitivity import mean_sensitivity
from geodp.statistics.tangent_moments import MeanHessian, TangentCovariance, View

PARTS = ("mean", "covariance", "hessian", "variance", "fourth", "replaced")
REPLACED = Fraction(1, 100)
VARIANCE, FOURTH = Fraction(6, 100), Fraction(3, 100)


def needed_parts(space: Space) -> tuple[str, ...]:
    """What a region needs: no Hessian on a flat space."""
    return PARTS[:2] if space.is_flat else PARTS[:3]


def additive(promise: Guarantee) -> Guarantee:
    """The promise in a notion that adds without loss: (ε, δ) through the Gaussian's μ.

    A composition that is μ-GDP is (ε, δ)-DP for the largest μ with δ_μ(ε) <= δ.
    """
    if not isinstance(promise, ApproxDP):
        return promise
    ratio = ratio_for(Gaussian(), 1, promise)
    digits = 10**12
    return GaussianDP(Fraction(int(ratio * digits), digits))


def checked_shares(given: Mapping[str, Any], space: Space) -> dict[str, Fraction]:
    """Shares as exact fractions; they cover what a region needs and do not exceed the whole."""
    if not isinstance(given, Mapping) or not set(given) <= set(PARTS):
        raise InputError(f"The split gives shares to some of {', '.join(PARTS)}.")
    try:
        shares = {name: exact(given[name], name) for name in PARTS if name in given}
    except GuaranteeError as error:
        raise InputError("Each share of the split is a number between 0 and 1.") from error
    missing = [name for name in needed_parts(space) if name not in shares]
    if missing:
        raise InputError(f"A region on {space.spec} needs a share for: {', '.join(missing)}.")
    if space.is_flat and "hessian" in shares:
        raise InputError("On a flat space the Hessian is known: leave it out of the split.")
    if ("variance" in shares) != ("fourth" in shares):
        raise InputError("The variance's interval needs shares for variance and fourth, or none.")
    if sum(shares.values()) > 1:
        raise InputError("The shares of the split add up to more than 1.")
    return shares


def promises(promise: Guarantee, shares: Mapping[str, Fraction]) -> dict[str, Guarantee]:
    """Each part's promise; together they never exceed ``promise``."""
    parts: dict[str, Guarantee] = {}
    rest, left = promise, Fraction(1)
    for name, share in shares.items():
        if share == left:
            parts[name] = rest
            break
        parts[name], rest = rest.split(share / left)
        left -= share
    return parts


def default_shares(
    ball: Ball, n: int, promise: Guarantee, replaced: Fraction, spread: float | None = None
) -> dict[str, Fraction]:
    """The split with the smallest predicted region, from public facts alone.

    Predicted for records spread over half the ball, or as far as ``spread``: the volume of a region
    with the noise of the mean, and the quantile that noisy covariances cost. The variance takes
    9 %, the share of replaced records ``replaced``.
    """
    whole = 1 - VARIANCE - FOURTH - replaced
    names = needed_parts(ball.space)
    grid = _simplex(len(names))
    predicted = _Prediction.of(ball, n, promise, spread)
    worth = [predicted.log_square([float(whole * x) for x in s]) for s in grid]
    best = grid[int(np.argmin(worth))]
    shares = {name: Fraction(decimal(whole * s)) for name, s in zip(names, best, strict=True)}
    shares |= {"variance": VARIANCE, "fourth": FOURTH}
    return shares | ({"replaced": replaced} if replaced else {})


def predicted_radius(
    ball: Ball,
    n: int,
    split: Mapping[str, Guarantee],
    confidence: float,
    spread: float | None = None,
) -> float:
    """The region's radius that the choice of the split predicts, for records spread over half the
    ball, or as far as ``spread``: an estimate from public facts."""
    names = needed_parts(ball.space)
    each = [_Prediction.of(ball, n, split[name], spread) for name in names]
    merged = replace(
        each[0],
        covariance=each[1].covariance,
        hessian=each[2].hessian if len(each) > 2 else 0.0,
    )
    return math.exp(merged.log_square([1.0] * len(names), confidence) / 2)


@final
@dataclass(frozen=True)
class _Prediction:
    """What a split makes of the region, for records spread over half the ball: deviations of the
    noise at the whole promise."""

    dim: int
    n: int
    power: float  # a part's noise at the share s is that at the whole over s to this power
    guess: float
    mean: float
    covariance: float
    hessian: float = 0.0
    widest: float = 0.0

    @classmethod
    def of(cls, ball: Ball, n: int, promise: Guarantee, spread: float | None = None) -> _Prediction:
        space, strength = ball.space, _strength(promise)
        power = 1.0 if promise.notion == "pure" else 0.5
        length = ball.radius / 2 if spread is None else min(ball.radius / 2, spread)
        guess = length**2 / space.dim
        mean = mean_sensitivity(space, ball.reach, n) / strength
        view = View.of(ball, ball.center)
        covariance = TangentCovariance(ball, view, spread).sensitivity(n) / strength
        first = cls(space.dim, n, power, guess, mean, covariance)
        if space.is_flat:
            return first
        hessian = MeanHessian(ball, view)
        low, high = hessian.bounds
        return replace(first, hessian=hessian.sensitivity(n) / strength, widest=(high - low) / 2)

    def log_square(self, shares: Sequence[float], confidence: float = 0.95) -> float:
        """log of the region's expected squared radius."""
        n, d = self.n, self.dim
        blur = self.mean / shares[0] ** self.power
        covariance = self.covariance / shares[1] ** self.power
        total = (self.guess + covariance) / n + blur**2
        weight = self.guess / n / total
        shaky = weight**2 / (n - 1) + (covariance / n / total) ** 2 / 2
        if len(shares) > 2:
            deviation = self.hessian / shares[2] ** self.power
            shaky += 2 * (weight * min(deviation, self.widest)) ** 2
        dof = max(1 / shaky, d + 3)
        return math.log(total) + math.log(hotelling_quantile(confidence, d, dof))


def _strength(promise: Guarantee) -> float:
    """Sensitivity over scale at the whole promise, near enough for a choice."""
    numbers = {name: float(x) for name, x in vars(promise).items()}
    if promise.notion == "gdp":
        return numbers["mu"]
    if promise.notion == "zcdp":
        return math.sqrt(2 * numbers["rho"])
    if promise.notion == "renyi":
        return math.sqrt(2 * numbers["epsilon"] / numbers["alpha"])
    return numbers["epsilon"]


def _simplex(parts: int) -> list[tuple[Fraction, ...]]:
    """Shares in steps of 1/20 that sum to one, each at least 1/20."""
    steps = 20
    if parts == 2:
        return [(Fraction(i, steps), Fraction(steps - i, steps)) for i in range(1, steps)]
    return [
        (Fraction(i, steps), Fraction(j, steps), Fraction(steps - i - j, steps))
        for i in range(1, steps - 1)
        for j in range(1, steps - i)
    ]
