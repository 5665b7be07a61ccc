"""K-norm gradient: noise shaped by the loss itself, sampled exactly by rejection."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError
from geodp.mechanisms.base import Calibration, Evaluated, Mechanism, Stage
from geodp.noise.radial import RadialLaw
from geodp.noise.radial_laws import diverges, missing, radial_law
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.solve import laplace_ratio, scale_for
from geodp.random import BitStream, check_generator, public_rng
from geodp.rounding.precision import is_positive
from geodp.rounding.reals import Reals, Uniform
from geodp.rounding.release import ExactDraw, round_point
from geodp.spaces.base import Array, BoolArray, Space
from geodp.statistics.domain import Ball
from geodp.statistics.gradient import gradient_growth, gradient_of
from geodp.statistics.protocol import Statistic

if TYPE_CHECKING:
    from flint import arb

_REPEATS = 2000
_FAR = 60.0  # scales beyond the ball at which the release is cut off on Hadamard spaces
_ROUNDING = 1e-3  # of the sensitivity: what rounding of the gradient may add


@final
@dataclass(frozen=True)
class KNormGradient(Mechanism):
    """Release a point of density proportional to ``exp(-norm(grad F(x)) / scale)``.

    For a statistic that minimises a loss F and offers its gradient, such as the Fréchet mean (Soto,
    Bharath, Reimherr and Slavković, NeurIPS 2022). ``scale = 2 * sensitivity / epsilon``, the
    sensitivity being the gradient's: the normaliser depends on the data. The release is kept in
    the public ball where the curvature is positive. Drawn exactly by rejection
    (docs/proofs/riemannian).
    HOW LONG A DRAW TAKES DEPENDS ON THE DATA, so it is never chosen by ``"best"``.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4)
    >>> north = np.tile([0.0, 0.0, 1.0], (50, 1))
    >>> out = gd.release(north, gd.FrechetMean(ball), gd.PureDP(1), gd.KNormGradient())
    >>> out.mechanism
    'k-norm-gradient'
    """

    @property
    def name(self) -> str:
        return "k-norm-gradient"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        if ball is None:
            return "The K-norm gradient mechanism needs the public ball that holds the records."
        try:
            laplace_ratio(guarantee)
        except InputError as error:
            return str(error)
        return missing(space, "laplace")

    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> KNormGradientCalibration:
        reason = self.why_not(space, guarantee, ball)
        if reason is not None or ball is None:
            raise ConditionError(reason or "")
        scale = scale_for(2 * sensitivity, laplace_ratio(guarantee))
        profile = PureProfile(2 * Fraction(sensitivity) / Fraction(scale))
        growth = gradient_growth(space, ball.reach * (1 + 1e-9))
        wide = float(np.nextafter(scale / growth, np.inf))
        reason = diverges(space, "laplace", wide)
        if reason is not None:
            raise ConditionError(reason)
        law = radial_law(space, "laplace", wide)
        limit = ball.radius if space.curvature[1] > 0 else _limit(ball, sensitivity, scale)
        return KNormGradientCalibration(
            self, space, guarantee, scale, profile, ball, sensitivity, law, wide, growth, limit
        )

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        return (Stage(self, guarantee),)

    def at(self, point: Array) -> KNormGradient:
        return self

    def offset(self, ball: Ball) -> float:
        return 0.0

    def sensitivity(self, statistic: Statistic, n: int) -> tuple[float, float] | None:
        gradient, ball = gradient_of(statistic), statistic.ball
        assert ball is not None
        exact = gradient.sensitivity(n)
        if ball.space.curvature[1] > 0:
            return exact, gradient.error(ball.reach * (1 + 1e-6))
        return exact, exact * _ROUNDING / 2


def _limit(ball: Ball, sensitivity: float, scale: float) -> float:
    """Where a release is cut off: far outside the ball, but not so far that rounding matters."""
    limit = ball.reach + _FAR * scale
    while ball.space.log_error(ball.center, limit) > sensitivity * _ROUNDING / 8:
        limit *= 0.95
        if limit < ball.reach:
            raise ConditionError(
                f"A ball of radius {ball.radius:g} is too wide on {ball.space.spec} for a gradient "
                "in 64-bit floats. Use a smaller ball, or a wrapped mechanism."
            )
    return limit


@final
@dataclass(frozen=True, eq=False)
class KNormGradientCalibration(Calibration):
    """A K-norm gradient mechanism with its scale; see ``Calibration``.

    ``sensitivity`` and ``scale`` are of the gradient's norm, ``limit`` the distance from the ball's
    centre at which a release is cut off. Without data only the proposals' law is known, of scale
    ``wide``, which lies farther out: ``sample`` and the expected distances are those of it.
    """

    mechanism: KNormGradient
    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile
    ball: Ball
    sensitivity: float
    law: RadialLaw
    wide: float
    growth: float
    limit: float

    def release(self, evaluated: Evaluated, stream: BitStream) -> Array:
        """One exact draw of the K-norm gradient law of the data.

        The norm is read at the rounded point, a function of the ideal one, so the law is exact:
        density proportional to exp(-norm(round(x))/scale) on the points whose rounding lies within
        the limit, and its rounding is released.
        """
        assert evaluated.records is not None
        gradient = gradient_of(evaluated.statistic)
        edge = self.limit * (1 + 1e-6)
        norm = gradient.norm(evaluated.records, edge)
        slack = self.growth * (evaluated.statistic.error_bound + gradient.error(edge))
        slack = (slack + gradient.error(edge)) * (1 + 1e-6)
        value = self.space.project(evaluated.value)
        while True:
            draw = self.law.exact(stream)
            coin = Reals(stream).uniform()
            x = round_point(self.space, value, draw.balls)
            if not self._keeps(x[None])[0]:
                continue
            height = norm(x) + slack
            if is_positive(partial(self._margin, draw, coin, height)):
                return x

    def _margin(self, draw: ExactDraw, coin: Uniform, height: float, precision: int) -> arb:
        """The log of the acceptance probability minus that of a uniform."""
        from flint import arb

        t = sum((z * z for z in draw.balls(precision)), arb(0)).sqrt()
        return t / self.wide - arb(height) / self.scale - coin.ball(precision).log()

    def draw(self, value: Array, stream: BitStream) -> Array:
        raise InputError(
            "A K-norm gradient draw needs the records: use gd.release, which hands them over."
        )

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        if rng is None:
            raise InputError(
                "A K-norm gradient draw needs the records: use gd.release, which hands them over."
            )
        point = np.asarray(value, dtype=np.float64)
        count = 1 if size is None else size
        draws = self._proposals(np.broadcast_to(point, (count, *point.shape)), rng)
        return draws[0] if size is None else draws

    def expected_distance(self, at: ArrayLike | None = None) -> float:
        point = self.ball.center if at is None else np.asarray(at, dtype=np.float64)
        values = np.broadcast_to(point, (_REPEATS, *point.shape))
        return float(self.distances(values, public_rng()).mean())

    def mean_squared_error(self) -> float:
        values = np.broadcast_to(self.ball.center, (_REPEATS, *self.ball.center.shape))
        return float((self.distances(values, public_rng()) ** 2).mean())

    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        return self.space.dist(values, self._proposals(values, rng))

    def distance_bound(self, distance: float) -> float:
        return self.law.mean_radius() * (1 + 1e-2)

    def facts(self) -> dict[str, object]:
        return {
            "name": self.mechanism.name,
            "scale": self.scale,
            "guarantee": self.guarantee.to_json(),
        }

    def _keeps(self, x: Array) -> BoolArray:
        far = self.space.cut_locus(self.ball.center, x)
        return np.asarray(~far & (self.space.dist(self.ball.center, x) <= self.limit))

    def _proposals(self, values: Array, rng: np.random.Generator) -> Array:
        out = self.space.exp_coords(values, self.law.sample(check_generator(rng), len(values)))
        left = np.flatnonzero(~self._keeps(out))
        while len(left):
            out[left] = self.space.exp_coords(values[left], self.law.sample(rng, len(left)))
            left = left[~self._keeps(out[left])]
        return out
