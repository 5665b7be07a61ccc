"""Riemannian products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import SpaceError
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import array, length, misfits, quiet

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Product(Space):
    """The product of two or more spaces, squared distances adding up.

    A point is a flat array: the factors' points, ravelled and concatenated; ``split`` and ``join``
    translate. A factor that is itself a product is replaced by its factors. Where two factors
    meet the curvature is 0, so the range of curvatures contains 0.

    >>> import geodp as gd
    >>> space = gd.Product(gd.Sphere(2), gd.Euclidean(1))
    >>> space.point_shape, space.dim, space.curvature
    ((4,), 3, (0.0, 1.0))
    """

    _factors: tuple[Space, ...]

    def __init__(self, *factors: Space) -> None:
        if not all(isinstance(factor, Space) for factor in factors):
            raise SpaceError("The factors of a Product must be spaces.")
        flat = tuple(inner for factor in factors for inner in factor.factors)
        if len(flat) < 2:
            raise SpaceError("A Product needs at least two factors.")
        object.__setattr__(self, "_factors", flat)

    @property
    def spec(self) -> str:
        return "+".join(factor.spec for factor in self._factors)

    @property
    def factors(self) -> tuple[Space, ...]:
        return self._factors

    @property
    def dim(self) -> int:
        return sum(factor.dim for factor in self._factors)

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (sum(math.prod(factor.point_shape) for factor in self._factors),)

    @property
    def origin(self) -> Array:
        return self.join([factor.origin for factor in self._factors])

    @property
    def curvature(self) -> tuple[float, float]:
        ranges = [factor.curvature for factor in self._factors]
        return (min(0.0, *(lo for lo, _ in ranges)), max(0.0, *(hi for _, hi in ranges)))

    @property
    def ricci_lower(self) -> float:
        return min(factor.ricci_lower for factor in self._factors)

    @property
    def injectivity_radius(self) -> float:
        return min(factor.injectivity_radius for factor in self._factors)

    @property
    def is_homogeneous(self) -> bool:
        return all(factor.is_homogeneous for factor in self._factors)

    @property
    def is_two_point_homogeneous(self) -> bool:
        return all(factor.is_flat and factor.is_two_point_homogeneous for factor in self._factors)

    def split(self, x: ArrayLike) -> tuple[Array, ...]:
        x, parts, at = array(x), [], 0
        for factor in self._factors:
            size = math.prod(factor.point_shape)
            parts.append(array(x[..., at : at + size]).reshape(*x.shape[:-1], *factor.point_shape))
            at += size
        return tuple(parts)

    def join(self, parts: Sequence[ArrayLike]) -> Array:
        flat = []
        for factor, part in zip(self._factors, parts, strict=True):
            part = array(part)
            batch = part.shape[: part.ndim - len(factor.point_shape)]
            flat.append(part.reshape(*batch, math.prod(factor.point_shape)))
        batch = np.broadcast_shapes(*(part.shape[:-1] for part in flat))
        return np.concatenate([np.broadcast_to(a, (*batch, a.shape[-1])) for a in flat], axis=-1)

    def kernel(self) -> Kernel | None:
        from geodp.kernels.product import Combined

        parts = [factor.kernel() for factor in self._factors]
        shapes = tuple(factor.point_shape for factor in self._factors)
        found = tuple(part for part in parts if part is not None)
        return Combined(found, shapes) if len(found) == len(parts) else None

    def _split_coords(self, z: ArrayLike) -> list[Array]:
        z, parts, at = array(z), [], 0
        for factor in self._factors:
            parts.append(array(z[..., at : at + factor.dim]))
            at += factor.dim
        return parts

    def _each(self, call: Callable[..., Any], *points: ArrayLike) -> list[Any]:
        """``call(factor, *the factor's parts)`` for every factor."""
        return [call(*parts) for parts in zip(self._factors, *map(self.split, points), strict=True)]

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        return np.asarray(np.logical_and.reduce(self._each(lambda f, x: f.contains(x), x)))

    def project(self, x: ArrayLike) -> Array:
        moved = self.join(self._each(lambda f, x: f.project(x), x))
        return np.where(self.contains(x)[..., None], moved, array(x))

    def cut_locus(self, p: ArrayLike, q: ArrayLike) -> BoolArray:
        cuts = self._each(lambda f, p, q: f.cut_locus(p, q), p, q)
        return np.asarray(np.logical_or.reduce(cuts))

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.join(self._each(lambda f, p, v: f.exp(p, v), p, v))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.join(self._each(lambda f, p, q: f.log(p, q), p, q))

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        parts = self._each(lambda f, p, q: f.dist(p, q), p, q)
        with quiet():
            return length(np.stack(parts, axis=-1))

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        total, *rest = self._each(lambda f, p, u, v: f.inner(p, u, v), p, u, v)
        for part in rest:
            total = total + part
        return np.asarray(total)

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        return np.concatenate(self._each(lambda f, p, v: f.coords(p, v), p, v), axis=-1)

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        pairs = zip(self._factors, self.split(p), self._split_coords(z), strict=True)
        return self.join([f.vector(x, c) for f, x, c in pairs])

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        return np.concatenate(self._each(lambda f, p, q: f.log_coords(p, q), p, q), axis=-1)

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        pairs = zip(self._factors, self.split(p), self._split_coords(z), strict=True)
        return self.join([f.exp_coords(x, c) for f, x, c in pairs])

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        total, *rest = self._each(lambda f, p, v: f.log_volume_density(p, v), p, v)
        for part in rest:
            total = total + part
        return np.asarray(total)

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        blocks = self._each(lambda f, p, q: f.hessian(p, q), p, q)
        full = np.zeros((*blocks[0].shape[:-2], self.dim, self.dim))
        at = 0
        for block in blocks:
            end = at + block.shape[-1]
            full[..., at:end, at:end] = block
            at = end
        return full

    @property
    def projection_error(self) -> float:
        return math.hypot(*(factor.projection_error for factor in self.factors))

    def log_error(self, center: ArrayLike, radius: float) -> float:
        """Factors' errors add in squares; a ball of the product lies in the factors' balls."""
        parts = self._each(lambda f, c: f.log_error(c, radius), center)
        return 1.0001 * math.hypot(*parts)

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        out: list[arb] = []
        at = 0
        for factor, part in zip(self._factors, self.split(p), strict=True):
            out += factor.exp_arb(part, z[at : at + factor.dim])
            at += factor.dim
        return out
