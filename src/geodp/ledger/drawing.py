"""What is left of a hold, from the entries that drew from it."""

from __future__ import annotations

import json
from fractions import Fraction

import sqlalchemy as sa

from geodp.ledger import tables
from geodp.ledger.budget import stored

_entries, _releases = tables.entries.c, tables.releases.c
_STATE = sa.select(_releases.state)
_SINCE = sa.select(tables.entries).where(_entries.kind.in_(("hold", "reserve", "cancel")))


def left_in(connection: sa.Connection, number: int) -> Fraction | None:
    """What may still be drawn from the hold of an entry; None where it was given back.

    What was reserved from it and then cancelled is back in it.
    """
    state = connection.execute(_STATE.where(_releases.reservation == number)).scalar_one_or_none()
    if state != "held":
        return None
    left, drawn = Fraction(0), dict[int, Fraction]()
    for entry in connection.execute(_SINCE.where(_entries.number >= number)):
        body = json.loads(entry.body)
        if entry.number == number:
            left = stored(body["price"])
        elif entry.kind == "reserve" and body.get("hold") == number:
            drawn[entry.number] = stored(body["price"])
        elif entry.kind == "cancel":
            drawn.pop(body["reservation"], None)
    return left - sum(drawn.values(), Fraction(0))
