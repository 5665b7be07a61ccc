"""The profile of one point (ε₀, δ₀): all that an (ε, δ) promise says about other ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, Self, final

from geodp.errors import GuaranteeError
from geodp.privacy.numbers import Number, exact, exact_below_one
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile


@final
@dataclass(frozen=True)
class ApproxProfile(Profile):
    """(ε₀, δ₀)-DP, ε₀ = ``bound``, δ₀ = ``mass``: with probability δ₀ all is revealed, else RR(ε₀).

    Every (ε₀, δ₀)-DP pair is a post-processing of that (Kairouz, Oh and Viswanath 2015),
    so δ(ε) = δ₀ + (1 − δ₀) δ_RR(ε) for ε ≥ −ε₀ and 1 − e^ε(1 − δ₀) below: one formula, since there
    the revealed part of the neighbour costs nothing. No pure, GDP, zCDP or Rényi bound exists.
    """

    bound: Fraction
    mass: Fraction

    @classmethod
    def of(cls, epsilon: Number, delta: Number) -> Self:
        """The profile of (ε, δ)-DP.

        >>> ApproxProfile.of(1, 1e-5).delta(2), ApproxProfile.of(1, 1e-5).epsilon(1e-5)
        (1e-05, 1.0)
        """
        return cls(exact(epsilon, "epsilon"), exact_below_one(delta, "delta"))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return self.mass + (1 - self.mass) * PureProfile(self.bound).delta_upper(epsilon)

    def pure_upper(self) -> Fraction:
        _refuse("pure epsilon")

    def mu_squared_upper(self) -> Fraction:
        _refuse("GDP")

    def rho_upper(self) -> Fraction:
        _refuse("zCDP")

    def renyi_upper(self, order: Fraction) -> Fraction:
        _refuse("Rényi bound")

    def pair(self) -> tuple[Fraction, Fraction]:
        return self.bound, self.mass

    def routes(self) -> frozenset[str]:
        return frozenset({"approx"})

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


def _refuse(what: str) -> NoReturn:
    raise GuaranteeError(
        f"An (epsilon, delta) promise implies no {what}, its delta may reveal everything; "
        "ask for epsilon at a delta above it."
    )
