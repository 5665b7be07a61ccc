"""Mechanisms with a planted bug, each of a kind that was seen in the field. NOT PRIVATE.

They show what an audit catches, and how: ``audit(small_noise(gd.RiemannianLaplace()), ...)``.
"""

from __future__ import annotations

import math

import numpy as np

from geodp.errors import ConditionError
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.mechanisms.wrapped import Wrapped
from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import Gaussian, L2Laplace
from geodp.privacy.guarantees import ApproxDP, Guarantee, PureDP
from geodp.privacy.promised import promised
from geodp.spaces.base import Array, Space
from geodp.spaces.euclidean import Euclidean
from geodp.statistics.domain import Ball
from geodp.testing.audit.laws import StatedLaw, stated_law
from geodp.testing.audit.planted import FloatNoise, Swapped, Twin
from geodp.testing.audit.textbook import textbook_exp


def small_noise(inner: Mechanism, share: float = 0.9) -> Twin:
    """Calibrated to ``share`` of the sensitivity, so that the noise is that much too small.

    Every number it states of itself agrees with its draws; only the promise is broken.
    """

    def plant(
        inner: Mechanism, space: Space, length: float, guarantee: Guarantee, ball: Ball | None
    ) -> Calibration:
        return inner.calibrate(space, share * length, guarantee, ball)

    return Twin(f"sensitivity {share:g} of the true one", inner, plant)


def small_draws(inner: Mechanism, share: float = 0.9) -> Twin:
    """States the right scale and draws at ``share`` of it."""

    def plant(
        inner: Mechanism, space: Space, length: float, guarantee: Guarantee, ball: Ball | None
    ) -> Calibration:
        stated = inner.calibrate(space, length, guarantee, ball)
        return Swapped(stated, inner.calibrate(space, share * length, guarantee, ball))

    return Twin(f"draws at {share:g} of the stated scale", inner, plant)


def naive(inner: Mechanism) -> Twin:
    """The right noise, added around the value in floats by textbook formulas."""

    def plant(
        inner: Mechanism, space: Space, length: float, guarantee: Guarantee, ball: Ball | None
    ) -> Calibration:
        cal = inner.calibrate(space, length, guarantee, ball)
        law = stated_law(cal)
        if law is None:
            raise ConditionError("A naive twin needs a mechanism that states its law.")

        def sampler(value: Array, n: int, rng: np.random.Generator) -> Array:
            return textbook_exp(space, value, space.vector(value, law.sample(rng, n)))

        return FloatNoise(space, guarantee, cal.scale, cal.profile, sampler, None)

    return Twin("naive floats", inner, plant)


def r1smg() -> Twin:
    """The rank-1 singular multivariate Gaussian of Ji and Li (2024) on R^d, d >= 3.

    Adds ``sqrt(s) Z v``, Z standard normal, v a uniform direction, ``s = 2 D^2/(eps psi)``, ``psi =
    (delta Gamma((d-1)/2)/(sqrt(pi) Gamma(d/2)))^(2/(d-2))``, and claims (eps, delta). The density
    has a pole at the value, so that the output is far too often close to it.
    """

    def plant(
        _: Mechanism, space: Space, length: float, guarantee: Guarantee, __: Ball | None
    ) -> Calibration:
        if not isinstance(guarantee, ApproxDP) or space.dim < 3 or not space.is_flat:
            raise ConditionError("R1SMG claims (epsilon, delta)-DP on flat spaces, dim at least 3.")
        d = space.dim
        ratio = math.lgamma((d - 1) / 2) - math.lgamma(d / 2) - math.log(math.pi) / 2
        log_psi = 2 / (d - 2) * (math.log(float(guarantee.delta)) + ratio)
        scale = length * math.sqrt(2 / float(guarantee.epsilon)) * math.exp(-log_psi / 2)
        noise = SphericalLaw(d, shape=0.0, power=2.0, rate=0.5)

        def log_density(t: Array) -> Array:
            points = np.zeros((*np.shape(t), d))
            points[..., 0] = t
            with np.errstate(divide="ignore"):
                return noise.log_density(points, scale)

        def sampler(value: Array, n: int, rng: np.random.Generator) -> Array:
            return space.exp_coords(value, noise.sample(rng, n, scale))

        law = StatedLaw(
            space, None, Euclidean(d), log_density, lambda rng, n: noise.sample(rng, n, scale)
        )
        return FloatNoise(space, guarantee, scale, promised(guarantee), sampler, law)

    return Twin("R1SMG", Wrapped(Gaussian()), plant)


def wishart() -> Twin:
    """The Wishart mechanism for covariance matrices (Jiang, Xie and Zhang 2016), claimed as DP.

    On ``Euclidean(m (m+1)/2)``: symmetric matrices A by rows of the lower triangle, off-diagonal
    entries times sqrt 2, so that lengths are Frobenius norms. Adds W of the Wishart law with m + 1
    degrees of freedom and scale matrix ``3/(2 n eps)``, n = sqrt 2/sensitivity records in the unit
    ball, and claims eps-DP. W is positive definite: an output X shows that A <= X, and a neighbour
    that is not below X is ruled out for certain.
    """

    def plant(
        _: Mechanism, space: Space, length: float, guarantee: Guarantee, __: Ball | None
    ) -> Calibration:
        size = (math.isqrt(8 * space.dim + 1) - 1) // 2
        if not isinstance(guarantee, PureDP) or size * (size + 1) // 2 != space.dim:
            raise ConditionError("The Wishart mechanism claims pure epsilon-DP on m(m+1)/2 axes.")
        scale = 3 * length / (2 * math.sqrt(2) * float(guarantee.epsilon))
        rows, columns = np.tril_indices(size)
        weight = np.where(rows == columns, 1.0, math.sqrt(2))

        def sampler(value: Array, n: int, rng: np.random.Generator) -> Array:
            factors = rng.standard_normal((n, size, size + 1)) * math.sqrt(scale)
            noise = factors @ np.swapaxes(factors, 1, 2)
            return np.asarray(value + weight * noise[:, rows, columns])

        return FloatNoise(space, guarantee, scale, promised(guarantee), sampler, None)

    return Twin("Wishart", Wrapped(L2Laplace()), plant)
