"""Densities on [0, reach] that the radial laws draw from, as floats and as balls.

Each is log-concave, which the envelope of ``radial_envelope`` needs: -t/s and -t^2/2s^2 are
concave, and so are log t, log sin, log cos and log sinh on their intervals; a minimum of two
concave functions is concave.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flint import arb

Array = NDArray[np.float64]


class Density(ABC):
    """An unnormalised log-concave density g on ``[0, reach]``."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """The right end as a float; ``inf`` where there is none."""

    @abstractmethod
    def reach_ball(self) -> arb | None:
        """The right end as a ball at the working precision; None where there is none."""

    @abstractmethod
    def log(self, t: Array) -> Array:
        """log g in floats."""

    @abstractmethod
    def log_ball(self, t: arb) -> arb:
        """log g at the working precision."""

    @abstractmethod
    def slope(self, t: float) -> float:
        """The derivative of log g in floats."""

    @abstractmethod
    def slope_ball(self, t: arb) -> arb:
        """The derivative of log g at the working precision."""


class Kernel(ABC):
    """f of a density proportional to f(distance from the centre), f decreasing."""

    name: str

    @abstractmethod
    def log(self, t: Array, scale: float) -> Array:
        """log f in floats."""

    @abstractmethod
    def slope(self, t: float, scale: float) -> float:
        """The derivative of log f in floats."""

    @abstractmethod
    def log_ball(self, t: arb, scale: arb) -> arb:
        """log f at the working precision."""

    @abstractmethod
    def slope_ball(self, t: arb, scale: arb) -> arb:
        """The derivative of log f at the working precision."""


@final
@dataclass(frozen=True)
class LaplaceKernel(Kernel):
    """f(t) = exp(-t / scale)."""

    name: str = "laplace"

    def log(self, t: Array, scale: float) -> Array:
        return np.asarray(-t / scale)

    def slope(self, t: float, scale: float) -> float:
        return -1 / scale

    def log_ball(self, t: arb, scale: arb) -> arb:
        return -t / scale

    def slope_ball(self, t: arb, scale: arb) -> arb:
        return -1 / scale


@final
@dataclass(frozen=True)
class GaussianKernel(Kernel):
    """f(t) = exp(-t^2 / 2 scale^2)."""

    name: str = "gaussian"

    def log(self, t: Array, scale: float) -> Array:
        return np.asarray(-((t / scale) ** 2) / 2)

    def slope(self, t: float, scale: float) -> float:
        return -t / scale / scale

    def log_ball(self, t: arb, scale: arb) -> arb:
        return -((t / scale) ** 2) / 2

    def slope_ball(self, t: arb, scale: arb) -> arb:
        return -t / scale**2


@final
@dataclass(frozen=True)
class TwoPointDensity(Density):
    """f(t) A(t), A the area of the sphere of radius t on a two-point homogeneous space.

    ``A(t) = sn(t)^power cos(t)^cosine`` up to a constant, ``sn(t) = sin(sqrt(kappa) t)`` or
    ``sinh(sqrt(-kappa) t)``; planar shapes have ``kappa = cosine = 1``, space forms ``cosine = 0``.
    ``stop`` truncates where the law is kept to a ball; else the right end is the diameter.
    """

    kernel: Kernel
    scale: float
    kappa: float
    power: int
    cosine: int = 0
    stop: float | None = None

    @property
    def reach(self) -> float:
        if self.stop is not None:
            return self.stop
        if self.kappa < 0:
            return math.inf
        return math.pi / (1 + self.cosine) / math.sqrt(self.kappa)

    def reach_ball(self) -> arb | None:
        from flint import arb

        if self.stop is not None:
            return arb(self.stop)
        if self.kappa < 0:
            return None
        return arb.pi() / (1 + self.cosine) / arb(self.kappa).sqrt()

    def log(self, t: Array) -> Array:
        u = math.sqrt(abs(self.kappa)) * t
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kappa > 0:
                sine = np.log(np.maximum(np.sin(u), 0.0))
            else:
                sine = u + np.log(-np.expm1(-2 * u)) - math.log(2)
            total = self.kernel.log(t, self.scale) + (self.power * sine if self.power else 0.0)
            if self.cosine:
                total = total + np.log(np.maximum(np.cos(u), 0.0))
        return np.asarray(total)

    def slope(self, t: float) -> float:
        root = math.sqrt(abs(self.kappa))
        u = root * t
        total = self.kernel.slope(t, self.scale)
        if self.power:
            total += self.power * root / (math.tan(u) if self.kappa > 0 else math.tanh(u))
        return total - (root * math.tan(u) if self.cosine else 0.0)

    def log_ball(self, t: arb) -> arb:
        from flint import arb

        u = arb(abs(self.kappa)).sqrt() * t
        total = self.kernel.log_ball(t, arb(self.scale))
        if self.power:
            total += self.power * (u.sin() if self.kappa > 0 else u.sinh()).log()
        return total + u.cos().log() if self.cosine else total

    def slope_ball(self, t: arb) -> arb:
        from flint import arb

        root = arb(abs(self.kappa)).sqrt()
        u = root * t
        total = self.kernel.slope_ball(t, arb(self.scale))
        if self.power:
            total += self.power * root * (u.cot() if self.kappa > 0 else u.coth())
        return total - root * u.tan() if self.cosine else total


@final
@dataclass(frozen=True)
class MatrixEnvelopeDensity(Density):
    """f(t) t^{d-1} e^{b(t)}, b >= log J at every tangent matrix of norm t on SPD(m), m >= 2.

    J = prod sinh(|li - lj|/2)/(|li - lj|/2) is the volume density of exp. log J is a sum of
    N = m(m-1)/2 values of the concave increasing g(s) = log(sinh(sqrt(s)/2)/(sqrt(s)/2)) at
    s = (li - lj)^2, which sum to at most m t^2; and log(sinh(x)/x) <= x. So
    b(t) = min(N g(2 t^2/(m-1)), |rho| t), rho_i = (m + 1 - 2i)/2, |rho|^2 = m(m^2-1)/12. The first
    gives t^{m-1} sinh(t/sqrt(2(m-1)))^N up to a constant: both are log-concave.
    """

    kernel: Kernel
    scale: float
    size: int
    stop: float | None = None

    @property
    def reach(self) -> float:
        return math.inf if self.stop is None else self.stop

    def reach_ball(self) -> arb | None:
        from flint import arb

        return None if self.stop is None else arb(self.stop)

    @property
    def _pairs(self) -> int:
        return self.size * (self.size - 1) // 2

    @property
    def _dim(self) -> int:
        return self.size * (self.size + 1) // 2

    def _spread(self, t: Array) -> Array:
        """N g(2 t^2/(m-1)) in floats."""
        u = t / math.sqrt(2 * (self.size - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = u + np.log(-np.expm1(-2 * u)) - np.log(2 * u)
        return np.asarray(self._pairs * np.where(u > 1e-4, far, u * u / 6))

    def _is_linear(self, t: Array) -> Array:
        norm = math.sqrt(self.size * (self.size**2 - 1) / 12)
        return np.asarray(norm * t < self._spread(t))

    def log(self, t: Array) -> Array:
        norm = math.sqrt(self.size * (self.size**2 - 1) / 12)
        with np.errstate(divide="ignore"):
            base = self.kernel.log(t, self.scale) + (self._dim - 1) * np.log(t)
        return np.asarray(base + np.minimum(norm * t, self._spread(t)))

    def slope(self, t: float) -> float:
        base = self.kernel.slope(t, self.scale)
        if self._is_linear(np.array(t)):
            norm = math.sqrt(self.size * (self.size**2 - 1) / 12)
            return base + (self._dim - 1) / t + norm
        c = 1 / math.sqrt(2 * (self.size - 1))
        return base + (self.size - 1) / t + self._pairs * c / math.tanh(c * t)

    def log_ball(self, t: arb) -> arb:
        from flint import arb

        base = self.kernel.log_ball(t, arb(self.scale)) + (self._dim - 1) * t.log()
        if self._is_linear(np.array(float(t.mid()))):  # either branch is above the minimum
            return base + t * (arb(self.size * (self.size**2 - 1)) / 12).sqrt()
        u = t / arb(2 * (self.size - 1)).sqrt()
        return base + self._pairs * (u.sinh() / u).log()

    def slope_ball(self, t: arb) -> arb:
        from flint import arb

        base = self.kernel.slope_ball(t, arb(self.scale))
        if self._is_linear(np.array(float(t.mid()))):
            norm = (arb(self.size * (self.size**2 - 1)) / 12).sqrt()
            return base + (self._dim - 1) / t + norm
        c = 1 / arb(2 * (self.size - 1)).sqrt()
        return base + (self.size - 1) / t + self._pairs * c * (c * t).coth()
