"""The inverse of composition: how much noise each of k equal releases needs for a total."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import final

from geodp.errors import GuaranteeError, InputError
from geodp.noise.base import Noise
from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import noise_named
from geodp.privacy.compose import compose
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.gaussian import GaussianProfile
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
from geodp.privacy.pure import PureProfile
from geodp.privacy.solve import laplace_ratio
from geodp.privacy.spherical_solve import spherical_ratio

_NEAR = (3e-4, 1e-3, 4e-3, 2e-2, 0.1)  # below the float solution, tried in turn
_CLOSE = 2e-5  # relative: how near to the largest ratio the search stops
_STEPS = 40


def share_of(noise: Noise | str, dim: int, guarantee: Guarantee, releases: int) -> Fraction:
    """The largest certified sensitivity/scale at which ``releases`` equal releases keep a promise.

    Pure ε, Rényi ε̄ and ρ are divided by k, μ² too. (ε, δ): Gaussian noise by way of GDP; every
    other law by its certified loss distribution, within 2e-5 of what that allows for the ℓ2-Laplace
    and within 1e-3 for others, which take longer to certify. Raises GuaranteeError when the law
    cannot keep the promise, InputError for a bad number of releases.

    >>> float(share_of("gaussian", 3, GaussianDP(1), 100))
    0.1
    """
    if isinstance(releases, bool) or not isinstance(releases, int) or releases < 1:
        raise InputError("The number of releases must be an integer of at least one.")
    strategy = noise_named(noise) if isinstance(noise, str) else noise
    if releases == 1 or not isinstance(guarantee, ApproxDP):
        return ratio_for(strategy, dim, equal_part(guarantee, releases))
    single = profile_for(strategy, dim, ratio_for(strategy, dim, guarantee))
    if isinstance(single, GaussianProfile):  # μ² adds and says all
        return root_down(ratio_for(strategy, dim, guarantee) ** 2 / releases)
    return _searched(strategy, dim, guarantee, releases)


def equal_part(guarantee: Guarantee, releases: int) -> Guarantee:
    """What each of k equal releases may promise for their total, by adding alone; for (ε, δ) that
    wastes much.

    >>> equal_part(GaussianDP(1), 4)
    GaussianDP(mu=0.5)
    """
    return guarantee if releases == 1 else _PARTS[guarantee.notion](guarantee, releases)


def equal_shares(guarantee: Guarantee, releases: int) -> tuple[Guarantee, ...]:
    """Promises for each of k equal releases of any mechanism, by each of which the total is kept.

    Where promises add, one; for (ε, δ) a Gaussian DP and a pure one, by their exact compositions.

    >>> equal_shares(ApproxDP(1, "1e-5"), 4)
    (GaussianDP(mu=0.134025), PureDP(epsilon=0.250023))
    """
    if releases == 1 or not isinstance(guarantee, ApproxDP):
        return (equal_part(guarantee, releases),)
    mu = share_of("gaussian", 1, guarantee, releases)
    return GaussianDP(_short(mu)), PureDP(_short(_pure_share(guarantee, releases)))


def noise_share(noise: Noise, dim: int, guarantee: Guarantee, releases: int) -> Guarantee:
    """The promise for each of k equal releases of one noise at which their total is kept.

    The ratio of ``share_of``, in the notion that says most: GDP for the Gaussian, pure ε for a law
    that has one, else a pair (ε, δ) of its profile, rounded down. δ(ε) grows with the ratio, so a
    smaller pair needs no larger ratio.
    """
    if not isinstance(guarantee, ApproxDP):
        return equal_part(guarantee, releases)
    ratio = share_of(noise, dim, guarantee, releases)
    profile = profile_for(noise, dim, ratio)
    if isinstance(profile, GaussianProfile):
        return GaussianDP(_short(root_down(profile.square)))
    if "pure" in profile.routes():
        return PureDP(_short(profile.pure_upper() * (1 - Fraction(1, 10**12))))
    epsilon = _short(Fraction(profile.epsilon(guarantee.delta)))
    return ApproxDP(epsilon, _short(profile.delta_lower(epsilon)))


def _short(number: Fraction) -> Fraction:
    """Six significant digits, rounded down: at most 1e-5 relative is lost, and it can be typed."""
    digits = 6 - math.floor(math.log10(number)) - 1
    unit = Fraction(10) ** -digits
    return math.floor(number / unit) * unit


@lru_cache(maxsize=256)
def _pure_share(promise: ApproxDP, releases: int) -> Fraction:
    start = float_down(laplace_ratio(promise)) / math.sqrt(releases)
    return largest_ratio(PureProfile, promise, releases, start)


@lru_cache(maxsize=256)
def _searched(noise: Noise, dim: int, promise: ApproxDP, releases: int) -> Fraction:
    law = noise.law(dim)
    profile_at = partial(profile_for, noise, dim)
    start = _estimate(law, promise, releases)
    if law.shape == dim - 1 and law.power == 1:
        return largest_ratio(profile_at, promise, releases, start)
    for step in _NEAR:
        ratio = Fraction(start * (1 - step))
        if compose([profile_at(ratio)] * releases).keeps(promise.epsilon, promise.delta):
            return ratio
    raise GuaranteeError(
        "No scale of this law could be certified for so many releases; use L2Laplace or Gaussian."
    )


def _estimate(law: SphericalLaw, promise: ApproxDP, releases: int) -> float:
    from geodp.privacy.spherical_estimates import estimated_ratio

    try:
        return estimated_ratio(law, promise, releases)
    except (ArithmeticError, ValueError):
        return float_down(spherical_ratio(law, promise)) / math.sqrt(releases)


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
        raise GuaranteeError("No scale keeps this promise for so many releases.")
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


_PARTS: dict[str, Callable[..., Guarantee]] = {
    "pure": lambda total, k: PureDP(total.epsilon / k),
    "approx": lambda total, k: ApproxDP(total.epsilon / k, total.delta / k),
    "gdp": lambda total, k: GaussianDP(root_down(total.mu**2 / k)),
    "renyi": lambda total, k: RenyiDP(total.alpha, total.epsilon / k),
    "zcdp": lambda total, k: ZCDP(total.rho / k),
}
