"""A release's way through a ledger: reserve, store, commit, each a durable transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import sqlalchemy as sa

from geodp.errors import GeodpError, LedgerError, LedgerRefusal, MismatchError
from geodp.ledger import tables
from geodp.ledger.budget import fraction_text, stored
from geodp.ledger.canonical import canonical, sha256
from geodp.ledger.chain import append, end_of, extend
from geodp.ledger.digest import keyed_digest
from geodp.ledger.ledger import Ledger
from geodp.ledger.receipt import Mark, Release
from geodp.ledger.totals import Part, total
from geodp.privacy.numbers import decimal

_PATIENCE = 10.0  # seconds that a retry waits for the program that makes the release
_PAUSE = 0.02

_releases = tables.releases
_datasets = tables.datasets
_ALL_DATASETS = sa.select(_datasets)


@final
@dataclass
class PaidAccount:
    """The account of one release of one part of the data; see ``Account``."""

    ledger: Ledger
    part: Part
    request_id: str | None
    _mark: Mark | None = None
    _release: Release | None = None

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

    def reserve(self, event: Mapping[str, Any], price: Fraction, records: Any) -> Release | None:
        if event["request"]["neighbours"] != self.ledger.neighbours:
            raise MismatchError(
                f"The ledger is about neighbours that differ as '{self.ledger.neighbours}', the "
                f"release about '{event['request']['neighbours']}': their prices do not add up."
            )
        keys = self.ledger.keys
        if keys.public != self.ledger.public_key:
            raise LedgerError("The ledger's key is not the one that the ledger names.")
        digest = None if records is None else keyed_digest(keys.digest, records)
        fingerprint = _fingerprint(event, self.part, digest)
        body = {
            "dataset": self.part.dataset,
            "group": self.part.group,
            "digest": digest,
            "request_id": self.request_id,
            "fingerprint": fingerprint,
            "notion": self.notion,
            "price": decimal(price),
            "event": event,
        }
        limit = time.monotonic() + _PATIENCE
        while True:
            with self.ledger.store.writing() as connection:
                row = self.ledger.store.locked(connection)
                prior = self._prior(connection)
                if prior is None:
                    self._pay(connection, row, body, price)
                    return None
            if prior.fingerprint != fingerprint:
                raise MismatchError(
                    f"The request id {self.request_id!r} belongs to another request, or the "
                    "records have changed since; a new request needs a new id."
                )
            if prior.state in ("stored", "committed"):
                return self._replayed(prior)
            if prior.state == "failed" or time.monotonic() > limit:
                raise LedgerRefusal(
                    f"The request {self.request_id!r} was paid for and broke off before a release "
                    "was stored (or still runs). What it paid stays paid, and it is not drawn "
                    "again: ask anew under another request id."
                )
            time.sleep(_PAUSE)

    def _prior(self, connection: sa.Connection) -> sa.Row[Any] | None:
        if self.request_id is None:
            return None
        query = sa.select(_releases).where(_releases.c.request_id == self.request_id)
        return connection.execute(query).one_or_none()

    def _pay(
        self,
        connection: sa.Connection,
        row: sa.Row[Any],
        body: Mapping[str, Any],
        price: Fraction,
    ) -> None:
        end = end_of(connection, row)
        known = {
            Part(d.name, d.partition, d.label): d for d in connection.execute(sa.select(_datasets))
        }
        news = self._registered(known, body["digest"])
        spent = {part: stored(d.spent) for part, d in known.items()}
        spent[self.part] = spent.get(self.part, Fraction(0)) + price
        after, limit = total(spent), self.ledger.budget.limit
        if after > limit:
            raise self.ledger.budget.refusal(price, after - price)
        end = extend(connection, end, [*news, ("reserve", body)])
        connection.execute(
            sa.insert(_releases),
            {
                "reservation": end.entries,
                "request_id": self.request_id,
                "fingerprint": body["fingerprint"],
                "state": "reserved",
            },
        )
        self._charge(connection, known.get(self.part), body["digest"], spent[self.part])
        self._mark = Mark(
            self.ledger.id, end.entries, end.head, *_named(self.part), self.notion, decimal(price)
        )

    def _registered(
        self, known: Mapping[Part, sa.Row[Any]], digest: str | None
    ) -> list[tuple[str, Mapping[str, Any]]]:
        """The entry that registers the data at its first use; MismatchError if it has changed."""
        here = known.get(self.part)
        if here is not None and (digest is None or here.digest == digest):
            return []
        if here is not None and here.digest is not None:
            raise MismatchError(
                f"The data set {str(self.part)!r} is registered with other records than these. If "
                "they are a new version, give it a name of its own: it is then charged beside the "
                "old one."
            )
        for part, other in known.items():
            same = (part.dataset, part.partition) == (self.part.dataset, self.part.partition)
            if digest is not None and other.digest == digest and same and part != self.part:
                raise MismatchError(
                    f"The groups {part.group!r} and {self.part.group!r} hold the same records; "
                    "only disjoint groups are charged in parallel."
                )
        named = {"dataset": self.part.dataset, "group": self.part.group}
        return [("register", named | {"digest": digest})]

    def _charge(
        self,
        connection: sa.Connection,
        known: sa.Row[Any] | None,
        digest: str | None,
        amount: Fraction,
    ) -> None:
        c = _datasets.c
        if known is None:
            columns = dict(zip(("name", "partition", "label"), self.part, strict=True))
            spent = {"spent": fraction_text(amount), "digest": digest}
            connection.execute(sa.insert(_datasets), columns | spent)
            return
        changed: dict[str, Any] = {"spent": fraction_text(amount)}
        if known.digest is None:
            changed["digest"] = digest
        here = (c.name, c.partition, c.label)
        where = [column == value for column, value in zip(here, self.part, strict=True)]
        connection.execute(sa.update(_datasets).where(*where).values(changed))

    def store(self, release: Release) -> None:
        assert self._mark is not None
        marked = replace(release, ledger=self._mark)
        sealed = replace(marked, seal=self.ledger.keys.seal(marked.signed_text()))
        changed = {"state": "stored", "receipt": canonical(sealed.to_json())}
        with self.ledger.store.writing() as connection:
            self.ledger.store.locked(connection)
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

    def _entry(self) -> int:
        assert self._mark is not None
        return self._mark.entry

    def _move(self, connection: sa.Connection, state: str, changed: Mapping[str, Any]) -> int:
        return _move(connection, self._entry(), state, changed)

    def _replayed(self, prior: sa.Row[Any]) -> Release:
        """The stored release, byte for byte; its commit is made up for if that was cut off."""
        try:
            release = Release.from_json(json.loads(prior.receipt))
        except (GeodpError, ValueError, TypeError) as error:
            raise LedgerError("The ledger is damaged: a stored release cannot be read.") from error
        if prior.state == "stored":
            _commit(self.ledger, prior.reservation, prior.receipt)
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


def _fingerprint(event: Mapping[str, Any], part: Part, digest: str | None) -> str:
    """What makes two requests the same: all that was asked for, and of which records."""
    stage = {name: event["first_stage"].get(name) for name in ("name", "parameters", "footpoint")}
    asked = {"request": event["request"], "shares": event["shares"], "stage": stage}
    return sha256(canonical(asked | {"part": list(part), "digest": digest}))


def _named(part: Part) -> tuple[str, str | None]:
    return part.dataset, part.group
