"""What an entity contributes, such as a person with many records: a public rule, and what it makes
of an entity depends on that entity's records alone (docs/proofs/units)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.errors import InputError
from geodp.spaces.base import Array
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.segments import Ints


class EntityRule(ABC):
    """What an entity contributes."""

    @abstractmethod
    def words(self, name: str) -> str:
        """The statistic's name under this rule, as on a receipt."""

    @abstractmethod
    def note(self, unit: str) -> str:
        """The rule in a sentence, for a receipt."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many records each entity contributes: the same for all, whatever they have."""

    @abstractmethod
    def check(self, ball: Ball) -> None:
        """``ConditionError`` if the rule is not defined on records of this ball."""

    @abstractmethod
    def taken(self, counts: Ints) -> Ints:
        """How many of its records an entity is read by, from the first on."""

    @abstractmethod
    def contributions(
        self, ball: Ball, records: Array, starts: Ints, counts: Ints, among: int
    ) -> tuple[Array, Array | None]:
        """The ``rows`` of each of some of ``among`` entities, one after the other, and which share
        of its own records was moved; None where that is seen from the rows.

        An entity has ``counts`` of the records from ``starts`` on, and what it contributes depends
        on them alone, bit for bit. ``records`` may be changed.
        """


@final
@dataclass(frozen=True)
class EntityMean(EntityRule):
    """Each entity enters once, by the certified Fréchet mean of its records in the ball."""

    def words(self, name: str) -> str:
        return f"{name} of entity means"

    def note(self, unit: str) -> str:
        return (
            f"All records of one {unit} count as one: each {unit} enters by the mean of its "
            "records, and neighbours differ in all records of one."
        )

    @property
    def rows(self) -> int:
        return 1

    def check(self, ball: Ball) -> None:
        FrechetMean(ball)

    def taken(self, counts: Ints) -> Ints:
        return counts

    def contributions(
        self, ball: Ball, records: Array, starts: Ints, counts: Ints, among: int
    ) -> tuple[Array, Array | None]:
        from geodp.statistics.many_means import segment_means

        space, shape, total = ball.space, ball.space.cell.point_shape, len(records)
        cells = records.reshape(total, space.cells, *shape)
        means = np.empty((len(starts), space.cells, *shape))
        moved = np.zeros(total, dtype=np.int64)
        for cell_ball, at in ball.places:
            rows = np.moveaxis(cells[:, at], 1, 0).reshape(-1, *shape)
            there = (starts + total * np.arange(len(at))[:, None]).ravel()
            of_all = among * space.cells
            found, hit = segment_means(cell_ball, rows, there, np.tile(counts, len(at)), of_all)
            means[:, at] = np.moveaxis(found.reshape(len(at), len(starts), *shape), 0, 1)
            moved += hit.reshape(len(at), total).sum(axis=0)
        shares = np.add.reduceat(moved, starts) / (counts * space.cells)
        return means.reshape(-1, *space.point_shape), shares


@final
@dataclass(frozen=True)
class FirstRecords(EntityRule):
    """Each entity enters by its first ``most`` records in the order given; one that has fewer
    repeats them in turn, so that the number of contributions is public."""

    most: int

    def words(self, name: str) -> str:
        return f"{name} of {self.most} records per entity"

    def note(self, unit: str) -> str:
        return (
            f"All records of one {unit} count as one: each {unit} enters by its first {self.most} "
            "in order, repeated in turn where there are fewer, and neighbours differ in all "
            "records of one."
        )

    @property
    def rows(self) -> int:
        return self.most

    def check(self, ball: Ball) -> None:
        return None

    def taken(self, counts: Ints) -> Ints:
        return np.minimum(counts, self.most)

    def contributions(
        self, ball: Ball, records: Array, starts: Ints, counts: Ints, among: int
    ) -> tuple[Array, Array | None]:
        turns = starts[:, None] + np.arange(self.most) % counts[:, None]
        return records[turns.ravel()], None


_RULES: tuple[tuple[str, Callable[[re.Match[str]], EntityRule]], ...] = (
    (r"(.+) of entity means", lambda _: EntityMean()),
    (r"(.+) of ([1-9][0-9]{0,8}) records per entity", lambda m: FirstRecords(int(m[2]))),
)


def rule_in(name: str) -> tuple[str, EntityRule | None]:
    """A statistic's name taken apart: the statistic itself, and the rule, if there is one.

    >>> rule_in("tangent mean of 3 records per entity")
    ('tangent mean', FirstRecords(most=3))
    """
    for pattern, make in _RULES:
        if found := re.fullmatch(pattern, name):
            return found[1], make(found)
    return name, None


def entity_rule(per_entity: object) -> EntityRule:
    """The mean of an entity's records for None, else so many of its records."""
    if per_entity is None:
        return EntityMean()
    if isinstance(per_entity, bool) or not isinstance(per_entity, (int, np.integer)):
        raise InputError("per_entity is a number of records of each entity, or None for its mean.")
    if not 1 <= per_entity <= 10**6:
        raise InputError("per_entity is a number of records of each entity, at least one.")
    return FirstRecords(int(per_entity))
