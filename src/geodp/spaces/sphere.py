"""The sphere of constant positive curvature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import CutLocusError, SpaceError
from geodp.spaces import checks, radial
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import EPS, array, broadcast, dot, length, misfits, quiet
from geodp.spaces.embeddings import Embedding, UnitVectors
from geodp.spaces.limits import cap

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Sphere(Space):
    """S^d of curvature κ > 0: points of norm 1/√κ in R^{d+1}, shape ``(..., d+1)``.

    A stored point x stands for x/(|x|√κ). Angles come from the part of q - p, or of q + p beyond
    a right angle, that is orthogonal to p; both differences are exact to rounding, so distances
    and logarithms keep about 15 digits from coincident points up to 1e-12 short of the antipode.
    The basis at p is the Householder reflection between the first axis and ±p.

    >>> import geodp as gd
    >>> round(float(gd.Sphere(2).dist([1, 0, 0], [0, 1, 0])), 6)
    1.570796
    """

    _dim: int
    _kappa: float

    def __init__(self, dim: int, curvature: float = 1.0) -> None:
        object.__setattr__(self, "_dim", checks.positive_integer(dim, "dimension"))
        object.__setattr__(self, "_kappa", checks.curvature(curvature, 1, "sphere"))

    @property
    def spec(self) -> str:
        tail = "" if self._kappa == 1.0 else f":{self._kappa!r}"
        return f"sphere:{self._dim}{tail}"

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._dim + 1,)

    @property
    def _radius(self) -> float:
        return 1.0 / math.sqrt(self._kappa)

    @property
    def origin(self) -> Array:
        point = np.zeros(self._dim + 1)
        point[0] = self._radius
        return point

    @property
    def curvature(self) -> tuple[float, float]:
        return (self._kappa, self._kappa) if self._dim > 1 else (0.0, 0.0)

    @property
    def ricci_lower(self) -> float:
        return self._kappa * (self._dim - 1)

    @property
    def injectivity_radius(self) -> float:
        return math.pi * self._radius

    @property
    def is_homogeneous(self) -> bool:
        return True

    @property
    def is_two_point_homogeneous(self) -> bool:
        return True

    @property
    def embedding(self) -> Embedding:
        """The map to unit vectors, for extrinsic means."""
        return UnitVectors(self._dim + 1, self._kappa)

    def kernel(self) -> Kernel | None:
        from geodp.kernels.sphere import sphere

        return sphere(self._dim, self._radius)

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        with quiet():
            return np.asarray(np.abs(length(array(x)) / self._radius - 1.0) <= 1e-6)

    def project(self, x: ArrayLike) -> Array:
        x = array(x)
        with quiet():
            size = length(x)
            # One rounding of a division can leave the norm some ulps off; those points stay.
            off = np.abs(size / self._radius - 1.0)
            move = (off <= 1e-6) & (off > (4 + self._dim) * EPS)
            return np.where(move[..., None], x / size[..., None] * self._radius, x)

    def degree_ball(self, longitude: float, latitude: float, degrees: float) -> tuple[Array, float]:
        """Centre and radius of a cap on the sphere in three-space; all angles in degrees."""
        if self._dim != 2:
            raise SpaceError(
                f"Longitude and latitude describe points of sphere:2, not {self.spec}."
            )
        center, angle = cap(longitude, latitude, degrees)
        return center * self._radius, angle * self._radius

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        side, cos, _ = self._polar(p, q)
        with quiet():
            return np.asarray((cos < 0) & (length(side) <= 1e-10))

    def _polar(self, p: ArrayLike, q: ArrayLike) -> tuple[Array, Array, BoolArray]:
        """sin(θ) times the unit direction from p to q, cos(θ), and whether both are unresolved."""
        p, q = broadcast((array(p), 1), (array(q), 1))
        with quiet():
            base, goal = length(p)[..., None], length(q)[..., None]
            unit = p / base
            cos = dot(unit, q / goal)
            # All are q up to a multiple of p; the smallest one has the smallest rounding error.
            like = np.abs(goal / base - 1.0) < 1e-3
            step = np.where(like, np.where(cos[..., None] < 0, q + p, q - p), q)
            side = step - dot(step, unit)[..., None] * unit
            side = side - dot(side, unit)[..., None] * unit
            lost = (cos < 0) & (length(side) <= 4 * EPS * length(step))
            return side / goal, cos, lost

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 1), (array(v), 1))
        with quiet():
            unit = p / length(p)[..., None]
            v = v - dot(v, unit)[..., None] * unit
            angle = length(v) / self._radius
            point = np.cos(angle)[..., None] * unit * self._radius
            point = point + radial.sinc(angle)[..., None] * v
            return np.asarray(point / length(point)[..., None] * self._radius)

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        side, cos, lost = self._polar(p, q)
        if lost.any():
            raise CutLocusError(
                "The logarithm of antipodal points is not defined; "
                "Sphere.cut_locus tells beforehand which pairs are too near to it."
            )
        with quiet():
            sin = length(side)
            angle = np.arctan2(sin, cos)
            stretch = np.where(sin > 0, angle / sin, 1.0) * self._radius
            return np.asarray(stretch[..., None] * side)

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        side, cos, lost = self._polar(p, q)
        with quiet():
            return np.asarray(np.arctan2(np.where(lost, 0.0, length(side)), cos) * self._radius)

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        _, u, v = broadcast((array(p), 1), (array(u), 1), (array(v), 1))
        with quiet():
            return dot(u, v)

    def _frame(self, p: Array) -> tuple[Array, Array]:
        """The unit normal p/|p|, and p/|p| plus the first axis on its own side."""
        unit = p / length(p)[..., None]
        axis = unit.copy()
        axis[..., 0] = np.where(unit[..., 0] < 0, unit[..., 0] - 1.0, unit[..., 0] + 1.0)
        return unit, axis

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 1), (array(v), 1))
        with quiet():
            unit, axis = self._frame(p)
            along = dot(axis, v) / np.abs(axis[..., 0])
            return array(v[..., 1:] - along[..., None] * unit[..., 1:])

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        p, z = broadcast((array(p), 1), (array(z), 1))
        with quiet():
            unit, axis = self._frame(p)
            along = dot(array(unit[..., 1:]), z) / np.abs(axis[..., 0])
            lifted = np.concatenate([np.zeros_like(z[..., :1]), z], axis=-1)
            return np.asarray(lifted - along[..., None] * axis)

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        angle = length(self.coords(p, v)) / self._radius
        return np.asarray((self._dim - 1) * radial.log_sinc(angle))

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        z = self.log_coords(p, q)
        return radial.radial_hessian(z, radial.t_cot(length(z) / self._radius))

    def log_error(self, center: ArrayLike, radius: float) -> float:
        """Entry-wise rounding only: a few ulps of a vector no longer than half a great circle.

        The difference or sum of p and q, the two projections and the reflection each cost at most
        a few times (d + 1) eps of the vector's length, also next to the antipode, where the sum is
        exact. Norms off by up to 1e-6, which ``contains`` accepts, are read as directions.
        """
        return (6.0 * self._dim + 40.0) * EPS * math.pi * self._radius

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        from geodp.spaces import balls

        root = balls.exact(self._kappa).sqrt()
        point = [balls.exact(x) for x in p]
        size = balls.norm(point)
        unit = [x / size for x in point]
        axis = list(unit)
        axis[0] = unit[0] - 1 if p[0] < 0 else unit[0] + 1
        along = balls.dot(unit[1:], z) / abs(axis[0])
        cos, sinc = balls.cos_sinc(balls.dot(z, z) * balls.exact(self._kappa))
        lifted = [balls.exact(0.0), *z]
        return [
            cos * u / root + sinc * (w - along * a)
            for u, w, a in zip(unit, lifted, axis, strict=True)
        ]
