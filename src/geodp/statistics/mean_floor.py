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
    """The slope of the loss at least, at each of ``ends`` along any ray from the value.

    ``(1/n) sum of the integral of g(rho_i + s)``, g(t) = t cot t in the space's least curvature k;
    where the greatest is 4 k, less the greatest eigenvalue of the mean of ``u_i u_i^T
    sin^2(2 rho_i)`` times the integral of ``w(rho_i + s)``, w(t) = t / (4 sin t cos^3 t). A record
    is at most s farther from a point at distance s. g falls and w grows, so their values at the
    right end of each interval make a lower bound.
    """
    space, ball = records.ball.space, records.ball
    low, high = space.curvature
    if not (space.is_two_point_homogeneous and high == 4 * low):  # no better is known
        low = high
    root, is_round = math.sqrt(low), low == high
    slack = error + space.log_error(ball.center, ball.reach * (1 + 1e-6))
    widest = 2 * ball.reach * (1 + 1e-6) + slack
    total, widths = np.zeros(len(ends)), np.diff(ends, prepend=0.0)
    matrix = np.zeros((len(ends), space.dim, space.dim) if not is_round else (0,))
    for chunk in records.chunks():
        z = space.log_coords(value, chunk)
        rho = length(z)
        far = rho * (1 + 1e-12) + slack
        # both lie in the ball, and so does the ray
        angle = root * np.minimum(far[:, None] + ends, widest)
        inside = angle < math.pi * (1 - 1e-6) / (1 if is_round else 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(inside, angle / np.tan(np.where(inside, angle, 1.0)), -1e9)
        total += np.where(angle > 0, slope, 1.0).sum(axis=0) * widths
        if not is_round:
            safe = np.where(inside, angle, 1.0)
            rise = np.where(inside, safe / (4 * np.sin(safe) * np.cos(safe) ** 3), 0.0) * widths
            weight = np.sin(2 * root * far) ** 2
            unit = z / np.maximum(rho, 1e-300)[:, None]
            flat = (unit[:, :, None] * unit[:, None, :]).reshape(len(z), -1)
            whole = np.cumsum(rise, axis=1) * weight[:, None]
            matrix += (whole.T @ flat).reshape(matrix.shape)
            # a direction is off by up to slack / rho
            total -= (8 * root * slack * np.sin(2 * root * far)[:, None] * rise).sum(axis=0)
    steps = total / len(records)
    grown = np.cumsum(steps) - 1e-12 * np.cumsum(np.abs(steps))
    if not is_round:
        grown -= np.linalg.eigvalsh(matrix)[:, -1] / len(records) * (1 + 1e-9) + error
    return np.asarray(grown)
