"""The numbers of two radial laws and a loss as balls, for real and complex radii.

Lengths are in units of the curvature radius. t(r) is the distance at which the loss is epsilon,
V(t) = V(r) + epsilon, V = -log f.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar, final

from geodp.privacy.balls import ball
from geodp.privacy.radial_quadrature import Integrand
from geodp.privacy.radial_shift import RadialPair

if TYPE_CHECKING:
    from flint import acb, arb

T = TypeVar("T", "arb", "acb")


@final
class LawBalls:
    """Exact numbers as balls at the working precision of the moment when it is made."""

    def __init__(self, pair: RadialPair, epsilon: Fraction) -> None:
        self.dim, self.sign, self.cosine = pair.dim, pair.sign, pair.cosine
        self.is_laplace = pair.kernel == "laplace"
        self.scale, self.shift = pair.unit()
        self.is_level = epsilon == 0
        self.epsilon = ball(epsilon)
        if self.is_laplace:
            self.inside = True
            self.step = self.epsilon * self.scale
            self.first = (self.shift - self.step) / 2
        else:  # whether below ``first`` every direction has a larger loss, decided exactly
            self.inside = 2 * epsilon * pair.scale**2 < pair.shift**2
            self.step = 2 * self.epsilon * self.scale**2
            gap = self.shift**2 - self.step
            self.first = (gap if self.inside else -gap) / (2 * self.shift)

    def sn(self, t: T) -> T:
        return t.sin() if self.sign > 0 else t.sinh()

    def sn_share(self, u: T) -> T:
        """sn(u)/u."""
        return u.sinc() if self.sign > 0 else _sinhc(u)

    def far(self, r: T) -> tuple[T, T, T]:
        """t(r), t(r) - r and the derivative of t; not finite where they may not be analytic."""
        one, none = 1 + 0 * r, 0 * r
        if self.is_laplace:
            return r + self.step, self.step + none, one
        if self.is_level:
            return r, none, one
        t = root(r * r + self.step)
        return t, self.step / (t + r), r / t

    def meets(self, whole: arb) -> arb:
        """The radius at which r + t(r) + shift is ``whole``."""
        rest = whole - self.shift
        if self.is_laplace:
            return (rest - self.step) / 2
        return (rest**2 - self.step) / (2 * rest)

    def fall(self, r: T) -> T:
        """f(r)."""
        power = -r / self.scale if self.is_laplace else -((r / self.scale) ** 2) / 2
        return power.exp()

    def area(self, r: T) -> T:
        """The area of the sphere of radius r, up to a constant."""
        power = self.sn(r) ** (self.dim - 1)
        return power * r.cos() if self.cosine else power

    def slope(self, t: arb) -> arb:
        """The derivative of the log of the radius density, which is concave."""
        slope = (self.dim - 1) * (t.cot() if self.sign > 0 else t.coth())
        if self.cosine:
            slope -= t.tan()
        return slope - (1 / self.scale if self.is_laplace else t / self.scale**2)


@final
class DensityIntegrand(Integrand):
    """The radius density, unnormalised: an entire function."""

    def __init__(self, law: LawBalls) -> None:
        self.law = law

    def value(self, v: arb) -> arb:
        return self.law.fall(v) * self.law.area(v)

    def size(self, v: acb) -> arb:
        return (self.law.fall(v) * self.law.area(v)).abs_upper()

    def hull(self, v: arb) -> arb:
        return self.value(v)


def root(x: T) -> T:
    """The principal square root; not finite where the branch cut may be touched."""
    from flint import acb

    return x.sqrt(analytic=True) if isinstance(x, acb) else x.sqrt()


def angle(up: T, along: T) -> T:
    """The argument of along + i up, (log(along + i up) - log(along - i up))/2i off the line; not
    finite where the branch cut may be touched."""
    from flint import acb, arb

    if isinstance(up, arb):
        return arb.atan2(up, along)
    i = acb(0, 1)
    turned = (along + i * up).log(analytic=True) - (along - i * up).log(analytic=True)
    return turned / (2 * i)


def _sinhc(u: T) -> T:
    from flint import acb

    if isinstance(u, acb):
        return (acb(0, 1) * u).sinc()
    return (acb(0, u)).sinc().real
