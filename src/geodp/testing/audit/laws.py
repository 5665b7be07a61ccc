"""The law that a calibration states, as an oracle of its own: density times volume, by quadrature.

Nothing here uses the package's samplers or distribution functions: the radius has the density
``exp(log_density(t))`` times the area of the sphere of radius t, the area from the space's volume
density. ``stated_law`` is open: register your own calibration with ``stated_law.register``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import final

import numpy as np

from geodp.errors import GeodpError
from geodp.mechanisms.base import Calibration
from geodp.mechanisms.knorm_gradient_calibration import KNormGradientCalibration
from geodp.mechanisms.riemannian_calibration import RiemannianCalibration
from geodp.mechanisms.wrapped import WrappedCalibration
from geodp.spaces.base import Array, Space
from geodp.spaces.euclidean import Euclidean

_DIRECTIONS, _KNOTS, _POINTS = 2048, 80, 20_000
_DEPTH = 45.0  # in logs, below the mode, where a density ends


@final
@dataclass(frozen=True, eq=False)
class StatedLaw:
    """Noise with a radial density, on the space or in a tangent space.

    ``base``: the footpoint whose tangent space the noise is added in; None for noise around the
    value on the space itself. ``log_density``: at a distance, in ``volume``'s measure. ``stop``:
    where the law is cut off; ``sample``: float coordinates of noise, for the naive twins.
    """

    space: Space
    base: Array | None
    volume: Space
    log_density: Callable[[Array], Array]
    sample: Callable[[np.random.Generator, int], Array]
    stop: float = math.inf
    at_center: bool = False  # only around the ball's centre is it radial

    def noise(self, value: Array, draws: Array) -> Array:
        """The noise's coordinates ``(n, dim)`` in draws around ``value``."""
        if self.base is None:
            return self.space.log_coords(value, draws)
        start = self.space.log_coords(self.base, value)
        return np.asarray(self.space.log_coords(self.base, draws) - start)

    def log_ratio(self, first: Array, second: Array, draws: Array) -> Array:
        """Log density of draws around ``first`` over that around ``second``."""
        if self.base is None:
            lengths = [self.space.dist(value, draws) for value in (first, second)]
        else:
            z = self.space.log_coords(self.base, draws)
            starts = [self.space.log_coords(self.base, value) for value in (first, second)]
            lengths = [np.linalg.norm(z - start, axis=-1) for start in starts]
        return np.asarray(self.log_density(lengths[0]) - self.log_density(lengths[1]))

    def folded(self, value: Array) -> float:
        """The chance that noise reaches so far that exp folds it back."""
        start = 0.0 if self.base is None else float(self.space.dist(self.base, value))
        reach = self.space.injectivity_radius - start
        return 0.0 if math.isinf(reach) else 1.0 - float(self.radius.cdf(np.array(reach)))

    @cached_property
    def radius(self) -> RadiusTable:
        return RadiusTable.of(self)


@final
@dataclass(frozen=True, eq=False)
class RadiusTable:
    """The distribution of the noise's length; ``total`` is the integral of its stated density."""

    nodes: Array
    levels: Array
    total: float

    @classmethod
    def of(cls, law: StatedLaw) -> RadiusTable:
        space = law.volume
        d, widest = space.dim, min(law.stop, space.injectivity_radius)
        log_area = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)

        def flat(t: Array) -> Array:
            with np.errstate(divide="ignore", invalid="ignore"):
                powers = (d - 1) * np.log(t) if d > 1 else np.zeros(t.shape)
                return np.asarray(law.log_density(t) + powers + log_area)

        end = _end(lambda t: flat(t) + _growth(space) * t, widest)
        nodes = end * np.linspace(1e-9, 1, _POINTS) ** 2
        log_weight = flat(nodes) + _log_volume(space, nodes)
        top = log_weight.max()
        weight = np.exp(log_weight - top)
        steps = (weight[1:] + weight[:-1]) / 2 * np.diff(nodes)
        levels = np.concatenate([[0.0], np.cumsum(steps)])
        total = float(levels[-1] * math.exp(top))
        return cls(nodes, levels / levels[-1], total)

    def cdf(self, t: Array) -> Array:
        """P(radius <= t)."""
        return np.asarray(np.interp(t, self.nodes, self.levels))


def _growth(space: Space) -> float:
    """An exponent of the volume's growth."""
    return (space.dim - 1) * math.sqrt(max(-space.curvature[0], 0.0))


def _end(log_weight: Callable[[Array], Array], widest: float) -> float:
    """Where a density has fallen by ``_DEPTH`` in logs for good, or its end."""
    far = 1e-12
    seen = -math.inf
    while far < widest:
        value = float(log_weight(np.array(far)))
        seen = max(seen, value)
        if math.isfinite(seen) and value < seen - _DEPTH:
            return far
        far *= 1.25
    return widest


def _log_volume(space: Space, t: Array) -> Array:
    """Log of the mean of exp's Jacobian over directions, at distances ``t``."""
    if space.is_flat:
        return np.zeros(len(t))
    rng = np.random.default_rng(20)
    z = rng.standard_normal((_DIRECTIONS, space.dim))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    frame = space.vector(space.origin, z)
    wide = (slice(None),) + (None,) * len(space.point_shape)
    with np.errstate(divide="ignore"):
        if space.is_two_point_homogeneous:  # the same in every direction
            return np.asarray(space.log_volume_density(space.origin, t[wide] * frame[:1]))
        knots = t[-1] * np.linspace(0, 1, _KNOTS) ** 2
        known = [space.log_volume_density(space.origin, x * frame) for x in knots]
    mean = [log.max() + math.log(np.exp(log - log.max()).mean()) for log in known]
    return np.asarray(np.interp(t, knots, mean))


@singledispatch
def stated_law(cal: Calibration) -> StatedLaw | None:
    """What ``cal`` says its draws follow; None for a calibration of an unknown kind."""
    return None


@stated_law.register
def _(cal: WrappedCalibration) -> StatedLaw:
    law, dim = cal.law, cal.space.dim

    def log_density(t: Array) -> Array:
        points = np.zeros((*np.shape(t), dim))
        points[..., 0] = t
        with np.errstate(divide="ignore"):
            return np.asarray(law.log_density(points, cal.scale))

    return StatedLaw(
        cal.space,
        cal.footpoint,
        Euclidean(dim),
        log_density,
        lambda rng, n: law.sample(rng, n, cal.scale),
    )


@stated_law.register
def _(cal: RiemannianCalibration) -> StatedLaw:
    inside = cal.inside
    law = cal.law

    def log_density(t: Array) -> Array:
        try:
            return law.log_density(t)
        except GeodpError:  # a truncated law: up to its normaliser
            return np.asarray(-np.asarray(t) / cal.scale)

    stop = math.inf if inside is None else inside.radius
    return StatedLaw(cal.space, None, cal.space, log_density, law.sample, stop, inside is not None)


@stated_law.register
def _(cal: KNormGradientCalibration) -> StatedLaw:
    """For the records that the calibration assumes, around the ball's centre."""

    def log_density(t: Array) -> Array:
        return np.asarray(-cal.loss.model(np.asarray(t)) / cal.scale)

    return StatedLaw(
        cal.space, None, cal.space, log_density, cal.law.sample, cal.limit, at_center=True
    )
