"""Charging a part of the data, inside a writer's transaction: the one place that spends."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from geodp.errors import LedgerError, MismatchError
from geodp.ledger import tables
from geodp.ledger.budget import Budget, fraction_text, stored
from geodp.ledger.chain import End, end_of, extend
from geodp.ledger.totals import Part, part_of, total

_datasets = tables.datasets
_Known = Mapping[Part, sa.Row[Any]]


def charge(
    connection: sa.Connection,
    row: sa.Row[Any],
    budget: Budget,
    price: Fraction,
    entry: tuple[str, Mapping[str, Any]],
    state: str,
    held: Fraction | None = None,
) -> End:
    """Pay ``price`` for an entry of a kind and a body; LedgerRefusal where the budget does not.

    The body names dataset, group, digest, request_id and fingerprint. The ledger's row must be
    locked. Where a hold pays, ``held`` is what is left of it: the total stays as it is. Returns
    where the chain ends: at the entry.
    """
    end = end_of(connection, row)
    kind, body = entry
    part, digest = part_of(body["dataset"], body["group"]), body["digest"]
    known = {
        Part(d.name, d.partition, d.label): d for d in connection.execute(sa.select(_datasets))
    }
    news = _registered(known, part, digest)
    spent = {one: stored(d.spent) for one, d in known.items()}
    spent[part] = spent.get(part, Fraction(0)) + (price if held is None else 0)
    after = total(spent)
    if held is not None and price > held:
        raise LedgerError("This release costs more than is left of what was held for it.")
    if held is None and after > budget.limit:
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
    """Undo a charge, or what is left of one, that nothing was drawn for."""
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
