"""How far a wrapped release lands from the value: simulated, and a proven bound."""

from __future__ import annotations

import math

import numpy as np

from geodp.noise.spherical import SphericalLaw
from geodp.spaces.base import Array, Space

_CELLS = 10_000


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
    ICLR 2026, with |K| in the curvature factor). It is E R + E min(2 offset, (c - 1) R), whose
    second part grows with R: an upper sum over cells of equal probability, 2 offset on the last.
    """
    from scipy.special import gammaincinv

    sine = math.sqrt(max(-space.curvature[0], 0.0))
    if sine == 0:
        return law.mean_radius(scale)
    ends = np.arange(1, _CELLS) / _CELLS
    r = scale * (gammaincinv(law.order, ends) / law.rate) ** (1 / law.power)
    t = np.minimum(sine * (offset + r), 500.0)
    stretch = np.where(t > 1e-8, np.sinh(t) / np.maximum(t, 1e-8), 1.0)
    excess = np.minimum(2 * offset, (stretch - 1) * r)
    return law.mean_radius(scale) + (float(excess.sum()) + 2 * offset) / _CELLS
