"""Statistics that minimise a loss: the gradient of it that the K-norm gradient mechanism needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from geodp.errors import ConditionError
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.statistics.records import ClippedRecords
from geodp.statistics.sensitivity import certificate_slope, check_radius

_UP = 1 + 1e-12  # covers the rounding of the few float operations below


@runtime_checkable
class Gradient(Protocol):
    """The gradient norm of a loss; a statistic offers it as its attribute ``gradient``.

    The statistic's exact value is the loss's minimiser in the ball.
    """

    def sensitivity(self, n: int) -> float:
        """How far one record of ``n`` moves the norm at any point of the region, rounded up.

        The region is the ball where the curvature is positive somewhere, else the whole space.
        """

    @property
    def growth(self) -> float:
        """``lambda`` with ``norm >= lambda * dist(x, value)`` on the region, rounded down."""

    def norm(self, records: ClippedRecords, reach: float) -> Callable[[Array], float]:
        """The norm at a point within ``reach`` of the ball's centre, as a function of the point.

        Each value is within ``error(reach)`` of the exact norm at the point's floats.
        """

    def error(self, reach: float) -> float:
        """A public bound on the rounding of ``norm``, and of a point to floats."""


def gradient_of(statistic: Statistic) -> Gradient:
    """The statistic's gradient; ``ConditionError`` if it offers none."""
    gradient = getattr(statistic, "gradient", None)
    if not isinstance(gradient, Gradient):
        raise ConditionError(
            f"The K-norm gradient mechanism needs the gradient of a loss, and the statistic "
            f"{statistic.name!r} offers none. Use gd.FrechetMean(ball), or another mechanism."
        )
    return gradient


@final
@dataclass(frozen=True, eq=False)
class FrechetGradient:
    """``norm((1/n) sum log_x x_i)`` of the Fréchet mean of records in ``ball``.

    Sensitivity ``2 r/n`` where no curvature is positive, since log contracts there, and
    ``2 tan(sqrt(kappa) r)/(sqrt(kappa) n)`` for x in the ball where it is at most ``kappa > 0``
    (docs/proofs/riemannian).
    """

    ball: Ball

    def sensitivity(self, n: int) -> float:
        check_radius(self.ball.space, self.ball.reach)
        kappa = self.ball.space.curvature[1]
        if kappa <= 0:
            return 2 * self.ball.reach / n * _UP
        root = math.sqrt(kappa)
        angle = root * self.ball.reach * _UP
        rounding = 1 + 1e-15 / max(math.pi / 2 - angle, 1e-15)
        return 2 * math.tan(angle) / root / n * _UP * rounding

    @property
    def growth(self) -> float:
        return gradient_growth(self.ball.space, self.ball.reach * (1 + 1e-9))

    def norm(self, records: ClippedRecords, reach: float) -> Callable[[Array], float]:
        space, scale = self.ball.space, 2 * (reach + self.ball.reach)

        def value(x: Array) -> float:
            sums = [space.log_sum(x, chunk, scale) for chunk in records.chunks()]
            total = sums[0]
            for part in sums[1:]:
                total = total.merge(part)
            return float(np.linalg.norm(total.mean_log))

        return value

    def error(self, reach: float) -> float:
        rounding = self.ball.space.log_error(self.ball.center, reach)
        return float(rounding + 2 * (reach + self.ball.reach) * 2.0**-48)


def gradient_growth(space: Space, radius: float) -> float:
    """``lambda`` with ``|grad F(x)| >= lambda dist(x, mean)`` for x in the ball, rounded down.

    1 where no curvature is positive. Else the larger of the Hessian's floor on the ball,
    ``T cot T``, ``T = 2 sqrt(kappa) r``, and ``max over g of min(g/2r, slope(g))``, where ``slope``
    is that of the certificate: a gradient of norm at most g is at least ``slope(g)`` times the
    distance, a larger one at least ``g/2r`` times.
    """
    kappa = space.curvature[1]
    if kappa <= 0:
        return 1.0
    wide = 2 * math.sqrt(kappa) * radius
    floor = wide / math.tan(wide) if wide < math.pi / 2 else 0.0
    gradients = np.linspace(0, 2 * radius, 400)[1:]
    best = max(min(g / (2 * radius), certificate_slope(space, radius, g)) for g in gradients)
    return float(max(floor, best) * (1 - 1e-9))
