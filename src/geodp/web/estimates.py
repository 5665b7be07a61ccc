"""How far a release is expected to land from a value at the ball's centre: the planner's rows.

``gd.plan`` looks at centre and edge, and ranks. The page shows the centre alone, by a formula where
there is one, so that it can answer while a form is filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

import geodp as gd
from geodp.errors import GeodpError
from geodp.inference.shares import REPLACED
from geodp.mechanisms import Calibration, Mechanism, candidates
from geodp.privacy.spherical_optima import tabulated
from geodp.random import public_rng
from geodp.spaces.base import Array
from geodp.spaces.parse import parse_space
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.replaced import divided
from geodp.verbs.stages import calibrated
from geodp.web.question import STATISTICS, Question
from geodp.web.response import Response

_COORDINATES = 6000  # drawn for a row
_UNRESOLVED = 1e100  # a distance that floats cannot tell
_WRAPPED = ("wrapped-gaussian", "wrapped-l2-laplace", "wrapped-spherical-gamma")
_QUICK = {
    "gdp": range(3, 65),  # in one and two dimensions the profile takes half a second
    "approx": range(1, 33),
    "pure": range(1, 501),
    "zcdp": range(1, 13),
    "renyi": range(1, 65),
}  # dimensions
_REFERENCE = {"pure": gd.Wrapped(gd.L2Laplace())}


@final
@dataclass(frozen=True)
class Estimate:
    """One statistic by one mechanism: mean distance with its standard error (0: a formula), the
    noise's scale, the parameters of its law in words, or the reason why not."""

    statistic: str
    mechanism: str
    distance: float | None = None
    error: float = 0.0
    scale: float | None = None
    why_not: str = ""
    law: str = ""


def mechanisms() -> dict[str, Mechanism]:
    """Those of a plan and the K-norm gradient, by name, in their fixed order."""
    return {mechanism.name: mechanism for mechanism in (*candidates(), gd.KNormGradient())}


def is_quick(question: Question, statistic: str, mechanism: Mechanism) -> bool:
    """Whether a row takes at most a tenth of a second: wrapped noise whose scale is found at once.

    That is so for the mechanism of the curves, and in few dimensions for the others, unless the law
    itself must be searched for.
    """
    if mechanism.name == reference(question.notion).name:
        return True
    if mechanism.name not in _WRAPPED:
        return False
    subject = subject_of(statistic, question.ball)
    space = route_of(subject).space
    if space.dim not in _QUICK[question.notion] or question.releases > 1:
        return False
    if mechanism.name != "wrapped-spherical-gamma" or question.notion != "approx":
        return True
    value = divided(subject, question.guarantee, REPLACED).value
    return tabulated(space.dim, value, 2 if space.is_flat else 1) is not None


def reference(notion: str) -> Mechanism:
    """The mechanism of the curves: wrapped noise whose scale is found at once for this promise."""
    return _REFERENCE.get(notion, gd.Wrapped(gd.Gaussian()))


@lru_cache(maxsize=64)
def subject_of(statistic: str, ball: gd.Ball) -> gd.Statistic:
    """The statistic of that name on this very ball: curves ask for it again and again.

    ``GeodpError`` where there is none.
    """
    return STATISTICS[statistic](ball)


def estimate(question: Question, statistic: str, mechanism: Mechanism) -> Estimate:
    """The row of one statistic and one mechanism.

    Several releases share the promise as in ``gd.plan``, and the share of replaced records is paid
    for first.
    """
    try:
        subject = subject_of(statistic, question.ball)
        tried = [
            (*distance_at_center(subject, cal), cal.scale, _law(cal))
            for cal in calibrations(question, subject, mechanism)
        ]
    except GeodpError as error:
        return Estimate(statistic, mechanism.name, why_not=str(error))
    distance, deviation, scale, law = min(tried)
    return Estimate(statistic, mechanism.name, distance, deviation, scale, law=law)


def _law(cal: Calibration) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in cal.parameters.items())


def refusal(question: Question, statistic: str) -> str | None:
    """Why there is no such statistic of the ball, which is known at once; None where there is."""
    try:
        subject_of(statistic, question.ball)
    except GeodpError as error:
        return str(error)
    return None


def calibrations(
    question: Question, subject: gd.Statistic, mechanism: Mechanism
) -> list[Calibration]:
    """The mechanism with its scale, for each way to share the promise among the releases."""
    route, promise, count = route_of(subject), question.guarantee, question.releases
    whole = promise if count > 1 else divided(subject, promise, REPLACED).value
    reason = mechanism.why_not(route.space, whole, route.ball)
    if reason is not None:
        raise gd.ConditionError(reason)
    chosen = mechanism.resolved(route.space, whole, count)
    found = []
    for share in chosen.shares(route.space, promise, count):
        # several (ε, δ) stand for the composed law of the value's noise alone, as in gd.plan
        part = 0 if count > 1 and share.notion == "approx" else REPLACED
        promised = divided(subject, share, part).value
        found.append(calibrated(chosen, subject, question.n, promised)[0])
    return found


def reference_distance(question: Question, statistic: str) -> float | None:
    """Mean distance by the reference mechanism, for curves; None where it cannot serve."""
    noise = reference(question.notion)
    try:
        subject = subject_of(statistic, question.ball)
        scale = min(cal.scale for cal in calibrations(question, subject, noise))
    except GeodpError:
        return None
    center = question.ball.center
    place = (statistic, question.space.spec, center.tobytes(), center.shape, question.notion)
    return _response(*place).at(scale)


@lru_cache(maxsize=64)
def _response(
    statistic: str, spec: str, center: bytes, shape: tuple[int, ...], notion: str
) -> Response:
    space = parse_space(spec)
    point = np.frombuffer(center).reshape(shape)
    small = 1e-3 * min(1.0, space.injectivity_radius)
    subject = STATISTICS[statistic](gd.Ball(space, point, small))
    noise = reference(notion)
    assert isinstance(noise, gd.Wrapped)
    return Response(subject, noise.noise.law(route_of(subject).space.dim))


def distance_at_center(statistic: gd.Statistic, cal: Calibration) -> tuple[float, float]:
    """Mean distance of a draw from a value at the centre, and its standard error (0: a formula).

    From the tangent space at the centre exp keeps lengths where there is no cut locus.
    """
    keeps = statistic.space.is_hadamard or is_direct(route_of(statistic))
    exact = cal.mean_distance() if keeps else None
    if exact is not None:
        return exact, 0.0
    distances = _simulated(statistic, cal, draws_for(route_of(statistic).space.dim))
    return float(distances.mean()), float(distances.std() / np.sqrt(len(distances)))


def draws_for(dim: int) -> int:
    """More where a draw is small."""
    return min(1000, max(100, _COORDINATES // dim))


def _simulated(statistic: gd.Statistic, cal: Calibration, draws: int) -> Array:
    center = _center(statistic)
    if is_direct(route_of(statistic)):
        return cal.distances(np.broadcast_to(center, (draws, *center.shape)), public_rng())
    with np.errstate(all="ignore"):
        distances = statistic.space.dist(center, released(statistic, cal, draws))
    return np.asarray(np.where(distances < _UNRESOLVED, distances, _UNRESOLVED))


def released(statistic: gd.Statistic, cal: Calibration, draws: int) -> Array:
    """Simulated releases of a value at the ball's centre, ``(draws, *point_shape)``."""
    route = route_of(statistic)
    with np.errstate(all="ignore"):
        lifted = route.lift(_center(statistic)[None])[0]
        return np.asarray(route.finish(cal.sample(lifted, draws, public_rng())))


def _center(statistic: gd.Statistic) -> Array:
    return statistic.space.origin if statistic.ball is None else statistic.ball.center
