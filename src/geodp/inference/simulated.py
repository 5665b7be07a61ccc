"""The null law of the tests, simulated from what made each released mean.

Every group's pivot says which errors and which covariances could have been released around its
numbers. Draws of all groups together give the law of the test's statistic under equal means: limits
and floors that make a covariance too large, and noise that makes it uncertain, enter as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geodp.inference.pivot import Draws, matched_dof
from geodp.inference.quantiles import hotelling_quantile, hotelling_tail
from geodp.spaces.base import Array

_FAR = 0.99  # beyond this quantile too few draws are left


class Equality(NamedTuple):
    """The studentised sum of squares about the weighted mean, and the weighted mean."""

    square: Array
    center: Array


def equality(vectors: Array, covariances: Array) -> Equality:
    """``Σ (z_i − c)ᵀ S_i⁻¹ (z_i − c)``, c the mean weighted by ``S_i⁻¹``.

    ``vectors`` has shape ``(k, ..., d)``, ``covariances`` ``(k, ..., d, d)``.

    >>> z, s = np.array([[0.0], [2.0]]), np.ones((2, 1, 1))
    >>> found = equality(z, s)  # (2 − 0)²/(1 + 1)
    >>> float(found.square), found.center
    (2.0, array([1.]))
    """
    weights = np.linalg.inv(covariances)
    pulls = (weights @ vectors[..., None]).sum(axis=0)
    center = np.linalg.solve(weights.sum(axis=0), pulls)[..., 0]
    gaps = vectors - center
    return Equality(np.einsum("k...i,k...ij,k...j->...", gaps, weights, gaps), center)


def null_squares(draws: Sequence[Draws]) -> Array:
    """The statistic of ``equality`` under equal means, in increasing order."""
    count = min(len(one.errors) for one in draws)
    errors = np.stack([one.errors[:count] for one in draws])
    covariances = np.stack([one.covariances[:count] for one in draws])
    return np.sort(equality(errors, covariances).square)


def tail(square: float, simulated: Array, dim: int) -> float:
    """P(T >= square) from sorted draws of T; far out from Hotelling's law in dimension ``dim`` that
    has the draws' .99-quantile, or a scaled chi-squared law where theirs is the lighter.

    >>> from scipy.stats import chi2
    >>> draws = chi2.ppf((np.arange(4000) + 0.5) / 4000, 3)
    >>> [round(float(tail(x, draws, 3) / chi2.sf(x, 3)), 1) for x in (1.0, 8.0, 40.0)]
    [1.0, 1.0, 1.0]
    """
    if np.isinf(square):
        return 0.0
    far, anchor, dof = _far_law(simulated, dim)
    if square >= far:
        return hotelling_tail(square * anchor / far, dim, dof)
    above = len(simulated) - int(np.searchsorted(simulated, square))
    return (above + 1) / (len(simulated) + 1)


def quantile(level: float, simulated: Array, dim: int) -> float:
    """q with P(T <= q) = level, the inverse of ``tail``.

    >>> from scipy.stats import chi2
    >>> draws = chi2.ppf((np.arange(4000) + 0.5) / 4000, 3)
    >>> [round(float(quantile(x, draws, 3) / chi2.ppf(x, 3)), 2) for x in (0.5, 0.95, 0.9999)]
    [1.0, 1.0, 1.0]
    """
    if level <= _FAR:
        return float(np.quantile(simulated, level))
    far, anchor, dof = _far_law(simulated, dim)
    return far * hotelling_quantile(level, dim, dof) / anchor


def _far_law(simulated: Array, dim: int) -> tuple[float, float, float]:
    """The draws' far quantile, that of Hotelling's law beyond it, and this law's degrees."""
    far = float(np.quantile(simulated, _FAR))
    dof = matched_dof(_FAR, dim, far)
    return far, hotelling_quantile(_FAR, dim, dof), dof
