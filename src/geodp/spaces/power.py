"""Powers of a space: a point in each of many places, such as the voxels of a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import SpaceError
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import array, dot, length, misfits, quiet
from geodp.spaces.checks import positive_integer

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Power(Space):
    """``count`` copies of a space side by side, squared distances adding up: a map per person.

    A point has shape ``(count, *space.point_shape)``, one point of ``space`` in each place. It is
    the Riemannian product of ``count`` equal factors; a ``gd.Ball`` on it is a ball in every
    factor, of the one radius that is given. ``space`` is no Power itself.

    Examples
    --------
    >>> import geodp as gd
    >>> maps = gd.Power(gd.SPD(3), 1000)
    >>> maps, maps.point_shape, maps.dim
    (<spd:3:affine-invariant^1000>, (1000, 3, 3), 6000)
    """

    _cell: Space
    _count: int

    def __init__(self, space: Space, count: int) -> None:
        if not isinstance(space, Space):
            raise SpaceError("A Power is made of a space, such as gd.Power(gd.SPD(3), 1000).")
        if space.cells > 1:
            raise SpaceError("The space of a Power is no Power itself: multiply the counts.")
        count = positive_integer(count, "count")
        if count < 2:
            raise SpaceError("A Power needs a count of at least two.")
        object.__setattr__(self, "_cell", space)
        object.__setattr__(self, "_count", count)

    # --- constants ------------------------------------------------------------------------------
    @property
    def spec(self) -> str:
        name = self._cell.spec
        return f"{f'({name})' if '+' in name else name}^{self._count}"

    @property
    def cell(self) -> Space:
        return self._cell

    @property
    def cells(self) -> int:
        return self._count

    @property
    def factors(self) -> tuple[Space, ...]:
        return self._cell.factors * self._count

    @property
    def dim(self) -> int:
        return self._count * self._cell.dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._count, *self._cell.point_shape)

    @property
    def point_hint(self) -> str:
        """What a point that is refused may be mistaken for."""
        return str(getattr(self._cell, "point_hint", ""))

    @property
    def origin(self) -> Array:
        return array(np.broadcast_to(self._cell.origin, self.point_shape))

    @property
    def curvature(self) -> tuple[float, float]:
        low, high = self._cell.curvature
        return (min(0.0, low), max(0.0, high))

    @property
    def ricci_lower(self) -> float:
        return self._cell.ricci_lower

    @property
    def injectivity_radius(self) -> float:
        return self._cell.injectivity_radius

    @property
    def is_homogeneous(self) -> bool:
        return self._cell.is_homogeneous

    @property
    def is_two_point_homogeneous(self) -> bool:
        return self._cell.is_flat and self._cell.is_two_point_homogeneous

    def split(self, x: ArrayLike) -> tuple[Array, ...]:
        x = array(x)
        at = x.ndim - len(self.point_shape)
        places = np.moveaxis(x, at, 0)
        return tuple(part for place in places for part in self._cell.split(array(place)))

    def join(self, parts: Sequence[ArrayLike]) -> Array:
        step = len(self._cell.factors)
        groups = [parts[i : i + step] for i in range(0, len(parts), step)]
        places = np.broadcast_arrays(*(self._cell.join(group) for group in groups))
        return np.stack(places, axis=places[0].ndim - len(self._cell.point_shape))

    # --- membership -----------------------------------------------------------------------------
    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        return np.asarray(self._cell.contains(x).all(axis=-1))

    def project(self, x: ArrayLike) -> Array:
        wide = (...,) + (None,) * len(self.point_shape)
        return np.where(self.contains(x)[wide], self._cell.project(x), array(x))

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        return np.asarray(self._cell.cut_locus(p, q).any(axis=-1))

    # --- geometry, place by place ---------------------------------------------------------------
    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self._cell.exp(p, v)

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self._cell.log(p, q)

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        parts = self._cell.dist(p, q)
        with quiet():
            return length(parts)

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        return self._total(self._cell.inner(p, u, v))

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self._flat(self._cell.coords(p, v))

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        return self._cell.vector(p, self._apart(z))

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self._flat(self._cell.log_coords(p, q))

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        return self._cell.exp_coords(p, self._apart(z))

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self._total(self._cell.log_volume_density(p, v))

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        blocks, d = self._cell.hessian(p, q), self._cell.dim
        full = np.zeros((*blocks.shape[:-3], self.dim, self.dim))
        for i in range(self._count):
            at = slice(i * d, (i + 1) * d)
            full[..., at, at] = blocks[..., i, :, :]
        return full

    def _flat(self, z: Array) -> Array:
        return array(z).reshape(*z.shape[:-2], self.dim)

    def _apart(self, z: ArrayLike) -> Array:
        z = array(z)
        return z.reshape(*z.shape[:-1], self._count, self._cell.dim)

    def _total(self, parts: Array) -> Array:
        """Sums over the places, added in their order."""
        with quiet():
            return dot(parts, np.ones(self._count))

    # --- what the proofs need -------------------------------------------------------------------
    def log_error(self, center: ArrayLike, radius: float) -> float:
        """Errors add in squares; a ball of the power lies in the places' balls."""
        centers, counts = np.unique(array(center), axis=0, return_counts=True)
        errors = np.array([self._cell.log_error(c, radius) for c in centers])
        with quiet():
            return float(1.0001 * np.sqrt((counts * errors**2).sum()))

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        d, out = self._cell.dim, list["arb"]()
        for i, point in enumerate(array(p)):
            out += self._cell.exp_arb(point, z[i * d : (i + 1) * d])
        return out
