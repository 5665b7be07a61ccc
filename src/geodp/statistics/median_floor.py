"""How fast the gradient of a mean distance grows: a floor for the proposals of the median.

Where distances are convex, the slope of the loss along a ray from a point does not fall, and the
gradient's norm is at least that slope. Proof: docs/proofs/knorm_gradient.
"""

from __future__ import annotations

import math

import numpy as np

from geodp.spaces.base import Array, BoolArray
from geodp.spaces.batch import length
from geodp.statistics.records import ClippedRecords

_NEAR = 0.8  # a record nearer than this share of t pulls back from there, whatever its direction
_SAFE = 1e-12  # covers the float operations, relative to the unit vectors


def convex_floor(records: ClippedRecords, value: Array, blunt: float, distances: Array) -> Array:
    """At least the norm of ``(1/n) sum`` of unit vectors, shrunk within ``blunt`` of a record, at
    every point of the ball that far from ``value`` or farther.

    For each distance t a record at distance rho, in direction u, bounds its slope there in
    direction w:

    - near, ``rho < t``: at least ``sqrt(1 - (sn rho/sn t)^2)``;
    - far: at least ``-<u, w> + q (1 - <u, w>^2)``, ``q = (1 - (sn rho/sn(rho + s))^2)/2``,
      ``s = min(t, rho)``.

    The least over w of the sum of far ones is at least ``-|sum u|`` plus the least eigenvalue.
    """
    space, ball = records.ball.space, records.ball
    root = math.sqrt(max(space.curvature[1], 0.0))
    t = np.maximum(distances, 1e-300)
    slack = space.log_error(ball.center, ball.reach * (1 + 1e-6))
    scalar, size = np.zeros(len(t)), np.zeros(len(t))
    vector = np.zeros((len(t), space.dim))
    matrix = np.zeros((len(t), space.dim, space.dim))
    for chunk in records.chunks():
        z = space.log_coords(value, chunk)
        rho = length(z)
        unit = z / np.maximum(rho, blunt)[:, None]
        near, bound = _back(rho + slack, t[:, None], root, blunt)
        scalar += np.where(near, bound, 0.0).sum(axis=1)
        vector += (~near) @ unit
        # nearer than four blunt lengths the slope at the start alone is used
        far = ~near & (rho > 4 * blunt)
        weight = np.where(far, _across(rho, t[:, None], root), 0.0)
        size += weight.sum(axis=1)
        flat = (unit[:, :, None] * unit[:, None, :]).reshape(len(unit), -1)
        matrix -= (weight @ flat).reshape(matrix.shape)
    matrix += size[:, None, None] * np.eye(space.dim)
    least = np.linalg.eigvalsh(matrix)[:, 0] - np.linalg.norm(vector, axis=1) + scalar
    floor = least / len(records) - 4 * slack / blunt - _SAFE * (1 + space.dim)
    return np.asarray(np.maximum.accumulate(np.maximum(floor, 0.0)))


def _sn(root: float, t: Array) -> Array:
    """Sine in curvature ``root^2``, up to a factor."""
    return np.sin(root * t) if root > 0 else t


def _back(rho: Array, t: Array, root: float, blunt: float) -> tuple[BoolArray, Array]:
    """Which records are near, and their slope at least; by convexity where still within b."""
    past = t - rho
    clear = (past >= blunt) & (rho <= _NEAR * t)
    if root > 0:
        clear &= root * t <= math.pi / 2
    ratio = _sn(root, rho) / np.where(clear, _sn(root, t), np.inf)
    risen = _blunt(np.maximum(past, 0.0), blunt) - _blunt(rho, blunt)
    bound = np.where(clear, np.sqrt(np.maximum(1 - ratio**2, 0.0)), risen / t)
    return np.asarray(clear | (rho <= t / 2)), np.asarray(bound * (1 - 1e-9 * np.sign(bound)))


def _across(rho: Array, t: Array, root: float) -> Array:
    """q: how much the slope rises across the direction to the record."""
    s = np.minimum(t, rho)
    if root == 0:
        return np.asarray((1 - (rho / np.maximum(rho + s, 1e-300)) ** 2) / 2 * (1 - 1e-9))
    a, b = root * rho, root * s
    c = np.minimum(a + b, math.pi / 2)  # no record of the ball is farther from a point of it
    apart = np.maximum((np.cos(b) - np.cos(a + c)) * np.sin(c), 1e-300)
    q = np.sin(a) * np.sin(b) * np.maximum(np.sin(a + c), 0.0) / apart
    return np.asarray(q * (1 - 1e-9) - 1e-9 * (q > 0))


def _blunt(rho: Array, blunt: float) -> Array:
    """A distance whose slope falls to 0 within b: ``rho - b/2``, or ``rho^2 / 2b`` up to b."""
    return np.where(rho > blunt, rho - blunt / 2, rho * rho / (2 * blunt))
