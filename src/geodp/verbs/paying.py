"""What a release costs in a ledger's notion, and who pays for it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from geodp.errors import GuaranteeError, InputError, LedgerError, LedgerRefusal
from geodp.ledger.account import Account, NoAccount
from geodp.ledger.budget import added, rounded_up, shown
from geodp.ledger.holds import Hold
from geodp.ledger.ledger import Ledger
from geodp.ledger.receipt import Strength
from geodp.ledger.totals import part_of
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import ApproxDP, GaussianDP, Guarantee, PureDP
from geodp.privacy.numbers import float_up, root_up
from geodp.privacy.promised import promised
from geodp.statistics.protocol import Statistic
from geodp.verbs.replaced import Counting, Division
from geodp.verbs.stages import calibrated

DELTA = Fraction(1, 10**6)
"""At which a receipt states epsilon, where the promise names no delta of its own."""

_LATER = 1 + Fraction(1, 10**9)  # a later stage's ratio differs by its scale's rounding, 1e-16


def ledger_of(ledger: object) -> Ledger:
    """A ledger from itself, its file or its URL."""
    if isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, os.PathLike)):
        raise InputError("The ledger is a gd.Ledger, a file or a postgresql:// URL.")
    return Ledger(ledger)


def account_for(
    ledger: object | None,
    dataset: str | None,
    group: str | None,
    request_id: str | None,
    *,
    seeded: bool,
) -> Account:
    """The account that pays for one release; a seeded one is refused."""
    if ledger is None:
        for name, value in (("dataset", dataset), ("group", group), ("request_id", request_id)):
            if value is not None:
                raise InputError(f"{name} belongs to a ledger: name the ledger too.")
        return NoAccount()
    paying = ledger if isinstance(ledger, Hold) else ledger_of(ledger)
    part = part_of(dataset, group)
    if request_id is not None and not (isinstance(request_id, str) and request_id.strip()):
        raise InputError("A request id is a text that is used for one request only.")
    if seeded:
        raise LedgerRefusal(
            "The ledger refuses: a release from a seeded generator is NOT PRIVATE, whoever knows "
            "the seed can subtract the noise. Leave the seed out, or simulate without a ledger."
        )
    return paying.account(part, request_id)


def price_of(
    mechanism: Mechanism, statistic: Statistic, n: int, division: Division, notion: str | None
) -> tuple[Fraction, dict[str, object]]:
    """The price, and the facts of the first stage's calibration.

    In the promise's own notion it is the promised number, else what the certified profiles of the
    stages and of the share of replaced records cost, rounded up. LedgerRefusal where they have no
    price.
    """
    guarantee = division.whole
    first, *later = mechanism.stages(division.value)
    cal, _ = calibrated(first.mechanism, statistic, n, first.guarantee)
    facts = cal.facts()
    if notion is None or guarantee.notion == notion:
        return (Fraction(0) if notion is None else added(guarantee, notion)), facts
    counting = Counting.of(division, statistic, n)
    try:
        price = cal.profile.charge(notion)
        for stage in later:
            cal, _ = calibrated(stage.mechanism, statistic, n, stage.guarantee)
            price += cal.profile.charge(notion) * _LATER
        if counting is not None:
            price += counting.calibration.profile.charge(notion)
    except GuaranteeError as error:
        raise LedgerRefusal(
            f"The ledger refuses: it counts in {notion}, and a release by {first.mechanism.name} "
            f"to {guarantee.label} has no price there: {error}"
        ) from error
    return rounded_up(price), facts


def price_to_hold(
    mechanism: Mechanism, statistic: Statistic, n: int, promise: Guarantee, notion: str
) -> Fraction:
    """At least the price of a release to a promise, wherever the statistic will be seen from: its
    scale's rounding differs there, and what the promise costs at most does not."""
    price, _ = price_of(mechanism, statistic, n, Division(promise, promise), notion)
    if promise.notion == notion:
        return price
    roomy = rounded_up(price * _LATER)
    try:
        return max(price, min(roomy, promised(promise).charge(notion)))
    except GuaranteeError:  # nothing follows from the promise alone
        return roomy


def checked(
    price: Fraction, notion: str | None, guarantee: Guarantee
) -> Callable[[Calibration], None]:
    """A check of each stage, before it is drawn: all so far cost no more than was paid."""
    spent = Fraction(0)

    def check(cal: Calibration) -> None:
        nonlocal spent
        if notion is None or guarantee.notion == notion:
            return
        spent += cal.profile.charge(notion)
        if spent > price:
            raise LedgerError("A later stage of this release costs more than was paid for it.")

    return check


@final
@dataclass(frozen=True)
class Purse:
    """What a plan knows of a ledger: its notion, and what is left (None: do not look) for so many
    releases."""

    notion: str | None = None
    left: Fraction | None = None
    releases: int = 1

    def price(
        self, mechanism: Mechanism, statistic: Statistic, n: int, division: Division
    ) -> tuple[str | None, str | None]:
        """The price in words, and why the ledger would not pay; None for what does not apply."""
        if self.notion is None:
            return None, None
        try:
            price, _ = price_of(mechanism, statistic, n, division, self.notion)
        except LedgerRefusal as refusal:
            return None, str(refusal)
        if self.left is not None and price * self.releases > self.left:
            left = shown(self.left, down=True)
            each = "It costs" if self.releases == 1 else f"Each of {self.releases} releases costs"
            return shown(price), f"{each} {shown(price)}, and the ledger has {left} left."
        return shown(price), None


def strength_of(guarantee: Guarantee, calibrations: Sequence[Calibration]) -> Strength:
    """The promise in other words, from the certified profiles of what was drawn."""
    mu = _mu(guarantee, calibrations)
    promises = [guarantee] if mu is None else [guarantee, GaussianDP(mu)]
    one, ten = (
        min(1.0, math.ceil(1e6 * min(p.detection(rate) for p in promises) - 1e-6) / 1e6)
        for rate in (0.01, 0.1)
    )
    epsilon, delta = _pair(guarantee, mu)
    return Strength(mu, epsilon, delta, one, ten)


def _mu(guarantee: Guarantee, calibrations: Sequence[Calibration]) -> float | None:
    if isinstance(guarantee, GaussianDP):
        return float_up(guarantee.mu)
    try:
        return float_up(root_up(compose([c.profile for c in calibrations]).charge("gdp")))
    except GuaranteeError:
        return None


def _pair(guarantee: Guarantee, mu: float | None) -> tuple[float, float]:
    if isinstance(guarantee, PureDP):
        return float_up(guarantee.epsilon), 0.0
    if isinstance(guarantee, ApproxDP):
        return float_up(guarantee.epsilon), float_up(guarantee.delta)
    profiles: list[Any] = [promised(guarantee)]
    if mu is not None:
        profiles.append(GaussianProfile.of(mu))
    return min(profile.epsilon(DELTA) for profile in profiles), float(DELTA)
