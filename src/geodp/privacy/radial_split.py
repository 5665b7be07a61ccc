"""Gaussian laws on a flat space times a curved two-point homogeneous one, as on SPD(2) = R x H^2.

exp(-t^2/2 scale^2) factorises: centres a apart on the flat factor and b on the other, a^2 + b^2 at
most the squared shift, give a Gaussian mechanism of mu = a/scale composed with a radial law at
shift b. Both profiles grow with their shift. Which split is worst is not assumed: bounds cover all
of them (docs/proofs/riemannian).

Gaussian DP: if one step, shift/N, of the curved law is mu_0-GDP, then k steps are k mu_0-GDP (group
privacy), and a pair with b in ((k - 1)/N, k/N] shifts is sqrt(a^2/scale^2 + k^2 mu_0^2)-GDP with
a^2 at most 1 - (k - 1)^2/N^2 squared shifts.

(epsilon, delta): on a cell b^2 in [y, z] squared shifts the pair sqrt(1 - y), sqrt(z) dominates.

A split law is written as the ``RadialPair`` of its curved factor at the whole shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import final

from geodp.errors import GuaranteeError
from geodp.privacy.conversions import by_symmetry
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.numbers import root_up
from geodp.privacy.pld import Cut, Losses, joined
from geodp.privacy.pld_grid import discretised
from geodp.privacy.profile import Profile
from geodp.privacy.radial_float import FloatPair, mu_at
from geodp.privacy.radial_gdp import certified_square
from geodp.privacy.radial_profile import RadialProfile, refuse_pure
from geodp.privacy.radial_shift import RadialPair

STEPS = 1000  # N: rounding b up to whole steps costs about 1/N of mu
_POINTS = 8  # grid points per standard deviation of the loss of a cell
_DEPTH, _SPARE = 72, 40  # bits: what is resolved of a cell's delta, and of its masses below that
_ROOM = 1.004  # what a cell may add to mu, relative
_FAR = 4.0  # standard deviations of the loss


@final
@dataclass(frozen=True)
class SplitProfile(Profile):
    """All that is proven of a Gaussian law on such a product, at its scale and largest shift.

    ``step`` is a mu^2 of one step of the chain that is already proven, if any.
    """

    laws: RadialPair
    step: Fraction | None = None

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, self._delta)

    def _delta(self, epsilon: Fraction) -> Fraction:
        most = GaussianProfile(square=self.mu_squared_upper()).delta_upper(epsilon)
        worst = Fraction(0)
        for cell in cover(self.laws):
            worst = max(worst, cell.delta(epsilon, self._step, enough=worst))
            if worst >= most:
                return most
        return worst

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        whole = GaussianProfile(square=self.mu_squared_upper())
        return whole.delta_upper(epsilon) <= delta or all(
            cell.delta(epsilon, self._step, enough=delta) <= delta for cell in cover(self.laws)
        )

    @property
    def _step(self) -> Fraction:
        return certified_square(step_of(self.laws)) if self.step is None else self.step

    def pure_upper(self) -> Fraction:
        refuse_pure()

    def mu_squared_upper(self) -> Fraction:
        return chained(self.laws, self._step)

    def rho_upper(self) -> Fraction:
        return self.mu_squared_upper() / 2

    def renyi_upper(self, order: Fraction) -> Fraction:
        return order * self.mu_squared_upper() / 2

    def pair(self) -> tuple[Fraction, Fraction]:
        raise GuaranteeError("Gaussian noise has a delta at every epsilon, not one fixed pair.")

    def routes(self) -> frozenset[str]:
        return frozenset({"gdp", "zcdp"})

    def orders(self) -> frozenset[Fraction]:
        return frozenset()


def step_of(law: RadialPair) -> RadialPair:
    """The curved law at one step of the chain."""
    return law.at(law.scale, law.shift / STEPS)


def chained(law: RadialPair, step: Fraction) -> Fraction:
    """The mu^2 of every split when one step has mu^2 = ``step``."""
    flat = (law.shift / law.scale) ** 2
    whole = STEPS**2
    return max(flat * (whole - (k - 1) ** 2) / whole + k**2 * step for k in range(1, STEPS + 1))


@lru_cache(maxsize=256)
def cover(law: RadialPair) -> tuple[Cell, ...]:
    """Cells from b = shift down to 0: few, and about equally bad if a = 0 is the worst split.

    Any cells are sound. mu/(b/scale) is taken far out, where (epsilon, delta) are asked for, and of
    that loss at the share that falls to the curved factor.
    """
    floats = FloatPair.of(law)
    ratio = floats.shift / floats.scale

    def growth(share: float) -> float:
        return max(mu_at(floats, _FAR * ratio * share) / ratio, 1.0) ** 2

    room = growth(1.0) * _ROOM**2 - 1
    edges = [Fraction(0)]
    while edges[-1] < 1:
        low = float(edges[-1])
        end = (room + low) / growth(math.sqrt(low))
        end = max(end, low + (_ROOM - 1) / 4)  # in any case they come to an end
        edges.append(min(Fraction(1), Fraction(end).limit_denominator(1 << 16)))
    return tuple(Cell(law, *ends) for ends in reversed(list(pairwise(edges))))


@final
@dataclass(frozen=True)
class Cell:
    """All splits with b^2 in [``low``, ``high``] squared shifts, by the pair that dominates."""

    law: RadialPair
    low: Fraction
    high: Fraction

    @property
    def flat(self) -> Fraction:
        """mu^2 of the Gaussian factor."""
        return (1 - self.low) * (self.law.shift / self.law.scale) ** 2

    @property
    def curved(self) -> RadialPair:
        return self.law.at(self.law.scale, min(root_up(self.high), Fraction(1)) * self.law.shift)

    def square(self, step: Fraction) -> Fraction:
        """mu^2 by whole steps of mu^2 = ``step``."""
        return self.flat + math.ceil(self.curved.shift / self.law.shift * STEPS) ** 2 * step

    def delta(self, epsilon: Fraction, step: Fraction, enough: Fraction) -> Fraction:
        """At least delta(epsilon), epsilon >= 0; any bound that is at most ``enough`` will do."""
        quick = GaussianProfile(square=self.square(step)).delta_upper(epsilon)
        if quick <= enough:
            return quick
        return min(quick, _losses(self.flat, self.curved, _grid(self.law)).delta(epsilon))


def _grid(law: RadialPair) -> Fraction:
    """About the standard deviation of the whole loss, over ``_POINTS``."""
    mantissa, exponent = math.frexp(float(law.shift / law.scale) / _POINTS)
    return Fraction(round(mantissa * 256)) * Fraction(2) ** (exponent - 8)


@lru_cache(maxsize=256)
def _losses(flat: Fraction, curved: RadialPair, step: Fraction) -> Losses:
    bits, least = _DEPTH + _SPARE, Fraction(1, 1 << _DEPTH)
    parts = (GaussianProfile(square=flat), RadialProfile(curved))
    first, second = (discretised(part, step, bits, least) for part in parts)
    return joined(first, second, Cut(1 << _SPARE, 1 << _SPARE))
