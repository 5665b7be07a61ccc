"""What public facts decide of an inference before anything is spent, and its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from geodp.errors import ConditionError
from geodp.inference.collect import (
    check_conditions,
    collect,
    mean_mechanism,
    noise_of_calibration,
    number_mechanism,
    numbers_at,
)
from geodp.inference.estimate import Estimate
from geodp.inference.numbers import Noisy
from geodp.inference.quantiles import hotelling_quantile
from geodp.inference.shares import (
    REPLACED,
    additive,
    checked_shares,
    default_shares,
    promises,
)
from geodp.mechanisms import parse_mechanism
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.protocol import Statistic
from geodp.verbs.calibrate import check_mechanism
from geodp.verbs.replaced import replaced_part
from geodp.verbs.stages import calibrated, run

_NOISELESS = ("mean", "variance", "replaced")  # not seen from the released mean


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything that public facts decide, before anything is spent."""

    ball: Ball
    n: int
    guarantee: Guarantee
    confidence: float
    split: Mapping[str, Guarantee]
    mechanism: Mechanism
    calibration: Calibration  # of the mean's last stage, at the ball's centre
    spread: float | None = None

    def mechanism_of(self, name: str) -> Mechanism:
        promise = self.split[name]
        return self.mechanism if name == "mean" else number_mechanism(promise)

    def statistic(self, name: str) -> Statistic:
        """A statistic of the same price as the one that will be released."""
        if name == "mean":
            return FrechetMean(self.ball)
        return numbers_at(self.ball, self.ball.center, self.spread)[name]()


def prepared(
    ball: Ball, n: int, guarantee: Guarantee, confidence: float, plan: Mapping[str, Any]
) -> Prepared:
    check_conditions(ball.space, ball, n)
    promise, spread = additive(guarantee), plan.get("spread")
    chosen = _mechanism(plan.get("mechanism"), ball, promise)
    mean = FrechetMean(ball)
    if plan.get("split") is None:
        part = replaced_part(plan.get("replaced", REPLACED))
        shares = default_shares(ball, n, promise, part, spread)
    else:
        shares = checked_shares(plan["split"], ball.space)
    split = promises(promise, shares)
    stage = chosen.stages(split["mean"])[-1]
    cal, _ = calibrated(stage.mechanism, mean, n, stage.guarantee)
    ready = Prepared(ball, n, guarantee, confidence, split, chosen, cal, spread)
    radius = noise_radius(ready)
    widest = min(2 * ball.reach, ball.space.injectivity_radius / 2)
    if not radius < widest:
        raise ConditionError(
            f"To {guarantee.label} with {n} records the privacy noise alone makes a region of "
            f"radius {radius:.3g}. Beyond {widest:.3g}, the ball's diameter or half the "
            f"injectivity radius of {ball.space.spec}, a region says nothing: use more records or "
            "a smaller ball, or ask for less privacy."
        )
    _check_numbers(ready)
    return ready


def noise_radius(ready: Prepared) -> float:
    """The radius of the region that the privacy noise of the mean alone makes."""
    deviation = noise_of_calibration(ready.calibration).deviation
    quantile = hotelling_quantile(ready.confidence, ready.ball.space.dim, 1e9)
    return float(deviation * quantile**0.5)


def _check_numbers(ready: Prepared) -> None:
    """Refuse what a later number would, while nothing is spent: seen from the ball's edge, where
    sensitivities are largest."""
    ball = ready.ball
    step = np.zeros(ball.space.dim)
    step[0] = ball.radius
    statistics = numbers_at(ball, ball.space.exp_coords(ball.center, step), ready.spread)
    for name, promise in ready.split.items():
        if name != "mean":
            stage = ready.mechanism_of(name).stages(promise)[-1]
            calibrated(stage.mechanism, statistics[name](), ready.n, stage.guarantee)


def _mechanism(asked: Mechanism | str | None, ball: Ball, promise: Guarantee) -> Mechanism:
    if asked is None or asked == "best":
        return mean_mechanism(ball.space, promise, ball)
    chosen = parse_mechanism(asked) if isinstance(asked, str) else asked
    check_mechanism(chosen)
    reason = chosen.why_not(ball.space, promise, ball)
    if reason is not None:
        raise ConditionError(reason)
    return chosen


def simulated(
    ready: Prepared,
    records: Any,
    rng: np.random.Generator,
    known: dict[str, Any] | None = None,
) -> Estimate:
    """The inference with fast float noise instead of exact draws: NOT PRIVATE, for simulation.

    ``records`` are clipped ones. ``known`` keeps the values that do not depend on the noise, for
    other promises on the same records.
    """
    kept = {} if known is None else known

    def make(name: str, statistic: Statistic) -> Noisy:
        stages = ready.mechanism_of(name).stages(ready.split[name])
        value = kept.get(name)
        if value is None:
            value = statistic.evaluate(records).value
            kept.update({name: value} if name in _NOISELESS else {})
        if name == "mean" and len(stages) == 1:  # its calibration never changes
            cal = ready.calibration
            return Noisy(cal.sample(value, rng=rng), noise_of_calibration(cal))
        drawn, calibrations, _ = run(
            stages, statistic, ready.n, lambda cal: cal.sample(value, rng=rng)
        )
        return Noisy(drawn, noise_of_calibration(calibrations[-1]))

    numbers = collect(make, ready.split, ready.ball, ready.n, ready.spread)
    return Estimate(numbers, ready.confidence)
