"""For each noise law: its largest ratio for a promise, and its profile at a ratio."""

from __future__ import annotations

from fractions import Fraction

from geodp.errors import InputError
from geodp.noise.base import Noise
from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import noise_named
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import root_down
from geodp.privacy.solve import gaussian_ratio
from geodp.privacy.spherical import SphericalProfile


def ratio_for(noise: Noise | str, dim: int, guarantee: Guarantee) -> Fraction:
    """The largest certified sensitivity/scale for which noise in ``dim`` keeps a promise.

    ``noise`` is a strategy or the name of one without parameters. Raises GuaranteeError when it
    cannot keep the promise, InputError for an unknown name.

    >>> from geodp.noise.strategies import Gaussian
    >>> from geodp.privacy.guarantees import GaussianDP
    >>> ratio_for(Gaussian(), 3, GaussianDP(1))
    Fraction(1, 1)
    """
    law = _law(noise, dim)
    if not _is_gaussian(law):
        from geodp.privacy.spherical_solve import spherical_ratio

        return spherical_ratio(law, guarantee)
    double = 2 * Fraction(law.rate)
    ratio = gaussian_ratio(guarantee)
    return ratio if double == 1 else root_down(ratio**2 / double)


def profile_for(
    noise: Noise | str, dim: int, ratio: Fraction
) -> GaussianProfile | SphericalProfile:
    """The certified profile of noise at an exact sensitivity/scale, in ``dim`` dimensions.

    >>> from geodp.noise.strategies import L2Laplace
    >>> profile_for(L2Laplace(), 3, Fraction(1, 2)).delta(0.5)
    0.0
    """
    if ratio <= 0:
        raise InputError("The ratio of sensitivity to scale must be greater than zero.")
    law = _law(noise, dim)
    if _is_gaussian(law):
        return GaussianProfile(square=2 * Fraction(law.rate) * Fraction(ratio) ** 2)
    return SphericalProfile.of(law, Fraction(ratio))


def _law(noise: Noise | str, dim: int) -> SphericalLaw:
    if dim < 1:
        raise InputError("The dimension must be at least one.")
    return (noise_named(noise) if isinstance(noise, str) else noise).law(dim)


def _is_gaussian(law: SphericalLaw) -> bool:
    """Its profile has a closed form, the same in every dimension."""
    return law.power == 2 and law.shape == law.dim - 1
