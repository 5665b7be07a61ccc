"""What is held for several releases together, and the hold that they draw from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from geodp.ledger.canonical import canonical, sha256
from geodp.ledger.totals import Part

if TYPE_CHECKING:
    from geodp.ledger.account import Account
    from geodp.ledger.ledger import Ledger


@final
@dataclass(frozen=True)
class Wanted:
    """What one hold is for: the data, what is asked of it in public facts (``event``) and all that
    makes it another request than its like (``asked``), and each release's price.

    ``prices`` are pairs of a release's request id and its price; those paid before are not held.
    """

    part: Part
    digest: str
    request_id: str | None
    event: Mapping[str, Any]
    asked: Mapping[str, Any]
    prices: Sequence[tuple[str | None, Fraction]]

    @property
    def fingerprint(self) -> str:
        """By which a retry is known."""
        named = {"part": list(self.part), "digest": self.digest, "event": self.event}
        return sha256(canonical({**self.asked, **named}))


@final
@dataclass(frozen=True)
class Hold:
    """Pays for the releases that it was made for; ``number`` is its entry, None where all of them
    had been paid for."""

    ledger: Ledger
    part: Part
    number: int | None

    def account(self, part: Part, request_id: str | None) -> Account:
        """The account of one of the releases."""
        from geodp.ledger.paid import PaidAccount

        return PaidAccount(self.ledger, part, request_id, self.number)
