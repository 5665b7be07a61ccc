"""What a release asks of whoever pays, and the account of a release that nobody pays for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, final

from geodp.ledger.receipt import Release


class Account(Protocol):
    """One release's way through a ledger: replay, or reserve, draw, store, commit.

    A release reserves before it looks at a record, and returns what ``commit`` gives.
    """

    @property
    def notion(self) -> str | None:
        """The notion in which prices add; None where nobody counts."""

    def unit(self, asked: str | None) -> str:
        """The unit of privacy; MismatchError when another one was asked for."""

    def replay(self, asked: Mapping[str, Any], records: Any, value: Any) -> Release | None:
        """The stored release where this was asked for before under the same request id.

        ``records`` or, where there are none, the ``value`` that is given in their place.
        """

    def reserve(self, event: Mapping[str, Any], price: Fraction) -> Release | None:
        """Pay for what was asked, or raise LedgerRefusal; the stored release where another program
        paid for the same request meanwhile."""

    def store(self, release: Release) -> None:
        """Keep the release durably, signed."""

    def commit(self) -> Release:
        """Close the account; the release as it may leave."""

    def fail(self) -> None:
        """Say that no release came of it; what was paid stays paid."""

    def cancel(self) -> None:
        """Take the reservation back: a person stopped the release before anything was drawn."""


@final
@dataclass
class NoAccount:
    """Grants everything and remembers nothing; the receipt says so."""

    _release: Release | None = None

    @property
    def notion(self) -> None:
        return None

    def unit(self, asked: str | None) -> str:
        return asked or "record"

    def replay(self, asked: Mapping[str, Any], records: Any, value: Any) -> None:
        """Nothing was asked for before."""

    def reserve(self, event: Mapping[str, Any], price: Fraction) -> None:
        """Grant."""

    def store(self, release: Release) -> None:
        """Hold it until the commit."""
        self._release = release

    def commit(self) -> Release:
        """The release as it is."""
        assert self._release is not None
        return self._release

    def fail(self) -> None:
        """Nothing was written."""

    def cancel(self) -> None:
        """Nothing was written."""
