"""The triangle of two centres and a point at distances r and t(r), as a function of v in [0, 1].

r = first + width sin^2(pi v/2). Where the triangle (r, t, s) degenerates, at v = 0 and perhaps at
v = 1, one of its four half sums vanishes like sin^2 or cos^2; their roots are taken before they are
multiplied, so that what depends on them is analytic in v up to the ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, final

from geodp.privacy.radial_balls import LawBalls, root

if TYPE_CHECKING:
    from flint import acb, arb

T = TypeVar("T", "arb", "acb")


@final
@dataclass(frozen=True)
class Shares(Generic[T]):
    """Distances, and the roots of x, 1 - x, y and 1 - y: cos^2 and sin^2 of half the angle at the
    first centre, and sin^2 and cos^2 of half the angle at the other, on the space form."""

    r: T
    t: T
    gap: T
    slope: T
    width: T  # dr/dv
    x: T
    rest_x: T
    y: T
    rest_y: T


@final
class Triangle:
    """From ``law.first`` to ``cut``; ``ends`` says that the triangle degenerates there too."""

    def __init__(self, law: LawBalls, cut: arb, ends: bool) -> None:
        from flint import arb

        self.law, self.width, self.ends = law, cut - law.first, ends
        self.half_pi = arb.pi() / 2
        self.wide = 4 * self.half_pi - law.shift
        self.root_s = law.sn(law.shift).sqrt()

    def radius(self, v: arb) -> tuple[arb, arb]:
        """r(v) and r'(v)."""
        angle = self.half_pi * v
        return (
            self.law.first + self.width * angle.sin() ** 2,
            self.half_pi * self.width * (2 * angle).sin(),
        )

    def place(self, r: arb) -> arb:
        """The v of a radius."""
        return ((r - self.law.first) / self.width).sqrt().asin() / self.half_pi

    def shares(self, v: T) -> Shares[T]:
        law, s = self.law, self.law.shift
        rise, fall = (self.half_pi * v).sin(), (self.half_pi * v).cos()
        up = self.width * rise**2
        r = law.first + up
        t, gap, slope = law.far(r)
        across, p = (gap + s) / 2, (r + t + s) / 2
        if law.is_laplace:
            share, other = 1 + 0 * r, law.first + 0 * r  # which is half of shift less step
        else:
            sides = (across, p) if law.inside else (p, across)
            share, other = s / (2 * sides[0]), s * (r + law.first) / (2 * sides[1])
        root_small = rise * root(self.width * share * law.sn_share(up * share))
        apart = other if law.inside else up * share
        root_apart = root(law.sn(other)) if law.inside else root_small
        root_apart, root_across = root_apart / self.root_s, root(law.sn(across)) / self.root_s
        # r + across = t + apart is half the sum of all: quotients by the addition formulas
        if self.ends and float(v.real.mid()) > 0.5:
            top = self._top(gap, fall)
            top_r, top_t = top / root(law.sn(r)), top / root(law.sn(t))
        else:
            top_r, top_t = root(_ahead(law, r, across)), root(_ahead(law, t, apart))
        if law.inside and float(v.real.mid()) < 0.5:
            low_r, low_t = root_small / root(law.sn(r)), root_small / root(law.sn(t))
        else:
            low_r, low_t = root(_ahead(law, r, -apart)), root(_ahead(law, t, -across))
        return Shares(
            r,
            t,
            gap,
            slope,
            2 * self.half_pi * self.width * rise * fall,
            top_r * root_apart,
            low_r * root_across,
            low_t * root_apart,
            top_t * root_across,
        )

    def _top(self, gap: T, fall: T) -> T:
        """The root of sn((r + t + s)/2) where that reaches pi at the end."""
        down = self.width * fall**2
        share = 1 + 0 * gap if self.law.is_laplace else self.wide / (self.wide + gap)
        return fall * root(self.width * share * (down * share).sinc())


def _ahead(law: LawBalls, side: T, x: T) -> T:
    """sn(side + x)/sn(side)."""
    if law.sign > 0:
        return x.cos() + side.cot() * x.sin()
    return x.cosh() + side.coth() * x.sinh()
