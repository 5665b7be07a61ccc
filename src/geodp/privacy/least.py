"""Several sound bounds on one mechanism, each question answered by the least of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from geodp.errors import GuaranteeError
from geodp.privacy.profile import Profile

T = TypeVar("T")


@final
@dataclass(frozen=True)
class LeastProfile(Profile):
    """The least of ``bounds``; what none of them answers is refused."""

    bounds: tuple[Profile, ...]

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return min(self._answers(lambda bound: bound.delta_upper(epsilon)))

    def pure_upper(self) -> Fraction:
        return min(self._answers(lambda bound: bound.pure_upper()))

    def mu_squared_upper(self) -> Fraction:
        return min(self._answers(lambda bound: bound.mu_squared_upper()))

    def rho_upper(self) -> Fraction:
        return min(self._answers(lambda bound: bound.rho_upper()))

    def renyi_upper(self, order: Fraction) -> Fraction:
        return min(self._answers(lambda bound: bound.renyi_upper(order)))

    def pair(self) -> tuple[Fraction, Fraction]:
        return min(self._answers(lambda bound: bound.pair()))

    def routes(self) -> frozenset[str]:
        return frozenset[str]().union(*(bound.routes() for bound in self.bounds))

    def orders(self) -> frozenset[Fraction]:
        return frozenset[Fraction]().union(*(bound.orders() for bound in self.bounds))

    def _answers(self, ask: Callable[[Profile], T]) -> list[T]:
        found: list[T] = []
        refusal = GuaranteeError(
            "These releases share no such notion that adds; ask for epsilon at a delta."
        )
        for bound in self.bounds:
            try:
                found.append(ask(bound))
            except GuaranteeError as error:
                refusal = error
        if not found:
            raise refusal
        return found
