"""A user's own δ(ε) as a profile: checked at sample points, then composed and planned like any."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn, final

from geodp.errors import GuaranteeError
from geodp.privacy.conversions import by_symmetry
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.least import LeastProfile
from geodp.privacy.numbers import Number, float_down, readings, real
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import ZCDPProfile

Delta = Callable[[float], Number]
_SAMPLES = (0.0, *(2.0 ** (k / 2) for k in range(-12, 13)))  # 0, then 1/64 … 64
_SLACK = 1e-6  # relative: certified bounds are noisy


def custom_profile(
    function: Delta, *, pure: Number | None, mu: Number | None, rho: Number | None
) -> Profile:
    """See ``Profile.from_delta``."""
    _check(function)
    bounds: list[Profile] = [FunctionProfile(function)]
    if pure is not None:
        bounds.append(PureProfile.of(pure))
    if mu is not None:
        bounds.append(GaussianProfile.of(mu))
    if rho is not None:
        bounds.append(ZCDPProfile.of(rho))
    return bounds[0] if len(bounds) == 1 else LeastProfile(tuple(bounds))


@final
@dataclass(frozen=True)
class FunctionProfile(Profile):
    """δ(ε) by a function that is asked at float ε ≥ 0; what lies between is rounded up.

    δ(−ε) follows from the symmetry of the neighbour relation. No other notion follows from
    finitely many values of δ.
    """

    function: Delta

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, lambda loss: _asked(self.function, max(0.0, _below(loss))))

    def pure_upper(self) -> Fraction:
        _refuse("pure epsilon", "pure")

    def mu_squared_upper(self) -> Fraction:
        _refuse("GDP", "mu")

    def rho_upper(self) -> Fraction:
        _refuse("zCDP", "rho")

    def renyi_upper(self, order: Fraction) -> Fraction:
        _refuse("Rényi bound", "rho")

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("A function of epsilon says more than one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset()

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


def _below(epsilon: Fraction) -> float:
    """A float at most ε in both readings, hence where δ is at least δ(ε)."""
    return float_down(epsilon)


def _asked(function: Delta, epsilon: float) -> Fraction:
    try:
        answer = function(epsilon)
        value = readings(answer)[1] if isinstance(answer, float) else real(answer, "delta")
    except (GuaranteeError, ValueError, ArithmeticError):  # NaN, or e^ε too large for it
        value = Fraction(-1)
    if not 0 <= value <= 1:
        raise GuaranteeError("The function of epsilon must return a number from 0 to 1.")
    return value


def _check(function: Delta) -> None:
    if not callable(function):
        raise GuaranteeError("Profile.from_delta takes a function of epsilon that returns delta.")
    values = [_asked(function, epsilon) for epsilon in _SAMPLES]
    slack = 1 + Fraction(_SLACK)
    for before, after in pairwise(values):
        if after > before * slack:
            raise GuaranteeError(
                "The function of epsilon must not increase: a larger epsilon forgives more."
            )
    points = list(zip(_SAMPLES, values, strict=True))
    for (a, d_a), (b, d_b), (c, d_c) in zip(points, points[1:], points[2:], strict=False):
        share = _share(a, b, c)
        if d_b > (share * d_a + (1 - share) * d_c) * slack:
            raise GuaranteeError(
                "The function must be convex in e^epsilon, as every delta(epsilon) is: "
                "a bound above its own chord can be replaced by the chord."
            )


def _share(a: float, b: float, c: float) -> Fraction:
    """The weight of a in e^b = w e^a + (1 − w) e^c."""
    return Fraction(math.expm1(b - c) / math.expm1(a - c))


def _refuse(what: str, keyword: str) -> NoReturn:
    raise GuaranteeError(
        f"No {what} follows from values of delta(epsilon); where you have proven one, "
        f"give it to from_delta as {keyword}=."
    )
