"""A proven upper bound on delta(epsilon) of radial laws, by quadrature with a proven error.

The integral of the integrand of ``radial_forms`` or ``radial_shapes`` from ``first`` on, plus the
mass of the radii below it where every direction has a larger loss, less what counts for the other
law alone. Whatever the panels and the precision, the sum encloses the truth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodp.privacy.balls import ball, rational_up
from geodp.privacy.radial_balls import DensityIntegrand, LawBalls
from geodp.privacy.radial_float import FloatPair
from geodp.privacy.radial_forms import form_integral
from geodp.privacy.radial_quadrature import integral
from geodp.privacy.radial_shapes import shape_integral
from geodp.privacy.radial_shift import RadialPair
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import arb

_BITS, _MORE = 96, 20  # working precision, and what each power in a planar shape's share takes
_LEAST = {0: 1e-290, 1: 1e-100}  # what a smaller delta is not told apart from
_NUDGE = 1 - Fraction(1, 2**40)
_MARGIN = 10.0  # nats from the tolerance down to the density where a tangent bounds the tail


@lru_cache(maxsize=1 << 15)
def delta_bound(pair: RadialPair, epsilon: Fraction, accuracy: Fraction) -> Fraction:
    """At least delta(epsilon), epsilon >= 0, within about ``accuracy`` of it, relative.

    The accuracy is what is aimed at; the bound holds whatever it is.
    """
    if pair.kernel == "laplace" and epsilon * pair.scale >= pair.shift:
        return Fraction(0)
    if 2 * epsilon * pair.scale**2 == pair.shift**2:
        epsilon *= _NUDGE  # away from where the first radius is zero; delta falls with epsilon
    floats = FloatPair.of(pair)
    guess = max(floats.delta(float(epsilon)), _LEAST[pair.cosine])
    least = Fraction(1)
    start = _BITS + _MORE * (pair.dim // 2 - 2) * pair.cosine
    for bits in (start, 2 * start, 4 * start):
        with working_precision(bits):
            most = pair.loss_ball()
            if most is not None and ball(epsilon) > most:
                return Fraction(0)
            total = _delta(pair, epsilon, floats, guess * float(accuracy))
            bound = total / normaliser(
                pair.kernel, pair.dim, pair.curvature, pair.scale, pair.cosine
            )
            if bound.is_finite():
                least = min(least, max(rational_up(bound), Fraction(0)))
                if float(bound.rad()) <= 2 * guess * float(accuracy):
                    break
    return least


@lru_cache(maxsize=1024)
def normaliser(kernel: str, dim: int, curvature: Fraction, scale: Fraction, cosine: int = 0) -> arb:
    """A ball around a number at most, and nearly, the integral of the radius density."""
    pair = RadialPair(kernel, dim, curvature, scale, Fraction(1), cosine)
    floats = FloatPair.of(pair)
    with working_precision(128):
        law = LawBalls(pair, Fraction(0))
        end = floats.end(0.0)
        return _mass(law, floats, 0.0, end, math.exp(floats.log_total) * 1e-12)


def _delta(pair: RadialPair, epsilon: Fraction, floats: FloatPair, accuracy: float) -> arb:
    """An enclosure, or upper bound, of Z times delta."""
    from flint import arb

    law = LawBalls(pair, epsilon)
    tolerance = accuracy * math.exp(floats.log_total)
    first, last, _, far = floats.triangle(float(epsilon))
    top = float(floats.log_g(np.array(max(first, floats.mode))))
    end = floats.end(max(first, 0.0), max(top - math.log(tolerance) + _MARGIN, _MARGIN))
    bounded = pair.sign > 0 and last <= end * (
        1 + 1e-9
    )  # the integral runs to the end of the space
    total = arb(0)
    if law.inside and law.first > 0:
        total += _mass(law, floats, 0.0, law.first, tolerance / 4)
    if pair.cosine:
        whole = arb.pi() / 2
        cut = whole - law.step if law.is_laplace else (whole**2 - law.step).sqrt()
        cut = cut if bounded else arb(end)
        if cut > law.first:
            total += shape_integral(law, cut, tolerance / 2)
    else:
        cut = law.meets(2 * arb.pi()) if bounded else arb(end)
        if cut > law.first:
            total += form_integral(law, cut, bounded, tolerance / 2)
        if bounded and far < math.pi:  # every direction counts for the other law alone
            gone = _mass(law, floats, law.far(cut)[0], arb.pi(), tolerance / 4)
            total -= law.epsilon.exp() * gone
    if not bounded:
        total += _tail(law, cut)
    return total


def _mass(
    law: LawBalls, floats: FloatPair, a: arb | float, b: arb | float, tolerance: float
) -> arb:
    """The integral of the unnormalised radius density over [a, b]."""
    from flint import arb

    a, b = arb(a), arb(b)
    middle = arb(floats.mode)
    ends = [a, middle, b] if a < middle < b else [a, b]
    cells = list(pairwise(ends)) if a < b else []
    return integral(DensityIntegrand(law), cells, tolerance)


def _tail(law: LawBalls, start: arb) -> arb:
    """At least the integral of the radius density, log-concave, beyond ``start``: by a tangent."""
    from flint import arb

    slope = law.slope(start)
    if not slope < 0:
        return arb.nan()
    return law.fall(start) * law.area(start) / -slope
