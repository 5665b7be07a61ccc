"""What a promise alone implies in every other notion: the profile of its worst mechanism."""

from __future__ import annotations

from collections.abc import Callable

from geodp.privacy.approx import ApproxProfile
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import RenyiProfile, ZCDPProfile


def promised(guarantee: Guarantee) -> Profile:
    """The certified profile of every mechanism that keeps the promise.

    >>> from geodp.privacy.guarantees import GaussianDP
    >>> promised(GaussianDP(1)).rho()
    0.5
    """
    return _PROFILES[guarantee.notion](guarantee)


_PROFILES: dict[str, Callable[..., Profile]] = {
    "pure": lambda g: PureProfile(g.epsilon),
    "approx": lambda g: ApproxProfile(g.epsilon, g.delta),
    "gdp": lambda g: GaussianProfile(square=g.mu**2),
    "renyi": lambda g: RenyiProfile(g.alpha, g.epsilon),
    "zcdp": lambda g: ZCDPProfile(g.rho),
}
