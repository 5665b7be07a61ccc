"""What is attacked: two neighbouring inputs, and how to draw what is released for either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from geodp.errors import GeodpError
from geodp.mechanisms.base import Calibration, Evaluated, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.random import BitStream
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.gradient import gradient_of
from geodp.testing.audit.laws import StatedLaw, stated_law
from geodp.testing.audit.neighbours import two_clusters, values_apart

LAW = 2
"""The input that the law is tested on; 0 and 1 are the neighbours."""


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """Inputs 0 and 1 are neighbours; input 2 is the one that the stated law is tested on.

    ``points``: the values of the three inputs. ``exact(i, stream)``: one draw of what leaves.
    ``fast(i, n, rng)``: n float draws of the same law, None where there are none. ``log_ratio``:
    of the stated densities at the inputs 0 and 1, None where none is stated.
    """

    calibration: Calibration
    points: tuple[Array, Array, Array]
    exact: Callable[[int, BitStream], Array]
    fast: Callable[[int, int, np.random.Generator], Array] | None
    law: StatedLaw | None
    log_ratio: Callable[[Array], Array] | None

    @property
    def space(self) -> Space:
        return self.calibration.space

    def scores(self, draws: Array) -> dict[str, Array]:
        """Numbers that are large where a draw speaks for input 0, by name.

        The log-ratio of the stated densities is the best there is if the law is the stated one; the
        others need no law.
        """
        a, b, _ = self.points
        near, far = self.space.dist(a, draws), self.space.dist(b, draws)
        flat = draws.reshape(len(draws), -1)
        step = (a - b).reshape(-1)
        found = {
            "nearer centre": far - near,
            "distance to the first": near,
            "distance to the second": far,
            "projection": flat @ (step / np.linalg.norm(step)),
        }
        if self.log_ratio is not None:
            found["log-ratio"] = self.log_ratio(draws)
        return found


def on_values(
    cal: Calibration, ball: Ball, distance: float, values: tuple[Array, Array] | None = None
) -> Subject:
    """A mechanism that looks at the value alone, at two values ``distance`` apart."""
    a, b = values_apart(ball, distance) if values is None else values
    law = stated_law(cal)
    points = (a, b, ball.center if law is not None and law.at_center else a)

    def log_ratio(draws: Array) -> Array:
        assert law is not None
        return law.log_ratio(a, b, draws)

    return Subject(
        cal,
        points,
        lambda i, stream: cal.draw(points[i], stream),
        lambda i, n, rng: cal.sample(points[i], n, rng),
        law,
        None if law is None else log_ratio,
    )


def on_records(cal: Calibration, ball: Ball, pair: tuple[Array, Array]) -> Subject:
    """A mechanism that looks at the records, at two neighbouring data sets; its law is tested on as
    many records at the ball's centre."""
    statistic = FrechetMean(ball)
    center = np.broadcast_to(ball.center, pair[0].shape)
    inputs = [_evaluated(statistic, records) for records in (*pair, center)]
    points = (inputs[0].value, inputs[1].value, inputs[2].value)

    def log_ratio(draws: Array) -> Array:
        norms = [_gradient_norm(one, draws) for one in inputs[:2]]
        return np.asarray((norms[1] - norms[0]) / cal.scale)

    law = stated_law(cal)
    return Subject(
        cal,
        points,
        lambda i, stream: cal.release(inputs[i], stream),
        None,
        law,
        None if law is None else log_ratio,
    )


def needs_records(mechanism: Mechanism, ball: Ball) -> bool:
    """Whether the mechanism looks at more than the value; not on a ball too wide for a mean."""
    try:
        return mechanism.sensitivity(FrechetMean(ball), 2) is not None
    except GeodpError:
        return False


def records_for(ball: Ball, sensitivity: float) -> int:
    """The fewest records whose gradient moves at most ``sensitivity``."""
    whole = gradient_of(FrechetMean(ball)).sensitivity(1)
    return max(2, -(-Fraction(whole) // Fraction(sensitivity)))


def subject_for(
    mechanism: Mechanism,
    ball: Ball,
    sensitivity: float,
    guarantee: Guarantee,
) -> Subject:
    """The mechanism, calibrated, at neighbours a sensitivity apart."""
    if needs_records(mechanism, ball):
        n = records_for(ball, sensitivity)
        length = gradient_of(FrechetMean(ball)).sensitivity(n)
        cal = mechanism.calibrate(ball.space, length, guarantee, ball)
        return on_records(cal, ball, two_clusters(ball, n))
    return on_values(
        mechanism.calibrate(ball.space, sensitivity, guarantee, ball), ball, sensitivity
    )


def _evaluated(statistic: FrechetMean, records: Array) -> Evaluated:
    clipped = statistic.ball.clip(records)
    return Evaluated(statistic.evaluate(clipped).value, statistic, clipped)


def _gradient_norm(evaluated: Evaluated, draws: Array) -> Array:
    """|(1/n) sum of log_x x_i| at each draw, in floats."""
    records = evaluated.records
    assert records is not None
    space = records.ball.space
    logs = [space.log_coords(draws, x) for chunk in records.chunks() for x in chunk]
    return np.asarray(np.linalg.norm(sum(logs) / len(logs), axis=-1))
