"""The integrand of delta(epsilon) on planar shapes, CP^n, n = (dimension)/2 >= 2.

A point at distance r from one centre in a uniform direction lies at distance t' from the other,
cos t' = abs(cos r cos s + z sin r sin s), z of density (n-1)(1 - |z|^2)^{n-2}/pi on the unit disc.
So t' > t where z lies in the disc abs(z + c) < e, c = cot r cot s, e = cos t/(sin r sin s).

Its probability Q, by the divergence theorem for z (1 - |z|^2)^{n-1}/|z|^2, with m = n - 2,
A = 1 - c^2 - e^2, B = 2ce, I_k the integral of (A + B cos h)^k over the arc |h| <= h* of the
circle that lies in the unit disc:

    Q = 1/2 + arctan((e-c)/(e+c) cot(h*/2))/pi - [I_{m+1} - (e^2-c^2) sum_{k<=m} I_k]/4 pi,
    (k+1) I_{k+1} = (2k+1) A I_k + k (B^2-A^2) I_{k-1}.

The circle crosses the unit circle where r + t + s < pi and lies inside it beyond (h* = pi). With x
as on the sphere, e - c = 2x - 1 and A + B = 4x(1 - x). For a complex box, I_k = 2 (A+B)^k sqrt(X)
Beta(1/2, k+1) 2F1(1/2, 1/2; k+3/2; X), X = (A+B)/2B, has modulus at most 2 pi |A+B|^k |X|^{1/2} if
Re X < 1, by Euler's integral (docs/proofs/riemannian).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, final

from geodp.privacy.radial_balls import LawBalls, angle, root
from geodp.privacy.radial_quadrature import Cell, Integrand, integral
from geodp.privacy.radial_triangle import Triangle

if TYPE_CHECKING:
    from flint import acb, arb

T = TypeVar("T", "arb", "acb")
_CELLS = 3


def shape_integral(law: LawBalls, cut: arb, tolerance: float) -> arb:
    """Over all radii from ``law.first`` to ``cut``."""
    from flint import arb

    triangle = Triangle(law, cut, False)
    kink = law.meets(arb.pi()).max(law.first)
    if kink >= cut:
        kink = cut
    turn = triangle.place(kink) if kink < cut else arb(1)
    near: list[Cell] = [(turn * k / _CELLS, turn * (k + 1) / _CELLS) for k in range(_CELLS)]
    total = integral(ShapeIntegrand(law, triangle, False), near, tolerance / 2)
    if kink < cut:
        total += integral(ShapeIntegrand(law, triangle, True), [(turn, arb(1))], tolerance / 2)
    return total


@final
class ShapeIntegrand(Integrand):
    """On one side of the kink r + t(r) + s = pi; ``whole``: beyond it."""

    def __init__(self, law: LawBalls, triangle: Triangle, whole: bool) -> None:
        self.law, self.triangle, self.whole = law, triangle, whole
        self.order = law.dim // 2 - 2
        self.sin_s, self.cos_s = law.shift.sin(), law.shift.cos()

    def value(self, v: arb) -> arb:
        at, law = self.triangle.shares(v), self.law
        inner = self._inside(at.x, at.rest_x, self._sum(at.r, at.t))
        outer = 1 - self._inside(at.rest_y, at.y, self._sum(at.t, at.r))
        ring = law.area(at.r) * inner - law.area(at.t) * at.slope * outer
        return law.fall(at.r) * ring * at.width

    def _sum(self, r: T, t: T) -> T:
        """c + e."""
        return (r.cos() * self.cos_s + t.cos()) / (r.sin() * self.sin_s)

    def _inside(self, x: arb, rest: arb, whole: arb) -> arb:
        """Q from the roots of x and 1 - x, and c + e."""
        from flint import arb

        apart = x * x - rest * rest  # e - c
        low, high = 4 * (x * rest) ** 2, whole**2 - 1  # A + B, B - A
        a, square = (low - high) / 2, low * high
        if self.whole:
            turn, now, after = arb(0), 2 * arb.pi(), 2 * arb.pi() * a
        else:
            tangent = 2 * x * rest / high.sqrt()
            half = 2 * tangent.atan()
            turn = angle(apart, whole * tangent) / arb.pi()
            now, after = 2 * half, 2 * (a * half + square.sqrt())
        sums = now
        for k in range(1, self.order + 1):
            sums += after
            now, after = after, ((2 * k + 1) * a * after + k * square * now) / (k + 1)
        return turn + arb(1) / 2 - (after - apart * whole * sums) / (4 * arb.pi())

    def size(self, v: acb) -> arb:
        at, law = self.triangle.shares(v), self.law
        across = at.r.cos() * at.t.cos() * self.cos_s  # B/2 times the sines' squares
        inner = self._size(at.x, at.rest_x, self._sum(at.r, at.t), across, at.r)
        outer = 1 + self._size(at.rest_y, at.y, self._sum(at.t, at.r), across, at.t)
        fall = (law.fall(at.r) * at.width).abs_upper()
        return fall * (
            law.area(at.r).abs_upper() * inner + (law.area(at.t) * at.slope).abs_upper() * outer
        )

    def _size(self, x: acb, rest: acb, whole: acb, across: acb, r: acb) -> arb:
        """At least the modulus of Q on a box."""
        from flint import arb

        low, high = 4 * (x * rest) ** 2, whole**2 - 1
        n, apart = self.order + 1, x * x - rest * rest
        if self.whole:
            most, part, turn = low.abs_upper().max(high.abs_upper()), arb(1), arb(0)
        else:
            big = root(across) / (r.sin() * self.sin_s)
            small = x * rest / big  # the root of X
            if not (small * small).real < 1:
                return arb.nan()
            most, part = low.abs_upper(), small.abs_upper()
            turn = angle(apart, whole * 2 * x * rest / root(high)).abs_upper() / arb.pi()
        grown = most.max(arb(1)) ** n
        rest_most = (1 + n * (apart * whole).abs_upper()) * part * grown / 2
        return arb(1) / 2 + turn + rest_most

    def hull(self, v: arb) -> arb:
        law = self.law
        r, width = self.triangle.radius(v)
        t, _, slope = law.far(r)
        inner, outer = self._range(r, t), 1 - self._range(t, r)
        return law.fall(r) * (law.area(r) * inner - law.area(t) * slope * outer) * width

    def _range(self, r: arb, t: arb) -> arb:
        """All values of Q over intervals: it falls with c and grows with e."""
        from flint import arb

        unit = 1 / (r.sin() * self.sin_s)
        c, e = r.cos() * self.cos_s * unit, t.cos() * unit
        if not (c.is_finite() and e.is_finite()):
            return _unknown()
        least, most = (
            self._at(arb(c.upper()), arb(e.lower())),
            self._at(arb(c.lower()), arb(e.upper())),
        )
        return least.union(most)

    def _at(self, c: arb, e: arb) -> arb:
        from flint import arb

        c = c.max(arb(0))
        if not e > 0 or c - e >= 1:
            return arb(0)
        if e - c >= 1:
            return arb(1)
        side = ShapeIntegrand(self.law, self.triangle, bool(c + e <= 1))
        value = side._inside(((1 + e - c) / 2).sqrt(), ((1 - e + c) / 2).sqrt(), c + e)
        return value if value.is_finite() and value.rad() < 1e-2 else _unknown()


def _unknown() -> arb:
    from flint import arb

    return arb("0.5 +/- 0.5")
