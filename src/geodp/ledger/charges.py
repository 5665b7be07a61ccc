"""What the entries of a ledger charge to each part of the data, recomputed in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

from geodp.errors import LedgerError
from geodp.ledger.budget import stored
from geodp.ledger.totals import Part, part_of

_Body = Mapping[str, Any]


@final
class Charges:
    """The sums so far: ``charged`` to each part, and ``left`` in each hold that is still there.

    A hold is charged once; what is reserved from it moves within the charge, and only what is left
    goes back.
    """

    def __init__(self) -> None:
        self.charged: dict[Part, Fraction] = {}
        self.left: dict[int, Fraction] = {}
        self._paid: dict[int, tuple[Part, Fraction, int | None]] = {}
        self._kinds: dict[str, Callable[[int, _Body], None]] = {
            "reserve": self._reserve,
            "spend": self._spend,
            "hold": self._hold,
            "cancel": self._cancel,
            "unhold": self._unhold,
        }

    def add(self, number: int, kind: str, body: _Body) -> None:
        """Count an entry; LedgerError where a hold does not allow it."""
        if kind in self._kinds:
            self._kinds[kind](number, body)

    def _spend(self, number: int, body: _Body) -> None:
        part, price = part_of(body["dataset"], body["group"]), stored(body["price"])
        self.charged[part] = self.charged.get(part, Fraction(0)) + price
        self._paid[number] = part, price, None

    def _hold(self, number: int, body: _Body) -> None:
        self._spend(number, body)
        self.left[number] = stored(body["price"])

    def _reserve(self, number: int, body: _Body) -> None:
        hold = body.get("hold")
        if hold is None:
            self._spend(number, body)
            return
        part, price = part_of(body["dataset"], body["group"]), stored(body["price"])
        if hold not in self.left or self._paid[hold][0] != part or price > self.left[hold]:
            raise LedgerError(f"Entry {number} draws from a hold that does not pay for it.")
        self.left[hold] -= price
        self._paid[number] = part, price, hold

    def _cancel(self, _: int, body: _Body) -> None:
        part, price, hold = self._paid.pop(body["reservation"])
        if hold in self.left:
            self.left[hold] += price
        else:
            self.charged[part] -= price

    def _unhold(self, number: int, body: _Body) -> None:
        hold = body["reservation"]
        if hold not in self.left or stored(body["price"]) != self.left[hold]:
            raise LedgerError(f"Entry {number} gives back what is not left of a hold.")
        self.charged[self._paid[hold][0]] -= self.left.pop(hold)
