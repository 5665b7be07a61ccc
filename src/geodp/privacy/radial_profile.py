"""The exact profile of a radial law on a sphere or hyperbolic space, as certified bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, final

from geodp.errors import GuaranteeError
from geodp.privacy.balls import rational_up, sharp
from geodp.privacy.conversions import by_symmetry
from geodp.privacy.profile import Profile
from geodp.privacy.radial_certified import delta_bound
from geodp.privacy.radial_gdp import certified_square
from geodp.privacy.radial_shift import RadialPair

_ACCURACY = Fraction(1, 10**5)


@final
@dataclass(frozen=True)
class RadialProfile(Profile):
    """delta(epsilon) of two radial laws whose centres are the sensitivity apart.

    The worst neighbours are farthest apart, since f decreases (docs/proofs/riemannian). ``square``
    is a mu^2 that is already proven, if any; else one is searched when asked for.
    """

    laws: RadialPair
    square: Fraction | None = None

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, lambda e: delta_bound(self.laws, e, _ACCURACY))

    def pure_upper(self) -> Fraction:
        if self.laws.kernel == "laplace":
            return self.laws.shift / self.laws.scale
        if self.laws.sign < 0:
            refuse_pure()
        most = sharp(lambda: self.laws.loss_ball() or refuse_pure())
        return rational_up(most)

    def mu_squared_upper(self) -> Fraction:
        return certified_square(self.laws) if self.square is None else self.square

    def rho_upper(self) -> Fraction:
        return self.mu_squared_upper() / 2

    def renyi_upper(self, order: Fraction) -> Fraction:
        return order * self.mu_squared_upper() / 2

    def pair(self) -> tuple[Fraction, Fraction]:
        return self.pure_upper(), Fraction(0)

    def routes(self) -> frozenset[str]:
        pure = self.laws.kernel == "laplace" or self.laws.sign > 0
        return frozenset({"gdp", "zcdp"} | ({"pure"} if pure else set()))

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


def refuse_pure() -> NoReturn:
    """Why a Gaussian law on a space that grows without bound has no pure epsilon."""
    raise GuaranteeError(
        "A Riemannian Gaussian on hyperbolic space has an unbounded privacy loss and no pure "
        "epsilon; use RiemannianLaplace, or ask for epsilon at a delta."
    )
