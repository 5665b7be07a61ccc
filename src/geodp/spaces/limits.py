"""Physical limits turned into the centre and radius of a ball."""

from __future__ import annotations

import math

import numpy as np

from geodp.spaces.base import Array

_UP = 1 + 1e-12  # the radius is rounded up


def spectral_ball(size: int, low: float, high: float) -> tuple[Array, float]:
    """Centre ``sqrt(low high) I`` and radius for every SPD matrix with eigenvalues in the limits.

    Affine-invariant and log-Euclidean distance from a multiple of the identity is the length of the
    eigenvalues' log-ratios, at most ``sqrt(m) log(high/low)/2``.
    """
    center = math.sqrt(low) * math.sqrt(high) * np.eye(size)
    return center, math.sqrt(size) * math.log(high / low) / 2 * _UP


def cholesky_ball(size: int, low: float, high: float) -> tuple[Array, float]:
    """The same for the log-Cholesky metric.

    The squared diagonal of L holds Schur complements, so it lies within the limits; row i of the
    strict lower part has squared length ``x_ii - l_ii^2 <= high - low``.
    """
    center = math.sqrt(low) * math.sqrt(high) * np.eye(size)
    diagonal = size * (math.log(high / low) / 4) ** 2
    return center, math.sqrt(diagonal + (size - 1) * (high - low)) * _UP


def cap(longitude: float, latitude: float, degrees: float) -> tuple[Array, float]:
    """Unit vector and angle in radians of a cap in degrees; latitude counts from the equator."""
    lon, lat = math.radians(longitude), math.radians(latitude)
    center = np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])
    return center, math.radians(degrees)
