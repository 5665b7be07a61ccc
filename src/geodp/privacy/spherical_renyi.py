"""Rényi divergences of a spherical law and its shift, and the zCDP of the ℓ2-Laplace.

Power 1 without a pole, in every dimension T: with coordinates r ± t the integral of
φ(r)^α φ(t)^{1−α} factorises, and with ν = T/2 − 1, b = α − 1/2

    e^{(α−1) D_α} = (s/4) (2b)^{−ν} [2 K_{ν+1}(s/2) I_ν(bs) + K_ν(s/2) I_{ν+1}(bs)/b].

Any other law: e^{(α−1) D_α} = 1 + α(α−1) ∫₀^∞ (e^{(α−1)ε} + e^{−αε}) δ(ε) dε, δ below its chords in
e^ε between certified values. Proofs: docs/proofs/profiles.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, upper
from geodp.privacy.spherical_certified import delta_enclosure
from geodp.privacy.spherical_float import FloatShift, delta_estimate
from geodp.privacy.spherical_gdp import mu_squared, pure_loss
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    from geodp.privacy.spherical_shift import Shift

_SHARP = 8e-5  # relative error allowed to the chords
_WIDTH = Fraction(1, 10**5)
_BITS = 128
_MOST_CELLS = 600


def largest_order(shift: Shift) -> Fraction | None:
    """The order from which on the divergence is infinite; None where it never is."""
    if shift.pole == 0:
        return None
    return 1 + (shift.shape + 1) / shift.pole


def check_order(shift: Shift, order: Fraction) -> None:
    """GuaranteeError where the divergence of this order is infinite."""
    most = largest_order(shift)
    if most is not None and order >= most:
        raise GuaranteeError(
            "This noise's density has a pole at the centre: its Rényi divergence is finite only "
            f"for orders below {float(most):.6g}; ask for a lower order, or for epsilon at a delta."
        )


@lru_cache(maxsize=4096)
def renyi_divergence(shift: Shift, order: Fraction) -> Fraction:
    """A certified upper bound of D_α, α = ``order`` > 1; GuaranteeError where it is infinite."""
    check_order(shift, order)
    if shift.pole == 0 and shift.power == 2:
        return order * shift.rate * shift.ratio**2
    if shift.pole == 0 and shift.power == 1:
        return upper(lambda: l2_log_moment(shift, order) / ball(order - 1))
    moment = _moment(shift, order)
    return upper(lambda: ball(moment).log1p() / ball(order - 1))


def l2_log_moment(shift: Shift, order: Fraction) -> arb:
    """(α−1) D_α of the ℓ2-Laplace as a ball at the working precision."""
    from flint import arb

    s, b = ball(shift.rate * shift.ratio), ball(order - Fraction(1, 2))
    nu = arb(shift.dim) / 2 - 1
    # K e^{s/2} and I e^{−bs} stay in range
    wide = (b - arb(0.5)) * s
    k, k1 = ((s / 2).bessel_k(nu, True), (s / 2).bessel_k(nu + 1, True))
    i, i1 = ((b * s).bessel_i(nu, True), (b * s).bessel_i(nu + 1, True))
    return wide + (s / 4 * (2 * k1 * i + k * i1 / b)).log() - nu * (2 * b).log()


# ---- zCDP --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def rho(shift: Shift) -> Fraction:
    """A certified ρ with D_α ≤ αρ for all α > 1; the law must be μ-GDP for some μ.

    The least of μ²/2, of randomised response with the same largest loss, and for the ℓ2-Laplace
    of sup D_α/α itself, to 1e-5.
    """
    if shift.power == 2:
        return shift.rate * shift.ratio**2
    if shift.power == 1:
        found = _l2_rho(shift)
        if found is not None:
            return found
    found = mu_squared(shift) / 2
    if shift.is_pure:
        from geodp.privacy.pure import PureProfile

        found = min(found, PureProfile(pure_loss(shift)).rho_upper())
    return found


def _l2_rho(shift: Shift) -> Fraction | None:
    """log E e^{(α−1)L} = (α−1) D_α is convex and 0 at α = 1: a chord above αρ(α−1) nowhere."""
    step = Fraction(1, 1000)
    least = renyi_divergence(shift, 1 + Fraction(1, 10**5))
    loss = shift.rate * shift.ratio
    for slack in (Fraction(1, 10**5), Fraction(1, 10**3), Fraction(1, 10)):
        if _l2_rho_proved(shift, least * (1 + slack), loss, step):
            return least * (1 + slack)
    return None


def _l2_rho_proved(shift: Shift, bound: Fraction, loss: Fraction, step: Fraction) -> bool:
    left = 1 + Fraction(1, 10**5)  # below, D_α ≤ D at this order ≤ bound ≤ α bound
    low = (left - 1) * renyi_divergence(shift, left)
    for _ in range(400):
        if loss <= bound * left:
            return True
        right = left + step
        high = (right - 1) * renyi_divergence(shift, right)
        if _chord_below(bound, left, low, right, high):
            left, low = right, high
            step *= 2
        else:
            step /= 4
            if step < Fraction(1, 10**9):
                return False
    return False


def _chord_below(
    bound: Fraction, left: Fraction, low: Fraction, right: Fraction, high: Fraction
) -> bool:
    """Whether bound·α(α−1) is above the chord on [left, right], exactly."""
    slope = (high - low) / (right - left)
    at = min(max((bound + slope) / (2 * bound), left), right)  # least of the difference
    return bound * at * (at - 1) >= low + slope * (at - left)


# ---- any other law -------------------------------------------------------------------------------


def _moment(shift: Shift, order: Fraction) -> Fraction:
    """At least E e^{(α−1)L} − 1."""
    from geodp.privacy.spherical_tails import Tail

    nodes, _ = _nodes(shift, order)
    values = [delta_enclosure(shift, node, _WIDTH).high for node in nodes]
    if shift.is_pure:
        values[-1] = Fraction(0)
    with working_precision(_BITS):
        alpha = ball(order)
        total = ball(Fraction(0))
        for i in range(len(nodes) - 1):
            total += _chord(alpha, nodes[i], values[i], nodes[i + 1], values[i + 1])
        if not shift.is_pure:
            rest = Tail(shift).renyi_rest(nodes[-1], alpha)
            if rest is None:
                raise _unproved()
            total += rest
        return upper(lambda: alpha * (alpha - 1) * total)


def _chord(alpha: arb, a: Fraction, low: Fraction, b: Fraction, high: Fraction) -> arb:
    """∫ (e^{(α−1)ε} + e^{−αε}) (c + d e^ε) dε over [a, b], the chord of two values."""
    x, y = ball(a).exp(), ball(b).exp()
    slope = (ball(high) - ball(low)) / (y - x)
    level = ball(low) - slope * x

    def primitive(end: Fraction) -> arb:
        e, beta = ball(end), alpha - 1
        first = (beta * e).exp() / beta - (-alpha * e).exp() / alpha
        second = (alpha * e).exp() / alpha - (-beta * e).exp() / beta
        return level * first + slope * second

    return primitive(b) - primitive(a)


def renyi_estimate(shift: Shift, order: Fraction) -> float:
    """D_α in floats."""
    _, integral = _nodes(shift, order)
    alpha = float(order)
    return math.log1p(alpha * (alpha - 1) * integral) / (alpha - 1)


def _nodes(shift: Shift, order: Fraction) -> tuple[list[Fraction], float]:
    """Where to certify δ so that the chords err little, and the integral, in floats."""
    law, alpha = FloatShift.of(shift), float(order)

    @cache
    def f(e: float) -> float:
        return delta_estimate(law, e)

    end = _end(shift, order, f)
    exact_end = pure_loss(shift) if shift.is_pure else Fraction(end)
    total, error = 0.0, 0.0
    heap: list[tuple[float, float, float, float]] = []

    def add(a: float, b: float) -> None:
        nonlocal total, error
        part, bad = _simpson(f, alpha, a, b)
        total, error = total + part, error + bad
        heapq.heappush(heap, (-bad, a, b, part))

    for i in range(8):
        add(end * i / 8, end * (i + 1) / 8)
    while error > _SHARP * total and len(heap) < _MOST_CELLS:
        bad, a, b, part = heapq.heappop(heap)
        total, error = total - part, error + bad
        add(a, (a + b) / 2)
        add((a + b) / 2, b)
    inside = sorted({Fraction(a) for _, a, _, _ in heap})
    return [*(x for x in inside if x < exact_end), exact_end], total


def _simpson(f: Callable[[float], float], alpha: float, a: float, b: float) -> tuple[float, float]:
    """The integral on a cell, and how much the chord adds to it."""
    m = (a + b) / 2
    weight = [math.exp((alpha - 1) * e) + math.exp(-alpha * e) for e in (a, m, b)]
    low, middle, high = f(a), f(m), f(b)
    share = math.expm1(m - a) / math.expm1(b - a)
    chord = low + (high - low) * share
    part = (b - a) / 6 * (weight[0] * low + 4 * weight[1] * middle + weight[2] * high)
    return part, (b - a) * 2 / 3 * weight[1] * max(0.0, chord - middle)


def _end(shift: Shift, order: Fraction, f: Callable[[float], float]) -> float:
    """The largest loss, or an ε from which on the analytic tail adds little."""
    from geodp.privacy.spherical_tails import Tail

    if shift.is_pure:
        return float(pure_loss(shift))
    alpha = float(order)
    end = max(4 * f(0.0), 1e-6)
    size = 0.0
    for _ in range(60):
        size += end / 2 * (math.exp(min((alpha - 1) * end / 2, 600.0)) + 1) * f(end / 2)
        with working_precision(_BITS):
            rest = Tail(shift).renyi_rest(Fraction(end), ball(order))
            if rest is not None and float(rest.upper()) <= _SHARP / 2 * size:
                return end
        end *= 1.25
    raise _unproved()


def _unproved() -> GuaranteeError:
    return GuaranteeError(
        "This Rényi divergence is beyond certified computation: the order is too near the largest "
        "one, or the ratio of sensitivity to scale too extreme; ask for epsilon at a delta."
    )
