"""A certified privacy-loss distribution as a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn, final

from geodp.errors import GuaranteeError
from geodp.privacy.conversions import by_symmetry
from geodp.privacy.pld import Cut, Losses, joined, power
from geodp.privacy.pld_grid import discretised, step_for
from geodp.privacy.profile import Profile

_SPARE = 32  # bits below the least mass that is told apart
_BOTTOM = 40  # what is merged at the bottom raises δ by less than 2^−40 of itself


@final
@dataclass(frozen=True)
class PLDProfile(Profile):
    """δ(ε) of a privacy-loss distribution (see ``pld``): never below the truth at any ε.

    It knows δ(ε) down to ``losses.infinite`` and nothing below, so it refuses GDP, zCDP and Rényi
    bounds, which ask about every ε; a pure ε exists when no loss is infinite.
    """

    losses: Losses

    @classmethod
    def composed(cls, parts: Sequence[tuple[Profile, int]], depth: int) -> PLDProfile:
        """Of independent releases, (profile, count) each, resolving δ down to 2^−``depth``.

        >>> from geodp.privacy.gaussian import GaussianProfile
        >>> whole = PLDProfile.composed([(GaussianProfile.of(0.1), 100)], 64)
        >>> round(whole.epsilon(1e-6), 2)
        4.89
        """
        return cls(_composed(tuple(parts), depth))

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, self.losses.delta)

    def pure_upper(self) -> Fraction:
        if self.losses.infinite:
            raise GuaranteeError(
                "Some loss of this composition may be infinite; ask for epsilon at a delta."
            )
        return max(Fraction(0), (self.losses.low + len(self.losses.tails) - 1) * self.losses.step)

    def mu_squared_upper(self) -> Fraction:
        _refuse("GDP")

    def rho_upper(self) -> Fraction:
        _refuse("zCDP")

    def renyi_upper(self, order: Fraction) -> Fraction:
        _refuse("Rényi bound")

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("This composition has a delta at every epsilon, not one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset()

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


@lru_cache(maxsize=128)
def _composed(parts: tuple[tuple[Profile, int], ...], depth: int) -> Losses:
    count = sum(number for _, number in parts)
    finest = depth + 16 + count.bit_length()  # each of ``count`` parts may lose so much, 2^−finest
    bits = finest + _SPARE
    cut = Cut(1 << _SPARE, 1 << (bits - _BOTTOM - count.bit_length()))
    step = step_for(parts)
    whole: Losses | None = None
    for profile, number in parts:
        single = discretised(profile, step, bits, Fraction(1, 1 << finest))
        part = power(single, number, cut)
        whole = part if whole is None else joined(whole, part, cut)
    if whole is None:
        raise GuaranteeError("A composition needs at least one profile.")
    return whole


def _refuse(what: str) -> NoReturn:
    raise GuaranteeError(
        f"A privacy-loss distribution resolves delta only down to a least one, so no {what} "
        "follows from it; ask for epsilon at a delta, or the parts for theirs."
    )
