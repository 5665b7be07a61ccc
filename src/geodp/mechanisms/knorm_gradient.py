"""K-norm gradient: noise shaped by the loss itself, sampled exactly by rejection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, final

from geodp.errors import ConditionError, InputError
from geodp.mechanisms.base import Mechanism, Stage
from geodp.mechanisms.knorm_gradient_calibration import KNormGradientCalibration
from geodp.noise.radial_laws import diverges, missing
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.pure import PureProfile
from geodp.privacy.solve import laplace_ratio, scale_for
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.gradient import BEST, FrechetGradient, LossGradient, gradient_of
from geodp.statistics.log_diameter import CONSTANTS
from geodp.statistics.protocol import Statistic

_FAR = 60.0  # scales beyond the ball at which a release that is not kept in it is cut off
_ROUNDING = (
    1e-3  # of the sensitivity: what rounding may add where a release is not kept in the ball
)


class _Stated(NamedTuple):
    """What a receipt says of a loss that only its author knows."""

    everywhere: bool
    assumes: str


@final
@dataclass(frozen=True)
class KNormGradient(Mechanism):
    """Release a point of density proportional to ``exp(-norm(grad F(x)) / scale)``.

    For a statistic that minimises a loss F and offers its gradient, a
    ``geodp.statistics.LossGradient``: ``gd.FrechetMean``, ``gd.FrechetMedian`` or your own (Soto,
    Bharath, Reimherr and Slavković, NeurIPS 2022). ``scale = 2 * sensitivity / epsilon``, the
    sensitivity being the gradient's: the normaliser depends on the data. The release is kept in
    the public ball where the gradient's bound holds only there: for the mean on spaces that are not
    Hadamard, for the median everywhere. Drawn exactly by rejection; the accepted point lies on the
    public grid of floats (docs/proofs/knorm_gradient).
    HOW LONG A DRAW TAKES DEPENDS ON THE DATA, so it is never chosen by ``"best"``.

    Parameters
    ----------
    constant : the bound on the Fréchet mean's gradient where the curvature is positive:
        ``"supremum"`` (default, the least there is), ``"tangent"`` or ``"published"``.
    loss, stated : set by geodp: the statistic's gradient, or what a receipt says of it.

    Raises
    ------
    ConditionError : the statistic offers no gradient, the ball is missing or too wide, or the space
        is a product.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4)
    >>> north = np.tile([0.0, 0.0, 1.0], (50, 1))
    >>> out = gd.release(north, gd.FrechetMean(ball), gd.PureDP(1), gd.KNormGradient())
    >>> out.mechanism
    'k-norm-gradient'
    """

    constant: str = BEST
    loss: LossGradient | None = field(default=None, repr=False, compare=False)
    stated: _Stated | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.constant not in CONSTANTS:
            listed = ", ".join(repr(name) for name in CONSTANTS)
            raise InputError(f"The constant is one of {listed}; not {self.constant!r}.")

    @property
    def name(self) -> str:
        return "k-norm-gradient"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        if ball is None:
            return "The K-norm gradient mechanism needs the public ball that holds the records."
        if len(space.factors) > 1 and not space.is_flat:
            return (
                f"On the product {space.spec} the K-norm gradient density does not factorise and "
                "has no exact sampler here. Use wrapped-l2-laplace, or riemannian-gaussian."
            )
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
        loss = FrechetGradient(ball, self.constant) if self.loss is None else self.loss
        told = self.stated or _Stated(loss.everywhere, loss.assumes)
        limit = ball.radius
        if told.everywhere:
            reason = diverges(space, "laplace", scale)
            if reason is not None:
                raise ConditionError(reason)
            limit = _limit(loss, sensitivity, scale)
        cal = KNormGradientCalibration(
            self, space, guarantee, scale, profile, ball, sensitivity, loss, limit, *told
        )
        cal.check()
        return cal

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        return (Stage(self, guarantee),)

    def at(self, point: Array) -> KNormGradient:
        return self

    def offset(self, ball: Ball) -> float:
        return 0.0

    def suited(self, statistic: Statistic) -> KNormGradient:
        return replace(self, loss=gradient_of(statistic, self.constant), stated=None)

    def sensitivity(self, statistic: Statistic, n: int) -> tuple[float, float] | None:
        gradient = gradient_of(statistic, self.constant)
        exact = gradient.sensitivity(n)
        if gradient.everywhere:
            return exact, exact * _ROUNDING / 2
        return exact, gradient.rounding(n, gradient.ball.reach * (1 + 1e-6))

    def rebuilt(self, facts: Mapping[str, Any]) -> KNormGradient:
        stated = _Stated(facts["kept_in"] == "space", str(facts["assumes"]))
        return KNormGradient(str(facts["constant"]), stated=stated)


def _limit(loss: LossGradient, sensitivity: float, scale: float) -> float:
    """Where a release is cut off: far outside the ball, but not so far that rounding matters."""
    ball = loss.ball
    limit = ball.reach + _FAR * scale
    while _rounding(loss, limit, sensitivity) > _ROUNDING / 2.1:
        limit *= 0.95
        if limit < ball.reach:
            raise ConditionError(
                f"A ball of radius {ball.radius:g} is too wide on {ball.space.spec} for a gradient "
                "in 64-bit floats. Use a smaller ball, or a wrapped mechanism."
            )
    return limit


def _rounding(loss: LossGradient, limit: float, sensitivity: float) -> float:
    """What rounding may add at that distance, as a share of the sensitivity: one term's error in
    the term's range, and the norm's."""
    edge = limit * (1 + 1e-6)
    return loss.term_error(edge) / loss.diameter + loss.sum_error(edge) / sensitivity
