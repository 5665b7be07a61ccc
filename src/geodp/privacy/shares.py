"""The inverse of composition: how much noise each of k equal releases needs for a total."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import final

from geodp.errors import GuaranteeError, InputError
from geodp.privacy.compose import compose
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from geodp.privacy.numbers import float_down, root_down
from geodp.privacy.profile import Profile

_CLOSE = 2e-5  # relative: how near to the largest ratio the search stops
_STEPS = 40


def share_of(noise: str, dim: int, guarantee: Guarantee, releases: int) -> Fraction:
    """The largest certified sensitivity/scale at which ``releases`` equal releases keep a promise.

    Pure ε, Rényi ε̄ and ρ are divided by k, μ² too. (ε, δ): Gaussian noise by way of GDP; every
    other law by its certified loss distribution, within 2e-5 of what that allows. Raises
    GuaranteeError when the law cannot keep the promise, InputError for a bad number of releases.

    >>> float(share_of("gaussian", 3, GaussianDP(1), 100))
    0.1
    """
    if isinstance(releases, bool) or not isinstance(releases, int) or releases < 1:
        raise InputError("the number of releases must be an integer of at least one.")
    if releases == 1:
        return ratio_for(noise, dim, guarantee)
    return _SHARES[guarantee.notion](noise, dim, guarantee, releases)


def _approx(noise: str, dim: int, promise: ApproxDP, releases: int) -> Fraction:
    single = ratio_for(noise, dim, promise)
    if noise == "gaussian":  # μ² adds and says all
        return root_down(single**2 / releases)
    return _searched(noise, dim, promise, releases)


@lru_cache(maxsize=256)
def _searched(noise: str, dim: int, promise: ApproxDP, releases: int) -> Fraction:
    start = float_down(ratio_for(noise, dim, promise)) / math.sqrt(releases)
    return largest_ratio(partial(profile_for, noise, dim), promise, releases, start)


def largest_ratio(
    profile_at: Callable[[Fraction], Profile], promise: ApproxDP, releases: int, start: float
) -> Fraction:
    """The largest ratio, to 2e-5, at which ``releases`` copies of ``profile_at(ratio)`` keep the
    promise; δ must grow with the ratio. ``start``: a guess. The result has been certified."""

    def excess(ratio: float) -> float:
        """log(ε spent/ε allowed) at the total δ; at most zero is certified to keep the promise."""
        whole = compose([profile_at(Fraction(ratio))] * releases)
        kept = whole.keeps(promise.epsilon, promise.delta)
        try:
            spent = whole.epsilon(promise.delta)
        except GuaranteeError:
            return math.inf
        if not kept:
            return max(1e-300, math.log(spent / promise.epsilon))
        return min(0.0, math.log(spent / promise.epsilon)) if spent > 0 else -math.inf

    return Fraction(_root(excess, start))


def _root(excess: Callable[[float], float], start: float) -> float:
    bracket = _Bracket(0.0, -math.inf, math.inf, math.inf)
    ratio = start
    for _ in range(_STEPS):
        value = excess(ratio)
        bracket = bracket.narrowed(ratio, value)
        if bracket.low > 0 and bracket.high <= bracket.low * (1 + _CLOSE):
            break
        if -_CLOSE / 2 <= value <= 0:
            break
        ratio = bracket.next(ratio, value)
    if not bracket.low:
        raise GuaranteeError("no scale keeps this promise for so many releases.")
    return bracket.low


@final
@dataclass(frozen=True)
class _Bracket:
    """``low`` keeps the promise and ``high`` does not, each with its excess."""

    low: float
    below: float
    high: float
    above: float

    def narrowed(self, ratio: float, value: float) -> _Bracket:
        if value <= 0:
            return _Bracket(ratio, value, self.high, self.above)
        return _Bracket(self.low, self.below, ratio, value)

    def next(self, ratio: float, value: float) -> float:
        """Where the secant, or a slope of one, says that a little less than nothing is left."""
        if not self.low or not math.isfinite(self.high):
            step = -value if math.isfinite(value) else math.copysign(2.0, -value)
            return ratio * math.exp(max(-2.0, min(2.0, step + math.copysign(_CLOSE, -value))))
        width = math.log(self.high / self.low)
        slope = (self.above - self.below) / width
        if not math.isfinite(slope):
            return self.low * math.exp(width / 2)
        aim = self.low * math.exp((-self.below - _CLOSE / 4) / slope)
        edge = min(width / 8, _CLOSE / 2)
        return min(max(aim, self.low * math.exp(edge)), self.high * math.exp(-edge))


def _pure(noise: str, dim: int, promise: PureDP, releases: int) -> Fraction:
    return ratio_for(noise, dim, PureDP(promise.epsilon / releases))


def _gdp(noise: str, dim: int, promise: GaussianDP, releases: int) -> Fraction:
    return ratio_for(noise, dim, GaussianDP(root_down(promise.mu**2 / releases)))


def _renyi(noise: str, dim: int, promise: RenyiDP, releases: int) -> Fraction:
    return ratio_for(noise, dim, RenyiDP(promise.alpha, promise.epsilon / releases))


def _zcdp(noise: str, dim: int, promise: ZCDP, releases: int) -> Fraction:
    return ratio_for(noise, dim, ZCDP(promise.rho / releases))


_SHARES: dict[str, Callable[..., Fraction]] = {
    "pure": _pure,
    "approx": _approx,
    "gdp": _gdp,
    "renyi": _renyi,
    "zcdp": _zcdp,
}
