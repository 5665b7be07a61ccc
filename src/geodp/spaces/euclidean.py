"""Euclidean space R^d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.spaces import checks
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import EPS, array, broadcast, dot, length, misfits, quiet

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel


_LARGEST = 1024  # dimensions of a compiled pass, whose sums stay in the cache


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Euclidean(Space):
    """R^d with points of shape ``(..., d)``; flat.

    >>> import geodp as gd
    >>> float(gd.Euclidean(2).dist([0.0, 0.0], [3.0, 4.0]))
    5.0
    """

    _dim: int

    def __init__(self, dim: int) -> None:
        object.__setattr__(self, "_dim", checks.positive_integer(dim, "dimension"))

    @property
    def spec(self) -> str:
        return f"euclidean:{self._dim}"

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._dim,)

    @property
    def origin(self) -> Array:
        return np.zeros(self._dim)

    @property
    def curvature(self) -> tuple[float, float]:
        return (0.0, 0.0)

    @property
    def ricci_lower(self) -> float:
        return 0.0

    @property
    def injectivity_radius(self) -> float:
        return float("inf")

    @property
    def is_homogeneous(self) -> bool:
        return True

    @property
    def is_two_point_homogeneous(self) -> bool:
        return True

    def kernel(self) -> Kernel | None:
        from geodp.kernels.euclidean import euclidean

        return euclidean(self._dim) if self._dim <= _LARGEST else None

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        return np.asarray(np.isfinite(array(x)).all(axis=-1))

    def project(self, x: ArrayLike) -> Array:
        return array(x)

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        with quiet():
            return np.asarray(array(p) + array(v))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        with quiet():
            return np.asarray(array(q) - array(p))

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        return length(self.log(p, q))

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        _, u, v = broadcast((array(p), 1), (array(u), 1), (array(v), 1))
        with quiet():
            return dot(u, v)

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        return broadcast((array(p), 1), (array(v), 1))[1]

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        return broadcast((array(p), 1), (array(z), 1))[1]

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        return np.zeros(self.coords(p, v).shape[:-1])

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        batch = self.coords(p, q).shape[:-1]
        return np.broadcast_to(np.eye(self._dim), (*batch, self._dim, self._dim)).copy()

    def log_error(self, center: ArrayLike, radius: float) -> float:
        """One subtraction per entry: relative error eps/2 of a vector of length <= 2 radius.

        A computed point of the ball is rounded too, to eps/2 of its length: far from 0 that is what
        counts, eps/2 (|center| + radius).
        """
        return 1.01 * EPS * max(float(radius), float(length(array(center))))

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        from flint import arb

        return [arb(float(x)) + step for x, step in zip(p, z, strict=True)]
