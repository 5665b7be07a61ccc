"""The ledger that remembers nothing: it keeps the order of a release until a durable one exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import Guarantee


class Ledger(Protocol):
    """Who pays. A release reserves before it draws and commits before it returns."""

    def reserve(self, guarantee: Guarantee) -> None: ...

    def commit(self, release: Release) -> None: ...


@final
@dataclass(frozen=True)
class NullLedger:
    """Grants everything and remembers nothing; the receipt says so."""

    def reserve(self, guarantee: Guarantee) -> None:
        """Grant."""

    def commit(self, release: Release) -> None:
        """Forget."""
