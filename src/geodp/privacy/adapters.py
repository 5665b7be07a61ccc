"""Our profiles in the words of other accounting libraries, both optional imports.

Both speak of our neighbours: one record replaced, the number of records public. What is composed
with them must be about the same.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from geodp.errors import GuaranteeError, InputError
from geodp.privacy.numbers import Number, exact, float_up
from geodp.privacy.pld_grid import dots, from_dots, step_for
from geodp.privacy.profile import Profile

_BITS = 128
_LEAST = Fraction(1, 1 << 64)  # less mass than their float64 sums can see
_FURTHEST = 1 << 21  # points of their grid, on either side
_ROUNDING = 1 + Fraction(1, 10**12)  # for what their floats may lose


def to_dp_accounting(profile: Profile, interval: Number = 1e-4) -> Any:
    """The profile as a ``dp_accounting`` privacy-loss distribution; see ``Profile``."""
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError as error:
        raise InputError("This needs dp-accounting: pip install 'geodp[accounting]'.") from error
    grid = exact(interval, "interval")
    width = max(1, int(step_for([(profile, 1)]) / grid))
    found = dots(profile, grid, _LEAST, width)
    if found[-1][0] > _FURTHEST:
        raise InputError(
            "The privacy losses span too many points of this grid: take a larger interval, and the "
            "same one for everything that is composed."
        )
    losses = from_dots(found, grid, _BITS)
    one = 1 << losses.bits
    return PrivacyLossDistribution.create_from_rounded_probability(
        {
            losses.low + index: float_up(Fraction(mass, one) * _ROUNDING)
            for index, mass in enumerate(losses.masses)
            if mass
        },
        float_up(Fraction(losses.infinite, one)),
        float(grid),
    )


def to_opendp(profile: Profile) -> Any:
    """The profile as an OpenDP ``PrivacyProfile``; see ``Profile``."""
    try:
        from opendp import measures
        from opendp.mod import OpenDPException, assert_features
    except ImportError as error:
        raise InputError("This needs OpenDP: pip install 'geodp[accounting]'.") from error
    try:
        assert_features("contrib", "honest-but-curious")
    except OpenDPException as error:
        raise InputError(
            "OpenDP takes a profile from outside only when it is told to: call "
            'opendp.prelude.enable_features("contrib", "honest-but-curious") first.'
        ) from error
    untyped: Any = measures
    return untyped.new_privacy_profile(_curve(profile))


def _curve(profile: Profile) -> Callable[[float], float]:
    """delta of every float epsilon >= 0: where it is too small to certify, that of a smaller one,
    which is no less."""

    def curve(epsilon: float) -> float:
        nearest = min(epsilon, sys.float_info.max)
        while nearest > 0:
            try:
                return profile.delta(nearest)
            except GuaranteeError:
                nearest = math.floor(nearest) / 2
        return profile.delta(0)

    return curve
