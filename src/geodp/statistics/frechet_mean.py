"""The Fréchet mean of records in a ball, evaluated to a certified error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError
from geodp.spaces.base import Array, Space
from geodp.spaces.lattice import LogSum
from geodp.statistics.domain import Ball
from geodp.statistics.gradient import FrechetGradient
from geodp.statistics.maps import map_error, map_mean
from geodp.statistics.protocol import Certified, Statistic
from geodp.statistics.records import ClippedRecords
from geodp.statistics.sensitivity import (
    certificate_slope,
    check_radius,
    entry_gradient,
    hessian_floor,
    mean_sensitivity,
    provable_error,
)
from geodp.statistics.solver import Problem, frechet_mean

_RELATIVE_ERROR = 1e-9  # of the radius: far below what one record moves the mean
_SUBSAMPLE = 2048
_LARGEST_SUBSAMPLE = 2**14


def _silent() -> None:
    return None


@dataclass(frozen=True, eq=False)
class FrechetMean:
    """``argmin_x (1/2n) sum dist(x, x_i)^2`` over records clipped to ``ball``.

    ``sensitivity(n)`` is ``2 r/n`` on spaces of nowhere positive curvature and, where the curvature
    is at most ``kappa > 0``, the sharp ``2 tan(sqrt(kappa) r)/(sqrt(kappa) n)`` for radii below
    ``min(inj, pi/sqrt(kappa))/2`` (docs/proofs/sensitivity). ``bound="published"`` takes Theorem 2
    of Reimherr, Bharath, Soto (NeurIPS 2021) instead, where it exists.

    Parameters
    ----------
    ball : the public domain.
    bound : ``"sharp"`` (default) or ``"published"``.
    progress : called once for each pass over the records.

    Raises
    ------
    ConditionError : the radius is beyond the theorem's condition.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 2.0))
    >>> pair = [np.diag([np.e**2, 1.0]), np.eye(2)]
    >>> np.round(mean.evaluate(pair).value, 6)
    array([[2.718282, 0.      ],
           [0.      , 1.      ]])
    """

    ball: Ball
    bound: str = "sharp"
    progress: Callable[[], None] = field(default=_silent, repr=False)
    error_bound: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.ball, Ball):
            raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
        check_radius(self.space.cell, self.ball.cell_reach)
        mean_sensitivity(self.space.cell, self.ball.cell_reach, 2, self.bound)
        if self.space.cells > 1:
            errors = [map_error(self.ball, self.bound)]
        else:
            errors = [_error_bound(f, c, self.ball) for f, c in self._factors()]
        object.__setattr__(self, "error_bound", float(np.nextafter(math.hypot(*errors), np.inf)))

    @property
    def name(self) -> str:
        return "Fréchet mean" if self.bound == "sharp" else "Fréchet mean (published bound)"

    @property
    def space(self) -> Space:
        return self.ball.space

    @property
    def gradient(self) -> FrechetGradient:
        """The gradient of F, for the K-norm gradient mechanism."""
        return FrechetGradient(self.ball)

    @property
    def relatives(self) -> tuple[Statistic, ...]:
        """Other means of records in the ball, which estimate other points; a plan shows them."""
        from geodp.statistics.relatives import relatives_of

        return relatives_of(self.ball)

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity of the exact mean of ``n`` records, a geodesic distance.

        Of ``n`` maps, ``sqrt(places)`` times that of one place (docs/proofs/units).
        """
        cell, places = self.space.cell, self.space.cells
        one = mean_sensitivity(cell, self.ball.cell_reach, n, self.bound)
        return one if places == 1 else math.sqrt(places) * one * (1 + 1e-12)

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The mean within ``error_bound`` of the exact one, whatever the records.

        A mean on a product is the factors' means, so each factor is solved by itself; one of maps
        is a mean in every place.
        """
        clipped = self.ball.clip(records)
        if self.space.cells > 1:
            return Certified(map_mean(self, clipped), self.error_bound)
        parts = []
        for index, (factor, center) in enumerate(self._factors()):
            solve = _flat_mean if factor.is_flat else _curved_mean
            parts.append(solve(self, _Factor(index, factor, center, clipped)))
        return Certified(self.space.project(self.space.join(parts)), self.error_bound)

    def _factors(self) -> list[tuple[Space, Array]]:
        return list(zip(self.space.factors, self.space.split(self.ball.center), strict=True))


@dataclass(frozen=True)
class _Factor:
    """The records' share in one factor of the space."""

    index: int
    space: Space
    center: Array
    records: ClippedRecords

    @property
    def center_log(self) -> Array:
        """Mean log-coordinates at the centre: this factor's, which come after its predecessors'."""
        dims = [factor.dim for factor in self.records.ball.space.factors]
        start = sum(dims[: self.index])
        assert self.records.center_log is not None
        return self.records.center_log[start : start + dims[self.index]]

    def log_sum(self, x: Array) -> LogSum:
        """Of all records at ``x``, in the ball."""
        return self.records.log_sum(x, 4 * self.records.ball.reach, self.index)


def _sample_size(n: int) -> int:
    """One per cent, within limits."""
    return max(_SUBSAMPLE, min(n // 100, _LARGEST_SUBSAMPLE))


def _rounding(factor: Space, center: Array, ball: Ball) -> float:
    """What the logs and the lattice can put into a computed gradient."""
    return factor.log_error(center, ball.reach) + ball.reach * 2.0**-56


def _slope(factor: Space, ball: Ball) -> float:
    """Distance from the mean is at most the gradient's norm over this, near enough to the mean."""
    floor = hessian_floor(factor, ball.reach)
    return floor / 2 if factor.curvature[1] > 0 else floor


def _target(factor: Space, center: Array, ball: Ball) -> float:
    """The error that a computed gradient has to certify: well above its own rounding."""
    rounding = _rounding(factor, center, ball)
    return max(_RELATIVE_ERROR * ball.radius, 8 * rounding / _slope(factor, ball))


def _error_bound(factor: Space, center: Array, ball: Ball) -> float:
    """The factor's part of tau_max: what the certificate, or else the counted steps, prove."""
    rounding, slope = _rounding(factor, center, ball), _slope(factor, ball)
    bound = max(_target(factor, center, ball), provable_error(factor, ball.reach, rounding))
    fits = certificate_slope(factor, ball.reach, bound * slope) >= slope
    if factor.curvature[1] > 0:
        entry = entry_gradient(factor, ball.reach)
        fits &= bound * slope <= entry and 8 * rounding * ball.reach <= entry**2
    if not (fits and bound <= 1e-3 * ball.radius):
        raise ConditionError(
            f"On {factor.spec} a ball of radius {ball.radius:g} around this centre is too wide "
            "for a certified mean in 64-bit floats. Use a smaller radius, a centre nearer to 0, "
            "or a flat metric."
        )
    return bound


def _flat_mean(_: FrechetMean, part: _Factor) -> Array:
    """On a flat space the mean of log-coordinates is exact, and clipping has taken it."""
    return part.space.exp_coords(part.center, part.center_log)


def certifying_gradient(space: Space, center: Array, ball: Ball) -> float:
    """The norm of a computed gradient, at most, that proves ``error_bound`` on a factor."""
    slope, rounding = _slope(space, ball), _rounding(space, center, ball)
    return _target(space, center, ball) * slope - rounding


def _curved_mean(statistic: FrechetMean, part: _Factor) -> Array:
    ball, kernel = part.records.ball, part.records.kernel
    whole = ball.space
    problem = Problem(
        space=part.space,
        center=part.center,
        radius=ball.reach,
        target=certifying_gradient(part.space, part.center, ball),
        error=_error_bound(part.space, part.center, ball),
        log_sum=part.log_sum,
        subsample=whole.split(part.records.subsample(_sample_size(len(part.records))))[part.index],
        center_log=part.center_log,
        progress=statistic.progress,
        kernel=None if kernel is None else kernel.factors[part.index],
    )
    return frechet_mean(problem)
