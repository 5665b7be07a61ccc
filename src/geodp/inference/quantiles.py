"""Quantiles of studentised squares when the covariance is itself an estimate."""

from __future__ import annotations

import numpy as np

from geodp.errors import InputError
from geodp.noise.spherical import SphericalLaw
from geodp.random import public_rng

_DRAWS = 200_000


def check_confidence(confidence: object) -> float:
    """A level strictly between 0 and 1."""
    good = isinstance(confidence, (float, int)) and not isinstance(confidence, bool)
    if not (good and 0 < float(confidence) < 1):  # type: ignore[arg-type]
        raise InputError("The confidence lies strictly between 0 and 1, such as 0.95.")
    return float(confidence)  # type: ignore[arg-type]


def hotelling_quantile(confidence: float, dim: int, dof: float) -> float:
    """q with P(T² <= q) = confidence, T² = d ν/(ν−d+1) F(d, ν−d+1) (Hotelling), ν = ``dof``.

    >>> round(hotelling_quantile(0.95, 2, 1e9), 3)  # chi-squared with two degrees of freedom
    5.991
    """
    from scipy.special import fdtri

    rest = dof - dim + 1
    return float(dim * dof / rest * fdtri(dim, rest, confidence))


def hotelling_tail(value: float, dim: int, dof: float) -> float:
    """P(T² > value)."""
    from scipy.special import fdtrc

    rest = dof - dim + 1
    return float(fdtrc(dim, rest, value * rest / (dim * dof)))


def student_quantile(confidence: float, dof: float) -> float:
    """The two-sided quantile of Student's t; ``dof`` may be infinite."""
    from scipy.special import ndtri, stdtrit

    level = (1 + confidence) / 2
    return float(ndtri(level) if np.isinf(dof) else stdtrit(dof, level))


def convolution_width(
    confidence: float, sampling: float, noise: float, law: SphericalLaw, dof: float
) -> float:
    """The two-sided quantile of a scalar: sampling error plus one coordinate of a spherical noise.

    ``sampling`` and ``noise`` are variances; simulated with a public seed.
    """
    rng = public_rng()
    x = np.sqrt(sampling) * rng.standard_normal(_DRAWS)
    if np.isfinite(dof):
        x *= np.sqrt(dof / rng.chisquare(dof, _DRAWS))
    unit = law.sample(rng, _DRAWS)[:, 0] / np.sqrt(law.mean_square() / law.dim)
    return float(np.quantile(np.abs(x + np.sqrt(noise) * unit), confidence))
