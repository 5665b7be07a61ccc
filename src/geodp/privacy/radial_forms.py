"""The integrand of delta(epsilon) on a sphere or hyperbolic space, in v (see ``radial_triangle``).

f(r) [sn(r)^{d-1} F(x) - sn(t)^{d-1} t'(r) F(y)] dr,   x, y as in ``radial_float``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, final

from geodp.privacy.radial_balls import LawBalls, angle
from geodp.privacy.radial_quadrature import Cell, Integrand, integral
from geodp.privacy.radial_triangle import Triangle

if TYPE_CHECKING:
    from flint import acb, arb

T = TypeVar("T", "arb", "acb")
_CELLS = 3


def form_integral(law: LawBalls, cut: arb, ends: bool, tolerance: float) -> arb:
    """Over all radii from ``law.first`` to ``cut``; ``ends``: as in ``Triangle``."""
    from flint import arb

    cells: list[Cell] = [(arb(k) / _CELLS, arb(k + 1) / _CELLS) for k in range(_CELLS)]
    return integral(FormIntegrand(law, Triangle(law, cut, ends)), cells, tolerance)


@final
class FormIntegrand(Integrand):
    """F is the cdf of a uniform direction's share, a Beta law."""

    def __init__(self, law: LawBalls, triangle: Triangle) -> None:
        self.law, self.triangle = law, triangle

    def value(self, v: arb) -> arb:
        return self._value(v)

    def size(self, v: acb) -> arb:
        return self._value(v).abs_upper()

    def _value(self, v: T) -> T:
        at, law = self.triangle.shares(v), self.law
        inner = beta_cdf(at.x, at.rest_x, law.dim - 1)
        outer = beta_cdf(at.y, at.rest_y, law.dim - 1)
        ring = law.area(at.r) * inner - law.area(at.t) * at.slope * outer
        return law.fall(at.r) * ring * at.width

    def hull(self, v: arb) -> arb:
        law, s, sn = self.law, self.law.shift, self.law.sn
        r, width = self.triangle.radius(v)
        t, gap, slope = law.far(r)
        apart = sn((s - gap) / 2) / sn(s)
        inner = _cdf_hull(sn((r + t + s) / 2) * apart / sn(r), law.dim)
        outer = _cdf_hull(sn((r + t - s) / 2) * apart / sn(t), law.dim)
        return law.fall(r) * (law.area(r) * inner - law.area(t) * slope * outer) * width


def beta_cdf(low: T, high: T, twice: int) -> T:
    """The Beta(b, b) cdf at x = low^2, b = twice/2, where low^2 + high^2 = 1.

    I(b + 1) = I(b) - (1 - 2x) y^b/(b B(b, b)), y = x(1 - x), up from b = 1/2 or 1; on the line
    not by the recurrence where that cancels. Not finite where it may not be analytic.
    """
    from flint import acb, arb

    x = low * low
    product = low * high
    square = product * product
    value = 2 * angle(low, high) / arb.pi() if twice % 2 else x
    power = product if twice % 2 else square  # y^b
    whole = arb.pi() if twice % 2 else arb(1)  # B(b, b)
    b = arb(1) / 2 if twice % 2 else arb(1)
    for _ in range((twice - 1) // 2):
        value -= (1 - 2 * x) * power / (b * whole)
        whole = whole * b / (4 * b + 2)
        power, b = power * square, b + 1
    if twice > 2 and not isinstance(value, acb) and value.rel_accuracy_bits() < 40:
        return x.beta_lower(arb(twice) / 2, arb(twice) / 2, regularized=1)
    return value


def _cdf_hull(x: arb, dim: int) -> arb:
    """The Beta((d-1)/2, (d-1)/2) cdf on a ball, x clipped to [0, 1], by monotonicity."""
    from flint import arb

    if not x.is_finite():
        return arb("0.5 +/- 0.5")
    return _cdf_at(arb(x.lower()), dim).union(_cdf_at(arb(x.upper()), dim))


def _cdf_at(x: arb, dim: int) -> arb:
    from flint import arb

    if not x > 0:
        return arb(0)
    if not x < 1:
        return arb(1)
    value = x.beta_lower(arb(dim - 1) / 2, arb(dim - 1) / 2, regularized=1)
    return value if value.is_finite() else arb("0.5 +/- 0.5")
