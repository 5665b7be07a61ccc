"""The Fréchet variance, and the share of records that the public rule replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError
from geodp.spaces.base import Array, Space
from geodp.spaces.batch import dot
from geodp.spaces.euclidean import Euclidean
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.mean_of_terms import UP, float_rounding, numbers_route
from geodp.statistics.protocol import Certified
from geodp.statistics.records import ClippedRecords
from geodp.statistics.route import Route
from geodp.statistics.tangent_moments import hessian_bounds

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel
    from geodp.kernels.reduce import Reducer

VARIANCE = "Fréchet variance"
SHARE = "share of replaced records"


@final
@dataclass(frozen=True, eq=False)
class FrechetVariance:
    """``min_x (1/n) sum dist(x, x_i)^2`` over records clipped to the ball: a number, shape (1,).

    Sensitivity ``4 r^2/n`` wherever the Fréchet mean has one (docs/proofs/inference). It is
    computed at a certified mean, which puts it at most ``L tau^2`` above the minimum, L the largest
    Hessian eigenvalue.

    Parameters
    ----------
    domain : the public ball of the records, as for ``FrechetMean``.

    Raises
    ------
    ConditionError : the ball is beyond the mean's condition.

    Examples
    --------
    >>> import geodp as gd
    >>> variance = gd.FrechetVariance(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    >>> round(variance.sensitivity(100), 6), variance.evaluate([[-1.0], [1.0]]).value
    (0.04, array([1.]))
    """

    domain: Ball
    error_bound: float = field(init=False, repr=False)
    route: Route = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Ball):
            raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
        space, domain = self.domain.space, self.domain
        tau = FrechetMean(domain).error_bound
        # of maps: logarithms and Hessians place by place, distances of all places together
        reach, there = 2 * domain.reach + tau, 2 * domain.cell_reach
        e = domain.log_error(domain.cell_reach + tau)
        largest = hessian_bounds(space.cell, min(there + tau, there * (1 + 1e-9)))[1]
        above = largest * tau * tau
        error = above * UP + 2 * (2 * reach * e + e * e) + float_rounding(space.dim) * reach * reach
        object.__setattr__(self, "error_bound", float(np.nextafter(error, np.inf)))
        route = numbers_route(1, "Fréchet variance", self.domain)
        object.__setattr__(self, "route", route)

    @property
    def name(self) -> str:
        return VARIANCE

    @property
    def space(self) -> Space:
        return Euclidean(1)

    @property
    def ball(self) -> None:
        return None

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity of the exact variance of ``n`` records."""
        return 4 * self.domain.reach**2 / n * UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The variance, shape ``(1,)``."""
        clipped, ball = self.domain.clip(records), self.domain
        mean = FrechetMean(ball).evaluate(clipped).value
        return Certified(clipped.term_sum(_Squares(ball, mean)).mean_log, self.error_bound)


@final
@dataclass(frozen=True, eq=False)
class _Squares:
    """Squared distances from a point of the ball, as ``Terms``."""

    ball: Ball
    origin: Array

    @property
    def largest(self) -> float:
        return 4 * self.ball.reach**2

    def terms(self, chunk: Array) -> Array:
        z = self.ball.space.log_coords(self.origin, chunk)
        return dot(z, z)[:, None]

    def reducer(self, kernel: Kernel) -> Reducer | None:
        from geodp.kernels.moments import distances

        return distances(kernel.dim, 2)


@final
@dataclass(frozen=True, eq=False)
class ReplacedShare:
    """The share of records that the public rule moved to the ball's edge or replaced by its centre.

    Sensitivity ``1/n``. A wrong physical unit or rank-deficient matrices show as a share near one,
    where the mean alone would look like a plausible point near the centre.

    Examples
    --------
    >>> import geodp as gd
    >>> share = gd.ReplacedShare(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    >>> share.evaluate([[0.5], [7.0], [0.1], [0.0]]).value
    array([0.25])
    """

    domain: Ball
    error_bound: float = field(init=False, repr=False, default=2.0**-50)
    route: Route = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Ball):
            raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
        label = "share of records moved into the ball or replaced by its centre"
        object.__setattr__(self, "route", numbers_route(1, label, self.domain))

    @property
    def name(self) -> str:
        return SHARE

    @property
    def space(self) -> Space:
        return Euclidean(1)

    @property
    def ball(self) -> None:
        return None

    def sensitivity(self, n: int) -> float:
        """One record in ``n``."""
        return math.nextafter(1 / n, math.inf)

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The share, shape ``(1,)``."""
        share = self.domain.clip(records).replaced_share
        return Certified(np.array([share]), self.error_bound)
