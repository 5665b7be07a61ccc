"""A release's way through a ledger: reserve, store, commit, each a durable transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, final

import sqlalchemy as sa

from geodp.errors import GeodpError, LedgerError, LedgerRefusal, MismatchError
from geodp.ledger import tables
from geodp.ledger.canonical import canonical, sha256
from geodp.ledger.chain import append, end_of
from geodp.ledger.charging import charge, give_back, other_request, prior
from geodp.ledger.digest import keyed_digest
from geodp.ledger.drawing import left_in
from geodp.ledger.ledger import Ledger
from geodp.ledger.neighbours import adds_up
from geodp.ledger.receipt import Mark, Release
from geodp.ledger.totals import Part
from geodp.privacy.numbers import decimal

_PATIENCE = 10.0  # seconds that a retry waits for the program that makes the release
_PAUSE = 0.02

_releases = tables.releases


class _Request(NamedTuple):
    """What makes two requests the same: the records, and all that was asked for."""

    digest: str | None
    fingerprint: str


@final
@dataclass
class PaidAccount:
    """The account of one release of one part of the data; see ``Account``."""

    ledger: Ledger
    part: Part
    request_id: str | None
    hold: int | None = None  # the entry that holds the price, if one does
    _request: _Request | None = None
    _mark: Mark | None = None
    _release: Release | None = None
    _price: Fraction = Fraction(0)
    _held: bool = False

    @property
    def notion(self) -> str:
        return self.ledger.budget.notion

    def unit(self, asked: str | None) -> str:
        unit = self.ledger.unit
        if asked is not None and asked != unit:
            raise MismatchError(
                f"The ledger protects one {unit} and the release was asked to protect one {asked}: "
                "use the ledger's unit, or a ledger of that unit."
            )
        return unit

    def replay(self, asked: Mapping[str, Any], records: Any, value: Any) -> Release | None:
        neighbours = asked["request"]["neighbours"]
        if not adds_up(neighbours, self.ledger.neighbours, self.ledger.unit):
            raise MismatchError(
                f"The ledger is about neighbours that differ as '{self.ledger.neighbours}', the "
                f"release about '{neighbours}': their prices do not add up."
            )
        keys = self.ledger.keys
        digest = None if records is None else keyed_digest(keys.digest, records)
        given = None if value is None else keyed_digest(keys.digest, value)
        named = {"part": list(self.part), "digest": digest, "value": given}
        self._request = _Request(digest, sha256(canonical({**asked, **named})))
        return self._made_before()

    def reserve(self, event: Mapping[str, Any], price: Fraction) -> Release | None:
        assert self._request is not None
        body = {
            "dataset": self.part.dataset,
            "group": self.part.group,
            "digest": self._request.digest,
            "request_id": self.request_id,
            "fingerprint": self._request.fingerprint,
            "notion": self.notion,
            "price": decimal(price),
            "event": event,
        }
        while True:
            with self.ledger.store.writing() as connection:
                row = self.ledger.store.locked(connection)
                if prior(connection, self.request_id) is None:
                    self._pay(connection, row, body, price)
                    return None
            before = self._made_before()  # another program was quicker
            if before is not None:  # and did not cancel
                return before

    def _made_before(self) -> Release | None:
        """The stored release of this request, waited for where it is being made."""
        if self.request_id is None:
            return None
        assert self._request is not None
        limit = time.monotonic() + _PATIENCE
        while True:
            with self.ledger.store.reading() as connection:
                self.ledger.store.row(connection)
                before = prior(connection, self.request_id)
            if before is None:
                return None
            if before.fingerprint != self._request.fingerprint:
                raise other_request(self.request_id)
            if before.state in ("stored", "committed"):
                return self._replayed(before)
            if before.state == "failed" or time.monotonic() > limit:
                raise LedgerRefusal(
                    f"The request {self.request_id!r} was paid for and broke off before a release "
                    "was stored (or still runs). What it paid stays paid, and it is not drawn "
                    "again: ask anew under another request id."
                )
            time.sleep(_PAUSE)

    def _pay(
        self,
        connection: sa.Connection,
        row: sa.Row[Any],
        body: Mapping[str, Any],
        price: Fraction,
    ) -> None:
        left = self._left(connection)
        # a hold that another program of this request gave back pays no more: the budget does
        named = body if left is None else {**body, "hold": self.hold}
        entry = ("reserve", named)
        end = charge(connection, row, self.ledger.budget, price, entry, "reserved", left)
        self._price, self._held = price, left is not None
        self._mark = Mark(
            self.ledger.id, end.entries, end.head, *_named(self.part), self.notion, decimal(price)
        )

    def _left(self, connection: sa.Connection) -> Fraction | None:
        return None if self.hold is None else left_in(connection, self.hold)

    def store(self, release: Release) -> None:
        assert self._mark is not None
        marked = replace(release, ledger=self._mark)
        sealed = replace(marked, seal=self.ledger.keys.seal(marked.signed_text()))
        changed = {"state": "stored", "receipt": canonical(sealed.to_json())}
        with self.ledger.store.writing() as connection:
            end_of(connection, self.ledger.store.locked(connection))  # not closed meanwhile
            if self._move(connection, "reserved", changed) != 1:
                raise LedgerError("The reservation of this release is gone from the ledger.")
        self._release = sealed

    def commit(self) -> Release:
        assert self._release is not None
        _commit(self.ledger, self._entry(), canonical(self._release.to_json()))
        return self._release

    def fail(self) -> None:
        if self._mark is None or self._release is not None:
            return
        try:
            with self.ledger.store.writing() as connection:
                row = self.ledger.store.locked(connection)
                if self._move(connection, "reserved", {"state": "failed"}) == 1:
                    append(connection, row, "fail", {"reservation": self._entry()})
        except GeodpError:  # the charge stands already; the first error is the one to show
            return

    def cancel(self) -> None:
        if self._mark is None or self._release is not None:
            return
        free = {"state": "cancelled", "request_id": None}  # the request may be made again
        try:
            with self.ledger.store.writing() as connection:
                row = self.ledger.store.locked(connection)
                if self._move(connection, "reserved", free) == 1:
                    append(connection, row, "cancel", {"reservation": self._entry()})
                    if not self._held or self._left(connection) is None:  # else it is held again
                        give_back(connection, self.part, self._price)
        except GeodpError:  # the charge stands then, which is the private side
            return

    def _entry(self) -> int:
        assert self._mark is not None
        return self._mark.entry

    def _move(self, connection: sa.Connection, state: str, changed: Mapping[str, Any]) -> int:
        return _move(connection, self._entry(), state, changed)

    def _replayed(self, before: sa.Row[Any]) -> Release:
        """The stored release, byte for byte; its commit is made up for if that was cut off."""
        try:
            release = Release.from_json(json.loads(before.receipt))
        except (GeodpError, ValueError, TypeError) as error:
            raise LedgerError("The ledger is damaged: a stored release cannot be read.") from error
        if before.state == "stored":
            _commit(self.ledger, before.reservation, before.receipt)
        return release


def _commit(ledger: Ledger, reservation: int, receipt: str) -> None:
    with ledger.store.writing() as connection:
        row = ledger.store.locked(connection)
        if _move(connection, reservation, "stored", {"state": "committed"}) == 1:
            body = {"reservation": reservation, "receipt_sha256": sha256(receipt)}
            append(connection, row, "commit", body)


def _move(
    connection: sa.Connection, reservation: int, state: str, changed: Mapping[str, Any]
) -> int:
    """Take a release from one state to the next; how many rows did (one, or none)."""
    where = (_releases.c.reservation == reservation, _releases.c.state == state)
    return connection.execute(sa.update(_releases).where(*where).values(**changed)).rowcount


def _named(part: Part) -> tuple[str, str | None]:
    return part.dataset, part.group
