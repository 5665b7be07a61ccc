"""A spherical law against its own shift: the numbers that its privacy depends on.

In units of rate^(−1/power) the radius has density ∝ r^shape e^{−r^power}, the density in R^dim is
φ(r) = r^{−pole} e^{−r^power} with pole = dim − 1 − shape, and the shift has length
s = ratio · rate^{1/power}. Proofs: docs/proofs/profiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

from geodp.errors import GuaranteeError

if TYPE_CHECKING:
    from geodp.noise.spherical import SphericalLaw


@final
@dataclass(frozen=True)
class Shift:
    """X = RU with radius density ∝ r^shape e^{−rate·r^power} against X + v, ‖v‖ = ``ratio``.

    All numbers are exact: a law's floats are the binary numbers that its sampler reads.
    """

    dim: int
    shape: Fraction
    power: Fraction
    rate: Fraction
    ratio: Fraction

    @classmethod
    def of(cls, law: SphericalLaw, ratio: Fraction) -> Self:
        """The worst shift of a law at sensitivity/scale ``ratio``.

        Raises GuaranteeError where the density is not monotone: shape > dim − 1.
        """
        shape = Fraction(law.shape)
        if shape > law.dim - 1:
            raise GuaranteeError(
                f"In dimension {law.dim} the shape of a spherical law must be at most "
                f"{law.dim - 1}: beyond, its density has a hole at the centre, a smaller "
                "difference can reveal more than a larger one, and no proof covers it."
            )
        return cls(law.dim, shape, Fraction(law.power), Fraction(law.rate), Fraction(ratio))

    def at(self, ratio: Fraction) -> Shift:
        """The same law at another ratio."""
        return Shift(self.dim, self.shape, self.power, self.rate, Fraction(ratio))

    @property
    def pole(self) -> Fraction:
        """The exponent of the density's pole at the centre; 0 where it is bounded."""
        return self.dim - 1 - self.shape

    @property
    def order(self) -> Fraction:
        """rate·R^power is Gamma(order)."""
        return (self.shape + 1) / self.power

    @property
    def length(self) -> float:
        """s as a float estimate."""
        return float(float(self.ratio) * float(self.rate) ** (1 / float(self.power)))

    @property
    def is_pure(self) -> bool:
        """Whether the privacy loss is bounded."""
        return self.pole == 0 and self.power <= 1

    @property
    def is_gaussian_dp(self) -> bool:
        """Whether μ-GDP, and zCDP, hold for some μ."""
        return self.pole == 0 and self.power <= 2
