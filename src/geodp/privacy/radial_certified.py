"""A proven upper bound on delta(epsilon) of radial laws, by Taylor models in ball arithmetic.

The integrand (see ``radial_float``) is expanded at the middle of a panel; its last Taylor
coefficient, evaluated on a ball around the whole panel, bounds the rest. Panels that do not
converge (next to the ends, where the integrand is a half power) are halved, and in the end bounded
by monotonicity. Whatever the panels, the sum encloses the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count, pairwise
from typing import TYPE_CHECKING

from geodp.privacy.balls import ball, rational_up
from geodp.privacy.radial_float import FloatPair
from geodp.privacy.radial_shift import RadialPair

if TYPE_CHECKING:
    from flint import arb, arb_series

_BITS = 96
_ORDER = 10
_PANELS = 800  # after so many halvings the sum is taken as it is
_FEW = 50  # a panel is good enough at such a share of the tolerance

Series = Callable[["arb"], "arb_series"]
Crude = Callable[["arb"], "arb"]


@lru_cache(maxsize=1 << 14)
def delta_bound(pair: RadialPair, epsilon: Fraction, accuracy: Fraction) -> Fraction:
    """At least delta(epsilon), epsilon >= 0, within about ``accuracy`` of it, relative.

    The accuracy is what is aimed at; the bound holds whatever it is.
    """
    from flint import ctx

    floats = FloatPair.of(pair)
    guess = max(floats.delta(float(epsilon)), 1e-290)
    with ctx.workprec(_BITS):
        most = pair.loss_ball()
        if most is not None and ball(epsilon) > most:
            return Fraction(0)
        numbers = _Numbers(pair, epsilon)
        total = numbers.delta(floats, float(epsilon), guess * float(accuracy))
        bound = total / normaliser(pair.kernel, pair.dim, pair.curvature, pair.scale)
        if not bound.is_finite():
            return Fraction(1)
        return min(Fraction(1), max(rational_up(bound), Fraction(0)))


@lru_cache(maxsize=1024)
def normaliser(kernel: str, dim: int, curvature: Fraction, scale: Fraction) -> arb:
    """A ball around a number at most, and nearly, the integral of the radius density."""
    from flint import ctx

    pair = RadialPair(kernel, dim, curvature, scale, Fraction(1))
    floats = FloatPair.of(pair)
    with ctx.workprec(_BITS):
        numbers = _Numbers(pair, Fraction(0))
        end = floats.end(0.0)
        return numbers.mass(0.0, end, floats, math.exp(floats.log_total) * 1e-9)


class _Numbers:
    """The exact numbers of one question as balls, and the integrand on series and balls."""

    def __init__(self, pair: RadialPair, epsilon: Fraction) -> None:
        from flint import arb

        self.dim, self.sign, self.kernel = pair.dim, pair.sign, pair.kernel
        self.scale, self.shift = pair.unit()
        self.epsilon = ball(epsilon)
        self.half = Fraction(pair.dim - 1, 2)
        self.beta = arb(pair.dim - 1) / 2
        self.sn_shift = self.shift.sin() if self.sign > 0 else self.shift.sinh()
        self.beta_factor = 1 / arb(1).beta_lower(self.beta, self.beta)

    # --- the integral ---------------------------------------------------------------------------

    def delta(self, floats: FloatPair, epsilon: float, tolerance: float) -> arb:
        """An enclosure, or upper bound, of Z times delta."""
        from flint import arb

        tolerance = tolerance * math.exp(floats.log_total)
        first, last, inside, far = floats.triangle(epsilon)
        first = max(first, 0.0)
        low = first * (1 - 1e-14)  # the panels decide by balls; these ends are only near the truth
        end = floats.end(first, 32.0)
        total = arb(0)
        if inside and first > 0:
            total += self.mass(0.0, low, floats, tolerance / 4)
        cut = min(last * (1 + 1e-14) + 1e-13, end)  # past the truth in spite of rounding
        if self.sign > 0:
            cut = min(cut, math.pi)
        if cut > low:
            panels = _cells(low, cut, floats)
            total += _integral(panels, self._series, self._crude, tolerance / 2)
        if self.sign < 0 or end < last:
            total += self._tail(cut)
        elif far < math.pi:  # every direction counts for the other law alone
            gone = self.mass(far + 1e-11, math.pi, floats, tolerance / 4)
            total -= self.epsilon.exp() * gone
        return total

    def mass(self, a: float, b: float, floats: FloatPair, tolerance: float) -> arb:
        """The integral of the unnormalised radius density over [a, b], b cut at pi."""
        from flint import arb

        if not b > a:
            return arb(0)
        return _integral(_cells(a, b, floats), self._density_series, self._density, tolerance)

    def _tail(self, start: float) -> arb:
        """At least the integral of the radius density beyond ``start``: log-concave, so by a
        tangent; at most nothing on a sphere's end."""
        from flint import arb

        t = arb(start)
        slope = (self.dim - 1) * (t.cot() if self.sign > 0 else t.coth())
        slope -= 1 / self.scale if self.kernel == "laplace" else t / self.scale**2
        if not slope < 0:
            return arb.nan()
        return self._density(t) / -slope

    # --- the radius density ---------------------------------------------------------------------

    def _density(self, r: arb) -> arb:
        return self._fall(r) * self._sn_ball(r) ** (self.dim - 1)

    def _sn_ball(self, r: arb) -> arb:
        return r.sin() if self.sign > 0 else r.sinh()

    def _fall(self, r: arb) -> arb:
        power = -r / self.scale if self.kernel == "laplace" else -((r / self.scale) ** 2) / 2
        return power.exp()

    def _density_series(self, middle: arb) -> arb_series:
        from flint import arb_series

        r = arb_series([middle, 1])
        return self._fall_series(r) * _power(self._sn(r), self.dim - 1)

    def _fall_series(self, r: arb_series) -> arb_series:
        if self.kernel == "laplace":
            return (r * (-1 / self.scale)).exp()
        return (r * r * (-1 / (2 * self.scale**2))).exp()

    def _sn(self, r: arb_series) -> arb_series:
        if self.sign > 0:
            return r.sin()
        grown = r.exp()
        return (grown - grown.inv()) / 2

    # --- the integrand --------------------------------------------------------------------------

    def _series(self, middle: arb) -> arb_series:
        from flint import arb_series

        r = arb_series([middle, 1])
        if self.kernel == "laplace":
            t = r + self.epsilon * self.scale
        else:
            t = (r * r + 2 * self.epsilon * self.scale**2).sqrt()
        s, sn = self.shift, self._sn
        sn_r, sn_t = sn(r), sn(t)
        around, apart = sn((r + t + s) / 2), sn((r - t + s) / 2)
        beyond, across = sn((r + t - s) / 2), sn((t - r + s) / 2)
        by_r, by_t = (sn_r * self.sn_shift).inv(), (sn_t * self.sn_shift).inv()
        inner = self._cdf(around * apart * by_r, beyond * across * by_r)
        outer = self._cdf(beyond * apart * by_t, around * across * by_t)
        n = self.dim - 1
        ring = _power(sn_r, n) * inner - _power(sn_t, n) * t.derivative() * outer
        return self._fall_series(r) * ring

    def _cdf(self, x: arb_series, y: arb_series) -> arb_series:
        """The Beta cdf at x, y = 1 - x, as a series."""
        from flint import arb_series

        slope = _power_half(x * y, self.dim - 3) * x.derivative() * self.beta_factor
        start = self._cdf_ball(x[0])
        return arb_series([start]) + slope.integral()

    def _cdf_ball(self, x: arb) -> arb:
        """The Beta cdf on a ball, x clipped to [0, 1], by monotonicity."""
        from flint import arb

        if not x.is_finite():
            return arb("0.5 +/- 0.5")
        low, high = arb(x.lower()), arb(x.upper())
        return self._cdf_at(low).union(self._cdf_at(high))

    def _cdf_at(self, x: arb) -> arb:
        from flint import arb

        if not x > 0:
            return arb(0)
        if not x < 1:
            return arb(1)
        value, lower = _half_beta(x, self.dim - 1)
        if lower and value.rel_accuracy_bits() < 40:  # the recurrence cancelled
            value = x.beta_lower(self.beta, self.beta, regularized=1)
        return value if value.is_finite() else arb("0.5 +/- 0.5")

    def _crude(self, r: arb) -> arb:
        """The integrand on a ball, without series."""
        from flint import arb

        r = r.max(arb(0))
        if self.kernel == "laplace":
            t, slope = r + self.epsilon * self.scale, arb(1)
        else:
            t = (r * r + 2 * self.epsilon * self.scale**2).sqrt()
            slope = r / t
            if not slope.is_finite():
                slope = arb("0.5 +/- 0.5")
        s = self.shift
        sn = self._sn_ball
        around, apart = sn((r + t + s) / 2), sn((r - t + s) / 2)
        beyond = sn((r + t - s) / 2)
        inner = self._cdf_ball(around * apart / (sn(r) * self.sn_shift))
        outer = self._cdf_ball(beyond * apart / (sn(t) * self.sn_shift))
        n = self.dim - 1
        return self._fall(r) * (sn(r) ** n * inner - sn(t) ** n * slope * outer)


def _half_beta(x: arb, twice: int) -> tuple[arb, bool]:
    """The Beta(b, b) cdf at x in (0, 1), b = twice/2, and whether the recurrence was used.

    I(b + 1) = I(b) - (1 - 2x) y^b/(b B(b, b)), y = x(1 - x), up from b = 1/2 or 1.
    """
    from flint import arb

    value = 2 * x.sqrt().asin() / arb.pi() if twice % 2 else x
    y = x * (1 - x)
    power = y.sqrt() if twice % 2 else y  # y^b
    whole = arb.pi() if twice % 2 else arb(1)  # B(b, b)
    b = arb(1) / 2 if twice % 2 else arb(1)
    for _ in range((twice - 1) // 2):
        value -= (1 - 2 * x) * power / (b * whole)
        whole = whole * b / (4 * b + 2)
        power, b = power * y, b + 1
    return value, twice > 2


def _power(x: arb_series, n: int) -> arb_series:
    from flint import arb_series

    out, base = arb_series([1]), x
    while n:
        if n & 1:
            out = out * base
        n >>= 1
        if n:
            base = base * base
    return out


def _power_half(x: arb_series, n: int) -> arb_series:
    """x^{n/2} for integers n >= -1."""
    if n == -1:
        return x.rsqrt()
    out = _power(x, n // 2)
    return out * x.sqrt() if n % 2 else out


def _cells(a: float, b: float, floats: FloatPair) -> list[tuple[float, float]]:
    """First panels: a few, finer around where the density lives."""
    inner = sorted({a, b, *(x for x in (floats.mode, (a + b) / 2) if a < x < b)})
    cells = []
    for left, right in pairwise(inner):
        for k in range(4):
            cells.append((left + (right - left) * k / 4, left + (right - left) * (k + 1) / 4))
    return cells


def _integral(
    cells: list[tuple[float, float]], series: Series, crude: Crude, tolerance: float
) -> arb:
    """The sum over panels; the one that knows least is halved until all are within tolerance."""
    from flint import arb, ctx

    def enclosed(a: arb, b: arb) -> tuple[float, int, arb, arb, arb]:
        middle, half = (a + b) / 2, (b - a) / 2
        value = _panel(series, middle, half)
        if not (value.is_finite() and float(value.rad()) <= tolerance / _FEW):
            rough = 2 * half * crude(_widened(middle, half))
            if not value.is_finite() or value.rad() > rough.rad():
                value = rough
        error = float(value.rad()) if value.is_finite() else math.inf
        return -error, next(number), a, b, value

    cap, number = ctx.cap, count()
    ctx.cap = _ORDER + 2  # derivatives lose a term
    try:
        heap = [enclosed(arb(a), arb(b)) for a, b in cells]
        heapify(heap)
        for _ in range(_PANELS):
            if -sum(part[0] for part in heap) <= tolerance:
                break
            _, _, a, b, _ = heappop(heap)
            middle = arb(((a + b) / 2).mid())
            heappush(heap, enclosed(a, middle))
            heappush(heap, enclosed(middle, b))
    finally:
        ctx.cap = cap
    return sum((part[4] for part in heap), arb(0))


def _panel(series: Series, middle: arb, half: arb) -> arb:
    """The integral over [middle - half, middle + half] by its Taylor model."""
    from flint import arb

    model = series(_widened(middle, half))
    wide = model[_ORDER - 1]
    if model.prec < _ORDER or not wide.is_finite():
        return arb.nan()
    at = series(middle)
    total, size = arb(0), half
    for k in range(0, _ORDER - 1, 2):
        total += 2 * at[k] * size / (k + 1)
        size = size * half * half
    rest = wide.abs_upper() * half ** (_ORDER - 1) * 2 * half / _ORDER
    return total + arb(0, rest.abs_upper())


def _widened(middle: arb, half: arb) -> arb:
    return (middle - half).union(middle + half)
