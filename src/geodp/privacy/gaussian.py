"""The profile of Gaussian noise, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, upper, upper_tail
from geodp.privacy.numbers import Number, exact
from geodp.privacy.profile import Profile

if TYPE_CHECKING:
    from flint import arb


@final
@dataclass(frozen=True, kw_only=True)
class GaussianProfile(Profile):
    """μ-GDP, given by the rational μ² so that compositions stay exact.

    δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)  (Balle and Wang 2018, Thm 8; Dong, Roth and Su
    2022), evaluated in ball arithmetic. μ = Δ/σ of the Gaussian mechanism, any dimension.
    Rényi: αμ²/2 at every order; zCDP: μ²/2.
    """

    square: Fraction

    @classmethod
    def of(cls, mu: Number) -> Self:
        """The profile of μ-GDP.

        >>> GaussianProfile.of("0.5").mu()
        0.5
        """
        return cls(square=exact(mu, "mu") ** 2)

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        def first_term() -> arb:  # an upper bound where e^ε leaves the exponent range
            mu = ball(self.square).sqrt()
            return upper_tail(ball(epsilon) / mu - mu / 2)

        try:
            return upper(lambda: gaussian_delta(self.square, epsilon))
        except GuaranteeError:
            return upper(first_term)

    def pure_upper(self) -> Fraction:
        raise GuaranteeError(
            "Gaussian noise has an unbounded privacy loss and no pure epsilon; "
            "use L2Laplace, or ask for epsilon at a delta."
        )

    def mu_squared_upper(self) -> Fraction:
        return self.square

    def rho_upper(self) -> Fraction:
        return self.square / 2

    def renyi_upper(self, order: Fraction) -> Fraction:
        return order * self.square / 2

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("Gaussian noise has a delta at every epsilon, not one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset({"gdp", "zcdp"})

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


def gaussian_delta(square: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) of μ-GDP with μ² = ``square``, as a ball at the working precision."""
    mu, loss = ball(square).sqrt(), ball(epsilon)
    return upper_tail(loss / mu - mu / 2) - loss.exp() * upper_tail(loss / mu + mu / 2)
