"""The person as the unit: how many records of one entity become one contribution.

A rule is public; what it makes of an entity depends on that entity's records alone
(docs/proofs/units).
"""

from __future__ import annotations

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError
from geodp.progress import tick, unreported
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.protocol import Certified, Statistic, domain_of
from geodp.statistics.records import ClippedRecords, raw_block

if TYPE_CHECKING:
    from geodp.statistics.route import Route

_UP = 1 + 1e-12


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
    def contribution(self, ball: Ball, records: Array) -> tuple[Array, float]:
        """``rows`` records for those of one entity, and the share of its own that were moved."""


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

    def contribution(self, ball: Ball, records: Array) -> tuple[Array, float]:
        pair = records if len(records) > 1 else np.concatenate([records, records])
        clipped = ball.clip(pair)
        return FrechetMean(ball).evaluate(clipped).value[None], clipped.replaced_share


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

    def contribution(self, ball: Ball, records: Array) -> tuple[Array, float]:
        chosen = records[np.resize(np.arange(len(records)), self.most)]
        clipped = ball.clip(chosen if self.most > 1 else np.concatenate([chosen, chosen]))
        return np.concatenate(list(clipped.chunks()))[: self.most], clipped.replaced_share


@final
@dataclass(frozen=True, eq=False)
class PerEntity:
    """A statistic of ``n`` entities, each of which may have many records.

    Neighbours differ in all records of one entity, which are ``rule.rows`` contributions out of
    ``n * rule.rows``: the sensitivity is that many times the statistic's (docs/proofs/units).

    >>> import geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    >>> one = PerEntity(mean, EntityMean())
    >>> one.name, round(one.sensitivity(100), 6)
    ('Fréchet mean of entity means', 0.02)
    """

    inner: Statistic
    rule: EntityRule

    def __post_init__(self) -> None:
        if (domain := domain_of(self.inner)) is None:
            raise InputError("Entities need a statistic of records in a public ball.")
        self.rule.check(domain)

    @property
    def name(self) -> str:
        return self.rule.words(self.inner.name)

    @property
    def space(self) -> Space:
        return self.inner.space

    @property
    def ball(self) -> Ball | None:
        return self.inner.ball

    @property
    def domain(self) -> Ball | None:
        """The public ball of the records."""
        return domain_of(self.inner)

    @property
    def error_bound(self) -> float:
        return self.inner.error_bound

    @property
    def route(self) -> Route:
        """Where the noise is added: as for the statistic itself."""
        from geodp.statistics.route import route_of

        return route_of(self.inner)

    @property
    def parameters(self) -> Any:
        """Public facts of the statistic for the receipt."""
        return getattr(self.inner, "parameters", {})

    def sensitivity(self, n: int) -> float:
        """How far all records of one entity move the exact value, for ``n`` entities."""
        rows = self.rule.rows
        one = self.inner.sensitivity(n * rows)
        return one if rows == 1 else rows * one * _UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The statistic of the contributions, which ``Entities.clip`` makes."""
        return self.inner.evaluate(records)


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


@final
class Entities:
    """Which records belong to which entity: for each record an id. Nothing of it prints.

    The contributions to one ball are made once; several releases may share them.
    """

    __slots__ = ("_bounds", "_made", "_order", "rule")

    def __init__(self, ids: object, n: int, rule: EntityRule) -> None:
        which = _numbered(ids, n)
        self.rule = rule
        self._order = np.argsort(which, kind="stable")
        self._bounds = np.flatnonzero(np.diff(which[self._order], prepend=-1, append=n))
        self._made: ClippedRecords | None = None
        if len(self) < 2:
            raise InputError("At least two entities are needed.")

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @property
    def fingerprint(self) -> str:
        """What tells one grouping of the same records from another, for a request id."""
        return hashlib.sha256(self._order.tobytes() + self._bounds.tobytes()).hexdigest()

    def clip(self, ball: Ball, source: Any) -> ClippedRecords:
        """The contributions of all entities, in the ball."""
        if self._made is None or self._made.ball is not ball:
            self._made = self._clip(ball, source)
        return self._made

    def _clip(self, ball: Ball, source: Any) -> ClippedRecords:
        rows = self.rule.rows
        points = np.empty((len(self) * rows, *ball.space.point_shape))
        shares = np.empty(len(self))
        for i in range(len(self)):
            at = self._order[self._bounds[i] : self._bounds[i + 1]]
            mine = raw_block(source[at], 0, len(at))
            with unreported():
                points[i * rows : (i + 1) * rows], shares[i] = self.rule.contribution(ball, mine)
            tick("entities", i + 1, len(self))
        clipped = ball.clip(points)
        clipped.share = math.fsum(shares) / len(self)
        return clipped

    def __repr__(self) -> str:
        return "<entities>"

    def __reduce__(self) -> Any:
        raise TypeError("Entities are not pickled: they say which records belong together.")


def entities_of(entities: object, n: int, per_entity: object) -> Entities | None:
    """The entities of ``n`` records; None where each record is by itself."""
    if entities is None:
        if per_entity is not None:
            raise InputError("per_entity needs entities: one id for each record.")
        return None
    if isinstance(entities, Entities):
        return entities
    return Entities(entities, n, entity_rule(per_entity))


def _numbered(ids: object, n: int) -> Any:
    """For each record the number of its entity; ids of any kind that can be told apart."""
    array = _as_ids(ids)
    if array.ndim != 1 or len(array) != n:
        raise InputError("The entities are one id for each record, in the records' order.")
    if array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1]
    names = array.tolist()
    if any(_missing(name) for name in names):
        raise InputError(
            "Some records have no entity id. Whose they are is public structure, so geodp does not "
            "guess: give every record an id, or leave the records without one out."
        )
    try:
        known = {name: i for i, name in enumerate(dict.fromkeys(names))}
        return np.array([known[name] for name in names])
    except TypeError:
        raise InputError("An entity id is a text, a number or another hashable value.") from None


def _as_ids(ids: object) -> Any:
    if isinstance(ids, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(ids).ravel()
        ids = [None if gone else one for one, gone in zip(ids.tolist(), hidden, strict=False)]
    if isinstance(ids, np.ndarray):
        return ids
    try:
        listed = list(ids)  # type: ignore[call-overload]
    except TypeError:
        raise InputError(
            "The entities are one id for each record, in the records' order."
        ) from None
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def _missing(name: Any) -> bool:
    """None, NaN or NaT (unequal to themselves), or a blank text."""
    if name is None:
        return True
    if isinstance(name, str):
        return not name.strip()
    try:
        return bool(name != name)
    except (TypeError, ValueError):
        return True
