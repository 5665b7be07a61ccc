"""Adding up releases: certified profiles of compositions, by the routes that have a closed form.

GDP: μ² adds (Dong, Roth and Su 2022). zCDP and Rényi at one order add (Bun and Steinke 2016,
Lemma 1.7; Mironov 2017, Prop. 1). Pure ε adds, and so do (ε, δ) pairs. Every route that all
parts allow is a sound bound for the same composition, hence so is the least of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from geodp.errors import GuaranteeError, NotYetError
from geodp.privacy.approx import ApproxProfile
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import RenyiProfile, ZCDPProfile

T = TypeVar("T")


def compose(profiles: Iterable[Profile]) -> Profile:
    """The profile of independent releases about the same records, none of them left out.

    Raises GuaranteeError without a profile, and NotYetError when the parts share no notion that
    adds (tight privacy-loss distributions are a later part).

    >>> compose([GaussianProfile.of(0.1)] * 100).epsilon(1e-6)
    4.886554117462213
    """
    parts = tuple(profiles)
    if not parts:
        raise GuaranteeError("compose needs at least one profile.")
    if len(parts) == 1:
        return parts[0]
    found = [*_by_notion(parts), *_by_order(parts)]
    if not found:
        raise NotYetError(
            "these profiles share no notion that adds (pure, gdp, zcdp, Rényi at one order); "
            "composing them needs privacy-loss distributions, which are not part of this version."
        )
    return found[0] if len(found) == 1 else LeastProfile(tuple(found))


def _by_notion(parts: tuple[Profile, ...]) -> list[Profile]:
    shared = frozenset.intersection(*(part.routes() for part in parts))
    found: list[Profile] = []
    if "pure" in shared:
        found.append(PureProfile(_total(part.pure_upper() for part in parts)))
    square = rho = None
    if "gdp" in shared:
        square = _total(part.mu_squared_upper() for part in parts)
        found.append(GaussianProfile(square=square))
    if "zcdp" in shared:
        rho = _total(part.rho_upper() for part in parts)
    if rho is not None and (square is None or rho < square / 2):  # else GDP says more
        found.append(ZCDPProfile(rho))
    if "approx" in shared and "pure" not in shared:
        found.append(_basic([part.pair() for part in parts]))
    return found


def _by_order(parts: tuple[Profile, ...]) -> list[Profile]:
    found: list[Profile] = []
    for order in sorted(frozenset.union(*(part.orders() for part in parts))):
        try:
            found.append(RenyiProfile(order, _total(part.renyi_upper(order) for part in parts)))
        except GuaranteeError:  # some part says nothing about this order
            continue
    return found


def _basic(pairs: list[tuple[Fraction, Fraction]]) -> Profile:
    mass = _total(delta for _, delta in pairs)
    if mass >= 1:
        raise GuaranteeError("the deltas of these releases add to one or more: nothing is left.")
    return ApproxProfile(_total(epsilon for epsilon, _ in pairs), mass)


def _total(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


@final
@dataclass(frozen=True)
class LeastProfile(Profile):
    """Several sound bounds on one mechanism: each question is answered by the least."""

    bounds: tuple[Profile, ...]

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return min(bound.delta_upper(epsilon) for bound in self.bounds)

    def pure_upper(self) -> Fraction:
        return min(_available(self.bounds, lambda bound: bound.pure_upper()))

    def mu_squared_upper(self) -> Fraction:
        return min(_available(self.bounds, lambda bound: bound.mu_squared_upper()))

    def rho_upper(self) -> Fraction:
        return min(_available(self.bounds, lambda bound: bound.rho_upper()))

    def renyi_upper(self, order: Fraction) -> Fraction:
        return min(_available(self.bounds, lambda bound: bound.renyi_upper(order)))

    def pair(self) -> tuple[Fraction, Fraction]:
        return min(_available(self.bounds, lambda bound: bound.pair()))

    def routes(self) -> frozenset[str]:
        return frozenset.union(*(bound.routes() for bound in self.bounds))

    def orders(self) -> frozenset[Fraction]:
        return frozenset.union(*(bound.orders() for bound in self.bounds))


def _available(bounds: Iterable[Profile], ask: Callable[[Profile], T]) -> list[T]:
    answers: list[T] = []
    refusal: GuaranteeError | None = None
    for bound in bounds:
        try:
            answers.append(ask(bound))
        except GuaranteeError as error:
            refusal = error
    if not answers and refusal is not None:
        raise refusal
    return answers
