"""From zCDP to Gaussian DP, with a loss, by a proof that a computer carries out.

A pair is μ-GDP when δ(ε) ≤ δ_μ(ε) for every ε ≥ 0, in both orders of the pair. Here δ(ε) ≤ B(ε),
the non-increasing conversion of ρ-zCDP, and δ_μ decreases, so on a cell [a, b] the one comparison
B(a) ≤ δ_μ(b) is enough. Cells are walked from 0 to some E; [E, ∞) is the tail below.

Tail. Write Z ~ N(μ²/2, μ²), h = μ²/max(E, μ) (any h > 0 is sound), x = (ε + h − μ²/2)/μ. Then
δ_μ(ε) = E(1 − e^{ε−Z})₊ ≥ (1 − e^{−h}) P[Z > ε + h] ≥ (1 − e^{−h}) e^{−x²/2}/(2x√(2π)) for x ≥ 1,
and at the order α = 1 + (ε−ρ)/(2ρ), ε > ρ, B(ε) ≤ e^{−1−(ε−ρ)²/4ρ}/(α−1). So for ε ≥ E it is
enough that f(ε) = (ε−ρ)²/4ρ − x²/2 − log(2x√(2π)) + log(1−e^{−h}) + 1 + log((E−ρ)/2ρ) ≥ 0. For
μ² > 2ρ f is convex, thus f(E) ≥ 0 and f′(E) ≥ 0 prove it for all of them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, lower
from geodp.privacy.conversions import zcdp_delta
from geodp.privacy.gaussian import gaussian_delta

_LEAST, _MOST = Fraction(1, 10**9), Fraction(16)
_ACCURACY = Fraction(1, 1000)
_SHORTEST = Fraction(1, 2**14)  # of a cell, in units of √ρ


@lru_cache(maxsize=256)
def mu_squared_of_zcdp(rho: Fraction) -> Fraction:
    """A certified μ² such that every ρ-zCDP mechanism is μ-GDP, for 1e-9 ≤ ρ ≤ 16.

    Within 0.3 % of the least that B allows: the loss is a factor 1.36 over √(2ρ) for small ρ,
    1.41 at ρ = 1/2 and 1.83 at ρ = 16. Raises
    GuaranteeError for other ρ, where the proof is not carried out.
    """
    if not _LEAST <= rho <= _MOST:
        raise GuaranteeError(
            "The conversion from zCDP to GDP is proved for rho from 1e-9 to 16 only; "
            "ask for epsilon at a delta."
        )
    low, high = Fraction(2), Fraction(4)  # of μ²/ρ
    while not _proved(rho, high * rho):
        low, high = high, 2 * high
    while high - low > _ACCURACY * high:
        middle = (low + high) / 2
        if _proved(rho, middle * rho):
            high = middle
        else:
            low = middle
    return high * rho


def _proved(rho: Fraction, square: Fraction) -> bool:
    unit = Fraction(float(rho) ** 0.5)
    left, width = Fraction(0), unit / 8
    while not tail_proved(rho, square, left):
        bound = zcdp_delta(rho, left)
        while _gaussian_lower(square, left + width) < bound:
            width /= 2
            if width < _SHORTEST * unit:
                return False
        left += width
        width *= 2
    return True


def _gaussian_lower(square: Fraction, epsilon: Fraction) -> Fraction:
    return lower(lambda: gaussian_delta(square, epsilon))


def tail_proved(rho: Fraction, square: Fraction, start: Fraction) -> bool:
    """Whether δ(ε) ≤ δ_μ(ε), μ² = ``square``, is proven of every ρ-zCDP pair from ``start`` on."""
    if start <= rho or square <= 2 * rho:
        return False
    from flint import arb

    mu, r, e = ball(square).sqrt(), ball(rho), ball(start)
    h = ball(square) / e.max(mu)
    x = (e + h - ball(square) / 2) / mu
    if not x >= 1:
        return False
    value = (
        (e - r) ** 2 / (4 * r)
        - x**2 / 2
        - (2 * x * (2 * arb.pi()).sqrt()).log()
        + (-(-h).expm1()).log()
        + 1
        + ((e - r) / (2 * r)).log()
    )
    slope = (e - r) / (2 * r) - x / mu - 1 / (x * mu)
    return bool(value >= 0) and bool(slope >= 0)
