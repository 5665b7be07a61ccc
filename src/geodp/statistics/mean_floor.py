"""How fast the gradient of the Fréchet mean's loss grows where curvature is positive.

Lower bounds for the proposals of the K-norm gradient mechanism; proofs: docs/proofs/knorm_gradient.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.batch import length
from geodp.statistics.records import ClippedRecords
from geodp.statistics.sensitivity import certificate_slope

_GRADIENTS = 400
_SAFE = 1 - 1e-9  # covers the float operations of a floor


def positive_floor(records: ClippedRecords, value: Array, error: float, distances: Array) -> Array:
    """At least the norm at every point of the ball that far from the mean, or farther.

    The larger of two bounds: that of any data, and one that grows like the records' own Hessians.
    ``value`` is within ``error`` of the mean, ``distances`` increase.
    """
    space, reach = records.ball.space, records.ball.reach * (1 + 1e-9)
    ends = np.append(np.maximum(distances, 0.0), max(2 * reach, float(distances[-1])))
    grown = _grown(records, value, error, ends)
    between = np.maximum(certain(space, reach, ends[:-1]), np.minimum(grown[:-1], grown[1:]))
    return np.asarray(np.minimum.accumulate(between[::-1])[::-1] * _SAFE)


def certain(space: Space, radius: float, distances: Array) -> Array:
    """The floor for any data in a ball: a gradient of norm g certifies a distance of at most
    ``g / slope(g)`` from the mean, so farther away the norm is above g."""
    gradients, slopes, reached = _table(space, radius)
    at = np.searchsorted(reached, distances * _SAFE, side="right") - 1
    least = min(
        1, len(slopes) - 1
    )  # below the table's first gradient the slope is at least that there
    first = np.minimum(slopes[least] * distances, gradients[least])
    return np.asarray(np.where(at > 0, gradients[np.maximum(at, 0)], first))


@lru_cache(maxsize=16)
def _table(space: Space, radius: float) -> tuple[Array, Array, Array]:
    """Gradients, their slopes as far as these are positive, and the distances they certify."""
    gradients = np.linspace(0.0, 2 * radius, _GRADIENTS)
    slopes = np.array([certificate_slope(space, radius, g) for g in gradients])
    count = int(np.argmax(slopes <= 0)) or len(slopes)
    gradients, slopes = gradients[:count], slopes[:count]
    return gradients, slopes, np.maximum.accumulate(gradients / slopes)


def _grown(records: ClippedRecords, value: Array, error: float, ends: Array) -> Array:
    """``(1/n) sum of the integral of g(rho_i + s)`` over s up to each end, g(t) = t cot t.

    The Hessian of half the squared distance is at least g of the distance, and a record is at most
    s farther from a point at distance s. g decreases, so its value at the right end of each
    interval makes the sum a lower bound.
    """
    space, ball = records.ball.space, records.ball
    root = math.sqrt(space.curvature[1])
    slack = error + space.log_error(ball.center, ball.reach * (1 + 1e-6))
    total, widths = np.zeros(len(ends)), np.diff(ends, prepend=0.0)
    for chunk in records.chunks():
        far = length(space.log_coords(value, chunk)) * (1 + 1e-12) + slack
        angle = root * (far[:, None] + ends)
        inside = angle < math.pi * (1 - 1e-6)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(inside, angle / np.tan(np.where(inside, angle, 1.0)), -1e9)
        total += np.where(angle > 0, slope, 1.0).sum(axis=0) * widths
    steps = total / len(records)
    return np.asarray(np.cumsum(steps) - 1e-12 * np.cumsum(np.abs(steps)))
