"""Several releases of one data set, paid from one ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from numpy.typing import ArrayLike

from geodp.errors import InputError
from geodp.inference.shares import REPLACED
from geodp.ledger.budget import shown
from geodp.ledger.ledger import Ledger
from geodp.ledger.receipt import Mark, Release
from geodp.ledger.totals import part_of
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import Number
from geodp.statistics.protocol import Statistic
from geodp.statistics.records import ClippedRecords
from geodp.verbs.calibrate import check_guarantee, check_statistic
from geodp.verbs.paying import Purse, ledger_of, price_of
from geodp.verbs.plan import check_count
from geodp.verbs.release import release, strategy_for
from geodp.verbs.replaced import divided


@final
@dataclass(frozen=True)
class Request:
    """A release that is planned: what, of how many records, to which promise, by what, and the part
    of the promise for the share of replaced records."""

    statistic: Statistic
    n: int
    guarantee: Guarantee
    mechanism: Mechanism | str = "best"
    replaced: Number = REPLACED


@final
@dataclass(frozen=True)
class BatchRow:
    """One release of a batch: its mechanism, its price, and whether the ledger pays for it after
    those before it."""

    statistic: str
    guarantee: Guarantee
    mechanism: str
    price: Fraction
    fits: bool


@final
@dataclass(frozen=True)
class Batch:
    """What a batch would cost; ``fits`` when the ledger pays for all of it."""

    rows: tuple[BatchRow, ...]
    adds: str
    left: Fraction

    @property
    def total(self) -> Fraction:
        """The sum of the prices."""
        return sum((row.price for row in self.rows), Fraction(0))

    @property
    def fits(self) -> bool:
        """Whether the ledger can pay for the whole batch."""
        return self.total <= self.left

    def __repr__(self) -> str:
        lines = [
            f"  {'fits' if row.fits else 'NOT PAID':<10}{row.mechanism:<20}{shown(row.price):<12}"
            f"{row.statistic}, {row.guarantee.label}"
            for row in self.rows
        ]
        verdict = "it fits" if self.fits else "it does not fit"
        head = (
            f"{len(self.rows)} releases cost {shown(self.total)} in {self.adds}; "
            f"{shown(self.left, down=True)} is left: {verdict}"
        )
        return "\n".join([head, *lines])


@final
class Session:
    """A data set (or one public group of it) and the ledger that pays for its releases.

    Holds no records and no state but the ledger's: several threads and processes may have sessions
    on one ledger, or share this one.

    Examples
    --------
    >>> import tempfile, numpy as np, geodp as gd
    >>> place = tempfile.mkdtemp() + "/budget.db"
    >>> ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    >>> session = gd.Session(ledger, "study")
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> noise = gd.Wrapped(gd.Gaussian())
    >>> session.plan([(mean, 50, gd.GaussianDP(mu), noise) for mu in ("0.5", "0.8")]).fits
    True
    >>> out = session.release(np.zeros((50, 2)), mean, gd.GaussianDP(0.5), noise)
    >>> session.left
    GaussianDP(mu=0.866025)
    """

    def __init__(
        self, ledger: Ledger | str | os.PathLike[str], dataset: str, group: str | None = None
    ) -> None:
        self._ledger = ledger_of(ledger)
        self._part = part_of(dataset, group)
        _ = self._ledger.facts  # a ledger that cannot be read is found out here

    @property
    def ledger(self) -> Ledger:
        """Who pays."""
        return self._ledger

    @property
    def left(self) -> Guarantee | None:
        """The largest promise (of six digits) that this data set can still be released to."""
        return self._ledger.budget.fitting(self._left())

    def _left(self) -> Fraction:
        return self._ledger.left_for(self._part.dataset, self._part.group)

    def plan(self, requests: Iterable[Any]) -> Batch:
        """What a batch of releases would cost, before any of them is run; touches no data.

        Each request is ``(statistic, n, guarantee)`` or ``(statistic, n, guarantee, mechanism)``.
        A row fits if the ledger pays for it after those before it that fit.
        """
        notion, left = self._ledger.budget.notion, self._left()
        rows, room = [], left
        for request in map(_request, requests):
            row = self._row(request, notion, room)
            room -= row.price if row.fits else 0
            rows.append(row)
        return Batch(tuple(rows), self._ledger.budget.adds, left)

    def _row(self, request: Request, notion: str, room: Fraction) -> BatchRow:
        statistic, n, promise = request.statistic, request.n, request.guarantee
        division = divided(statistic, promise, request.replaced)
        mechanism = strategy_for(statistic, n, division.value, request.mechanism, Purse(notion))
        price, _ = price_of(mechanism, statistic, n, division, notion)
        return BatchRow(statistic.name, promise, mechanism.name, price, price <= room)

    def release(
        self,
        records: ArrayLike | ClippedRecords | None,
        statistic: Statistic,
        guarantee: Guarantee,
        mechanism: Mechanism | str = "best",
        *,
        replaced: Number = REPLACED,
        unit: str | None = None,
        entities: object | None = None,
        per_entity: int | None = None,
        request_id: str | None = None,
    ) -> Release:
        """``gd.release`` of this session's data, paid from its ledger."""
        return release(
            records,
            statistic,
            guarantee,
            mechanism,
            replaced=replaced,
            unit=unit,
            entities=entities,
            per_entity=per_entity,
            ledger=self._ledger,
            dataset=self._part.dataset,
            group=self._part.group,
            request_id=request_id,
        )

    def spend(
        self,
        guarantee: Guarantee,
        note: str,
        *,
        unit: str | None = None,
        neighbours: str | None = None,
        request_id: str | None = None,
    ) -> Mark:
        """``Ledger.spend``: what another program released of this session's data."""
        return self._ledger.spend(
            guarantee,
            dataset=self._part.dataset,
            group=self._part.group,
            note=note,
            unit=unit,
            neighbours=neighbours,
            request_id=request_id,
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.close()

    def __repr__(self) -> str:
        return f"Session({self._ledger!r}, {str(self._part)!r})"


def _request(given: Any) -> Request:
    if not isinstance(given, Request):
        try:
            given = Request(*given)
        except TypeError as error:
            raise InputError(
                "A request is (statistic, n, guarantee) or (statistic, n, guarantee, mechanism)."
            ) from error
    check_statistic(given.statistic)
    check_guarantee(given.guarantee)
    request: Request = replace(given, n=check_count(given.n))
    return request
