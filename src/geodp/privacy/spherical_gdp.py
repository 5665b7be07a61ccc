"""The least μ for which a spherical law is μ-GDP, certified over all ε ≥ 0.

δ and δ_μ are convex in x = e^ε. On a cell [a, b] the chord of an upper bound on δ lies above δ, a
tangent of δ_μ below δ_μ; if the tangent is above the chord at both ends, μ is proved there. Cells
run from 0 to the largest loss, or to where ``Tail.gaussian_covers``. (ε ≥ 0 is enough because the
pair is its own mirror image: Dong, Roth and Su 2022, Prop. 2.12 and Cor. 2.13.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, upper, upper_tail
from geodp.privacy.gaussian import gaussian_delta
from geodp.privacy.spherical_certified import FINE, SINGLE, delta_enclosure
from geodp.privacy.spherical_float import FloatShift, delta_estimate
from geodp.privacy.spherical_laplace import factorises, laplace_mu_estimate, laplace_mu_squared
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from geodp.privacy.spherical_shift import Shift

Array = NDArray[np.float64]
_SLACKS = (2e-5, 4e-5, 8e-5, 1e-3, 1e-2)  # tried in turn: relative, above the estimate
_BITS = 128
_SHORTEST = 2.0**-12
_LONGEST = 400  # cells


@lru_cache(maxsize=4096)
def mu_squared(shift: Shift) -> Fraction:
    """A certified μ², within 1e-4 relative of the least; the law must have one."""
    if shift.power == 2:
        return 2 * shift.rate * shift.ratio**2
    if _at_zero(shift):
        found = laplace_mu_squared(shift, delta_enclosure(shift, Fraction(0), FINE).high)
        if found is not None:
            return found
    guess = mu_estimate(FloatShift.of(shift))
    for slack in _SLACKS:
        if not math.isfinite(guess) or guess <= 0:
            break
        square = Fraction(guess * (1 + slack)) ** 2
        if proved(shift, square):
            return square
    if shift.is_pure:  # what randomised response with the same largest loss allows
        from geodp.privacy.pure import PureProfile

        return PureProfile(pure_loss(shift)).mu_squared_upper()
    raise GuaranteeError(
        "No GDP parameter could be certified for this law at so extreme a ratio of sensitivity to "
        "scale; ask for a moderate budget."
    )


def _at_zero(shift: Shift | FloatShift) -> bool:
    """Whether δ(0) ≤ δ_μ(0) is enough (docs/proofs/profiles)."""
    return factorises(shift) and shift.dim >= 3


def pure_loss(shift: Shift) -> Fraction:
    """At least the largest loss, rate · ratio^power, of a law without pole and power ≤ 1."""
    if shift.power == 1:
        return shift.rate * shift.ratio
    return upper(lambda: ball(shift.rate) * ball(shift.ratio) ** ball(shift.power))


def mu_estimate(shift: FloatShift) -> float:
    """sup over ε of the μ with δ_μ(ε) = δ(ε), in floats."""
    if _at_zero(shift):
        return laplace_mu_estimate(shift)
    first = float(_mu_at(shift, np.array([0.0]))[0])
    grid = np.linspace(0, 6 * first, 13)
    if shift.power <= 1:
        end = shift.length**shift.power
        grid = np.concatenate([grid[grid < end], end * (1 - np.geomspace(1, 1e-6, 13)[1:])])
        grid.sort()
    best = first
    for _ in range(4):
        values = np.nan_to_num(_mu_at(shift, grid))
        i = int(values.argmax())
        best = max(best, float(values[i]))
        grid = np.linspace(grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)], 9)
    return best


def _mu_at(shift: FloatShift, epsilon: Array) -> Array:
    from scipy.special import log_ndtr

    delta = np.array([delta_estimate(shift, float(e)) for e in epsilon])
    low, high = np.full_like(epsilon, -60.0), np.full_like(epsilon, 8.0)  # log μ
    for _ in range(70):
        middle = (low + high) / 2
        mu = np.exp(middle)
        x, y = log_ndtr(-epsilon / mu + mu / 2), epsilon + log_ndtr(-epsilon / mu - mu / 2)
        value = np.exp(x) * -np.expm1(np.minimum(y - x, 0.0))
        low, high = np.where(value < delta, middle, low), np.where(value < delta, high, middle)
    return np.exp((low + high) / 2)


def proved(shift: Shift, square: Fraction) -> bool:
    """Whether δ(ε) ≤ δ_μ(ε) is proved for every ε ≥ 0, μ² = ``square``."""
    from geodp.privacy.spherical_tails import Tail

    mu = math.sqrt(square)
    left, width = Fraction(0), Fraction(mu) / 4
    end = pure_loss(shift) if shift.is_pure else None
    for _ in range(_LONGEST):
        if end is not None and left >= end:
            return True
        if end is None:
            with working_precision(_BITS):
                if Tail(shift).gaussian_covers(square, left):
                    return True
        width = _predicted(shift, mu, left, 2 * width, end)
        while not _cell(shift, square, left, _next(left, width, end)):
            width /= 2
            if width < _SHORTEST * mu:
                return False
        left = _next(left, width, end)
    return False


def _next(left: Fraction, width: Fraction, end: Fraction | None) -> Fraction:
    right = Fraction(float(left + width))
    return right if end is None else min(right, end)


def _predicted(
    shift: Shift, mu: float, left: Fraction, width: Fraction, end: Fraction | None
) -> Fraction:
    """The widest cell that floats let pass: certified values are dear."""
    law, a = FloatShift.of(shift), float(left)
    top = delta_estimate(law, a)
    while width > _SHORTEST * mu:
        b = float(_next(left, width, end))
        m = (a + b) / 2
        value, slope = _gaussian(mu, m)
        rises = (top, a), (delta_estimate(law, b), b)
        if all(d * (1 + 1e-9) <= value - slope * (math.exp(e) - math.exp(m)) for d, e in rises):
            break
        width /= 2
    return width


def _gaussian(mu: float, epsilon: float) -> tuple[float, float]:
    def tail(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    slope = tail(epsilon / mu + mu / 2)
    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * slope, slope


def _cell(shift: Shift, square: Fraction, left: Fraction, right: Fraction) -> bool:
    middle = Fraction(float((left + right) / 2))
    ends = [(delta_enclosure(shift, end, SINGLE).high, end) for end in (left, right)]
    with working_precision(_BITS):
        mu, loss = ball(square).sqrt(), ball(middle)
        value, slope = gaussian_delta(square, middle), upper_tail(loss / mu + mu / 2)
        return all(
            bool(ball(bound) <= value - slope * (ball(end).exp() - loss.exp()))
            for bound, end in ends
        )
