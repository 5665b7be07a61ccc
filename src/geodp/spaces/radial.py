"""Functions of the distance that constant curvature needs: sin t/t, sinh t/t, t cot t, t coth t."""

from __future__ import annotations

import numpy as np

from geodp.spaces.batch import Array, array, length, quiet


def sinhc(t: Array) -> Array:
    """sinh(t)/t, 1 at 0."""
    with quiet():
        return np.asarray(np.where(t == 0, 1.0, np.sinh(t) / t))


def sinc(t: Array) -> Array:
    """sin(t)/t, 1 at 0."""
    with quiet():
        return np.asarray(np.where(t == 0, 1.0, np.sin(t) / t))


def _series(s: Array) -> Array:
    """sinh(√s)/√s - 1 for s in [0, 1], sin(√-s)/√-s - 1 for s in [-1, 0]."""
    total = np.ones_like(s)
    for k in range(9, 1, -1):
        total = 1.0 + s / (2 * k * (2 * k + 1)) * total
    return s / 6.0 * total


def log_sinhc(t: Array) -> Array:
    """log(sinh(t)/t), relatively accurate at both ends."""
    t = np.abs(t)
    with quiet():
        near = np.log1p(_series(np.minimum(t * t, 1.0)))
        far = t + np.log1p(-np.exp(-2.0 * t)) - np.log(2.0 * t)
        return np.asarray(np.where(t < 1.0, near, far))


def log_sinc(t: Array) -> Array:
    """log|sin(t)/t|."""
    t = np.abs(t)
    with quiet():
        near = np.log1p(_series(-np.minimum(t * t, 1.0)))
        return np.asarray(np.where(t < 1.0, near, np.log(np.abs(np.sin(t) / t))))


def t_coth(t: Array) -> Array:
    """t coth t, 1 at 0."""
    with quiet():
        return np.asarray(np.where(t == 0, 1.0, t / np.tanh(t)))


def t_cot(t: Array) -> Array:
    """t cot t, 1 at 0."""
    with quiet():
        return np.asarray(np.where(t == 0, 1.0, t / np.tan(t)))


def radial_hessian(z: Array, across: Array) -> Array:
    """1 along ``z`` and ``across`` orthogonally to it, shape ``(..., d, d)``; 1 where z = 0."""
    size = length(z)[..., None]
    with quiet():
        unit = np.where(size > 0, z / size, 0.0)
    along = array(unit[..., :, None] * unit[..., None, :])
    across = across[..., None, None]
    return np.asarray(across * np.eye(z.shape[-1]) + (1.0 - across) * along)
