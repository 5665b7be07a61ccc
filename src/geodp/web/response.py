"""The mean distance of wrapped noise from a value at the centre, as a function of its scale."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import final

import numpy as np

from geodp.noise.spherical import SphericalLaw
from geodp.plots.registry import kind_of
from geodp.random import public_rng
from geodp.spaces.base import Array
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import route_of

_CLOSED = ("sphere", "shapes")  # every geodesic closes, after twice the injectivity radius
_QUANTILES = 512
_COORDINATES = 4000  # drawn for a simulation, so that wide spaces take no longer than small ones
_UNRESOLVED = 1e100
_NODES = 2  # scales a factor of two, between which log distance is interpolated


@final
class Response:
    """Of one statistic and one law: ``at(scale)`` is a formula where the release's distance follows
    from the noise's length, else simulated at fixed scales and interpolated."""

    def __init__(self, statistic: Statistic, law: SphericalLaw) -> None:
        self._statistic, self._law = statistic, law
        self._nodes: dict[int, float] = {}
        space = statistic.space
        radial = route_of(statistic).space.dim == space.dim
        self.is_exact = radial and (space.is_hadamard or kind_of(space) in _CLOSED)

    def at(self, scale: float) -> float:
        """Mean geodesic distance; 1e100 stands for more than floats can tell."""
        if self.is_exact:
            return self._folded(scale)
        place = _NODES * math.log2(scale)
        left = math.floor(place)
        near, far = (math.log(self._node(left + i)) for i in (0, 1))
        return math.exp(near + (place - left) * (far - near))

    def _folded(self, scale: float) -> float:
        """Exp keeps lengths up to the injectivity radius; a closed geodesic then comes back."""
        if self._statistic.space.is_hadamard:
            return min(self._law.mean_radius(scale), _UNRESOLVED)
        period = 2 * self._statistic.space.injectivity_radius
        rest = np.mod(scale * _radii(self._law), period)
        return float(np.minimum(rest, period - rest).mean())

    def _node(self, index: int) -> float:
        if index not in self._nodes:
            self._nodes[index] = self._simulated(2.0 ** (index / _NODES))
        return self._nodes[index]

    def _simulated(self, scale: float) -> float:
        route, space = route_of(self._statistic), self._statistic.space
        ball = self._statistic.ball
        center = space.origin if ball is None else ball.center
        draws = max(24, _COORDINATES // route.space.dim)
        with np.errstate(all="ignore"):
            lifted = route.lift(center[None])[0]
            noise = self._law.sample(public_rng(), draws, scale)
            distances = space.dist(center, route.finish(route.space.exp_coords(lifted, noise)))
        kept = np.where(distances < _UNRESOLVED, distances, _UNRESOLVED)
        return max(float(kept.mean()), 1e-300)


@lru_cache(maxsize=64)
def _radii(law: SphericalLaw) -> Array:
    """Evenly spread quantiles of the noise's length at scale 1."""
    from scipy.special import gammaincinv

    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    radii: Array = (gammaincinv(law.order, levels) / law.rate) ** (1 / law.power)
    return radii
