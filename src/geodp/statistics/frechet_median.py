"""The Fréchet median of records in a ball, released by the K-norm gradient mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError
from geodp.random import public_rng
from geodp.spaces.base import Array, Space
from geodp.spaces.batch import length
from geodp.statistics.domain import Ball
from geodp.statistics.gradient import LossGradient
from geodp.statistics.median_floor import convex_floor
from geodp.statistics.protocol import Certified
from geodp.statistics.records import ClippedRecords

MEDIAN = "Fréchet median"
_BLUNT = 1e-5  # of the radius: nearer to a record its unit vector shrinks to zero
_STEPS = 100
_EXAMPLE = 512  # records of the public data that expected distances are stated for


@final
@dataclass(frozen=True, eq=False)
class FrechetMedian:
    """``argmin_x (1/n) sum dist(x, x_i)`` over records clipped to ``ball``: robust, and not unique.

    Each record pulls with a unit vector, whatever its distance, so one of n records moves the
    gradient by at most ``2/n`` anywhere. Within a hundred-thousandth of the radius the vector
    shrinks to zero in proportion: a public rule, by which it is 0 at coincidence.
    No bound is proven for how far one record moves the median itself, so the K-norm gradient
    mechanism alone can release it, kept in the ball (docs/proofs/knorm_gradient).

    Parameters
    ----------
    ball : the public domain; where the curvature is at most ``kappa > 0``, of radius below
        ``min(inj, pi / (2 sqrt(kappa))) / 2``, so that distances are convex on it.

    Raises
    ------
    ConditionError : the radius is beyond that, or too wide for floats.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> x = np.vstack([np.random.default_rng(1).uniform(-0.3, 0.3, (190, 2)), np.ones((10, 2))])
    >>> out = gd.release(x, gd.FrechetMedian(ball), gd.PureDP(1), gd.KNormGradient())
    >>> bool(np.linalg.norm(out.value) < 0.5)
    True
    """

    ball: Ball
    error_bound: float = field(init=False, repr=False)
    gradient: MedianGradient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.ball, Ball):
            raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
        space = self.space
        limit = _widest(space)
        if not self.ball.reach < limit:
            raise ConditionError(
                f"Distances on {space.spec} are convex on balls of radius below {limit:.6g}; the "
                f"radius asked for is {self.ball.radius:.6g}. Use a smaller ball, or "
                "gd.FrechetMean(ball)."
            )
        gradient = MedianGradient(self.ball)
        if not gradient.term_error(self.ball.reach * (1 + 1e-6)) <= 1e-3:
            raise ConditionError(
                f"A ball of radius {self.ball.radius:g} is too wide on {space.spec} for directions "
                "in 64-bit floats. Use a smaller ball, or a flat metric."
            )
        object.__setattr__(self, "gradient", gradient)
        # the median need not be unique, and is not certified: both lie in the ball
        object.__setattr__(self, "error_bound", 2 * self.ball.reach)

    @property
    def name(self) -> str:
        return MEDIAN

    @property
    def space(self) -> Space:
        return self.ball.space

    def sensitivity(self, n: int) -> float:
        """Refused: none is proven for the minimiser."""
        raise ConditionError(
            "No sensitivity of the Fréchet median itself is proven, only one of its loss's "
            "gradient. Release it by gd.KNormGradient() (k-norm-gradient)."
        )

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """A point where the gradient is small, by Weiszfeld's steps (Fletcher et al. 2009).

        ``error_bound`` is the ball's diameter: nothing private depends on how near it is.
        """
        clipped, ball, x = self.ball.clip(records), self.ball, self.ball.center
        smallest, best = math.inf, x
        for _ in range(_STEPS):
            pulls = [self._pull(x, chunk) for chunk in clipped.chunks()]
            total = sum((pull for pull, _ in pulls), np.zeros(self.space.dim))
            size = float(np.linalg.norm(total))
            if size < smallest:
                smallest, best = size, x
            if size <= 0.02:  # of the pull of one record
                break
            weight = sum(weight for _, weight in pulls)
            x = ball.project(self.space.exp_coords(x, total / weight))
        return Certified(best, self.error_bound)

    def _pull(self, x: Array, chunk: Array) -> tuple[Array, float]:
        """The sum of the unit vectors towards records, and of inverse distances."""
        z = self.space.log_coords(x, chunk)
        inverse = 1 / np.maximum(length(z), self.gradient.blunt)
        return np.asarray((z * inverse[:, None]).sum(axis=0)), float(inverse.sum())


@final
@dataclass(frozen=True, eq=False)
class MedianGradient(LossGradient):
    """``-(1/n) sum log_x x_i / max(rho_i, b)``: unit vectors, that shrink to 0 within b."""

    ball: Ball

    @property
    def blunt(self) -> float:
        """b, a length."""
        return _BLUNT * self.ball.radius

    @property
    def diameter(self) -> float:
        return 2.0

    @property
    def everywhere(self) -> bool:
        return False

    @property
    def resolution(self) -> float:
        return self.blunt

    def largest(self, reach: float) -> float:
        return 1.0 + 1e-12

    def term_error(self, reach: float) -> float:
        rounding = self.ball.space.log_error(self.ball.center, reach) / self.blunt
        return 2 * rounding * (1 + 1e-9) + 1e-14

    def terms(self, x: Array, chunk: Array) -> Array:
        z = -self.ball.space.log_coords(x, chunk)
        return np.asarray(z / np.maximum(length(z), self.blunt)[:, None])

    def floor(self, records: ClippedRecords, value: Array, error: float, distances: Array) -> Array:
        return convex_floor(records, value, self.blunt, distances)

    def model(self, distances: Array) -> Array:
        """By a fixed sample of directions in the tangent space; flat geometry is near enough."""
        rng = public_rng()
        unit = rng.standard_normal((_EXAMPLE, self.ball.space.dim))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        unit = np.concatenate([unit, -unit])
        apart = distances[:, None] - self.ball.radius * unit[:, 0]
        beside = self.ball.radius**2 * (1 - unit[:, 0] ** 2)
        return np.asarray((apart / np.sqrt(apart**2 + beside + self.blunt**2)).mean(axis=1))

    @property
    def assumes(self) -> str:
        return "records spread evenly over all directions, as far away as the ball's radius"


def _widest(space: Space) -> float:
    """Below this radius distances from points of a ball are convex on it."""
    kappa = space.curvature[1]
    if kappa <= 0:
        return space.injectivity_radius / 2
    return min(space.injectivity_radius, math.pi / (2 * math.sqrt(kappa))) / 2
