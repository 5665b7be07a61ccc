"""Hyperbolic space of constant negative curvature, as a hyperboloid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.spaces import checks, poincare, radial
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import EPS, array, broadcast, dot, length, misfits, quiet

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel


def _unit(x: Array) -> tuple[Array, Array]:
    """Lengths ``(..., 1)`` and directions: that of 0 is 0, that of an infinite vector NaN.

    Directions come from the vector times a power of two, so that neither subnormal numbers nor an
    overflow of the length can touch them.
    """
    size = length(x)[..., None]
    _, power = np.frexp(np.abs(x).max(axis=-1, keepdims=True))
    scaled = array(np.ldexp(x, -power))
    return size, np.where(size == 0, 0.0, scaled / length(scaled)[..., None])


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Hyperbolic(Space):
    """H^d of curvature -k < 0: points ``(..., d+1)``, -x0² + x1² + … + xd² = -1/k, x0 > 0.

    A stored point stands for its spatial part x1 … xd; x0 is recomputed. Two points at distances
    s and t from the origin and with directions u and w satisfy
    sinh²(ρ/2) = sinh²((s - t)/2) + sinh s sinh t |u - w|²/4: a sum of squares, which cancels
    nowhere. What rounding costs is the direction: eps·exp(distance from the origin), as a length
    (1e-11 at distance 12, 1e-7 at 20; distances along one ray are exact to 1e-15 up to 350).
    The basis at p is the boost of the standard basis from the origin to p.

    >>> import geodp as gd
    >>> H = gd.Hyperbolic(2)
    >>> round(float(H.dist(H.origin, H.exp(H.origin, [0.0, 3.0, 4.0]))), 12)
    5.0
    """

    _dim: int
    _k: float

    def __init__(self, dim: int, curvature: float = -1.0) -> None:
        object.__setattr__(self, "_dim", checks.positive_integer(dim, "dimension"))
        object.__setattr__(self, "_k", -checks.curvature(curvature, -1, "hyperbolic space"))

    @property
    def spec(self) -> str:
        tail = "" if self._k == 1.0 else f":{-self._k!r}"
        return f"hyperbolic:{self._dim}{tail}"

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._dim + 1,)

    @property
    def _radius(self) -> float:
        return 1.0 / math.sqrt(self._k)

    @property
    def origin(self) -> Array:
        point = np.zeros(self._dim + 1)
        point[0] = self._radius
        return point

    @property
    def curvature(self) -> tuple[float, float]:
        return (-self._k, -self._k) if self._dim > 1 else (0.0, 0.0)

    @property
    def ricci_lower(self) -> float:
        return 0.0 - self._k * (self._dim - 1)

    @property
    def injectivity_radius(self) -> float:
        return float("inf")

    @property
    def is_homogeneous(self) -> bool:
        return True

    @property
    def is_two_point_homogeneous(self) -> bool:
        return True

    # --- membership -----------------------------------------------------------------------------
    def _time(self, spatial: Array) -> Array:
        """x0 of points whose spatial parts are given, shape ``(..., 1)``."""
        pair = np.concatenate([length(spatial)[..., None], np.full_like(spatial[..., :1], 1)], -1)
        pair[..., 1] = self._radius
        return length(pair)[..., None]

    def kernel(self) -> Kernel | None:
        from geodp.kernels.hyperbolic import hyperbolic

        return hyperbolic(self._dim, self._k)

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        x = array(x)
        with quiet():
            time = self._time(array(x[..., 1:]))[..., 0]
            near = np.abs(x[..., 0] - time) <= 1e-6 * time
            return np.asarray(np.isfinite(x).all(axis=-1) & np.isfinite(time) & near)

    def project(self, x: ArrayLike) -> Array:
        x = array(x)
        with quiet():
            exact = self._join(array(x[..., 1:]) / self._radius)
            exact[..., 1:] = x[..., 1:]
            exact[..., 0] = self._time(array(x[..., 1:]))[..., 0]
            return np.where(self.contains(x)[..., None], exact, x)

    def from_ball(self, u: ArrayLike) -> Array:
        """Points of the open unit ball ``(..., d)``, Poincaré's model, as points here.

        1 - |u|² is summed in doubled precision, so that points next to the edge keep the distance
        that their floats stand for. What lies outside the ball becomes NaN, which is no point.
        """
        return self._join(poincare.to_spatial(array(u)))

    def to_ball(self, x: ArrayLike) -> Array:
        """The points' images in Poincaré's unit ball, shape ``(..., d)``."""
        spatial, time = self._split(array(x))
        with quiet():
            return np.asarray(spatial / (1.0 + time))

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Spatial part and recomputed time coordinate, in units of the radius 1/√k."""
        spatial = array(x[..., 1:]) / self._radius
        return spatial, np.hypot(length(spatial), 1.0)[..., None]

    def _join(self, spatial: Array) -> Array:
        with quiet():
            spatial = spatial * self._radius
            return np.concatenate([self._time(spatial), spatial], axis=-1)

    # --- geometry -------------------------------------------------------------------------------
    def _polar(self, p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
        """Distances and unit directions from p to q in the basis at p, for curvature -1.

        In the plane of p, q and the origin, with a = sinh s, b = sinh t, 2h = |w - u|, the boost
        that takes p to the origin takes q to (sinh(t - s) - 2 b cosh(s) h²) u + b (w - cos θ u).
        """
        p, q = broadcast((array(p), 1), (array(q), 1))
        with quiet():
            (x, x0), (y, y0) = self._split(p), self._split(q)
            (a, u), (b, w) = _unit(x), _unit(y)
            u, w = np.where(a > 0, u, w), np.where(b > 0, w, u)
            step = y - x
            # b - a and sinh(t - s), both from b² - a² = step·(x + y).
            gap = dot(step, (x + y) / np.where(a + b > 0, a + b, 1.0))[..., None]
            # w - u, rounded to eps and to eps |q - p|/b; the former is less where q is next to 0.
            lean = np.where(a <= 2 * b, step / b - u * (gap / b), w - u)
            lean = np.where((a > 0) & (b > 0), lean, 0.0)
            rise = np.where(gap == 0, 0.0, gap * ((a + b) / (b * x0 + a * y0)))
            half = dot(lean, lean)[..., None] / 4.0
            side = b * (lean + 2.0 * half * u)
            image = (rise - 2.0 * b * x0 * half) * u + side
            chord = np.hypot(
                np.sinh(np.arcsinh(rise) / 2.0), np.sqrt(a) * np.sqrt(b) * np.sqrt(half)
            )
            rho = 2.0 * np.arcsinh(chord[..., 0])
            return rho, _unit(image)[1]

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        with quiet():
            return np.asarray(self._polar(p, q)[0] * self._radius)

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        rho, direction = self._polar(p, q)
        with quiet():
            return np.asarray(rho[..., None] * direction * self._radius)

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.vector(p, self.log_coords(p, q))

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        p, z = broadcast((array(p), 1), (array(z), 1))
        with quiet():
            a, u = _unit(self._split(p)[0])
            z = z / self._radius
            step = radial.sinhc(length(z))[..., None] * z
            along = dot(step, u)[..., None]
            side = step - along * u
            flat = np.hypot(1.0, along)
            cosh = np.hypot(flat, length(side)[..., None])
            across = length(side)[..., None]
            # cosh ρ a + along x0, with the part that cancels on the way to the origin as one sinh
            radius = np.sinh(np.arcsinh(along) + np.arcsinh(a))
            radius = radius + a * (across / (cosh + flat)) * across
            return self._join(np.where(a > 0, side + radius * u, step))

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.exp_coords(p, self.coords(p, v))

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 1), (array(v), 1))
        with quiet():
            x, x0 = self._split(p)
            _, u = _unit(x)
            spatial = array(v[..., 1:])
            along = dot(spatial, u)[..., None]
            return np.asarray((spatial - along * u) + (along / x0) * u)

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        p, z = broadcast((array(p), 1), (array(z), 1))
        with quiet():
            x, x0 = self._split(p)
            a, u = _unit(x)
            along = dot(z, u)[..., None]
            return np.concatenate([a * along, (z - along * u) + (x0 * along) * u], axis=-1)

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        first, second = broadcast((self.coords(p, u), 1), (self.coords(p, v), 1))
        with quiet():
            return dot(first, second)

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        t = length(self.coords(p, v)) / self._radius
        return np.asarray((self._dim - 1) * radial.log_sinhc(t))

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        z = self.log_coords(p, q)
        return radial.radial_hessian(z, radial.t_coth(length(z) / self._radius))

    # --- what the proofs need -------------------------------------------------------------------
    def log_error(self, center: ArrayLike, radius: float) -> float:
        """Rounding of the directions, times sinh of the distance from the origin.

        ``lean`` = w - u carries an error of c·d·eps·|q - p|/b. Its part in the image across u is
        c·d·eps·|q - p|, and along u it is 4 x0 h c·d·eps·|q - p|; with ab h² <= sinh²(ρ/2) and
        a/b <= exp ρ both are, after the factor ρ/sinh ρ, at most c·d·eps·(1 + ρ)·exp(R), R being
        the farthest distance from the origin; so is the error of the chord. ρ <= 2 radius.
        """
        reach = float(radius) / self._radius
        far = float(self.dist(self.origin, center)) / self._radius + reach
        with quiet():
            size = float(np.exp(far)) * (1.0 + 2.0 * reach)
        return (4.0 * self._dim + 40.0) * EPS * size * self._radius

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        from geodp.spaces import balls

        root = balls.exact(self._k).sqrt()
        x = [balls.exact(float(t)) * root for t in p[1:]]
        x0 = (balls.dot(x, x) + 1).sqrt()
        cosh, sinhc = balls.cosh_sinhc(balls.dot(z, z) * balls.exact(self._k))
        step = [sinhc * root * t for t in z]
        lift = balls.dot(x, step)
        spatial = [s + t * (lift / (1 + x0) + cosh) for s, t in zip(step, x, strict=True)]
        return [(x0 * cosh + lift) / root, *(t / root for t in spatial)]
