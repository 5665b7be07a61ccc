"""Charts from positive definite matrices to R^d whose pullbacks are flat metrics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geodp.spaces import balls_spd, cholesky_error
from geodp.spaces.batch import (
    EPS,
    Array,
    array,
    cholesky,
    congruence,
    eigh,
    from_eigen,
    inverse_lower,
    length,
    mirror,
    quiet,
    transpose,
    unvech,
    vech,
)
from geodp.spaces.limits import cholesky_ball, spectral_ball

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel

_ROOT2 = math.sqrt(2.0)


class Chart(ABC):
    """A diffeomorphism φ from SPD(m) onto R^d; points have shape ``(..., m, m)``."""

    name: str

    @abstractmethod
    def chart(self, p: Array) -> Array:
        """φ(p), shape ``(..., d)``."""

    @abstractmethod
    def inverse(self, z: Array, size: int) -> Array:
        """φ⁻¹(z)."""

    @abstractmethod
    def differential(self, p: Array, v: Array) -> Array:
        """Dφ_p v, shape ``(..., d)``."""

    @abstractmethod
    def inverse_differential(self, p: Array, z: Array) -> Array:
        """The symmetric v with Dφ_p v = z."""

    @abstractmethod
    def whitened(self, p: Array, v: Array) -> Array:
        """Size of v relative to p, in the affine-invariant norm; shape ``(...)``."""

    @abstractmethod
    def eigenvalue_ball(self, size: int, low: float, high: float) -> tuple[Array, float]:
        """Centre and radius of a ball that holds all matrices with eigenvalues in the limits."""

    @abstractmethod
    def chart_error(self, center: Array, radius: float) -> float:
        """A bound on the rounding of ``chart`` within ``radius`` of ``center``."""

    @abstractmethod
    def kernel(self, size: int) -> Kernel | None:
        """The compiled pass over records of SPD(``size``), where there is one."""

    @abstractmethod
    def inverse_arb(self, z: Sequence[arb], size: int) -> list[arb]:
        """``inverse`` in ball arithmetic, entries row by row."""


def _divided_log(values: Array) -> Array:
    """Divided differences of log at all pairs of positive numbers, 1/λ at equal ones."""
    first, second = values[..., :, None], values[..., None, :]
    top, low = np.maximum(first, second), np.minimum(first, second)
    with quiet():
        step = (low - top) / top
        near = np.where(step == 0, 1.0, np.log1p(step) / step) / top
        far = (np.log(low) - np.log(top)) / (low - top)
        return np.asarray(np.where(step > -0.5, near, far))


class LogEuclidean(Chart):
    """φ = vech ∘ log, off-diagonal entries times √2 (Arsigny et al. 2006)."""

    name = "log-euclidean"

    def kernel(self, size: int) -> Kernel | None:
        from geodp.kernels.spd import log_euclidean

        return log_euclidean(size, self.chart)

    def chart(self, p: Array) -> Array:
        values, vectors = eigh(p)
        with quiet():
            return vech(from_eigen(np.log(values), vectors), _ROOT2)

    def inverse(self, z: Array, size: int) -> Array:
        values, vectors = eigh(unvech(z, size, _ROOT2))
        with quiet():
            half = array(vectors * np.exp(values / 2)[..., None, :])
            return mirror(half @ transpose(half))

    def differential(self, p: Array, v: Array) -> Array:
        # Daleckii–Krein: in the eigenbasis of p, entry (i, j) is multiplied by log[λi, λj].
        values, vectors = eigh(p)
        with quiet():
            inner = array(congruence(array(transpose(vectors)), v) * _divided_log(values))
            return vech(mirror(congruence(vectors, inner)), _ROOT2)

    def inverse_differential(self, p: Array, z: Array) -> Array:
        values, vectors = eigh(p)
        size = p.shape[-1]
        with quiet():
            white = congruence(array(transpose(vectors)), unvech(z, size, _ROOT2))
            return mirror(congruence(vectors, array(white / _divided_log(values))))

    def whitened(self, p: Array, v: Array) -> Array:
        return _whitened(p, v)

    def eigenvalue_ball(self, size: int, low: float, high: float) -> tuple[Array, float]:
        return spectral_ball(size, low, high)

    def chart_error(self, center: Array, radius: float) -> float:
        """The eigensolver's backward error E, ‖E‖ <= c eps ‖y‖, moves log y by ‖E‖‖y⁻¹‖ at most.

        (‖log A - log B‖_F is at most the affine-invariant distance.) The spectrum of log y lies
        within ``radius`` of that of log center, its two ends together within √2 radius. Logarithms
        of the eigenvalues and the final product add c eps ‖log y‖.
        """
        size = center.shape[-1]
        values, _ = eigh(center)
        with quiet():
            condition = 1.01 * float(values[-1] / values[0] * np.exp(_ROOT2 * radius))
            span = float(np.abs(np.log(values)).max()) + radius
        count = max(10.0 * (size + 3.0) ** 1.5, 14.0 * size**1.5)  # docs/proofs/kernels
        return float(count * EPS * (condition + span))

    def inverse_arb(self, z: Sequence[arb], size: int) -> list[arb]:
        return balls_spd.exp_log_euclidean(z, size)


class LogCholesky(Chart):
    """φ = the strict lower part of the Cholesky factor and the log of its diagonal (Lin 2019).

    Coordinates are the lower triangle row by row. The strict part carries the unit of √p.
    """

    name = "log-cholesky"

    def kernel(self, size: int) -> Kernel | None:
        from geodp.kernels.cholesky import log_cholesky

        return log_cholesky(size, self.chart)

    def chart(self, p: Array) -> Array:
        factor = cholesky(p)
        return vech(_diagonal(factor, np.log), 1.0)

    def inverse(self, z: Array, size: int) -> Array:
        with quiet():
            factor = _diagonal(np.tril(unvech(z, size, 1.0)), np.exp)
            return mirror(factor @ transpose(factor))

    def differential(self, p: Array, v: Array) -> Array:
        # D(chol)_p v = L Φ(L⁻¹ v L⁻ᵀ), Φ the lower triangle with half the diagonal.
        factor = cholesky(p)
        white = congruence(inverse_lower(factor), v)
        with quiet():
            half = np.tril(white, -1) + _only_diagonal(white) / 2
            step = factor @ half
            return vech(_set_diagonal(step, half), 1.0)

    def inverse_differential(self, p: Array, z: Array) -> Array:
        factor = cholesky(p)
        with quiet():
            step = np.tril(unvech(z, p.shape[-1], 1.0))
            step = _set_diagonal(step, _only_diagonal(step) * _only_diagonal(factor))
            product = array(step) @ transpose(factor)
            return mirror(product + transpose(product))

    def whitened(self, p: Array, v: Array) -> Array:
        return _whitened(p, v)

    def eigenvalue_ball(self, size: int, low: float, high: float) -> tuple[Array, float]:
        return cholesky_ball(size, low, high)

    def chart_error(self, center: Array, radius: float) -> float:
        """The backward error of the factorisation, followed into the factor; see there."""
        return cholesky_error.chart_error(cholesky(center), radius)

    def inverse_arb(self, z: Sequence[arb], size: int) -> list[arb]:
        return balls_spd.exp_log_cholesky(z, size)


def _whitened(p: Array, v: Array) -> Array:
    white = congruence(inverse_lower(cholesky(p)), v)
    return length(white.reshape(*white.shape[:-2], white.shape[-1] ** 2))


def _only_diagonal(a: Array) -> Array:
    return np.asarray(np.where(np.eye(a.shape[-1], dtype=bool), a, 0.0))


def _set_diagonal(a: Array, source: Array) -> Array:
    return np.asarray(np.where(np.eye(a.shape[-1], dtype=bool), source, a))


def _diagonal(a: Array, function: np.ufunc) -> Array:
    """``a`` with ``function`` applied to its diagonal."""
    with quiet():
        values = function(array(np.diagonal(a, axis1=-2, axis2=-1)))
    out = a.copy()
    at = np.arange(a.shape[-1])
    out[..., at, at] = values
    return out
