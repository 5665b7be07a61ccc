"""Adding up releases by the routes that have a closed form.

GDP: μ² adds (Dong, Roth and Su 2022). zCDP and Rényi at one order add (Bun and Steinke 2016,
Lemma 1.7; Mironov 2017, Prop. 1). Pure ε adds, and so do (ε, δ) pairs. Every route that all
parts allow is a sound bound for the same composition, hence so is the least of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from geodp.errors import GuaranteeError
from geodp.privacy.approx import ApproxProfile
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import RenyiProfile, ZCDPProfile

Parts = Sequence[tuple[Profile, int]]


def closed_bounds(parts: Parts) -> tuple[Profile, ...]:
    """Every profile of the whole that follows by adding; none when the parts share no notion.

    >>> closed_bounds([(PureProfile.of(1), 2), (RenyiProfile.of(2, 1), 1)])[0].renyi(2) < 3
    True
    """
    return (*_by_notion(parts), *_by_order(parts))


def merged(parts: Iterable[tuple[Profile, int]]) -> list[tuple[Profile, int]]:
    """Equal parts counted, and promises that add without loss made one, in order of appearance."""
    found: dict[object, tuple[Profile, int]] = {}
    for profile, count in parts:
        rule = _SUMS.get(type(profile))
        if rule is None:
            _, before = found.get(profile, (profile, 0))
            found[profile] = (profile, before + count)
            continue
        key, times, plus = rule
        name = (type(profile), key(profile))
        more = times(profile, count)
        found[name] = (plus(found[name][0], more) if name in found else more, 1)
    return list(found.values())


def promise_says_all(profile: Profile) -> bool:
    """Whether the number that adds is all there is, so that a loss distribution adds nothing."""
    return type(profile) in _SUMS


# for the promises that add without loss: what must agree, so many copies, one more
_Rule = tuple[Callable[..., object], Callable[..., Profile], Callable[..., Profile]]
_SUMS: dict[type[Profile], _Rule] = {
    GaussianProfile: (
        lambda a: None,
        lambda a, k: GaussianProfile(square=k * a.square),
        lambda a, b: GaussianProfile(square=a.square + b.square),
    ),
    ZCDPProfile: (
        lambda a: None,
        lambda a, k: ZCDPProfile(k * a.bound),
        lambda a, b: ZCDPProfile(a.bound + b.bound),
    ),
    RenyiProfile: (
        lambda a: a.order,
        lambda a, k: RenyiProfile(a.order, k * a.bound),
        lambda a, b: RenyiProfile(a.order, a.bound + b.bound),
    ),
}


def _by_notion(parts: Parts) -> list[Profile]:
    shared = frozenset.intersection(*(part.routes() for part, _ in parts))
    found: list[Profile] = []
    if "pure" in shared:
        found.append(PureProfile(total(parts, lambda part: part.pure_upper())))
    square = rho = None
    if "gdp" in shared:
        square = total(parts, lambda part: part.mu_squared_upper())
        found.append(GaussianProfile(square=square))
    if "zcdp" in shared:
        rho = total(parts, lambda part: part.rho_upper())
    if rho is not None and (square is None or rho < square / 2):  # else GDP says more
        found.append(ZCDPProfile(rho))
    if "approx" in shared and "pure" not in shared:
        mass = total(parts, lambda part: part.pair()[1])
        if mass < 1:
            found.append(ApproxProfile(total(parts, lambda part: part.pair()[0]), mass))
    return found


def _by_order(parts: Parts) -> list[Profile]:
    found: list[Profile] = []
    for order in sorted(frozenset.union(*(part.orders() for part, _ in parts))):
        try:
            divergence = sum((k * part.renyi_upper(order) for part, k in parts), Fraction(0))
            found.append(RenyiProfile(order, divergence))
        except GuaranteeError:  # some part says nothing about this order
            continue
    return found


def total(parts: Parts, price: Callable[[Profile], Fraction]) -> Fraction:
    """The sum of the parts' prices, or the GuaranteeError of one that has none."""
    return sum((count * price(part) for part, count in parts), Fraction(0))
