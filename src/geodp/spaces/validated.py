"""A space whose every input is checked, for the edges; the mathematics itself checks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import SpaceError
from geodp.spaces.base import Array, BoolArray, Space

if TYPE_CHECKING:
    from flint import arb

_TOLERANCE = 1e-6


def as_numbers(x: ArrayLike, tail: tuple[int, ...], what: str) -> Array:
    """``x`` as float64 of shape ``(..., *tail)``, or a ``SpaceError`` that shows no value."""
    try:
        raw = np.asarray(x)
    except ValueError:
        raise SpaceError(f"The {what} must be an array of numbers, not a ragged list.") from None
    if raw.dtype.kind not in "fiu":
        raise SpaceError(f"The {what} must be real numbers, not of type {raw.dtype}.")
    if raw.ndim < len(tail) or raw.shape[raw.ndim - len(tail) :] != tail:
        wanted = ", ".join(["...", *map(str, tail)])
        raise SpaceError(f"The {what} must have shape ({wanted}), not {raw.shape}.")
    return np.asarray(raw, dtype=np.float64)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Validated(Space):
    """The same space, with shape, type, finiteness, membership and tangency of inputs checked.

    Raises ``SpaceError`` with a sentence that shows no value and no index. Equal to the space
    that it wraps.

    >>> import geodp as gd
    >>> from geodp.spaces.validated import Validated
    >>> Validated(gd.Sphere(2)).dist([1, 0, 0], [2, 0, 0])
    Traceback (most recent call last):
    geodp.errors.SpaceError: The second point is no point of the space sphere:2.
    """

    inner_space: Space

    def __init__(self, space: Space) -> None:
        if not isinstance(space, Space):
            raise SpaceError("Validated needs a space to wrap.")
        object.__setattr__(self, "inner_space", space)

    def _points(self, x: ArrayLike, what: str) -> Array:
        points = as_numbers(x, self.inner_space.point_shape, what)
        if not np.isfinite(points).all():
            raise SpaceError(f"The {what} must be finite.")
        if not self.inner_space.contains(points).all():
            raise SpaceError(f"The {what} is no point of the space {self.spec}.")
        return points

    def _tangent(self, p: Array, v: ArrayLike, what: str) -> Array:
        vectors = as_numbers(v, self.inner_space.point_shape, what)
        if not np.isfinite(vectors).all():
            raise SpaceError(f"The {what} must be finite.")
        _broadcast(p, vectors)
        space = self.inner_space
        nearest = space.vector(p, space.coords(p, vectors))
        if not (np.abs(nearest - vectors) <= _TOLERANCE * np.abs(vectors).max(initial=0.0)).all():
            raise SpaceError(f"The {what} is not tangent to the space {self.spec} at its point.")
        return vectors

    def _coordinates(self, z: ArrayLike) -> Array:
        coordinates = as_numbers(z, (self.dim,), "coordinates")
        if not np.isfinite(coordinates).all():
            raise SpaceError("The coordinates must be finite.")
        return coordinates

    def _pair(self, p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
        first, second = self._points(p, "first point"), self._points(q, "second point")
        _broadcast(first, second)
        return first, second

    def _at(self, p: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        point = self._points(p, "base point")
        return point, self._tangent(point, v, "tangent vector")

    @property
    def spec(self) -> str:
        return self.inner_space.spec

    @property
    def dim(self) -> int:
        return self.inner_space.dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        return self.inner_space.point_shape

    @property
    def origin(self) -> Array:
        return self.inner_space.origin

    @property
    def curvature(self) -> tuple[float, float]:
        return self.inner_space.curvature

    @property
    def ricci_lower(self) -> float:
        return self.inner_space.ricci_lower

    @property
    def injectivity_radius(self) -> float:
        return self.inner_space.injectivity_radius

    @property
    def is_homogeneous(self) -> bool:
        return self.inner_space.is_homogeneous

    @property
    def is_two_point_homogeneous(self) -> bool:
        return self.inner_space.is_two_point_homogeneous

    @property
    def factors(self) -> tuple[Space, ...]:
        return self.inner_space.factors

    @property
    def cell(self) -> Space:
        return self.inner_space.cell

    @property
    def cells(self) -> int:
        return self.inner_space.cells

    def split(self, x: ArrayLike) -> tuple[Array, ...]:
        return self.inner_space.split(as_numbers(x, self.point_shape, "point"))

    def join(self, parts: Sequence[ArrayLike]) -> Array:
        return self.inner_space.join(parts)

    def contains(self, x: ArrayLike) -> BoolArray:
        return self.inner_space.contains(as_numbers(x, self.point_shape, "points"))

    def project(self, x: ArrayLike) -> Array:
        return self.inner_space.project(as_numbers(x, self.point_shape, "points"))

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        return self.inner_space.cut_locus(*self._pair(p, q))

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.inner_space.exp(*self._at(p, v))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.inner_space.log(*self._pair(p, q))

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.inner_space.dist(*self._pair(p, q))

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        point = self._points(p, "base point")
        first = self._tangent(point, u, "first tangent vector")
        second = self._tangent(point, v, "second tangent vector")
        _broadcast(first, second)
        return self.inner_space.inner(point, first, second)

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.inner_space.coords(*self._at(p, v))

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        point = self._points(p, "base point")
        return self.inner_space.vector(point, self._coordinates(z))

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.inner_space.log_coords(*self._pair(p, q))

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        point = self._points(p, "base point")
        return self.inner_space.exp_coords(point, self._coordinates(z))

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.inner_space.log_volume_density(*self._at(p, v))

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.inner_space.hessian(*self._pair(p, q))

    def log_error(self, center: ArrayLike, radius: float) -> float:
        if not radius >= 0:
            raise SpaceError("The radius must be a number of at least 0.")
        return self.inner_space.log_error(self._points(center, "center"), float(radius))

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        return self.inner_space.exp_arb(self._points(p, "base point"), z)


def _broadcast(a: Array, b: Array) -> None:
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise SpaceError("The batch shapes of the two arguments do not fit together.") from None
