"""From a profile to a privacy-loss distribution: which ε to ask for, and how fine a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from geodp.errors import GuaranteeError
from geodp.privacy.pld import Losses, connected
from geodp.privacy.pld_arith import ceil_units, exp_floor
from geodp.privacy.profile import Profile

_POINTS = 24  # grid points per standard deviation of one loss: ε within 0.02 %
_SPREAD = 48  # where few grid points are needed, their distance grows by one part in so many
_FURTHEST = 1 << 17  # the last grid index

Parts = Sequence[tuple[Profile, int]]


def step_for(parts: Parts) -> Fraction:
    """The distance of grid points for a composition of (profile, count) parts.

    Connecting the dots adds at most about step²/6 to the variance of each loss, so the total
    variance grows by about one part in three thousand. Any step is sound.
    """
    count = sum(number for _, number in parts)
    spread = [_spread(profile) for profile, _ in parts]
    total = sum(s * s * k for s, (_, k) in zip(spread, parts, strict=True))
    wanted = math.sqrt(total / count) / _POINTS if total > 0 else 1.0
    furthest = max(_reach(profile, s) for s, (profile, _) in zip(spread, parts, strict=True))
    wanted = max(wanted, furthest / _FURTHEST)
    mantissa, exponent = math.frexp(wanted)
    step = Fraction(math.ceil(mantissa * 256)) * Fraction(2) ** (exponent - 8)
    return _aligned(parts, step)


def _aligned(parts: Parts, step: Fraction) -> Fraction:
    """A step no larger of which the largest end of a loss, where one exists, is a multiple."""
    ends = [end for profile, _ in parts if (end := _end(profile))]
    cells = math.ceil(max(ends) / step) if ends else 0
    return max(ends) / cells if 0 < cells <= _FURTHEST else step


def _end(profile: Profile) -> Fraction | None:
    """The largest finite loss, if there is one."""
    try:
        return profile.pair()[0]
    except GuaranteeError:
        pass
    try:
        return profile.pure_upper()
    except GuaranteeError:
        return None


def _spread(profile: Profile) -> float:
    """About the standard deviation of the loss: that of the Gaussian with the same δ(0)."""
    value = asked(profile, Fraction(0))
    half = 1.0 if value is None else float(value)
    return 2 * NormalDist().inv_cdf((1 + min(half, 1 - 1e-9)) / 2)


def _reach(profile: Profile, spread: float) -> float:
    """About the largest loss that matters."""
    reach = Fraction(max(4 * spread, 2.0**-40))
    value = asked(profile, reach)
    for _ in range(16):
        further = asked(profile, 2 * reach)
        if not value or further is None or value < 2.0**-100 or further > value * Fraction(15, 16):
            break
        reach, value = 2 * reach, further
    return float(reach)


@lru_cache(maxsize=1 << 14)
def asked(profile: Profile, epsilon: Fraction) -> Fraction | None:
    """The profile's bound of δ(ε), within [0, 1], remembered; None where it refuses."""
    try:
        return max(Fraction(0), min(Fraction(1), profile.delta_upper(epsilon)))
    except GuaranteeError:
        return None


def discretised(profile: Profile, step: Fraction, bits: int, least: Fraction) -> Losses:
    """Losses on the grid that dominate the profile; what lies where δ < ``least`` goes to +∞."""
    return from_dots(dots(profile, step, least), step, bits)


def dots(
    profile: Profile, step: Fraction, least: Fraction, width: int = 1
) -> list[tuple[int, Fraction]]:
    """(index, δ) at every ``width``-th point of the grid from ε = 0, and where the losses end."""
    found = {i * width: value for i, value in _asked_until(profile, step * width, least)}
    end = -(-(_end(profile) or Fraction(0)) // step)
    if 0 < end < max(found):
        value = asked(profile, end * step)
        found |= {} if value is None else {end: value}
    return sorted(found.items())


def from_dots(found: list[tuple[int, Fraction]], step: Fraction, bits: int) -> Losses:
    """Losses by connecting the dots, at ε ≥ 0 alone: a neighbour relation that replaces one record
    is symmetric, and then the supremum over all ordered pairs has δ(−ε) = 1 − e^{−ε}(1 − δ(ε)).
    """
    scale = bits + 64
    one = 1 << scale
    right = [(i, ceil_units(value, scale)) for i, value in found]
    left = [(-i, one - ((one - d) * exp_floor(-i * step, scale) >> scale)) for i, d in right if i]
    return connected(step, left[::-1] + right, scale, bits)


def _asked_until(profile: Profile, step: Fraction, least: Fraction) -> list[tuple[int, Fraction]]:
    limit = asked(profile, _FURTHEST * step) or Fraction(0)
    enough = max(least, limit * (1 + Fraction(1, 2**30)))
    # as many in a row as a Gaussian loss needs to fall to ``least``
    nats = math.log(least.denominator) - math.log(least.numerator)
    dense = math.ceil(_POINTS * math.sqrt(2 * nats))
    value, index = asked(profile, Fraction(0)), 0
    found = [(0, Fraction(1) if value is None else value)]
    while found[-1][1] > enough and index < _FURTHEST:
        index = min(index + 1 + max(0, index - dense) // _SPREAD, _FURTHEST)
        value = asked(profile, index * step)
        if value is None:  # too small to certify: δ stays what it is from here on
            break
        found.append((index, min(value, found[-1][1])))
    return found
