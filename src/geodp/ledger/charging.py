"""Charging a part of the data, inside a writer's transaction: the one place that spends."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import sqlalchemy as sa

from geodp.errors import MismatchError
from geodp.ledger import tables
from geodp.ledger.budget import Budget, fraction_text, stored
from geodp.ledger.chain import End, end_of, extend
from geodp.ledger.store import Store
from geodp.ledger.totals import Part, part_of, total

_datasets = tables.datasets
_Known = Mapping[Part, Any]


class _Digest(NamedTuple):
    """What is known of a part that is about to be registered."""

    digest: str | None


def charge(
    connection: sa.Connection,
    row: sa.Row[Any],
    budget: Budget,
    price: Fraction,
    entry: tuple[str, Mapping[str, Any]],
    state: str,
) -> End:
    """Pay ``price`` for an entry of a kind and a body; LedgerRefusal where the budget does not.

    The body names dataset, group, digest, request_id and fingerprint. The ledger's row must be
    locked. Returns where the chain ends: at the entry.
    """
    end = end_of(connection, row)
    kind, body = entry
    part, digest = part_of(body["dataset"], body["group"]), body["digest"]
    known = _known(connection)
    news = _registered(known, part, digest)
    spent = {one: stored(d.spent) for one, d in known.items()}
    spent[part] = spent.get(part, Fraction(0)) + price
    after = total(spent)
    if after > budget.limit:
        raise budget.refusal(price, after - price)
    end = extend(connection, end, [*news, (kind, body)])
    connection.execute(
        sa.insert(tables.releases),
        {
            "reservation": end.entries,
            "request_id": body["request_id"],
            "fingerprint": body["fingerprint"],
            "state": state,
        },
    )
    _keep(connection, part, known.get(part), digest, spent[part])
    return end


def give_back(connection: sa.Connection, part: Part, price: Fraction) -> None:
    """Undo the charge of a reservation that nothing was drawn for."""
    c = _datasets.c
    where = [c.name == part.dataset, c.partition == part.partition, c.label == part.label]
    row = connection.execute(sa.select(_datasets).where(*where)).one()
    left = fraction_text(stored(row.spent) - price)
    connection.execute(sa.update(_datasets).where(*where).values(spent=left))


def prior(connection: sa.Connection, request_id: str | None) -> sa.Row[Any] | None:
    """What was paid for under a request id before, if anything."""
    if request_id is None:
        return None
    query = sa.select(tables.releases).where(tables.releases.c.request_id == request_id)
    return connection.execute(query).one_or_none()


def other_request(request_id: str | None) -> MismatchError:
    """The refusal of a request id that is taken."""
    return MismatchError(
        f"The request id {request_id!r} belongs to another request, or the records have changed "
        "since; a new request needs a new id."
    )


def check_records(store: Store, digests: Mapping[Part, str]) -> None:
    """Refuse, before any of them is charged, parts whose records could not be registered."""
    with store.reading() as connection:
        store.row(connection)
        known: dict[Part, Any] = _known(connection)
    for part, digest in digests.items():
        if _registered(known, part, digest):
            known[part] = _Digest(digest)


def _known(connection: sa.Connection) -> dict[Part, Any]:
    rows = connection.execute(sa.select(_datasets))
    return {Part(d.name, d.partition, d.label): d for d in rows}


def _registered(
    known: _Known, part: Part, digest: str | None
) -> list[tuple[str, Mapping[str, Any]]]:
    """The entry that registers the data at its first use; MismatchError if it has changed."""
    here = known.get(part)
    if here is not None and (digest is None or here.digest == digest):
        return []
    if here is not None and here.digest is not None:
        raise MismatchError(
            f"The data set {str(part)!r} is registered with other records than these. If they are "
            "a new version, give it a name of its own: it is then charged beside the old one."
        )
    for other, row in known.items():
        same = (other.dataset, other.partition) == (part.dataset, part.partition)
        if digest is not None and row.digest == digest and same and other != part:
            raise MismatchError(
                f"The groups {other.group!r} and {part.group!r} hold the same records; only "
                "disjoint groups are charged in parallel."
            )
    return [("register", {"dataset": part.dataset, "group": part.group, "digest": digest})]


def _keep(
    connection: sa.Connection,
    part: Part,
    known: sa.Row[Any] | None,
    digest: str | None,
    amount: Fraction,
) -> None:
    c = _datasets.c
    if known is None:
        columns = dict(zip(("name", "partition", "label"), part, strict=True))
        spent = {"spent": fraction_text(amount), "digest": digest}
        connection.execute(sa.insert(_datasets), columns | spent)
        return
    changed: dict[str, Any] = {"spent": fraction_text(amount)}
    if known.digest is None:
        changed["digest"] = digest
    here = (c.name, c.partition, c.label)
    where = [column == value for column, value in zip(here, part, strict=True)]
    connection.execute(sa.update(_datasets).where(*where).values(changed))
