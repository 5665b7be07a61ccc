"""Gauss-Legendre quadrature with a proven error: the integrals of the radial laws.

If f is analytic and at most M in modulus within the ellipse with foci at a panel's ends whose half
axes add up to rho half widths, n nodes err by at most half width times 64 M rho^{-2n}/15(1 -
rho^{-2}) (Trefethen, Approximation Theory and Approximation Practice, Thm 19.3). M comes from boxes
that cover the ellipse. Panels where no such bound is good enough are halved, and in the end
enclosed by the range of f.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from geodp.privacy.balls import ball

if TYPE_CHECKING:
    from flint import acb, arb

_NODES = (8, 12, 16, 24, 32, 48, 72, 108)
_RADII = (Fraction(3), Fraction(2), Fraction(3, 2))
_ACROSS, _UP = 8, 2  # boxes over the upper half of an ellipse
_SHARE = 16  # a panel may err by such a part of the tolerance
_PANELS = 400  # after so many, what is left is enclosed as it is

Cell = tuple["arb", "arb"]


class Integrand(ABC):
    """A function that is real on the line."""

    @abstractmethod
    def value(self, v: arb) -> arb:
        """f at a point, as a ball."""

    @abstractmethod
    def size(self, v: acb) -> arb:
        """At least abs(f) on a box on which f is analytic; not finite where it may not be."""

    @abstractmethod
    def hull(self, v: arb) -> arb:
        """A ball around all values on an interval."""


def integral(f: Integrand, cells: list[Cell], tolerance: float) -> arb:
    """An enclosure of the integral over the cells, within about ``tolerance``."""
    from flint import arb

    total, wanted, made = arb(0), tolerance / _SHARE, 0
    queue = list(cells)[::-1]
    while queue:
        a, b = queue.pop()
        middle, half = (a + b) / 2, (b - a) / 2
        made += 1
        rule = _rule(f, middle, half, wanted)
        if rule is not None:
            nodes, error = rule
            part = sum((w * f.value(middle + half * x) for x, w in _nodes(nodes)), arb(0))
            total += half * part + arb(0, error.upper())
            continue
        rough = 2 * half * f.hull(a.union(b))
        if made > _PANELS or (rough.is_finite() and float(rough.rad()) <= wanted):
            total += rough
            continue
        centre = arb(middle.mid())
        queue += [(centre, b), (a, centre)]
    return total


def _rule(f: Integrand, middle: arb, half: arb, wanted: float) -> tuple[int, arb] | None:
    """How many nodes are enough, and their error; None where too many or no bound is known."""
    from flint import arb

    for rho in _RADII:
        most = _most(f, middle, half, rho)
        if most is None:
            continue
        factor = arb(64) / 15 * half * most / (1 - ball(1 / rho**2))
        size = float(factor.upper())
        if size == 0:
            return _NODES[0], arb(0)
        needed = math.log(max(size / wanted, 1.0)) / (2 * math.log(rho))
        for nodes in _NODES:
            if nodes >= needed:
                return nodes, factor / ball(rho) ** (2 * nodes)
    return None


def _most(f: Integrand, middle: arb, half: arb, rho: Fraction) -> arb | None:
    """At least the modulus of f within the ellipse; None where f may not be analytic."""
    from flint import acb, arb

    most = arb(0)
    for real, imag in _boxes(rho):
        size = f.size(acb(middle + half * real, half * imag))
        if not size.is_finite():
            return None
        most = most.max(size.upper())
    return most


@lru_cache(maxsize=8)
def _boxes(rho: Fraction) -> list[tuple[arb, arb]]:
    """Boxes that cover the upper half of the ellipse around [-1, 1]; the lower is its mirror."""
    wide, high = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
    found = []
    for i, j in product(range(-_ACROSS // 2, _ACROSS // 2), range(_UP)):
        left, low = i * wide / (_ACROSS // 2), j * high / _UP
        right, top = left + wide / (_ACROSS // 2), low + high / _UP
        near = max(left, -right, Fraction(0))
        if (near / wide) ** 2 + (low / high) ** 2 < 1:
            found.append((ball(left).union(ball(right)), ball(low).union(ball(top))))
    return sorted(found, key=lambda box: -abs(float(box[0].mid())))  # the ends fail first


@lru_cache(maxsize=64)
def _rule_nodes(count: int, bits: int) -> list[tuple[arb, arb]]:
    from flint import arb

    return [arb.legendre_p_root(count, k, weight=True) for k in range(count)]


def _nodes(count: int) -> list[tuple[arb, arb]]:
    from flint import ctx

    return _rule_nodes(count, ctx.prec)
