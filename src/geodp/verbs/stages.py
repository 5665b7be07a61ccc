"""Running a mechanism's stages, each calibrated to its share: for real, or in simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from geodp.ledger.facts import Sensitivity
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.privacy.guarantees import Guarantee
from geodp.random import public_rng
from geodp.spaces.base import Array, Space
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.calibrate import calibrate

REPEATS = 1000
_UNRESOLVED = 1e100  # stands for a distance that floats cannot tell: the release is useless
_LEAST = 16
_NESTED = 200  # repeats where every draw needs a calibration of its own


def sensitivity_of(statistic: Statistic, n: int, mechanism: Mechanism | None = None) -> Sensitivity:
    """The parts of the computed value's sensitivity: a public function of the statistic and n.

    The error bound covers the statistic's own and the rounding of the value's logarithm at the
    mechanism's footpoint.
    """
    own = None if mechanism is None else mechanism.sensitivity(statistic, n)
    if own is not None:
        return Sensitivity(*own)
    ball, error = route_of(statistic).ball, statistic.error_bound
    if ball is not None:
        offset = 0.0 if mechanism is None else mechanism.offset(ball)
        error = float(np.nextafter(error + ball.log_error(offset), np.inf))
    return Sensitivity(statistic.sensitivity(n), error)


def calibrated(
    mechanism: Mechanism, statistic: Statistic, n: int, guarantee: Guarantee
) -> tuple[Calibration, Sensitivity]:
    """The mechanism with the scale that the computed value's sensitivity needs."""
    parts, route = sensitivity_of(statistic, n, mechanism), route_of(statistic)
    cal = calibrate(
        mechanism.suited(statistic), route.space, parts.total, guarantee, ball=route.ball
    )
    return cal, parts


def run(
    stages: tuple[Stage, ...],
    statistic: Statistic,
    n: int,
    draw: Callable[[Calibration], Array],
) -> tuple[Array, list[Calibration], Sensitivity]:
    """Calibrate and draw stage after stage; a later one is built on the point drawn before it."""
    ball = route_of(statistic).ball
    first, *later = stages
    cal, parts = calibrated(first.mechanism, statistic, n, first.guarantee)
    calibrations = [cal]
    point = draw(cal)
    for stage in later:
        footpoint = point if ball is None else ball.project(point)
        cal, parts = calibrated(stage.mechanism.at(footpoint), statistic, n, stage.guarantee)
        calibrations.append(cal)
        point = draw(cal)
    return point, calibrations, parts


def simulate(
    stages: tuple[Stage, ...],
    statistic: Statistic,
    n: int,
    values: Array,
    rng: np.random.Generator,
) -> Array:
    """Distances of simulated releases from ``values`` of shape ``(repeats, *point_shape)``."""
    route, once = route_of(statistic), len(stages) == 1
    cal, _ = calibrated(stages[0].mechanism, statistic, n, stages[0].guarantee)
    if once and is_direct(route):
        return cal.distances(values, rng)

    def drawn(value: Array) -> Array:
        if once:
            return cal.sample(value, rng=rng)
        return run(stages, statistic, n, lambda cal: cal.sample(value, rng=rng))[0]

    with np.errstate(all="ignore"):
        lifted = route.lift(values[:_NESTED])
        draws = np.stack([drawn(value) for value in lifted])
        distances = statistic.space.dist(route.finish(lifted), route.finish(draws))
    return np.asarray(np.where(distances < _UNRESOLVED, distances, _UNRESOLVED))


def expected_distance(stages: tuple[Stage, ...], statistic: Statistic, n: int) -> float:
    """Simulated for a value at the ball's centre: the true value plays no part."""
    rng = public_rng()
    return float(simulate(stages, statistic, n, at_center(statistic), rng).mean())


def finished(statistic: Statistic, drawn: Array) -> Array:
    """The point of the statistic's own space that a drawn point stands for."""
    return np.asarray(route_of(statistic).finish(drawn[None])[0])


def stage_facts(
    statistic: Statistic, calibrations: list[Calibration], drawn: Array
) -> tuple[dict[str, object], ...]:
    """What a receipt says of each draw; for a value that lives elsewhere also where, the point
    that was drawn, and how it became the released one."""
    facts, route = [cal.facts() for cal in calibrations], route_of(statistic)
    if not is_direct(route):
        facts = [stage | {"space": route.space.spec} for stage in facts]
        facts[-1] |= {"drawn": drawn.tolist(), "then": route.words}
    return tuple(facts)


def at_center(statistic: Statistic) -> Array:
    """The ball's centre (or the space's origin), once for each repeat."""
    point = statistic.space.origin if statistic.ball is None else statistic.ball.center
    return np.broadcast_to(point, (_repeats(statistic.space), *point.shape))


def at_edge(statistic: Statistic, rng: np.random.Generator) -> Array:
    """Random points at the ball's radius; the origin again where there is no ball."""
    if statistic.ball is None:
        return at_center(statistic)
    z = rng.standard_normal((_repeats(statistic.space), statistic.space.dim))
    return statistic.ball.edge(z)


def _repeats(space: Space) -> int:
    """Distances between maps, sums over their places, vary less: fewer repeats tell as much."""
    return max(REPEATS // space.cells, _LEAST)
