"""Profiles of promises about Rényi divergences: one order, or all of them (zCDP)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from geodp.errors import GuaranteeError
from geodp.privacy.conversions import (
    best_order_below,
    by_symmetry,
    conversion,
    total_variation,
    zcdp_delta,
)
from geodp.privacy.numbers import Number, exact
from geodp.privacy.profile import Profile, order_of
from geodp.privacy.zcdp_to_gdp import mu_squared_of_zcdp


@final
@dataclass(frozen=True)
class RenyiProfile(Profile):
    """(α, ε̄)-Rényi DP at one order α = ``order``, ε̄ = ``bound``.

    δ(ε) is the least of the conversion (see ``conversion``) over the orders up to α, at which the
    divergence is at most ε̄ too, and of the total variation that a Kullback-Leibler divergence of
    at most ε̄ allows. GDP and zCDP do not follow from one order.
    """

    order: Fraction
    bound: Fraction

    @classmethod
    def of(cls, alpha: Number, epsilon: Number) -> Self:
        """The profile of (α, ε)-Rényi DP."""
        return cls(order_of(alpha), exact(epsilon, "epsilon"))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, self._delta)

    def _delta(self, epsilon: Fraction) -> Fraction:
        order = best_order_below(self.order, self.bound - epsilon)
        return min(conversion(order, self.bound, epsilon), total_variation(self.bound))

    def pure_upper(self) -> Fraction:
        raise GuaranteeError("Rényi DP at a finite order implies no pure epsilon.")

    def mu_squared_upper(self) -> Fraction:
        raise GuaranteeError("Rényi DP at one order implies no GDP; ask for epsilon at a delta.")

    def rho_upper(self) -> Fraction:
        raise GuaranteeError("Rényi DP at one order implies no zCDP; ask for epsilon at a delta.")

    def renyi_upper(self, order: Fraction) -> Fraction:
        if order > self.order:
            raise GuaranteeError("Rényi DP implies nothing about orders above its own.")
        return self.bound

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("Rényi DP has a delta at every epsilon, not one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset()

    def orders(self) -> frozenset[Fraction]:
        return frozenset({self.order})


@final
@dataclass(frozen=True)
class ZCDPProfile(Profile):
    """ρ-zCDP, ρ = ``bound``: the Rényi divergence of every order α > 1 is at most αρ.

    δ(ε): the conversion at its best order, which solves (2α−1)ρ − ε + log(1 − 1/α) = 0, and the
    total variation that KL ≤ ρ allows. GDP follows only with a loss (see ``zcdp_to_gdp``).
    """

    bound: Fraction

    @classmethod
    def of(cls, rho: Number) -> Self:
        """The profile of ρ-zCDP.

        >>> ZCDPProfile.of(0.5).epsilon(1e-6)
        5.22153444453017
        """
        return cls(exact(rho, "rho"))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, self._delta)

    def _delta(self, epsilon: Fraction) -> Fraction:
        return zcdp_delta(self.bound, epsilon)

    def pure_upper(self) -> Fraction:
        raise GuaranteeError("zCDP implies no pure epsilon; ask for epsilon at a delta.")

    def mu_squared_upper(self) -> Fraction:
        return mu_squared_of_zcdp(self.bound)

    def rho_upper(self) -> Fraction:
        return self.bound

    def renyi_upper(self, order: Fraction) -> Fraction:
        return order * self.bound

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("zCDP has a delta at every epsilon, not one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset({"zcdp"})

    def orders(self) -> frozenset[Fraction]:
        return frozenset()
