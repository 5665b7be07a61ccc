"""The exact privacy profile of spherical noise, in any dimension."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from geodp.errors import GuaranteeError
from geodp.noise.spherical import SphericalLaw
from geodp.privacy.numbers import float_up
from geodp.privacy.profile import Profile
from geodp.privacy.spherical_shift import Shift


@final
@dataclass(frozen=True)
class SphericalProfile(Profile):
    """What a spherical generalized gamma law reveals at its worst shift, ‖v‖ = sensitivity/scale.

    δ(ε) = P[L > ε] − e^ε P[L < −ε] is one integral, enclosed to 1e-10 relative. Pure ε, GDP and
    zCDP exist only for a density bounded at the centre and a light enough change of its tail
    (shape = dim − 1 and power ≤ 1, 2 and 2); Rényi only below the order where the density's pole
    makes it infinite. Proofs: docs/proofs/profiles.

    >>> from geodp.noise.strategies import L2Laplace
    >>> profile = SphericalProfile.of(L2Laplace().law(3), Fraction(1))
    >>> round(profile.mu(), 4), round(profile.rho(), 4), profile.delta(1)
    (0.6158, 0.1606, 0.0)
    """

    shift: Shift

    @classmethod
    def of(cls, law: SphericalLaw, ratio: Fraction) -> Self:
        """The profile at an exact sensitivity/scale; GuaranteeError for shape > dim − 1."""
        return cls(Shift.of(law, ratio))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        from geodp.privacy.spherical_certified import FINE, delta_enclosure

        return delta_enclosure(self.shift, epsilon, FINE).high

    def delta_lower(self, epsilon: Fraction) -> Fraction:
        """At most δ(ε): what the noise is known to reveal."""
        from geodp.privacy.spherical_certified import FINE, delta_enclosure

        return delta_enclosure(self.shift, epsilon, FINE).low

    def guess_epsilon(self, delta: Fraction) -> float | None:
        from geodp.privacy.spherical_solve import epsilon_estimate

        return epsilon_estimate(self.shift, float(delta))

    def pure_upper(self) -> Fraction:
        from geodp.privacy.spherical_gdp import pure_loss

        refuse_pure(self.shift)
        return pure_loss(self.shift)

    def mu_squared_upper(self) -> Fraction:
        from geodp.privacy.spherical_gdp import mu_squared

        refuse_gdp(self.shift, "GDP")
        return mu_squared(self.shift)

    def rho_upper(self) -> Fraction:
        from geodp.privacy.spherical_renyi import rho

        refuse_gdp(self.shift, "zCDP")
        return rho(self.shift)

    def renyi_upper(self, order: Fraction) -> Fraction:
        from geodp.privacy.spherical_renyi import renyi_divergence

        return renyi_divergence(self.shift, order)

    def pair(self) -> tuple[Fraction, Fraction]:
        if not self.shift.is_pure:
            raise GuaranteeError("This noise has a delta at every epsilon, not one fixed pair.")
        return self.pure_upper(), Fraction(0)

    def routes(self) -> frozenset[str]:
        if self.shift.is_pure:
            return frozenset({"pure", "gdp", "zcdp", "approx"})
        return frozenset({"gdp", "zcdp"} if self.shift.is_gaussian_dp else ())

    def orders(self) -> frozenset[Fraction]:
        return frozenset()

    def __repr__(self) -> str:
        numbers = (float_up(x) for x in (self.shift.shape, self.shift.power, self.shift.ratio))
        shape, power, ratio = (f"{x:.6g}" for x in numbers)
        return f"SphericalProfile(dim={self.shift.dim}, {shape=!s}, {power=!s}, {ratio=!s})"


def refuse_pure(shift: Shift) -> None:
    """GuaranteeError where the privacy loss is unbounded."""
    if not shift.is_pure:
        raise GuaranteeError(
            "This noise has an unbounded privacy loss and no pure epsilon, which needs "
            f"shape = dim − 1 = {shift.dim - 1} and power at most 1; use L2Laplace, or ask for "
            "epsilon at a delta."
        )


def refuse_gdp(shift: Shift, notion: str) -> None:
    """GuaranteeError where large losses are too likely for any Gaussian comparison."""
    if shift.pole > 0:
        raise GuaranteeError(
            f"This noise has no {notion} parameter: its density has a pole at the centre (shape "
            f"below dim − 1 = {shift.dim - 1}), and large privacy losses are too likely; ask for "
            "(epsilon, delta)."
        )
    if shift.power > 2:
        raise GuaranteeError(
            f"This noise has no {notion} parameter: its power exceeds 2, its tail falls "
            "faster than a Gaussian's, and large privacy losses are too likely; ask for "
            "(epsilon, delta)."
        )
