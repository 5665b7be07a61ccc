"""Symmetric positive definite matrices: membership, the affine-invariant metric, the front door."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from geodp.spaces import balls_spd, checks, radial
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import (
    EPS,
    array,
    broadcast,
    cholesky,
    congruence,
    dot,
    eigh,
    from_eigen,
    inverse_lower,
    length,
    mirror,
    misfits,
    quiet,
    transpose,
    unvech,
    vech,
)
from geodp.spaces.limits import spectral_ball
from geodp.spaces.positive import contains_spd, equilibrated_condition, project_spd

if TYPE_CHECKING:
    from flint import arb

    from geodp.kernels.kernel import Kernel

_ROOT2 = math.sqrt(2.0)


def _whitened_log(inverse: Array, p: Array, q: Array) -> tuple[Array, Array, Array]:
    """Eigenvalues w of L⁻¹ q L⁻ᵀ, as logarithms and as w - 1, and eigenvectors; p = L Lᵀ.

    Where q is near p, the whitened difference q - p is decomposed instead, so that the logarithms
    keep their relative accuracy.
    """
    white = congruence(inverse, q)
    size = white.shape[-1]
    with quiet():
        away = (white - np.eye(size)).reshape(*white.shape[:-2], size * size)
        near = np.asarray(length(away) < 0.5)
        if near.any():
            step = np.broadcast_to(q - p, white.shape)[near]
            white[near] = congruence(np.broadcast_to(inverse, white.shape)[near], array(step))
        values, vectors = eigh(white)
        shift = np.where(near[..., None], values, values - 1.0)
        logs = np.where(near[..., None], np.log1p(values), np.log(values))
    return logs, shift, vectors


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AffineInvariant(Space):
    """SPD(m) with <u, v>_p = tr(p⁻¹ u p⁻¹ v); points ``(..., m, m)``, d = m(m+1)/2.

    Curvature in [-1/2, 0] and Ric(u, u) = -(m |u|² - (tr p⁻¹u)²)/4. The basis at p = L Lᵀ
    (Cholesky) is orthonormal: coordinates are the lower triangle of L⁻¹ v L⁻ᵀ, row by row, the
    off-diagonal entries times √2. Logarithms are accurate to about eps times the condition number
    of the better conditioned of the two points, relative to the Frobenius norm; the eigenvalues
    of an ill-conditioned point are only defined to eps times its largest one.
    """

    _size: int

    def __init__(self, size: int) -> None:
        object.__setattr__(self, "_size", checks.positive_integer(size, "size"))

    @property
    def spec(self) -> str:
        return f"spd:{self._size}:affine-invariant"

    @property
    def dim(self) -> int:
        return self._size * (self._size + 1) // 2

    @property
    def point_shape(self) -> tuple[int, ...]:
        return (self._size, self._size)

    @property
    def origin(self) -> Array:
        return np.eye(self._size)

    @property
    def curvature(self) -> tuple[float, float]:
        return (-0.5, 0.0) if self._size > 1 else (0.0, 0.0)

    @property
    def ricci_lower(self) -> float:
        return -self._size / 4 if self._size > 1 else 0.0

    @property
    def injectivity_radius(self) -> float:
        return float("inf")

    @property
    def is_homogeneous(self) -> bool:
        return True

    @property
    def is_two_point_homogeneous(self) -> bool:
        return self._size == 1

    def kernel(self) -> Kernel | None:
        from geodp.kernels.spd import affine_invariant

        return affine_invariant(self._size)

    def contains(self, x: ArrayLike) -> BoolArray:
        if (wrong := misfits(x, self.point_shape)) is not None:
            return wrong
        return contains_spd(array(x))

    def project(self, x: ArrayLike) -> Array:
        return project_spd(array(x))

    def eigenvalue_ball(self, low: float, high: float) -> tuple[Array, float]:
        """Centre and radius of a ball that holds all matrices with eigenvalues in the limits."""
        return spectral_ball(self._size, low, high)

    # --- coordinates ----------------------------------------------------------------------------
    def coords(self, p: ArrayLike, v: ArrayLike) -> Array:
        inverse = inverse_lower(cholesky(array(p)))
        return vech(congruence(inverse, array(v)), _ROOT2)

    def vector(self, p: ArrayLike, z: ArrayLike) -> Array:
        factor = cholesky(array(p))
        return mirror(congruence(factor, unvech(array(z), self._size, _ROOT2)))

    def log_coords(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = array(p), array(q)
        logs, _, vectors = _whitened_log(inverse_lower(cholesky(p)), p, q)
        with quiet():
            return vech(array(vectors * logs[..., None, :]) @ transpose(vectors), _ROOT2)

    def exp_coords(self, p: ArrayLike, z: ArrayLike) -> Array:
        p = array(p)
        factor = cholesky(p)
        return self._exp(p, factor, unvech(array(z), self._size, _ROOT2))

    def _exp(self, p: Array, factor: Array, white: Array) -> Array:
        """L Exp(S) Lᵀ, as p + L (Exp(S) - 1) Lᵀ where S is small."""
        values, vectors = eigh(white)
        with quiet():
            near = np.abs(values).max(axis=-1) < 0.5
            frame = array(array(factor @ vectors) * np.exp(values / 2)[..., None, :])
            far = mirror(frame @ transpose(frame))
            if not near.any():
                return far
            step = congruence(factor, from_eigen(np.expm1(values), vectors))
            return np.where(near[..., None, None], p + mirror(step), far)

    # --- geometry -------------------------------------------------------------------------------
    def exp(self, p: ArrayLike, v: ArrayLike) -> Array:
        p = array(p)
        factor = cholesky(p)
        return self._exp(p, factor, congruence(inverse_lower(factor), array(v)))

    def log(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = broadcast((array(p), 2), (array(q), 2))
        # Whitened by p, log_p q = L log(L⁻¹qL⁻ᵀ) Lᵀ; by q = K Kᵀ, with the eigenvalues λ of
        # K⁻¹pK⁻ᵀ, it is -K V (λ log λ) Vᵀ Kᵀ. The better conditioned of the two loses less.
        swap = _condition(q) < _condition(p)
        base = np.where(swap[..., None, None], q, p)
        goal = np.where(swap[..., None, None], p, q)
        factor = cholesky(base)
        logs, shift, vectors = _whitened_log(inverse_lower(factor), base, goal)
        with quiet():
            weights = np.where(swap[..., None], -(logs + shift * logs), logs)
            return mirror(congruence(factor, from_eigen(weights, vectors)))

    def dist(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = broadcast((array(p), 2), (array(q), 2))
        swap = (_condition(q) < _condition(p))[..., None, None]
        base, goal = np.where(swap, q, p), np.where(swap, p, q)
        logs, _, _ = _whitened_log(inverse_lower(cholesky(base)), base, goal)
        return length(logs)

    def inner(self, p: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
        first, second = broadcast((self.coords(p, u), 1), (self.coords(p, v), 1))
        with quiet():
            return dot(first, second)

    def log_volume_density(self, p: ArrayLike, v: ArrayLike) -> Array:
        values, _ = eigh(congruence(inverse_lower(cholesky(array(p))), array(v)))
        total = np.zeros(values.shape[:-1])
        with quiet():
            for i in range(self._size):
                for j in range(i):
                    total = total + radial.log_sinhc((values[..., i] - values[..., j]) / 2)
        return total

    def hessian(self, p: ArrayLike, q: ArrayLike) -> Array:
        p, q = array(p), array(q)
        logs, _, vectors = _whitened_log(inverse_lower(cholesky(p)), p, q)
        columns = []
        with quiet():
            weights = radial.t_coth((logs[..., :, None] - logs[..., None, :]) / 2)
            for unit in np.eye(self.dim):
                inner = congruence(transpose(vectors), unvech(unit, self._size, _ROOT2))
                columns.append(vech(mirror(congruence(vectors, array(weights * inner))), _ROOT2))
            full = np.stack(columns, axis=-1)
            return np.asarray((full + transpose(full)) / 2)

    # --- what the proofs need -------------------------------------------------------------------
    def log_error(self, center: ArrayLike, radius: float) -> float:
        """C(m)·eps·cond² ·exp(2√2·radius), cond that of ``center`` with its diagonal scaled to 1.

        With W = L⁻¹ y L⁻ᵀ for x = L Lᵀ, ‖log A - log B‖_F <= ρ(A, B), and ρ(A, A + E) is at most
        about ‖E‖_F ‖A⁻¹‖. (1) Substitution and the two products compute W + E with
        ‖E‖ <= c eps ‖x⁻¹‖‖y‖, and ‖W⁻¹‖ <= ‖x‖‖y⁻¹‖: c eps cond(x) cond(y). (2) Cholesky
        (backward error eps ‖x‖) moves W by a congruence 1 + G, ‖G‖ <= c eps cond(x), hence by
        2‖G‖ cond(W)^½. (3) The eigensolver has backward error c eps ‖W‖: c eps cond(W).
        Within ``radius`` of the centre cond(x) <= cond(centre) exp(√2 radius). Scaling rows and
        columns is an isometry that commutes with all but (3), to which only W matters.
        For m = 1 the log of a quotient is taken: 8 eps (1 + radius).
        """
        m = self._size
        if m == 1:
            return 8.0 * EPS * (1.0 + float(radius))
        condition = equilibrated_condition(array(center))
        with quiet():
            growth = float(np.exp(2 * _ROOT2 * float(radius)))
        size = max(16.0 * (m + 3.0) ** 1.5, 3.5 * m**2.5)  # docs/proofs/kernels
        return float(size * EPS * condition**2 * growth)

    def exp_arb(self, p: Array, z: Sequence[arb]) -> list[arb]:
        return balls_spd.exp_affine_invariant(p, z)


def _condition(a: Array) -> Array:
    """2-norm condition numbers; inf or NaN where the matrix is not positive definite."""
    values, _ = eigh(a)
    with quiet():
        return np.asarray(values[..., -1] / np.maximum(values[..., 0], 0.0))
