"""Small linear algebra of tangent spaces: how first-order changes travel between two points."""

from __future__ import annotations

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.batch import unvech

_STEP = 2.0**-17  # central differences: errors of about 1e-10 relative


def log_derivative(space: Space, base: Array, at: Array) -> Array:
    """D log_base at ``at``: from coordinates at ``at`` to coordinates at ``base``, ``(d, d)``."""
    if space.is_flat:  # coordinates are parallel there
        return np.eye(space.dim)
    h = _STEP * _length(space, base, at)
    steps = h * np.eye(space.dim)
    ahead = space.log_coords(base, space.exp_coords(at, steps))
    behind = space.log_coords(base, space.exp_coords(at, -steps))
    return np.asarray((ahead - behind).T / (2 * h))


def exp_derivative(space: Space, base: Array, at: Array) -> Array:
    """D exp_base at ``log_base at``: from coordinates at ``base`` to coordinates at ``at``."""
    z = space.log_coords(base, at)
    h = _STEP * _length(space, base, at)
    steps = h * np.eye(space.dim)
    ahead = space.log_coords(at, space.exp_coords(base, z + steps))
    behind = space.log_coords(at, space.exp_coords(base, z - steps))
    return np.asarray((ahead - behind).T / (2 * h))


def _length(space: Space, base: Array, at: Array) -> float:
    """A step that is small against the curvature and not against the distance's rounding."""
    curved = max(map(abs, space.curvature))
    scale = 1.0 if curved == 0 else 1 / np.sqrt(curved)
    return float(max(scale, space.dist(base, at)))


def symmetric(numbers: Array, dim: int) -> Array:
    """The matrix with the orthonormal vech ``numbers``."""
    return unvech(numbers, dim, float(np.sqrt(2.0)))


def clamped(matrix: Array, low: float, high: float) -> Array:
    """Eigenvalues moved into the public interval ``[low, high]``."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.clip(values, low, high)) @ vectors.T)
