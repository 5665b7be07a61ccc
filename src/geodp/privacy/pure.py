"""The profile of pure ε: randomised response, of which every ε-DP mechanism is a post-processing.

(Kairouz, Oh and Viswanath 2015.) Hence each number below is tight for randomised response
and an upper bound for everything else with the same ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

from geodp.privacy.balls import ball, upper
from geodp.privacy.numbers import Number, exact
from geodp.privacy.profile import Profile

if TYPE_CHECKING:
    from flint import arb


@final
@dataclass(frozen=True)
class PureProfile(Profile):
    """ε₀-DP, ε₀ = ``bound``: δ(ε) = (e^ε₀ − e^ε)/(1 + e^ε₀) for |ε| ≤ ε₀, 0 above, 1 − e^ε below.

    GDP: μ = 2Φ⁻¹(e^ε₀/(1+e^ε₀)), since the trade-off curve of N(0, 1) against N(μ, 1) is convex
    and runs through the corner of randomised response's.
    Rényi: log[cosh((α−½)ε₀)/cosh(ε₀/2)]/(α−1).
    zCDP: ρ = ε₀ tanh(ε₀/2) (≤ ε₀²/2). Proof: with x = ε₀/2 and s = (2α−1)², the claim
    D_α ≤ αρ reads G(s) − G(1) ≤ (s−1) G′(1) for G(s) = log cosh(x√s), and G is concave because
    tanh(u)/u decreases. Equality as α → 1, so no smaller ρ holds for randomised response.
    """

    bound: Fraction

    @classmethod
    def of(cls, epsilon: Number) -> Self:
        """The profile of ε-DP.

        >>> PureProfile.of(1).delta(1), PureProfile.of(1).epsilon(1e-300)
        (0.0, 1.0)
        """
        return cls(exact(epsilon, "epsilon"))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        if epsilon >= self.bound:
            return Fraction(0)
        if epsilon <= -self.bound:
            return upper(lambda: -ball(epsilon).expm1())

        def inside() -> arb:  # divided by e^ε₀: no overflow
            top = -ball(epsilon - self.bound).expm1()
            return top / (1 + ball(-self.bound).exp())

        return upper(inside)

    def pure_upper(self) -> Fraction:
        return self.bound

    def mu_squared_upper(self) -> Fraction:
        # Φ̄(μ/2) = 1/(1+e^ε₀), i.e. μ = 2√2 erfcinv(2/(1+e^ε₀))
        return upper(lambda: 8 * (2 / (1 + ball(self.bound).exp())).erfcinv() ** 2)

    def rho_upper(self) -> Fraction:
        return upper(lambda: ball(self.bound) * (ball(self.bound) / 2).tanh())

    def renyi_upper(self, order: Fraction) -> Fraction:
        return upper(lambda: randomised_response_renyi(self.bound, order))

    def routes(self) -> frozenset[str]:
        return frozenset({"pure", "gdp", "zcdp", "approx"})

    def orders(self) -> frozenset[Fraction]:
        return frozenset()

    def pair(self) -> tuple[Fraction, Fraction]:
        return self.bound, Fraction(0)


def randomised_response_renyi(epsilon: Fraction, order: Fraction) -> arb:
    """The Rényi divergence of order > 1 of randomised response, as a ball."""
    wide, narrow = ball((2 * order - 1) * epsilon), ball(epsilon)
    # log cosh(a) = a + log((1 + e^{−2a})/2); here 2a is ``wide``, then ``narrow``
    ratio = (-wide).exp().log1p() - (-narrow).exp().log1p()
    return (ball((order - 1) * epsilon) + ratio) / ball(order - 1)
