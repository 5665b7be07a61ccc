"""From Rényi divergences to δ(ε): the bounds, each proven for every order it may be given.

Any order gives a sound bound, so the best one is searched in floats and the bound itself is
evaluated in ball arithmetic at that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, lower, upper
from geodp.privacy.numbers import float_up
from geodp.privacy.search import least

if TYPE_CHECKING:
    from flint import arb


def conversion(order: Fraction, divergence: Fraction, epsilon: Fraction) -> Fraction:
    """At least δ(ε) when the divergence of ``order`` α > 1 is at most ``divergence`` ε̄.

    δ = e^{(α−1)(ε̄−ε)} (1 − 1/α)^α/(α − 1), for every real ε (Canonne, Kamath and Steinke 2020,
    Prop. 12; Balle et al. 2020, Thm 21). At most one is returned.
    """

    def bound() -> arb:
        exponent = ball((order - 1) * (divergence - epsilon))
        return (exponent + ball(order) * (-1 / ball(order)).log1p()).exp() / ball(order - 1)

    try:
        return min(Fraction(1), upper(bound))
    except GuaranteeError:
        return Fraction(1)


def total_variation(divergence: Fraction) -> Fraction:
    """At least δ(0) = TV when the Kullback-Leibler divergence is at most ``divergence``.

    The lesser of √(KL/2) (Pinsker) and √(1 − e^{−KL}) (Bretagnolle and Huber).
    """
    return min(
        Fraction(1),
        upper(lambda: (ball(divergence) / 2).sqrt()),
        upper(lambda: (-(-ball(divergence)).expm1()).sqrt()),
    )


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """At least δ(ε), ε ≥ 0, of every ρ-zCDP pair: the best order's conversion, KL ≤ ρ, and a chord.

    δ is convex in e^ε, so it lies below the chord from the total variation to the conversion.
    """
    start, end, at_end = _chord(rho)
    if epsilon >= end:
        return min(best_conversion(rho, epsilon), start)
    share = lower(lambda: ball(epsilon).expm1() / ball(end).expm1())
    return min(best_conversion(rho, epsilon), start - share * (start - at_end))


def best_conversion(rho: Fraction, epsilon: Fraction) -> Fraction:
    """At least δ(ε), ε ≥ 0, of every ρ-zCDP pair, by the conversion at the best order alone."""
    size, loss = float_up(rho), float_up(epsilon)
    # the derivative in u = α − 1 increases, from −∞ to ∞
    step = least(lambda u: (2 * u + 1) * size - loss - math.log1p(1 / u) >= 0)
    order = 1 + Fraction(step if step is not None else 1.0)
    return conversion(order, order * rho, epsilon)


@lru_cache(maxsize=1024)
def _chord(rho: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """δ(0), an ε, and δ(ε), all from above, of about the steepest chord.

    δ(0) ≤ (e^ε − 1 + 2δ(ε))/(e^ε + 1): the chord from −ε to ε, by symmetry.
    """
    reach = Fraction(math.sqrt(2 * min(float_up(rho), 1e4)) + min(float_up(rho), 1e4))
    found = [(k * reach / 8, best_conversion(rho, k * reach / 8)) for k in range(1, 33)]

    def across(point: tuple[Fraction, Fraction]) -> Fraction:
        return upper(lambda: 1 - 2 * (1 - ball(point[1])) / (1 + ball(point[0]).exp()))

    start = min(total_variation(rho), *(across(point) for point in found))

    def slope(point: tuple[Fraction, Fraction]) -> float:
        return float(point[1] - start) / math.expm1(min(float(point[0]), 700.0))

    end, value = min(found, key=slope)
    return start, end, min(value, start)


def best_order_below(order: Fraction, gap: Fraction) -> Fraction:
    """The order ≤ ``order`` of the least conversion when one ε̄ bounds them all; gap = ε̄ − ε."""
    room = float(max(Fraction(0), min(gap, Fraction(500))))
    if room <= 1e-300:
        return order
    # d/dα = gap + log(1 − 1/α) vanishes at α = 1 + 1/(e^gap − 1)
    return min(order, 1 + Fraction(1 / math.expm1(room)))


def by_symmetry(epsilon: Fraction, delta: Callable[[Fraction], Fraction]) -> Fraction:
    """δ at any ε from a bound for ε ≥ 0 that holds for both orders of the two neighbours.

    δ_{P,Q}(−ε) = 1 − e^{−ε}(1 − δ_{Q,P}(ε)).
    """
    if epsilon >= 0:
        return delta(epsilon)
    other = delta(-epsilon)
    return upper(lambda: ball(other) * ball(epsilon).exp() - ball(epsilon).expm1())
