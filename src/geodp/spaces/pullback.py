"""Flat metrics on positive definite matrices, pulled back from R^d by a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.spaces import checks
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import EPS, array, broadcast, dot, length, misfits, quiet
from geodp.spaces.charts import Chart
from geodp.spaces.positive import contains_spd, project_spd

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel

_NEAR = 1e-5


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Pullback(Space):
    """SPD(m) with the flat metric that makes a chart φ: SPD(m) → R^d an isometry.

    dist(p, q) = |φ(q) - φ(p)|; the basis at p is that of R^d, carried by Dφ_p. Pairs closer than
    1e-5 (also relative to the point) use Dφ at the midpoint applied to q - p instead, whose
    truncation error 1e-10 is below what the difference of two charts loses there.
    """

    _size: int
    _chart: Chart

    def __init__(self, size: int, chart: Chart) -> None:
        object.__setattr__(self, "_size", checks.positive_integer(size, "size"))
        object.__setattr__(self, "_chart", chart)

    @property
    def spec(self) -> str:
        return f"spd:{self._size}:{self._chart.name}"

    @property
    def dim(self) -> int:
        return self._size * (self._size + 1) // 2

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._size, self._size)

    @property
    def origin(self) -> Array:
        return np.eye(self._size)

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

    def eigenvalue_ball(self, low: float, high: float) -> tuple[Array, float]:
        """Centre and radius of a ball that holds all matrices with eigenvalues in the limits."""
        return self._chart.eigenvalue_ball(self._size, low, high)

    def kernel(self) -> Kernel | None:
        return self._chart.kernel(self._size)

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        return contains_spd(array(x))

    def project(self, x: ArrayLike) -> Array:
        return project_spd(array(x))

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = array(p), array(q)
        first, second = self._chart.chart(p), self._chart.chart(q)
        with quiet():
            z = np.asarray(second - first)
            near = np.asarray(length(z) < _NEAR)
            if not near.any():
                return z
            p, q = broadcast((p, 2), (q, 2))
            p, q = p[near], q[near]
            middle, step = array(p + (q - p) / 2), array(q - p)
            close = self._chart.differential(middle, step)
            fine = self._chart.whitened(middle, step) < _NEAR
            z[near] = np.where(fine[..., None], close, z[near])
            return z

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        with quiet():
            return self._chart.inverse(array(self._chart.chart(array(p)) + array(z)), self._size)

    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self._chart.differential(array(p), array(v))

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        return self._chart.inverse_differential(array(p), array(z))

    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        return self.exp_coords(p, self.coords(p, v))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        return self.vector(p, self.log_coords(p, q))

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        with quiet():
            return length(self.log_coords(p, q))

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        first, second = broadcast((self.coords(p, u), 1), (self.coords(p, v), 1))
        with quiet():
            return dot(first, second)

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        p, v = broadcast((array(p), 2), (array(v), 2))
        return np.zeros(v.shape[:-2])

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = broadcast((array(p), 2), (array(q), 2))
        return np.broadcast_to(np.eye(self.dim), (*q.shape[:-2], self.dim, self.dim)).copy()

    def log_error(self, center: ArrayLike, radius: float) -> float:
        """Twice the chart's rounding over the ball, and one subtraction; see ``chart_error``."""
        radius = float(radius)
        return 2.0 * self._chart.chart_error(array(center), radius) + 4.0 * EPS * radius

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        from flint import arb

        chart = self._chart.chart(array(p))  # public floats, from here on exact
        moved = [arb(float(x)) + step for x, step in zip(chart, z, strict=True)]
        return self._chart.inverse_arb(moved, self._size)
