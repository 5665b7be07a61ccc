"""The one spherical law: a generalized gamma radius times a uniform direction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geodp.errors import InputError

if TYPE_CHECKING:
    from geodp.random import BitStream
    from geodp.rounding.sampler import SphericalDraw

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class SphericalLaw:
    """X = R U in R^dim; U uniform on the sphere, R of density ~ r**shape * exp(-rate * r**power).

    That is at unit scale; at scale s the law is that of s * X. Gaussian with s the standard
    deviation: ``(dim - 1, 2, 1/2)``. l2-Laplace: ``(dim - 1, 1, 1)``. Source: the spherical
    generalized gamma family of Wei, Bienstock and Polychroniadou (2026).

    >>> law = SphericalLaw(dim=3, shape=2.0, power=2.0, rate=0.5)
    >>> round(law.mean_square(2.0), 12)
    12.0
    """

    dim: int
    shape: float
    power: float
    rate: float

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, int) or self.dim < 1:
            raise InputError("The dimension of a noise law must be an integer of at least 1.")
        if not (math.isfinite(self.shape) and self.shape > -1):
            raise InputError("The shape of a spherical law must be a finite number above -1.")
        if not (math.isfinite(self.power) and self.power > 0):
            raise InputError("The power of a spherical law must be a finite number above 0.")
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError("The rate of a spherical law must be a finite number above 0.")
        if not (math.isfinite(self.order) and self.order > 0):
            raise InputError("The power of a spherical law is too far from its shape for floats.")

    @property
    def order(self) -> float:
        """rate * R**power is Gamma(order)."""
        return (self.shape + 1) / self.power

    def log_density(self, x: ArrayLike, scale: float = 1.0) -> Array:
        """Log density at ``x`` of shape ``(..., dim)``, with its normaliser."""
        radius = np.linalg.norm(np.asarray(x, dtype=np.float64), axis=-1) / scale
        log_area = math.log(2) + self.dim / 2 * math.log(math.pi) - math.lgamma(self.dim / 2)
        per_volume = self._log_kernel(radius, self.shape - self.dim + 1)
        return np.asarray(per_volume - log_area - self.dim * math.log(scale))

    def log_radius_density(self, r: ArrayLike, scale: float = 1.0) -> Array:
        """Log density of R at ``r`` >= 0."""
        radius = np.asarray(r, dtype=np.float64) / scale
        return np.asarray(self._log_kernel(radius, self.shape) - math.log(scale))

    def radius_cdf(self, r: ArrayLike, scale: float = 1.0) -> Array:
        """P(R <= r)."""
        from scipy.special import gammainc

        unit = np.asarray(r, dtype=np.float64) / scale
        return np.asarray(gammainc(self.order, self.rate * unit**self.power))

    def mean_radius(self, scale: float = 1.0) -> float:
        """E R; ``inf`` beyond the largest float."""
        return scale * self._moment(1)

    def mean_square(self, scale: float = 1.0) -> float:
        """E R**2 = E |X|**2; ``inf`` beyond the largest float."""
        return scale * scale * self._moment(2)

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...], scale: float = 1.0
    ) -> Array:
        """Draws in floats, shape ``(*size, dim)``: for simulation only, never for a release."""
        shape = (size,) if isinstance(size, int) else tuple(size)
        normal = rng.standard_normal((*shape, self.dim))
        radius = (rng.standard_gamma(self.order, shape) / self.rate) ** (1 / self.power)
        unit = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        return np.asarray(scale * radius[..., None] * unit)

    def exact(self, stream: BitStream) -> SphericalDraw:
        """One exact draw at unit scale, as balls at any precision."""
        from geodp.rounding.sampler import SphericalDraw

        return SphericalDraw(self.dim, self.shape, self.power, self.rate, stream)

    def _log_kernel(self, radius: Array, exponent: float) -> Array:
        """Log of the normalised radius density at unit scale with ``exponent`` for ``shape``."""
        from scipy.special import xlogy

        constant = math.log(self.power) + self.order * math.log(self.rate) - math.lgamma(self.order)
        return np.asarray(constant + xlogy(exponent, radius) - self.rate * radius**self.power)

    def _moment(self, k: int) -> float:
        log_ratio = math.lgamma((self.shape + 1 + k) / self.power) - math.lgamma(self.order)
        exponent = log_ratio - k / self.power * math.log(self.rate)
        return math.exp(exponent) if exponent < 709 else math.inf
