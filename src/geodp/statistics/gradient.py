"""Statistics that minimise a loss: the gradient of it that the K-norm gradient mechanism needs."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.spaces.base import Array
from geodp.spaces.lattice import LogSum
from geodp.statistics.domain import Ball
from geodp.statistics.log_diameter import log_diameter
from geodp.statistics.mean_floor import positive_floor
from geodp.statistics.protocol import Statistic
from geodp.statistics.records import ClippedRecords

_UP = 1 + 1e-12  # covers the rounding of the few float operations below
BEST = "supremum"


class LossGradient(ABC):
    """The gradient of a loss ``(1/n) sum f(x, x_i)``; a statistic offers it as ``gradient``.

    The statistic's value minimises the loss. Each record's term is its f's gradient at x, a tangent
    vector at x in the coordinates of ``space.log_coords``, and depends on x, that record and public
    facts alone. Terms are put on an integer lattice and added there, so on neighbours the sums at
    one x differ by one term, exactly (docs/proofs/knorm_gradient).

    The region is the ball, or the whole space if ``everywhere``. Bounds are rounded up.
    """

    ball: Ball
    is_logarithm: ClassVar[bool] = False  # the terms are -log_x x_i, which have a compiled pass

    @property
    @abstractmethod
    def diameter(self) -> float:
        """Bound on the distance between two records' exact terms at any point of the region."""

    @property
    @abstractmethod
    def everywhere(self) -> bool:
        """Whether the region is the whole space; else a release is kept in the ball."""

    @property
    @abstractmethod
    def resolution(self) -> float:
        """The length over which a term goes through its whole range; for speed alone."""

    @abstractmethod
    def largest(self, reach: float) -> float:
        """Bound on the length of a term at points within ``reach`` of the ball's centre."""

    @abstractmethod
    def term_error(self, reach: float) -> float:
        """Bound on the error of a computed term at such points, as a length."""

    @abstractmethod
    def terms(self, x: Array, chunk: Array) -> Array:
        """The terms ``(rows, dim)`` of clipped records at ``x``, each treated by itself."""

    @abstractmethod
    def floor(self, records: ClippedRecords, value: Array, error: float, distances: Array) -> Array:
        """What the exact norm is at least, at every point of the region that far from ``value`` or
        farther, for each of ``distances``; ``value`` is within ``error`` of the exact statistic.

        It shapes the proposals: zero is always right, and slow where n is large.
        """

    @abstractmethod
    def model(self, distances: Array) -> Array:
        """The norm at those distances from the value, for the public data of ``assumes``."""

    @property
    @abstractmethod
    def assumes(self) -> str:
        """The data that expected distances are stated for, after the word "for"."""

    def sensitivity(self, n: int) -> float:
        """How far one record of ``n`` moves the exact gradient at any point of the region."""
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InputError("The number of records n is an integer of at least one.")
        return float(np.nextafter(self.diameter / n * _UP, np.inf))

    def norm(self, records: ClippedRecords, reach: float) -> Callable[[Array], float]:
        """The computed norm at a point within ``reach`` of the centre, a function of the point."""
        scale = 2 * self.largest(reach)

        def value(x: Array) -> float:
            if self.is_logarithm:
                return float(np.linalg.norm(records.log_sum(x, scale).mean_log))
            sums = (LogSum.of(self.terms(x, chunk), scale) for chunk in records.chunks())
            return float(np.linalg.norm(functools.reduce(LogSum.merge, sums).mean_log))

        return value

    def norm_error(self, reach: float) -> float:
        """Bound on the distance between the computed and the exact norm at a point's floats."""
        return self.term_error(reach) + self.sum_error(reach)

    def rounding(self, n: int, reach: float) -> float:
        """What computing adds, on either side, to how far one record moves the norm: the error of
        one term, and of reading the norm off the exact sum."""
        return float(np.nextafter(self.term_error(reach) / n + self.sum_error(reach), np.inf))

    def sum_error(self, reach: float) -> float:
        """What reading the norm off an exact sum may add: lattice, division, norm."""
        return self.largest(reach) * (1 + math.sqrt(self.ball.space.dim)) * 2.0**-49


def gradient_of(statistic: Statistic, constant: str = BEST) -> LossGradient:
    """The statistic's gradient with that constant; ``ConditionError`` if it offers none."""
    gradient = getattr(statistic, "gradient", None)
    if not isinstance(gradient, LossGradient):
        raise ConditionError(
            f"The K-norm gradient mechanism needs the gradient of a loss, and the statistic "
            f"{statistic.name!r} offers none. Use gd.FrechetMean(ball) or gd.FrechetMedian(ball), "
            "or another mechanism such as riemannian-laplace."
        )
    if constant == BEST:
        return gradient
    if not isinstance(gradient, FrechetGradient):
        raise ConditionError(
            f"The gradient of the statistic {statistic.name!r} has one proven bound alone; leave "
            f"constant={constant!r} out."
        )
    return replace(gradient, constant=constant)


@final
@dataclass(frozen=True, eq=False)
class FrechetGradient(LossGradient):
    """``-(1/n) sum log_x x_i``, of the Fréchet mean of records in ``ball``.

    Two logarithms are at most ``2 r`` apart on Hadamard spaces; for x in the ball, on others, as
    far as ``constant`` says (``log_diameter``).
    """

    ball: Ball
    constant: str = BEST
    is_logarithm: ClassVar[bool] = True

    @property
    def diameter(self) -> float:
        return log_diameter(self.ball.space, self.ball.reach * (1 + 1e-12), self.constant)

    @property
    def everywhere(self) -> bool:
        return self.ball.space.is_hadamard

    @property
    def resolution(self) -> float:
        return 2 * self.ball.reach

    def largest(self, reach: float) -> float:
        return reach + self.ball.reach

    def term_error(self, reach: float) -> float:
        return self.ball.space.log_error(self.ball.center, reach)

    def terms(self, x: Array, chunk: Array) -> Array:
        return -self.ball.space.log_coords(x, chunk)

    def floor(self, records: ClippedRecords, value: Array, error: float, distances: Array) -> Array:
        away = distances - error
        if self.ball.space.curvature[1] <= 0:
            return np.asarray(away)
        return positive_floor(records, value, error, away)

    def model(self, distances: Array) -> Array:
        return distances

    @property
    def assumes(self) -> str:
        return "records that all lie at one point"
