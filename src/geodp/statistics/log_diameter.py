"""How far apart two records of a ball can look from a point of it: the mean's gradient constant.

``sup |log_x y - log_x z|`` over x, y, z in a ball, divided by n, is what one record can move the
gradient of the Fréchet mean's loss. Three proven bounds; proofs: docs/proofs/knorm_gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.privacy.balls import ball, upper
from geodp.privacy.numbers import float_up
from geodp.spaces.base import Space
from geodp.statistics.sensitivity import check_radius

if TYPE_CHECKING:
    from flint import arb

CONSTANTS = ("supremum", "tangent", "published")
_UP = 1 + 1e-12  # covers the rounding of the few float operations below


def log_diameter(space: Space, radius: float, constant: str = "supremum") -> float:
    """A bound on ``|log_x y - log_x z|`` for x, y, z in a ball of ``radius``, rounded up.

    ``2 r`` where the space is Hadamard, for every x in it, and in dimension one. Else, with the
    curvature at most ``kappa > 0``, ``R = sqrt(kappa) r`` and ``r < min(inj, pi/sqrt(kappa))/2``:

    - ``"supremum"``: ``max over a of 4 sin(a) atan(tan(R) cos(a)) / sqrt(kappa)``, attained on
      spheres of dimension two or more and on planar shapes;
    - ``"tangent"``: ``2 tan(R) / sqrt(kappa)``;
    - ``"published"``: ``2 r (2 - h)``, ``h = 2 R cot(2 R)``, for ``R < pi/4`` (Soto et al. 2022).

    >>> import math, geodp as gd
    >>> [round(log_diameter(gd.Sphere(2), math.pi / 8, name), 4) for name in CONSTANTS]
    [0.8062, 0.8284, 0.9539]
    """
    if constant not in CONSTANTS:
        listed = ", ".join(repr(name) for name in CONSTANTS)
        raise InputError(f"The gradient's constant is one of {listed}; not {constant!r}.")
    check_radius(space, radius)
    kappa = space.curvature[1]
    if kappa <= 0:
        return float(2 * radius * _UP)
    return _BOUNDS[constant](space, radius, kappa)


def _published(space: Space, radius: float, kappa: float) -> float:
    limit = min(space.injectivity_radius, math.pi / math.sqrt(kappa)) / 4
    if not radius < limit:
        raise ConditionError(
            f"The published gradient constant holds for radii below {limit:.6g} on {space.spec}; "
            f"the radius asked for is {radius:.6g}. The supremum (the default) reaches twice as "
            "far."
        )
    wide = 2 * math.sqrt(kappa) * radius
    rounding = 1 + 1e-15 / (math.pi / 2 - wide)
    return 2 * radius * (2 - wide / math.tan(wide) * (1 - 1e-14)) * _UP * rounding


def _tangent(space: Space, radius: float, kappa: float) -> float:
    return _certified(lambda: 2 * _tan(radius, kappa) / _root(kappa))


def _supremum(space: Space, radius: float, kappa: float) -> float:
    return supremum(radius, kappa)


_BOUNDS: dict[str, Callable[[Space, float, float], float]] = {
    "supremum": _supremum,
    "tangent": _tangent,
    "published": _published,
}


@lru_cache(maxsize=256)
def supremum(radius: float, kappa: float) -> float:
    """The supremum in curvature at most ``kappa``: ``2 sqrt(max b) / sqrt(kappa)``, certified, of

    ``b(u) = u - u tan(sqrt(u)/2)^2 / tan(R)^2``, ``0 <= u <= (2 R)^2``. It is concave, so its
    tangent at any u bounds it; at a float near the maximiser the bound is sharp to rounding.
    """
    at = _maximiser(math.sqrt(kappa) * radius)

    def bound() -> arb:
        wide = 4 * _exact(kappa) * _exact(radius) ** 2  # every u is at most this
        u = _exact(at)
        half, tangent = u.sqrt() / 2, _tan(radius, kappa)
        value = u - u * (half.tan() / tangent) ** 2
        slope = 1 - (half.tan() ** 2 + half * half.tan() * (1 + half.tan() ** 2)) / tangent**2
        rest = (slope * (wide - u)).max(-slope * u)
        return 2 * (value + rest.max(_exact(0.0))).sqrt() / _root(kappa)

    return _certified(bound)


def _maximiser(angle: float) -> float:
    """About where b is largest, by bisection of its slope in t = sqrt(u)/2 (any point serves)."""
    low, high = 0.0, angle
    with np.errstate(over="ignore"):
        for _ in range(80):
            t = (low + high) / 2
            tan = math.tan(t)
            rises = tan * tan + t * tan * (1 + tan * tan) < math.tan(angle) ** 2
            low, high = (t, high) if rises else (low, t)
    return 4 * low * low


def _certified(function: Callable[[], arb]) -> float:
    return float_up(upper(function))


def _exact(x: float) -> arb:
    return ball(Fraction(x))


def _root(kappa: float) -> arb:
    return _exact(kappa).sqrt()


def _tan(radius: float, kappa: float) -> arb:
    return (_root(kappa) * _exact(radius)).tan()
