"""What a mechanism really gives: one object that answers any question about its privacy.

A profile bounds δ(ε) = sup over neighbours and events S of P(S) − e^ε P′(S). Every public answer
is a certified upper bound: a float64 that is never below the truth, however it is read.

A new law (the general spherical family, radial laws on a curved space) is one more subclass that
implements the abstract methods in exact rationals; nothing else changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from geodp.errors import GuaranteeError
from geodp.privacy.numbers import (
    Number,
    exact,
    exact_below_one,
    float_up,
    readings,
    real,
    root_up,
)
from geodp.privacy.search import least

_ABOVE = (1e-9, 1e-7, 1e-5)  # a guess of ε, this much above, is tried before a search


class Profile(ABC):
    """Certified upper bounds on the privacy loss of one mechanism, or of a composition.

    Examples
    --------
    >>> import geodp as gd
    >>> cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 0.1, gd.GaussianDP(1))
    >>> cal.profile.mu(), cal.profile.delta(1), cal.profile.epsilon(1e-6)
    (1.0, 0.12693673750664397, 4.886554117462213)
    """

    # ---- what a law must supply: rational upper bounds --------------------------------------

    @abstractmethod
    def delta_upper(self, epsilon: Fraction) -> Fraction:
        """At least δ(ε), for ε of either sign, and non-increasing up to its own accuracy."""

    @abstractmethod
    def pure_upper(self) -> Fraction:
        """At least the pure ε, or GuaranteeError saying why there is none."""

    @abstractmethod
    def mu_squared_upper(self) -> Fraction:
        """At least μ² of the least μ-GDP that holds, or GuaranteeError."""

    @abstractmethod
    def rho_upper(self) -> Fraction:
        """At least the least ρ of zCDP, or GuaranteeError."""

    @abstractmethod
    def renyi_upper(self, order: Fraction) -> Fraction:
        """At least the Rényi divergence of this order > 1, or GuaranteeError."""

    @abstractmethod
    def pair(self) -> tuple[Fraction, Fraction]:
        """One (ε, δ) that says all this profile knows, or GuaranteeError."""

    @abstractmethod
    def routes(self) -> frozenset[str]:
        """The notions by which it should be composed: pure, gdp, zcdp, approx."""

    @abstractmethod
    def orders(self) -> frozenset[Fraction]:
        """The Rényi orders by which it should be composed when no other notion will do."""

    def guess_epsilon(self, delta: Fraction) -> float | None:
        """A float estimate of ε at a δ where δ(ε) is slow to certify; None to search for it."""
        return None

    # ---- what everybody asks ----------------------------------------------------------------

    def delta(self, epsilon: Number) -> float:
        """A certified upper bound of δ(ε); ε may be negative.

        >>> from geodp.privacy.gaussian import GaussianProfile
        >>> GaussianProfile.of(1).delta(1)
        0.12693673750664397
        """
        return min(1.0, float_up(self.delta_upper(real(epsilon, "epsilon"))))

    def epsilon(self, delta: Number) -> float:
        """A certified upper bound of the least ε ≥ 0 with δ(ε) ≤ ``delta``.

        Raises GuaranteeError when no ε has so small a δ.
        """
        wanted = exact_below_one(delta, "delta")
        if self.keeps(Fraction(0), wanted):
            return 0.0
        guess = self.guess_epsilon(wanted)
        if guess is not None:
            for near in (guess * (1 + step) for step in _ABOVE):
                if self.keeps(readings(near)[0], wanted):
                    return near
        found = least(lambda x: self.keeps(readings(x)[0], wanted))
        if found is None:
            raise GuaranteeError(
                "This profile promises no epsilon at so small a delta; ask for a larger delta."
            )
        return found

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Whether δ(``epsilon``) ≤ ``delta`` is proven; a law that knows a quicker way than its
        δ(ε) may answer by that."""
        return self.delta_upper(epsilon) <= delta

    def mu(self) -> float:
        """A certified upper bound of the GDP parameter μ, or GuaranteeError."""
        return float_up(root_up(self.mu_squared_upper()))

    def rho(self) -> float:
        """A certified upper bound of the zCDP parameter ρ, or GuaranteeError."""
        return float_up(self.rho_upper())

    def renyi(self, alpha: Number) -> float:
        """A certified upper bound of the Rényi divergence of order ``alpha`` > 1."""
        return float_up(self.renyi_upper(order_of(alpha)))

    def charge(self, notion: str, alpha: Number | None = None) -> Fraction:
        """The exact additive price in a notion: ε (pure), μ² (gdp), ρ (zcdp), ε at α (renyi).

        Prices of independent releases add, and the sum is a price of their composition.
        Raises GuaranteeError when this profile has no price in that notion.
        """
        prices: dict[str, Callable[[], Fraction]] = {
            "pure": self.pure_upper,
            "gdp": self.mu_squared_upper,
            "zcdp": self.rho_upper,
            "renyi": lambda: self.renyi_upper(order_of(alpha)),
        }
        if notion not in prices:
            raise GuaranteeError(f"Prices add only in one of the notions {', '.join(prices)}.")
        return prices[notion]()

    def to_dp_accounting(self, interval: Number = 1e-4) -> Any:
        """A pessimistic ``PrivacyLossDistribution`` of the package dp-accounting, to be composed
        there with others of the same ``value_discretization_interval``.

        It dominates this profile (connecting the dots: Doroshenko et al. 2022), up to the rounding
        of dp-accounting's own floats. InputError without the package, or where the losses span too
        many intervals.

        >>> from geodp.privacy.gaussian import GaussianProfile
        >>> round(GaussianProfile.of(1).to_dp_accounting().get_epsilon_for_delta(1e-6), 2)
        4.89
        """
        from geodp.privacy.adapters import to_dp_accounting

        return to_dp_accounting(self, interval)

    def to_opendp(self) -> Any:
        """A ``PrivacyProfile`` of the package OpenDP, from which the ``privacy_map`` of a user's
        measurement may take its (epsilon, delta).

        InputError without the package or its features ``contrib`` and ``honest-but-curious``.

        >>> import opendp.prelude as dp
        >>> from geodp.privacy.gaussian import GaussianProfile
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> GaussianProfile.of(1).to_opendp().delta(1.0)
        0.12693673750664397
        """
        from geodp.privacy.adapters import to_opendp

        return to_opendp(self)

    @staticmethod
    def from_delta(
        function: Callable[[float], Number],
        *,
        pure: Number | None = None,
        mu: Number | None = None,
        rho: Number | None = None,
    ) -> Profile:
        """The profile of a mechanism of your own, from a certified upper bound of its δ(ε).

        ``function`` gets a float ε ≥ 0 and returns at least the supremum of P(S) − e^ε P′(S) over
        *all ordered* pairs of neighbours (replace one record) and all events. It is checked at
        sample points: within [0, 1], not increasing, convex in e^ε. That it bounds your
        mechanism is yours to prove. ``pure``, ``mu``, ``rho``: further bounds that you have
        proven, in which a ledger can then charge. Raises GuaranteeError.

        >>> import math
        >>> mine = Profile.from_delta(lambda epsilon: math.exp(-3 * epsilon) / 2, mu=2)
        >>> mine.delta(0), mine.mu()
        (0.5, 2.0)
        """
        from geodp.privacy.custom import custom_profile

        return custom_profile(function, pure=pure, mu=mu, rho=rho)


def order_of(alpha: Number | None) -> Fraction:
    """A Rényi order, exact and above one, else GuaranteeError."""
    if alpha is None:
        raise GuaranteeError("Rényi DP needs its order alpha.")
    order = exact(alpha, "alpha")
    if order <= 1:
        raise GuaranteeError("The order alpha of Rényi DP must be greater than one.")
    return order
