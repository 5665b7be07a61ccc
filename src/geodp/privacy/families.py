"""One registry: for each noise law, its largest ratio for a promise and its profile at a ratio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, final

from geodp.errors import InputError, NotYetError
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.solve import gaussian_ratio, laplace_ratio


@final
@dataclass(frozen=True)
class Family:
    """How a law is priced: both functions get the dimension of the tangent space first."""

    ratio: Callable[[int, Guarantee], Fraction]
    profile: Callable[[int, Fraction], Profile]


def ratio_for(noise: str, dim: int, guarantee: Guarantee) -> Fraction:
    """The largest certified sensitivity/scale for which a law keeps a promise in ``dim``.

    Raises GuaranteeError when the law cannot keep it, NotYetError for a law without a profile
    yet, InputError for an unknown name.

    >>> from geodp.privacy.guarantees import GaussianDP
    >>> ratio_for("gaussian", 3, GaussianDP(1))
    Fraction(1, 1)
    """
    return _family(noise).ratio(_dimension(dim), guarantee)


def profile_for(noise: str, dim: int, ratio: Fraction) -> Profile:
    """The certified profile of a law at an exact sensitivity/scale, in ``dim`` dimensions.

    >>> profile_for("l2-laplace", 3, Fraction(1, 2)).delta(0.5)
    0.0
    """
    if ratio <= 0:
        raise InputError("the ratio of sensitivity to scale must be greater than zero.")
    return _family(noise).profile(_dimension(dim), Fraction(ratio))


def _not_yet(*_: object) -> NoReturn:
    raise NotYetError(
        "the profile of the general spherical gamma family is not part of this version; "
        "use Gaussian or L2Laplace."
    )


_FAMILIES = {
    "gaussian": Family(
        lambda _, guarantee: gaussian_ratio(guarantee),
        lambda _, ratio: GaussianProfile(square=ratio**2),
    ),
    "l2-laplace": Family(
        lambda _, guarantee: laplace_ratio(guarantee),
        lambda _, ratio: PureProfile(ratio),
    ),
    "spherical-gamma": Family(_not_yet, _not_yet),
}


def _family(noise: str) -> Family:
    if noise not in _FAMILIES:
        raise InputError(f"noise must be one of {', '.join(_FAMILIES)}.")
    return _FAMILIES[noise]


def _dimension(dim: int) -> int:
    if dim < 1:
        raise InputError("the dimension must be at least one.")
    return dim
