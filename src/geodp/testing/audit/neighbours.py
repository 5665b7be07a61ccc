"""Neighbouring inputs on which a promise is put to the test."""

from __future__ import annotations

import math

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

_FAR = 20.0  # radii of the ball: where a record far outside lies
_ROOM = 2.5  # radius of the default ball, in sensitivities


def default_ball(space: Space, sensitivity: float) -> Ball:
    """A ball around the origin that holds two values a sensitivity apart with room to spare."""
    widest = space.injectivity_radius
    if space.curvature[1] > 0:
        widest = min(widest, math.pi / math.sqrt(space.curvature[1]))
    return Ball(space, space.origin, min(_ROOM * sensitivity, 0.45 * widest))


def values_apart(ball: Ball, distance: float, axis: int = 1) -> tuple[Array, Array]:
    """Two points of the ball exactly so far apart, on either side of its centre.

    Along one coordinate axis of the tangent space at the centre; on SPD the axis 1 keeps the
    determinant, where the curvature is.
    """
    step = np.zeros(ball.space.dim)
    step[min(axis, ball.space.dim - 1)] = distance / 2
    return ball.space.exp_coords(ball.center, -step), ball.space.exp_coords(ball.center, step)


def two_clusters(ball: Ball, n: int, axis: int = 0) -> tuple[Array, Array]:
    """Records on the edge of the ball, half on either side; one is moved across, along the other
    axis where there is one. The mean moves about as far as it can."""
    space, radius = ball.space, ball.radius * (1 - 1e-9)
    z = np.zeros((n, space.dim))
    z[: n // 2, axis] = radius
    z[n // 2 : 2 * (n // 2), axis] = -radius
    across = min(axis + 1, space.dim - 1)
    pair = []
    for sign in (1, -1):
        moved = z.copy()
        moved[-1] = 0.0
        moved[-1, across] = sign * radius
        pair.append(space.exp_coords(ball.center, moved))
    return pair[0], pair[1]


def awkward_records(ball: Ball, n: int) -> list[Array]:
    """The same records but for the last: ordinary, on the edge, far outside, NaN, infinite, zero.

    Each pair of them is a pair of neighbours.
    """
    space = ball.space
    rng = np.random.default_rng(41)
    z = rng.standard_normal((n, space.dim))
    z *= ball.radius * rng.random((n, 1)) / np.linalg.norm(z, axis=1, keepdims=True)
    base = space.exp_coords(ball.center, z)
    far = np.zeros(space.dim)
    far[0] = min(_FAR * ball.radius, 0.95 * space.injectivity_radius)
    lasts = [
        base[-1],
        space.exp_coords(ball.center, far / far[0] * ball.radius),
        space.exp_coords(ball.center, far),
        np.full(space.point_shape, np.nan),
        np.full(space.point_shape, np.inf),
        np.zeros(space.point_shape),
    ]
    return [np.concatenate([base[:-1], last[None]]) for last in lasts]
