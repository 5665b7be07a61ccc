"""What a statistic is to the rest of geodp: a sensitivity and a certified evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.records import ClippedRecords


@dataclass(frozen=True)
class Certified:
    """A computed value and a public bound on its distance from the exact statistic.

    ``value`` is a point, shape ``space.point_shape``; ``error_bound``, a geodesic distance, is the
    most the error can be for any records: what the computation reached on these stays private.

    >>> import numpy as np, geodp as gd
    >>> gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0)).evaluate([[0.2], [0.4]]).value.round(9)
    array([0.3])
    """

    value: Array
    error_bound: float


@runtime_checkable
class Statistic(Protocol):
    """A point of ``space`` computed from records, with a proven sensitivity.

    Write your own by providing these members. ``sensitivity(n)`` bounds the geodesic distance
    between the exact values on any two data sets of ``n`` records that differ in one;
    ``error_bound`` bounds the distance of every computed value from the exact one. A release is
    calibrated to ``sensitivity(n) + 2 * error_bound``.

    Optionally, an attribute ``route`` (``geodp.statistics.Route``) says that the value lives in
    another space, where noise is added, and how the drawn point is mapped to ``space`` after. An
    attribute ``domain`` is the public ball of the records, where that is not ``ball``; records come
    clipped to it. ``parameters`` are JSON values of public facts for the receipt.

    >>> import geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> isinstance(mean, gd.Statistic), mean.name, round(mean.sensitivity(100), 6)
    (True, 'Fréchet mean', 0.02)
    """

    @property
    def name(self) -> str:
        """What is estimated, as printed on a receipt."""

    @property
    def space(self) -> Space:
        """Where values live."""

    @property
    def ball(self) -> Ball | None:
        """The public ball that holds every value, if there is one."""

    @property
    def error_bound(self) -> float:
        """Public bound on the computation's error, a geodesic distance."""

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity for ``n`` records, a geodesic distance, rounded up."""

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The statistic on the clipped records."""


def domain_of(statistic: Statistic) -> Ball | None:
    """The public ball of the records: the statistic's ``domain``, else the ball of its values."""
    domain = getattr(statistic, "domain", statistic.ball)
    return domain if isinstance(domain, Ball) else None
