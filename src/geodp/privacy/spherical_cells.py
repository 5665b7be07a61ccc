"""Certified pieces of the integral for δ(ε): enclosures over cells of the parameter y.

With r(y) and t(y) as in ``spherical_float``, W = 1 + cos of the angle at the centre of X, and
W' = 1 − cos of the angle at the other centre on the boundary of {loss > ε},

    δ(ε) = −∫ w(y) [F(W) (log r)' − (t/r)^dim F(W') (log t)'] dy,   w = c r^(shape+1) e^(−r^power),

F the Beta((dim−1)/2, (dim−1)/2) cdf at W/2. A *smooth* cell is a Taylor polynomial at its middle,
with exact coefficients, and Cauchy's bound on a disc for the rest. Any other cell is bounded by
F at the ends of its range times the exact Gamma masses of r and t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from flint import acb, arb, arb_series, ctx  # this module is imported lazily

from geodp.privacy.balls import ball
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from geodp.privacy.spherical_shift import Shift

_GRID = 4  # boxes across the square around Cauchy's disc
_BOX_BITS = 53
_STRETCH = 2.5  # radius of the disc, in half widths of the cell


@final
class CellNumbers:
    """The constants of one (shift, ε ≥ 0) as balls at the working precision."""

    def __init__(self, shift: Shift, epsilon: Fraction) -> None:
        self.dim = shift.dim
        self.is_level = epsilon == 0  # then t = r on the boundary
        self.is_direct = epsilon == 0 or shift.pole == 0  # then y = −log(power · r^power)
        self.epsilon = ball(epsilon)
        self.power = ball(shift.power)
        self.pole = ball(shift.pole)
        self.has_pole = shift.pole != 0
        self.order = ball(shift.order)
        self.shape_1 = ball(shift.shape + 1)
        self.s = ball(shift.ratio) * ball(shift.rate) ** (1 / self.power)
        self.half = ball(Fraction(shift.dim - 3, 2))
        self.b = ball(Fraction(shift.dim - 1, 2))
        self.log_power = self.power.log()
        self.weight = self.power / self.order.gamma()
        self.beta = arb(0)
        if self.dim > 1:
            self.beta = (arb(self.dim) / 2).gamma() / (arb.pi().sqrt() * self.b.gamma())
        self.loss = self.epsilon.exp()
        # t at r = 0, and e^ε P[radius > t] there
        self.least_t = arb(0) if self.has_pole else self.epsilon ** (1 / self.power)
        self.least_outer = self.loss
        if not self.has_pole and not self.is_level:
            self.least_outer *= self.epsilon.gamma_upper(self.order, 1)
        self._ends: dict[Fraction, End] = {}

    def end(self, y: Fraction) -> End:
        """The boundary at a cell's end, computed once."""
        found = self._ends.get(y)
        if found is None:
            found = self._ends[y] = self._end(y)
        return found

    def _end(self, y: Fraction) -> End:
        u = ball(-y).exp()
        if self.is_direct:
            g = u / self.power
            x = (self.epsilon / g).log1p()
        else:
            x = self.power * self.epsilon / (u + self.pole)
            g = u * x / (self.power * x.expm1())
        tau, r = x / self.power, g ** (1 / self.power)
        t, gap, outer = r * tau.exp(), r * tau.expm1(), g * x.exp()
        # V'(r) − V'(t), the sign of d(t − r)/dr
        bend = self.pole * gap / r + self.power * outer * ((1 - self.power) * tau).expm1()
        return End(
            r,
            t,
            gap,
            bend,
            g.gamma_upper(self.order, 1),
            self.loss * outer.gamma_upper(self.order, 1),
        )

    def outermost(self, left: Fraction | None, right: Fraction | None) -> arb:
        """The share of δ of all r above r(right), or of all r below r(left)."""
        some = arb(0.5, 0.5)
        if right is not None:
            far = self.end(right)
            return far.beyond * some - far.outer_beyond * some
        assert left is not None
        near = self.end(left)
        mass = 1 - near.beyond
        if near.r + near.t < self.s:
            return mass
        if self.least_t - near.r > self.s:
            return arb(0)
        return mass * some - (self.least_outer - near.outer_beyond) * some

    def cdf(self, w: arb) -> arb:
        """P[1 + cosine ≤ w], for any real w."""
        if not w > 0:
            return arb(0) if w <= 0 else self._cdf_between(arb(0), w.upper())
        if not w < 2:
            return arb(1) if w >= 2 else self._cdf_between(w.lower(), arb(2))
        if self.dim == 1:
            return arb(0.5)
        if w.is_exact() or w.rel_accuracy_bits() > ctx.prec - 30:  # wide arguments are slow
            return (w / 2).beta_lower(self.b, self.b, 1)
        return self._cdf_between(w.lower(), w.upper())

    def _cdf_between(self, low: arb, high: arb) -> arb:
        bottom = self.cdf(low) if low > 0 else arb(0)
        top = self.cdf(high) if high < 2 else arb(1)
        return bottom.union(top)


@final
@dataclass(frozen=True)
class End:
    """r, t, t − r, the sign of its slope in r, P[radius > r] and e^ε P[radius > t] at one y."""

    r: arb
    t: arb
    gap: arb
    bend: arb
    beyond: arb
    outer_beyond: arb


def _gap(c: CellNumbers, far: End, near: End) -> arb:
    """The range of t − r on a cell: it rises and then falls in r, or does one of both.

    Its slope has the sign of V'(r) − V'(t), and V' falls, rises, or falls and then rises.
    """
    low, high = near.gap.min(far.gap), near.gap.max(far.gap)
    is_monotone = (
        not c.has_pole
        or c.power <= 1
        or (near.bend > 0 and far.bend > 0)
        or (near.bend < 0 and far.bend < 0)
    )
    return low.union(high if is_monotone else far.t - near.r)


def exact(c: CellNumbers, left: Fraction, right: Fraction) -> arb | None:
    """The cell's share of δ where every triangle (r, t, s) degenerates, or the angle is a coin."""
    far, near = c.end(left), c.end(right)  # r and t decrease in y
    if far.r + far.t < c.s:
        return near.beyond - far.beyond
    gap = _gap(c, far, near)
    if gap > c.s:
        return arb(0)
    if c.dim == 1 and near.r + near.t > c.s and gap < c.s:
        return (near.beyond - far.beyond - near.outer_beyond + far.outer_beyond) / 2
    return None


def crude(c: CellNumbers, left: Fraction, right: Fraction) -> arb:
    """An enclosure of the cell's share of δ that shrinks with the cell, whatever happens in it."""
    far, near = c.end(left), c.end(right)
    r, t = far.r.union(near.r), far.t.union(near.t)
    gap, total = _gap(c, far, near), (near.r + near.t).union(far.r + far.t)
    mass, outer = near.beyond - far.beyond, near.outer_beyond - far.outer_beyond
    inner_w = (c.s - gap) * (total + c.s) / (2 * r * c.s)
    if not total > c.s:  # then every direction may count
        inner_w = inner_w.union(arb(2))
    outer_w = (c.s - gap) * (total - c.s) / (2 * t * c.s)
    return mass * c.cdf(inner_w) - outer * c.cdf(outer_w)


def smooth(c: CellNumbers, left: Fraction, right: Fraction, target: float) -> arb | None:
    """The cell's share of δ by a Taylor polynomial, or None where it is not proved smooth.

    The degree is chosen for an error of about ``target``.
    """
    middle, h = ball((left + right) / 2), ball((right - left) / 2)
    radius = _STRETCH * float(h) * (1 + 1e-9)
    with working_precision(_BOX_BITS):
        bound = _disc_bound(c, middle, radius)
    if bound is None:
        return None
    excess = float(2 * h * bound / target) if target > 0 else 1e20
    degree = 2 * math.ceil(math.log(min(max(excess, 10.0), 1e40)) / math.log(_STRETCH) / 2)
    series = _series(c, middle, degree)
    if series is None:
        return None
    ratio = h / radius
    rest = bound * ratio ** (degree + 1) / ((degree + 2) * (1 - ratio))
    total, power = arb(0, rest.upper()), arb(1)
    for i, even in enumerate(series.coeffs()[: degree + 1 : 2]):
        total += even * power / (2 * i + 1)
        power *= h * h
    return -2 * h * total


def _series(c: CellNumbers, middle: arb, degree: int) -> arb_series | None:
    saved, ctx.cap = ctx.cap, degree + 3
    try:
        y = arb_series([middle, 1])
        log_g = -y - c.log_power
        if c.is_direct:
            g = log_g.exp()
            x = _log1p(c.epsilon / g)
        else:
            x = (c.power * c.epsilon) / ((-y).exp() + c.pole)
            log_g = log_g - (_expm1(x) / x).log()
            g = log_g.exp()
        tau, log_r = x / c.power, log_g / c.power
        r = log_r.exp()
        d = r * _expm1(tau)
        t, e = r + d, 2 * r + d
        s = c.s
        a1, a2, a3, a4 = s - d, s + d, e - s, e + s
        scale_r, scale_t = r * (2 * s), t * (2 * s)
        w1, w2 = a1 * a4 / scale_r, a1 * a3 / scale_t
        rate = log_r.derivative()
        rate_t = rate + tau.derivative()
        if not (w1[0] > 0 and w1[0] < 2 and w2[0] > 0 and w2[0] < 2):
            return None
        if c.dim == 3:
            inner, outer = w1 / 2, w2 / 2
        else:
            u1, u2 = a2 * a3 / scale_r, a2 * a4 / scale_t
            inner = _cdf(c, w1, u1)
            outer = _cdf(c, w2, u2)
        weight = (log_r * c.shape_1 - g).exp() * c.weight
        return weight * (inner * rate - (tau * c.dim).exp() * outer * rate_t)
    except (ValueError, ZeroDivisionError):  # a ball that is too wide
        return None
    finally:
        ctx.cap = saved


def _cdf(c: CellNumbers, w: arb_series, rest: arb_series) -> arb_series:
    """The cdf of a series w, rest = 2 − w."""
    product = w * rest
    if c.dim == 2:
        density = product.rsqrt()
    elif c.dim % 2:
        density = product ** ((c.dim - 3) // 2)
    elif c.dim <= 8:
        density = product.sqrt() ** (c.dim - 3)
    else:
        density = (product.log() * c.half).exp()
    slope = (density * w.derivative()).coeffs()
    parts = [q * c.beta / (i + 1) for i, q in enumerate(slope)]
    return arb_series([c.cdf(w[0]), *parts])


def _log1p(x: arb_series) -> arb_series:
    coefficients = (x + 1).log().coeffs() or [x[0]]
    coefficients[0] = x[0].log1p()
    return arb_series(coefficients)


def _expm1(x: arb_series) -> arb_series:
    coefficients = x.exp().coeffs() or [x[0]]
    coefficients[0] = x[0].expm1()
    return arb_series(coefficients)


def _disc_bound(c: CellNumbers, middle: arb, radius: float) -> arb | None:
    """An upper bound of the integrand on a disc where it is analytic, or None."""
    step = radius / _GRID
    around = step * (1 + 1e-9)  # boxes overlap: rounding leaves no gap
    offset = acb(arb(0, around), arb(0, around))
    worst = arb(0)
    for i in range(_GRID):  # the upper half; the integrand is real on the axis
        for j in range(_GRID // 2):
            x, y = (2 * i + 1 - _GRID) * step, (2 * j + 1) * step
            if math.hypot(abs(x) - around, y - around) > radius * (1 + 1e-9):
                continue
            value = _box(c, acb(middle + x, y), offset)
            if value is None:
                return None
            worst = worst.max(value)
    return worst.upper()


def _box(c: CellNumbers, middle: acb, offset: acb) -> arb | None:
    """A bound of the integrand's size on ``middle + offset``; None where it may not be analytic."""
    at, box = _boundary(c, middle), _boundary(c, middle + offset)
    if at is None or box is None:
        return None
    s, r, t = c.s, box.r, box.t
    # t − r by the mean value theorem: its slope is small, the difference of two boxes is not
    d = (at.t - at.r) + _gap_slope(c, box) * offset
    low, high = (s - d) / (2 * s), (s + d) / (2 * s)
    inner_ends = low * (2 + (s + d) / r), high * (2 - (s - d) / r)
    if abs(at.r) > s:  # t once in each factor, so that boxes stay narrow; else r, for the same
        outer_ends = low * (2 - (s + d) / t), high * (2 + (s - d) / t)
    else:
        outer_ends = low * (2 * r - (s - d)) / t, high * (2 * r + s + d) / t
    inner, outer = _cdf_bound(c, *inner_ends), _cdf_bound(c, *outer_ends)
    if inner is None or outer is None:
        return None
    weight = abs((box.log_r * c.shape_1 - box.g).exp()) * c.weight
    growth = abs((box.tau * c.dim).exp())
    value = weight * (inner * abs(box.rate) + growth * outer * abs(box.rate_t))
    return value.upper() if value.is_finite() else None


@final
@dataclass(frozen=True, slots=True)
class _Boundary:
    """r, t, τ = log(t/r), g = r^power and the slopes of log r, log t on a complex box of y."""

    r: acb
    t: acb
    g: acb
    tau: acb
    log_r: acb
    rate: acb
    rate_t: acb


def _boundary(c: CellNumbers, y: acb) -> _Boundary | None:
    u = (-y).exp()
    if c.is_direct:
        g = u / c.power
        log_r, rate = (-y - c.log_power) / c.power, acb(-1) / c.power
        growth = 1 + c.epsilon / g
        if not growth.real > 0:
            return None
        tau, rate_t = growth.log() / c.power, rate / growth
    else:
        base = u + c.pole
        if base.contains(0):
            return None
        v = 1 / base
        tau = c.epsilon * v
        x = c.power * tau
        growth = x.expm1() / x
        if not growth.real > 0:  # also when it is not finite
            return None
        log_r = (-y - growth.log() - c.log_power) / c.power
        g = u / (c.power * growth)
        rate = -(c.pole * v + x.exp() / growth * u * v) / c.power  # x e^x/(e^x − 1) = e^x/growth
        rate_t = rate + tau * u * v
    r = log_r.exp()
    t = r * tau.exp()
    if r.contains(0) or t.contains(0):
        return None
    return _Boundary(r, t, g, tau, log_r, rate, rate_t)


def _gap_slope(c: CellNumbers, at: _Boundary) -> acb:
    """(t − r)' = r' (V'(r) − V'(t))/V'(t), since V(t) − V(r) does not move."""
    if c.is_level or (c.power == 1 and not c.has_pole):
        return acb(0)
    outer = at.g * (c.power * at.tau).exp()
    change = c.power * outer * ((1 - c.power) * at.tau).expm1()
    change += c.pole * (at.t - at.r) / at.r
    return at.r * at.rate * change / (c.pole + c.power * outer)


def _cdf_bound(c: CellNumbers, w: acb, rest: acb) -> arb | None:
    """A bound of |cdf(w)| on a box, rest = 2 − w; None where w may reach a branch point."""
    if c.dim == 1:
        ok = w.real > 0 and rest.real > 0
        return arb(0.5) if ok else None
    if c.dim % 2 == 0 and (_on_cut(w) or _on_cut(rest)):
        return None
    size, other = abs(w).upper(), abs(rest).upper()
    if c.dim == 2:  # along the segment from 0, where |2 − w| ≥ 1, else from 2
        if size < 1:
            return 2 * c.beta * size.sqrt()
        return 1 + 2 * c.beta * size.max(other).sqrt()
    if c.dim == 3:
        return size / 2
    far = other.max(arb(2))
    return c.beta * size**c.b * far**c.half / c.b


def _on_cut(w: acb) -> bool:
    return bool(not w.real > 0 and w.imag.contains(0))
