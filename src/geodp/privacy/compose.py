"""Adding up releases: the certified profile of a composition, which can be composed again.

Promises that add without loss (GDP, zCDP, Rényi at one order) stay closed forms. For everything
else δ(ε) comes from a certified privacy-loss distribution (see ``pld``), beside whatever closed
forms exist: every one is a sound bound for the same composition, hence so is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from geodp.errors import GuaranteeError
from geodp.privacy.closed_forms import closed_bounds, merged, promise_says_all, total
from geodp.privacy.conversions import by_symmetry
from geodp.privacy.least import LeastProfile
from geodp.privacy.pld_profile import PLDProfile
from geodp.privacy.profile import Profile

_DEPTHS = (88, 200, 460, 1080)  # how small a δ is resolved, as powers of two: 3e-27 … 8e-326


def compose(profiles: Iterable[Profile]) -> Profile:
    """The profile of independent releases about the same records, none of them left out.

    The mechanisms must be fixed beforehand; for adaptive choices pay from a ledger in GDP, zCDP,
    Rényi or pure ε. Raises GuaranteeError without a profile.

    >>> import geodp as gd
    >>> noise = gd.Wrapped(gd.Gaussian())
    >>> one = gd.calibrate(noise, gd.Euclidean(2), 0.1, gd.GaussianDP("0.1")).profile
    >>> round(gd.compose([one] * 100).epsilon(1e-6), 3)
    4.887
    """
    parts = merged(_flat(profiles))
    if not parts:
        raise GuaranteeError("A composition needs at least one profile.")
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    return ComposedProfile(tuple(parts))


def _flat(profiles: Iterable[Profile]) -> Iterator[tuple[Profile, int]]:
    for profile in profiles:
        if isinstance(profile, ComposedProfile):
            yield from profile.parts
        else:
            yield profile, 1


@final
@dataclass(frozen=True)
class ComposedProfile(Profile):
    """Independent releases as (profile, count), no part a composition itself."""

    parts: tuple[tuple[Profile, int], ...]

    @cached_property
    def sums(self) -> LeastProfile:
        """What follows by adding alone; empty where the parts share no notion."""
        return LeastProfile(closed_bounds(self.parts))

    @cached_property
    def is_closed(self) -> bool:
        """Whether adding is all there is to do."""
        return bool(self.sums.bounds) and all(promise_says_all(part) for part, _ in self.parts)

    def losses(self, depth: int) -> PLDProfile:
        """The certified loss distribution that resolves δ down to 2^−``depth``."""
        return PLDProfile.composed(self.parts, depth)

    def delta_upper(self, epsilon: Fraction) -> Fraction:
        return by_symmetry(epsilon, self._delta)

    def _delta(self, epsilon: Fraction) -> Fraction:
        best = min((b.delta_upper(epsilon) for b in self.sums.bounds), default=Fraction(1))
        if self.is_closed:
            return best
        for depth in _DEPTHS:
            if best == 0:
                break
            best = min(best, self.losses(depth).delta_upper(epsilon))
            if best >= Fraction(1, 1 << depth):
                break
        return best

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        if not self.is_closed and self.losses(_depth(delta)).delta_upper(epsilon) <= delta:
            return True
        return any(bound.delta_upper(epsilon) <= delta for bound in self.sums.bounds)

    def pure_upper(self) -> Fraction:
        return self._price(lambda bound: bound.pure_upper())

    def mu_squared_upper(self) -> Fraction:
        return self._price(lambda bound: bound.mu_squared_upper())

    def rho_upper(self) -> Fraction:
        return self._price(lambda bound: bound.rho_upper())

    def renyi_upper(self, order: Fraction) -> Fraction:
        return self._price(lambda bound: bound.renyi_upper(order))

    def _price(self, ask: Callable[[Profile], Fraction]) -> Fraction:
        """The sum of what each part says, or what their sum in another notion implies."""
        try:
            one_by_one = total(self.parts, ask)
        except GuaranteeError:
            return ask(self.sums)
        try:
            return min(one_by_one, ask(self.sums))
        except GuaranteeError:
            return one_by_one

    def pair(self) -> tuple[Fraction, Fraction]:
        return self.sums.pair()

    def routes(self) -> frozenset[str]:
        return self.sums.routes()

    def orders(self) -> frozenset[Fraction]:
        return self.sums.orders()


def _depth(delta: Fraction) -> int:
    bits = delta.denominator.bit_length() - delta.numerator.bit_length() + 1
    return next((depth for depth in _DEPTHS if bits <= depth), _DEPTHS[-1])
