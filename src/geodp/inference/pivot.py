"""The law of the studentised square when the covariance in it is noisy, floored and limited.

T = zᵀ Ŝ⁻¹ z has no closed form once Ŝ carries privacy noise and its eigenvalues are kept in public
intervals. Everything that makes it is known or released, so it is simulated around the released
numbers, with a public seed: a parametric bootstrap of a pivot, at no privacy cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from geodp.inference.linear import symmetric
from geodp.inference.quantiles import hotelling_quantile
from geodp.noise.spherical import SphericalLaw
from geodp.random import public_rng
from geodp.spaces.base import Array

_FLOATS = 400_000  # of one block
_MOST, _LEAST = 4000, 1000
_LARGE_DOF = 1e9


@final
@dataclass(frozen=True, eq=False)
class Limited:
    """A released symmetric matrix, the standard deviation of its noise per orthonormal coordinate,
    and the public interval of its eigenvalues."""

    matrix: Array
    deviation: float
    low: float
    high: float

    def redrawn(self, matrices: Array, rng: np.random.Generator) -> Array:
        """``matrices`` with fresh noise of this size, limited again."""
        d = self.matrix.shape[-1]
        noise = rng.standard_normal((len(matrices), d * (d + 1) // 2))
        values, vectors = np.linalg.eigh(matrices + self.deviation * symmetric(noise, d))
        values = np.clip(values, self.low, self.high)
        return np.asarray((vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2))


class Draws(NamedTuple):
    """Simulated errors of a released mean, ``(count, d)``, and the covariances that would have been
    released with them, ``(count, d, d)``, in the coordinates at the released mean."""

    errors: Array
    covariances: Array

    def carried(self, frame: Array, shift: int) -> Draws:
        """The same in other coordinates, from the ``shift``-th draw on: draws of two groups that
        started from the same public seed are paired as independent ones."""
        errors = np.roll(self.errors, shift, axis=0) @ frame.T
        return Draws(errors, frame @ np.roll(self.covariances, shift, axis=0) @ frame.T)


@final
@dataclass(frozen=True, eq=False)
class Pivot:
    """What T is made of: ``S = A Λ⁻¹ C Λ⁻¹ Aᵀ/n + noise``.

    ``frame`` is A, ``law`` the mean noise's if it is not Gaussian.
    """

    n: int
    covariance: Limited
    hessian: Limited | None
    frame: Array
    noise: Array
    law: SphericalLaw | None

    @property
    def count(self) -> int:
        """How many draws are made: a public function of the dimension."""
        return int(np.clip(20 * _FLOATS / len(self.frame) ** 2, _LEAST, _MOST))

    @cached_property
    def draws(self) -> Draws:
        """Simulated errors and covariances around the released numbers."""
        rng, total = public_rng(), self.count
        block = max(1, min(total, _FLOATS // len(self.frame) ** 2))
        counts = [block] * (total // block) + [total % block] * (total % block > 0)
        return Draws(*map(np.concatenate, zip(*(self._block(rng, c) for c in counts), strict=True)))

    @cached_property
    def squares(self) -> Array:
        """Simulated values of T in increasing order."""
        z, covariances = self.draws
        solved = np.linalg.solve(covariances, z[:, :, None])[:, :, 0]
        return np.sort((z * solved).sum(axis=1))

    def _block(self, rng: np.random.Generator, count: int) -> Draws:
        d = len(self.frame)
        root = symmetric_root(self.covariance.matrix)
        hessian = np.eye(d) if self.hessian is None else self.hessian.matrix
        spread = self.frame @ np.linalg.solve(hessian, root) / np.sqrt(self.n)
        z = rng.standard_normal((count, d)) @ spread.T
        if self.noise.any():
            law = self.law
            unit = rng.standard_normal((count, d))
            if law is not None:
                unit = law.sample(rng, count) / np.sqrt(law.mean_square() / d)
            z += unit @ symmetric_root(self.noise)
        half = root @ _bartlett(rng, count, d, self.n - 1)
        sample = half @ np.swapaxes(half, 1, 2) / (self.n - 1)
        drawn = self.covariance.redrawn(sample, rng)
        frames = np.broadcast_to(self.frame, (count, d, d))
        if self.hessian is not None:
            first = np.broadcast_to(self.hessian.matrix, (count, d, d))
            frames = frames @ np.linalg.inv(self.hessian.redrawn(first, rng))
        return Draws(z, frames @ drawn @ np.swapaxes(frames, 1, 2) / self.n + self.noise)


def _bartlett(rng: np.random.Generator, count: int, d: int, dof: int) -> Array:
    """Lower triangular A, ``(count, d, d)``, with A Aᵀ standard Wishart of ``dof`` >= d degrees."""
    lower = np.tril(rng.standard_normal((count, d, d)), -1)
    diagonal = np.arange(d)
    lower[:, diagonal, diagonal] = np.sqrt(rng.chisquare(dof - diagonal, (count, d)))
    return lower


def matched_dof(confidence: float, dim: int, quantile: float) -> float:
    """ν at which Hotelling's T² has this quantile; 1e9 where chi-squared has it or a larger one."""
    low, high = dim + 2.0, _LARGE_DOF
    if quantile <= hotelling_quantile(confidence, dim, high):
        return high
    if quantile >= hotelling_quantile(confidence, dim, low):
        return low
    for _ in range(60):
        middle = (low * high) ** 0.5
        above = hotelling_quantile(confidence, dim, middle) > quantile
        low, high = (middle, high) if above else (low, middle)
    return high


def symmetric_root(matrix: Array) -> Array:
    """The symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
