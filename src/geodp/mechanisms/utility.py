"""How far a wrapped release lands from the value: simulated, and a proven bound."""

from __future__ import annotations

import math

import numpy as np

from geodp.noise.spherical import SphericalLaw
from geodp.spaces.base import Array, Space

_NODES = 4000


def simulated_distances(space: Space, footpoint: Array, values: Array, noise: Array) -> Array:
    """``dist(value, exp_p0(log_p0 value + noise))``, one per row of ``values`` and ``noise``.

    Where floats overflow on a Hadamard space the triangle bound stands in.
    """
    with np.errstate(all="ignore"):
        z = space.log_coords(footpoint, values)
        moved = space.exp_coords(footpoint, z + noise)
        distance = space.dist(values, moved)
        length = np.linalg.norm(noise, axis=-1)
        bound = length + 2 * np.linalg.norm(z, axis=-1)
        return np.where(distance <= bound, distance, np.minimum(bound, space.injectivity_radius))


def wrapped_distance_bound(space: Space, law: SphericalLaw, scale: float, offset: float) -> float:
    """``E min(R + 2 offset, c(offset + R) R)``, ``c(t) = sinh(s t)/(s t)``, ``s = sqrt(-lo)``.

    R is the noise's length and ``offset`` the distance from footpoint to value (Jiang et al.,
    ICLR 2026, with |K| in the curvature factor). Midpoint rule in the quantiles of R.
    """
    from scipy.special import gammaincinv

    quantiles = (np.arange(_NODES) + 0.5) / _NODES
    r = scale * (gammaincinv(law.order, quantiles) / law.rate) ** (1 / law.power)
    sine = math.sqrt(max(-space.curvature[0], 0.0))
    if sine == 0:
        return law.mean_radius(scale)
    t = np.minimum(sine * (offset + r), 500.0)
    stretch = np.where(t > 1e-8, np.sinh(t) / np.maximum(t, 1e-8), 1.0)
    worst = np.minimum(r + 2 * offset, stretch * r)
    tail = law.mean_radius(scale) - float(r.mean())  # what the midpoint rule misses of E R
    return float(worst.mean()) + max(tail, 0.0)
