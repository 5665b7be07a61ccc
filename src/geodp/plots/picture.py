"""What is drawn, whatever the space: a point, the noise around it, the public ball, raw records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from geodp.random import public_rng
from geodp.spaces.base import Array, Space


@final
@dataclass(frozen=True, eq=False)
class Picture:
    """The facts of one picture. Lengths are geodesic, in the space's own unit.

    ``noise`` is the radius to draw around ``value``, ``center`` and ``radius`` the public ball;
    each may be missing. ``records`` ``(n, *point_shape)`` are the curator's own look at raw data.
    """

    value: Array
    space: Space
    title: str
    noise: float | None = None
    center: Array | None = None
    radius: float | None = None
    unit: str | None = None
    names: tuple[str, ...] = ()
    records: Array | None = None
    smooth: float | None = None  # the bandwidth of a smoothed outline to draw as well
    called: str = "released value"  # what the value is, in the legend
    base: Array = field(init=False)  # where coordinates are taken: the centre, else the origin

    def __post_init__(self) -> None:
        base = self.space.origin if self.center is None else self.center
        object.__setattr__(self, "base", base)

    def circle(self, around: Array, radius: float, count: int = 361) -> Array:
        """Points of a two-dimensional space at distance ``radius``, ``(count, *point_shape)``."""
        angle = np.linspace(0.0, 2 * math.pi, count)
        z = radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return self.space.exp_coords(around, z)

    def neighbours(self, count: int) -> Array:
        """``count`` points at the noise radius around the value, in public random directions.

        Shape ``(count, *point_shape)``; no points where there is no noise radius.
        """
        if self.noise is None:
            return np.empty((0, *self.space.point_shape))
        z = public_rng().standard_normal((count, self.space.dim))
        z *= self.noise / np.linalg.norm(z, axis=1, keepdims=True)
        return self.space.exp_coords(self.value, z)
