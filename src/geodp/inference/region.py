"""Confidence regions: ellipsoids in the tangent space at a released point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError, SpaceError
from geodp.inference.pivot import Pivot
from geodp.random import public_rng
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.parse import parse_space
from geodp.statistics.domain import Ball

_POINTS = 4096


@final
@dataclass(frozen=True, eq=False)
class ConfidenceRegion:
    """``{x : log_c(x)ᵀ S⁻¹ log_c(x) <= quantile}`` around the released mean c.

    ``S = sampling + noise``: the covariance of what the sample leaves open, and of the privacy
    noise, in the orthonormal coordinates at ``center`` (``space.coords``). Kept apart, because only
    the first shrinks by asking more people and only the second by spending more.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.inference import ConfidenceRegion
    >>> disc = ConfidenceRegion(
    ...     gd.Euclidean(2), np.zeros(2), np.eye(2), np.zeros((2, 2)), 0.95, 4.0, 50.0
    ... )
    >>> disc.contains([[1.9, 0.0], [2.1, 0.0]]), round(disc.volume / np.pi, 6)
    (array([ True, False]), 4.0)
    """

    space: Space
    center: Array
    sampling: Array
    noise: Array
    confidence: float
    quantile: float
    dof: float
    gaussian: bool = True  # whether the noise is: what tests need
    domain: Ball | None = None  # that of the records: the mean is that of the clipped population
    pivot: Pivot | None = field(default=None, repr=False)  # what tests simulate; not in the JSON

    @property
    def covariance(self) -> Array:
        """S, shape ``(d, d)``."""
        return self.sampling + self.noise

    def square(self, x: ArrayLike) -> Array:
        """``log_c(x)ᵀ S⁻¹ log_c(x)`` for points ``(..., *point_shape)``; infinite on the cut locus
        of the centre."""
        points = np.asarray(x, dtype=np.float64)
        shape, space = self.space.point_shape, self.space
        if points.shape[points.ndim - len(shape) :] != shape or not space.contains(points).all():
            raise SpaceError(f"A region on {space.spec} is asked about points of {space.spec}.")
        batch = points.shape[: points.ndim - len(shape)]
        flat = points.reshape(-1, *shape)
        lost = space.cut_locus(self.center, flat)
        wide = (slice(None),) + (None,) * len(shape)
        z = space.log_coords(self.center, np.where(lost[wide], self.center, flat))
        white = np.linalg.solve(np.linalg.cholesky(self.covariance), z.T)
        squares = np.where(lost, np.inf, (white**2).sum(axis=0))
        return np.asarray(squares.reshape(batch))

    def contains(self, x: ArrayLike) -> BoolArray:
        """Whether points ``(..., *point_shape)`` lie in the region, one bool each."""
        return np.asarray(self.square(x) <= self.quantile)

    @property
    def axes(self) -> tuple[Array, Array]:
        """Half-lengths ``(d,)``, longest first, and their unit directions as rows ``(d, d)``."""
        return _axes(self.covariance, self.quantile)

    @property
    def noise_share(self) -> float:
        """The privacy noise's part of the total variance, between 0 and 1."""
        return float(np.trace(self.noise) / np.trace(self.covariance))

    @property
    def volume(self) -> float:
        """Riemannian volume: the ellipsoid's, times the mean volume density of exp over it."""
        space, d = self.space, self.space.dim
        factor = math.sqrt(self.quantile) * np.linalg.cholesky(self.covariance)
        log_ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
        flat = math.exp(log_ball) * float(np.prod(np.diag(factor)))
        if space.is_flat:
            return flat
        rng = public_rng()
        u = rng.standard_normal((_POINTS, d))
        u *= (rng.random(_POINTS) ** (1 / d) / np.linalg.norm(u, axis=1))[:, None]
        z = u @ factor.T
        inside = np.linalg.norm(z, axis=1) < space.injectivity_radius
        v = space.vector(self.center, z[inside])
        density = np.exp(space.log_volume_density(self.center, v))
        return flat * float(density.sum()) / _POINTS

    def boundary(self, count: int = 181, noise: bool = True) -> Array:
        """Points on the edge, ``(count, *point_shape)``: a closed curve in dimension two, points in
        public random directions else. ``noise=False``: the sampling error's part alone."""
        d = self.space.dim
        if d == 2:
            angle = np.linspace(0.0, 2 * math.pi, count)
            u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        else:
            u = public_rng().standard_normal((count, d))
            u /= np.linalg.norm(u, axis=1, keepdims=True)
        lengths, directions = _axes(self.covariance if noise else self.sampling, self.quantile)
        return self.space.exp_coords(self.center, (u * lengths) @ directions)

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """Draw the region, its sampling part apart; see ``geodp.plots.regions``."""
        from geodp.plots.regions import plot_regions

        return plot_regions([self], None if label is None else [label], ax=ax)

    def to_json(self) -> dict[str, Any]:
        """The region as JSON values."""
        lengths, _ = self.axes
        return {
            "space": self.space.spec,
            "center": self.center.tolist(),
            "sampling": self.sampling.tolist(),
            "noise": self.noise.tolist(),
            "confidence": self.confidence,
            "quantile": self.quantile,
            "degrees_of_freedom": self.dof,
            "gaussian": self.gaussian,
            "domain": None if self.domain is None else _ball_json(self.domain),
            "half_lengths": lengths.tolist(),
            "noise_share": self.noise_share,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ConfidenceRegion:
        """The region that ``to_json`` wrote."""
        try:
            arrays = [np.array(document[k], dtype=np.float64) for k in _ARRAYS]
            level, quantile, dof = [float(document[k]) for k in _NUMBERS]
            space, gaussian = parse_space(document["space"]), document["gaussian"] is True
            center, sampling, noise = arrays
            ball = document.get("domain")
            domain = None if ball is None else Ball(space, ball["center"], ball["radius"])
            return cls(space, center, sampling, noise, level, quantile, dof, gaussian, domain)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("This is no confidence region.") from error

    def __repr__(self) -> str:
        lengths = ", ".join(f"{x:.4g}" for x in self.axes[0][:6])
        more = ", ..." if self.space.dim > 6 else ""
        return (
            f"{100 * self.confidence:g} % confidence region on {self.space.spec}\n"
            f"  half axes: {lengths}{more}\n"
            f"  privacy noise: {100 * self.noise_share:.3g} % of the variance"
        )


_ARRAYS = ("center", "sampling", "noise")
_NUMBERS = ("confidence", "quantile", "degrees_of_freedom")


def _ball_json(ball: Ball) -> dict[str, Any]:
    return {"center": ball.center.tolist(), "radius": ball.radius}


def _axes(covariance: Array, quantile: float) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(covariance)
    lengths = np.sqrt(quantile * np.maximum(values[::-1], 0.0))
    return np.asarray(lengths), np.asarray(vectors.T[::-1])
