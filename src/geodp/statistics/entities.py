"""The person as the unit: how many records of one entity become one contribution
(docs/proofs/units)."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geodp.errors import InputError
from geodp.progress import tick, unreported
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.entity_ids import numbered
from geodp.statistics.entity_rules import EntityRule, entity_rule
from geodp.statistics.protocol import Certified, Statistic, domain_of
from geodp.statistics.records import ClippedRecords, mapped
from geodp.statistics.segments import Ints

if TYPE_CHECKING:
    from geodp.statistics.gradient import LossGradient
    from geodp.statistics.route import Route

_UP = 1 + 1e-12
BLOCK_FLOATS = 2**20  # of what is worked on together


@final
@dataclass(frozen=True, eq=False)
class PerEntity:
    """A statistic of ``n`` entities, each of which may have many records.

    Neighbours differ in all records of one entity, which are ``rule.rows`` contributions out of
    ``n * rule.rows``: the sensitivity is that many times the statistic's (docs/proofs/units).

    >>> import geodp as gd
    >>> from geodp.statistics.entity_rules import EntityMean
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

    @property
    def gradient(self) -> LossGradient | None:
        """The gradient of the statistic's loss, where it has one: a mean of terms, of which one
        entity changes as large a share as one of ``n`` records (docs/proofs/units)."""
        found: LossGradient | None = getattr(self.inner, "gradient", None)
        return found

    def sensitivity(self, n: int) -> float:
        """How far all records of one entity move the exact value, for ``n`` entities."""
        rows = self.rule.rows
        one = self.inner.sensitivity(n * rows)
        return one if rows == 1 else rows * one * _UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The statistic of the contributions, which ``Entities.clip`` makes."""
        return self.inner.evaluate(records)


@final
class Entities:
    """Which records belong to which entity: for each record an id. Nothing of it prints.

    The contributions to one ball are made once; several releases may share them.
    """

    __slots__ = ("_bounds", "_made", "_order", "rule")

    def __init__(self, ids: object, n: int, rule: EntityRule) -> None:
        which = numbered(ids, n)
        self.rule = rule
        self._order = np.argsort(which, kind="stable")
        self._bounds = np.flatnonzero(np.diff(which[self._order], prepend=-1, append=n))
        self._made: ClippedRecords | None = None
        if len(self) < 2:
            raise InputError("At least two entities are needed.")

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def among(self, rows: NDArray[np.bool_]) -> Entities:
        """The entities of those records that the mask takes, in the order in which they remain.

        ``InputError`` where an entity has some of its records among them and some not.
        """
        taken = rows[self._order]
        starts, counts = self._bounds[:-1], np.diff(self._bounds)
        inside = np.add.reduceat(taken, starts, dtype=np.intp)
        if ((inside != 0) & (inside != counts)).any():
            raise InputError(
                "Some entity has records in two groups: give all records of an entity one label."
            )
        which = np.empty(len(rows), dtype=np.intp)
        which[self._order] = np.repeat(np.arange(len(self)), counts)
        return Entities(which[rows], int(rows.sum()), self.rule)

    def sizes(self) -> dict[str, float]:
        """The least, the middle and the greatest number of records of an entity. NOT PRIVATE."""
        counts = np.diff(self._bounds)
        found = np.quantile(counts, [0.0, 0.5, 1.0])
        return dict(zip(("least", "median", "most"), map(float, found), strict=True))

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
        starts = self._bounds[:-1]
        taken = self.rule.taken(np.diff(self._bounds))
        blocks = _blocks(taken, ball.space)
        jobs = []
        for block in blocks:
            counts = taken[block]
            firsts = np.cumsum(counts) - counts
            at = np.arange(counts.sum()) + np.repeat(starts[block] - firsts, counts)
            rows, back = np.unique(self._order[at], return_inverse=True)  # in order, as files want
            jobs.append((rows, (back, firsts, counts)))
        work = partial(_contributions, self.rule, ball, len(self))
        parts = []
        for block, part in zip(blocks, mapped(source, work, jobs), strict=True):
            parts.append(part)
            tick("entities", block.stop, len(self))
        clipped = ball.clip(np.concatenate([points for points, _ in parts]))
        shares = [share for _, part in parts if part is not None for share in part.tolist()]
        if shares:
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


def _blocks(counts: Ints, space: Space) -> list[slice]:
    """Entities that are worked on together: as many as fit, one at least."""
    floats = counts * math.prod(space.point_shape) + space.cells * space.cell.dim**2
    ends, blocks, start = np.cumsum(floats), list[slice](), 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        fits = int(np.searchsorted(ends, before + BLOCK_FLOATS, "right"))
        stop = max(start + 1, fits)
        blocks.append(slice(start, stop))
        start = stop
    return blocks


def _contributions(
    rule: EntityRule, ball: Ball, among: int, raw: Array, argument: tuple[Ints, Ints, Ints]
) -> tuple[Array, Array | None]:
    """What a block of entities contributes, whose records came in the source's order."""
    back, firsts, counts = argument
    with unreported():
        return rule.contributions(ball, raw[back], firsts, counts, among)
