"""Gaussian DP of radial laws: mu such that delta(eps) <= delta_mu(eps) for all eps >= 0.

Both are convex in gamma = e^eps. On a cell [a, b] delta lies below its chord, and delta_mu above
each of its tangents, T_c(gamma) = Phi(mu/2 - c/mu) - gamma Phi(-mu/2 - c/mu): two comparisons at
the cell's ends prove it; so does delta(a) <= delta_mu(b), since both fall. Cells are walked from 0
to where delta is 0, or to the tail below.

Tail on hyperbolic space, Gaussian kernel, in units of the curvature radius. The loss at distance r
is at most s(2r + s)/2 scale^2, so delta(eps) <= E min(1, s(r - R)/scale^2) over r > R, R = scale^2
eps/s - s/2. The radius density sinh^{d-1} r e^{-r^2/2 scale^2} is log-concave with slope -m at R,
so it is at most its tangent: delta(eps) <= density(R)/m min(1, s/(m scale^2)).
Against it stands delta_mu(eps) >= (1 - e^{-h}) e^{-x^2/2}/(2x sqrt(2 pi)), x = (eps + h -
mu^2/2)/mu >= 1 for any h > 0 (see ``zcdp_to_gdp``). The log-ratio of the two is convex in eps if
its quadratic part is, so its value and slope at one point prove all beyond it. Where the law is
narrow the tail of its log-Sobolev zCDP is proven sooner (``zcdp_to_gdp``).

Tail on the sphere: delta(eps) <= delta_{s/scale}(eps) for eps >= s^2/2 scale^2, by comparison with
the flat hinge and the Gaussian correlation inequality (docs/proofs/riemannian).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, lower, rational_up, upper_tail
from geodp.privacy.gaussian import gaussian_delta
from geodp.privacy.numbers import root_up
from geodp.privacy.radial_certified import delta_bound, normaliser
from geodp.privacy.radial_float import FloatPair, log_gaussian, mu_estimate
from geodp.privacy.radial_hadamard import sobolev_rho
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.zcdp_to_gdp import tail_proved

if TYPE_CHECKING:
    from flint import arb

_STEP, _TRIES = 1.012, 5
_CELLS = 400
_WIDE = 0.2  # Gaussian laws on hyperbolic space: scale times growth above which proofs are short
_SHORT = 8.0  # largest loss over mu up to which cells are walked to the end


def margin(pair: RadialPair) -> float:
    """How far above the estimated mu a proof is sought: the price of few cells."""
    quick = pair.kernel == "laplace" or (pair.sign < 0 and (pair.dim - 1) * pair.floats[0] > _WIDE)
    return 1.004 if quick else 1.008


def is_flat_like(pair: RadialPair) -> bool:
    """Whether the proof goes through mu = shift/scale: narrow Gaussian laws on the sphere."""
    scale, shift = pair.floats
    wide = 2 * math.pi / (1 + pair.cosine) - shift
    return pair.kernel == "gaussian" and pair.sign > 0 and wide > 2 * _SHORT * scale


@lru_cache(maxsize=1024)
def certified_square(pair: RadialPair) -> Fraction:
    """A certified mu^2, mostly within 2 % of the least; GuaranteeError where none is proven."""
    guess = mu_estimate(FloatPair.of(pair), 150) * margin(pair)
    if is_flat_like(pair):
        guess = float(pair.shift / pair.scale) * 1.002
    for _ in range(_TRIES):
        square = Fraction(guess) ** 2
        if keeps_gdp(pair, square):
            return square
        guess *= _STEP
    raise GuaranteeError(
        "No Gaussian DP is proven for this radial law; ask for epsilon at a delta."
    )


@lru_cache(maxsize=4096)
def keeps_gdp(pair: RadialPair, square: Fraction) -> bool:
    """Whether the pair is proven to be mu-GDP, mu^2 = ``square``."""
    floats, size = FloatPair.of(pair), float(root_up(square))
    most = pair.loss_ball()
    end = None if most is None else rational_up(most)
    slack = size / mu_estimate(floats) - 1
    if slack <= 0:
        return False
    widest = Fraction(1.8 * size * math.sqrt(min(max(slack, 1e-4), 0.1)))
    left, width = Fraction(0), widest
    for _ in range(_CELLS):
        if end is not None and left >= end:
            return True
        if pair.kernel == "gaussian" and _TAILS[pair.sign](pair, square, left):
            return True
        jump = _jump(floats, size, float(left))
        if jump > width and _falls(pair, square, left, left + jump):
            left += jump
            continue
        right = left + width
        if end is not None and right > end:
            right = end + Fraction(1, 10**9)
        if _cell_proved(pair, floats, square, left, right):
            left, width = right, min(width * 5 / 4, widest * 2)
            continue
        width = (right - left) * 2 / 3
        if width < Fraction(size / 2000):
            return False
    return False


def _jump(floats: FloatPair, mu: float, left: float) -> Fraction:
    """How far delta_mu falls before it meets delta(left), in floats; 0 if it is below already."""
    level = math.log(max(floats.delta(left), 1e-290)) + 0.1
    low, high = 0.0, mu
    if log_gaussian(mu, left) < level:
        return Fraction(0)
    while log_gaussian(mu, left + high) > level and high < 1e3 * mu:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if log_gaussian(mu, left + middle) > level else (low, middle)
    return Fraction(low)


def _falls(pair: RadialPair, square: Fraction, left: Fraction, right: Fraction) -> bool:
    """Whether delta(left) <= delta_mu(right) is proven: both fall, so the cell is."""
    limit = lower(lambda: gaussian_delta(square, right))
    return delta_bound(pair, left, Fraction(1, 20)) <= limit


def _cell_proved(
    pair: RadialPair, floats: FloatPair, square: Fraction, left: Fraction, right: Fraction
) -> bool:
    middle = (left + right) / 2
    for end in (left, right):
        limit = _tangent(square, middle, end)
        guess = floats.delta(float(end))
        if not limit > 0 or guess > float(limit):
            return False
        room = (float(limit) - guess) / max(guess, 1e-290)  # far out much more than one
        accuracy = Fraction(10) ** math.floor(math.log10(max(min(room / 4, 1e90), 1e-6)))
        if delta_bound(pair, end, accuracy) > limit:
            return False
    return True


@lru_cache(maxsize=1 << 14)
def _tangent(square: Fraction, middle: Fraction, at: Fraction) -> Fraction:
    """At most T_middle(e^at)."""

    def value() -> arb:
        mu, c = ball(square).sqrt(), ball(middle)
        return upper_tail(c / mu - mu / 2) - ball(at).exp() * upper_tail(c / mu + mu / 2)

    try:
        return lower(value)
    except GuaranteeError:
        return Fraction(0)


def _sphere_tail(pair: RadialPair, square: Fraction, start: Fraction) -> bool:
    flat = (pair.shift / pair.scale) ** 2  # free of units
    return square >= flat and start >= flat / 2


def _hyperbolic_tail(pair: RadialPair, square: Fraction, start: Fraction) -> bool:
    from flint import arb, ctx

    rho = sobolev_rho(pair.shift, pair.scale, -pair.curvature * (pair.dim - 1))
    if rho is not None and tail_proved(rho, square, start):
        return True
    with ctx.workprec(96):
        scale, s = pair.unit()
        mu, e, n = ball(square).sqrt(), ball(start), pair.dim - 1
        r = scale**2 * e / s - s / 2
        h = mu**2 / e.max(mu)
        x = (e + h - mu**2 / 2) / mu
        grow = scale**2 / s  # dr/d eps
        if not (r > 0 and x >= 1 and grow**2 / scale**2 > 1 / mu**2):
            return False
        fall = r / scale**2 - n * r.coth()  # minus the slope of the log of the density
        if not fall > 0:
            return False
        log_bound = n * r.sinh().log() - r**2 / (2 * scale**2)
        total = normaliser(pair.kernel, pair.dim, pair.curvature, pair.scale)
        value = -log_bound + fall.log() + total.log() + (fall * grow).max(arb(1)).log()
        value += (-(-h).expm1()).log() - x**2 / 2 - (2 * x * (2 * arb.pi()).sqrt()).log()
        slope = fall * grow - x / mu - 1 / (x * mu)
        return bool(value >= 0) and bool(slope >= 0)


_TAILS = {1: _sphere_tail, -1: _hyperbolic_tail}
