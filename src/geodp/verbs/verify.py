"""verify: a receipt checked by someone else, without the records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.inference.collect import number_mechanism
from geodp.inference.groups import Groups
from geodp.inference.result import Inference
from geodp.ledger.check import Check
from geodp.ledger.neighbours import neighbours_of
from geodp.ledger.receipt import Release
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.mechanisms.wrapped import Wrapped
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Space
from geodp.spaces.parse import parse_space
from geodp.statistics.domain import Ball
from geodp.statistics.entity_rules import rule_in
from geodp.statistics.frechet_variance import ReplacedShare
from geodp.statistics.known import is_known, known_statistic
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.paying import strength_of
from geodp.verbs.replaced import Counting, Division
from geodp.verbs.stages import calibrated, expected_distance, finished, sensitivity_of

_TOO_MANY = "A stage states a field too many."
_SAME = 1e-9  # relative: what another machine's rounding may change
_RESOLVED = 12.0  # distances beyond which rounded entries may be no point any more


def verify(release: Release | Inference | Groups) -> list[Check]:
    """Recompute everything on a receipt, or on all receipts of an inference, that follows from
    public facts.

    The sensitivity from domain, n and statistic; each stage's scale from the sensitivity and its
    share of the guarantee; the shares' sum; that the value is a point of the space; that the noise
    was private; the signature of a ledger; and that nothing else stands there. Taken on the
    receipt's word are the public choices (n, unit, ball, footpoint), the declared physical unit,
    order and frame, the time, the versions, the sensitivity of a statistic that is not geodp's,
    and without a signature the drawn numbers. A receipt proves what was promised, not that the
    program that wrote it was geodp.

    What ``infer`` returned is verified part by part; then that the parts cost no more together than
    is stated, are of the same records, and that region, intervals and notes follow from them.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> out = gd.release(np.zeros((10, 2)), mean, gd.GaussianDP(1))
    >>> all(check.passed for check in gd.verify(out))
    True
    """
    if isinstance(release, (Inference, Groups)):
        from geodp.verbs.verify_document import verify_document

        return verify_document(release.to_json())
    if not isinstance(release, Release):
        raise InputError("verify takes a Release; read a receipt with gd.Release.load(path).")
    checks: list[tuple[str, Callable[[Release], str]]] = [
        ("noise", _noise),
        ("value", _value),
        ("neighbours", _neighbours),
        ("sensitivity", _sensitivity),
        ("scale", _scale),
        ("guarantee", _guarantee),
        ("words", _words),
        ("signature", _signature),
    ]
    return [_run(name, check, release) for name, check in checks]


class _Failed(Exception):
    """A check that does not hold; its message is the detail."""


def _run(name: str, check: Callable[[Release], str], release: Release) -> Check:
    try:
        return Check(name, True, check(release))
    except (_Failed, GeodpError) as error:
        return Check(name, False, str(error))
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError):
        return Check(name, False, "The receipt has a field of the wrong kind.")


def _noise(release: Release) -> str:
    if not release.private:
        raise _Failed("The noise came from a seeded generator: this release is NOT PRIVATE.")
    return "Drawn from ChaCha20 under a key of the operating system, by the receipt's word."


def _value(release: Release) -> str:
    space = release.space
    if release.value.shape != space.point_shape or not np.isfinite(release.value).all():
        raise _Failed(f"The value is no point of {space.spec}.")
    if not space.contains(release.value):
        if release.expected_distance > _RESOLVED:  # rounding alone can have done this
            return f"The noise is wider than floats resolve on {space.spec}: a useless value."
        raise _Failed(f"The value is no point of {space.spec}.")
    statistic = _statistic(release)
    if statistic is not None and not is_direct(route_of(statistic)):
        said = release.stages[-1]["drawn"]
        drawn = np.array(said, dtype=np.float64)
        if (
            drawn.tolist() != said
            or drawn.shape != route_of(statistic).space.point_shape
            or not space.dist(finished(statistic, drawn), release.value) <= 1e-9
        ):
            raise _Failed("The value does not follow from the point that was drawn.")
    stage, ball = release.stages[-1], _ball(release)
    inside = stage.get("kept_in") == "ball"
    if inside and (ball is None or not space.dist(ball.center, release.value) <= ball.reach):
        raise _Failed("The value lies outside the ball that it was kept in.")
    grid = " on the public grid of 64-bit floats" if stage.get("grid") == "float64" else ""
    return f"A point of {space.spec}{grid}{', in the ball' if inside else ''}."


def _neighbours(release: Release) -> str:
    expected = neighbours_of(release.statistic, release.unit)
    if release.neighbours != expected:
        raise _Failed(f"Another neighbour relation than '{expected}'.")
    if rule_in(release.statistic)[1] is not None:
        return f"{release.neighbours}; a {release.unit} may have any number of records."
    return f"{release.neighbours}; one record is one {release.unit}."


def _ball(release: Release) -> Ball | None:
    """The public ball of the value."""
    if release.domain is None:
        return None
    return Ball(release.space, release.domain.center, release.domain.radius)


def _records_ball(release: Release) -> Ball | None:
    """The public ball of the records."""
    about = release.about
    if about is None:
        return _ball(release)
    return Ball(about.space, about.domain.center, about.domain.radius)


def _statistic(release: Release) -> Statistic | None:
    """The statistic named on the receipt, if it is one of geodp's own."""
    ball = _records_ball(release)
    if not is_known(release.statistic):
        return None
    if ball is None or release.n is None:
        raise _Failed(f"A {release.statistic} has a domain and a number of records.")
    parameters = {} if release.about is None else release.about.parameters
    statistic = known_statistic(release.statistic, ball, **parameters)
    if statistic is None:  # its name must not make it a stranger's, whose word is taken
        raise _Failed(f"There is no {release.statistic} on this ball.")
    if statistic.space != release.space:
        raise _Failed(f"A {release.statistic} lies in {statistic.space.spec}.")
    return statistic


def _sensitivity(release: Release) -> str:
    parts = release.sensitivity
    if not (math.isfinite(parts.total) and parts.statistic > 0 and parts.error_bound >= 0):
        raise _Failed("The sensitivity must be finite and positive.")
    _check_count(release)
    statistic = _statistic(release)
    if statistic is None:
        return "Taken on the word of the statistic's author."
    assert release.n is not None
    stage = release.stages[-1]
    needed = sensitivity_of(statistic, release.n, _strategy(stage))
    if not (parts.statistic >= needed.statistic and parts.error_bound >= needed.error_bound):
        raise _Failed(
            f"The receipt states {parts.total:.9g}; domain, n and statistic need "
            f"{needed.total:.9g}."
        )
    return f"{parts.total:.6g} follows from domain, n and statistic."


def _counting(release: Release) -> Counting | None:
    """The share of replaced records as the public facts make it."""
    if release.replaced is None:
        return None
    ball = _records_ball(release)
    if ball is None or release.n is None:
        raise _Failed("A share of replaced records has a domain and a number of records.")
    share = ReplacedShare(ball)
    guarantee = Guarantee.from_json(release.replaced.stage["guarantee"])
    (stage,) = number_mechanism(guarantee).stages(guarantee)
    return Counting(share, *calibrated(stage.mechanism, share, release.n, guarantee))


def _check_count(release: Release) -> None:
    counting, stated = _counting(release), release.replaced
    if counting is None or stated is None:
        return
    parts, needed = stated.sensitivity, counting.sensitivity
    if not (parts.statistic >= needed.statistic and parts.error_bound >= needed.error_bound):
        raise _Failed("The share of replaced records has a larger sensitivity than is stated.")


def _strategy(stage: Mapping[str, Any]) -> Mechanism:
    from geodp.mechanisms import rebuilt
    from geodp.noise.strategies import noise_named

    name = str(stage["name"])
    if not name.startswith("wrapped-"):
        return rebuilt(stage)
    noise = noise_named(name.removeprefix("wrapped-"), stage.get("parameters"))
    return Wrapped(noise, np.array(stage["footpoint"], dtype=np.float64))


def _recalibrated(release: Release, stage: Mapping[str, Any]) -> Calibration:
    guarantee = Guarantee.from_json(stage["guarantee"])
    space, ball = _noise_space(release, stage)
    statistic, strategy = _statistic(release), _strategy(stage)
    if statistic is not None:
        strategy = strategy.suited(statistic)
    return strategy.calibrate(space, release.sensitivity.total, guarantee, ball)


def _noise_space(release: Release, stage: Mapping[str, Any]) -> tuple[Space, Ball | None]:
    """Where the stage's noise was added: known of geodp's own statistics, else as it says."""
    statistic = _statistic(release)
    if statistic is not None:
        route = route_of(statistic)
        if stage.get("space") != (None if is_direct(route) else route.space.spec):
            raise _Failed("A stage's noise was drawn on another space than the statistic's.")
        return route.space, route.ball
    if "space" in stage:
        return parse_space(str(stage["space"])), None
    return release.space, _ball(release)


def _scale(release: Release) -> str:
    calibrations = [_recalibrated(release, stage) for stage in release.stages]
    for stage, cal in zip(release.stages, calibrations, strict=True):
        if stage["name"] != release.mechanism:
            raise _Failed("A stage names another mechanism than the release.")
        if not float(stage["scale"]) >= cal.scale * (1 - _SAME):
            raise _Failed(
                f"The receipt states the scale {float(stage['scale']):.9g}; sensitivity and "
                f"guarantee need {cal.scale:.9g}."
            )
        if any(not _agree(stage[name], fact) for name, fact in cal.facts().items()):
            raise _Failed("A stage's facts do not follow from its sensitivity and guarantee.")
        elsewhere = {"space", "drawn", "then"} if stage is release.stages[-1] else {"space"}
        if not set(stage) <= set(cal.facts()) | (elsewhere if "space" in stage else set()):
            raise _Failed(_TOO_MANY)
    counting, replaced = _counting(release), release.replaced
    if counting is not None and replaced is not None:
        facts = counting.calibration.facts() | {"deviation": counting.deviation}
        said = dict(replaced.stage) | {"deviation": replaced.deviation}
        if not all(_agree(said[name], fact) for name, fact in facts.items()):
            raise _Failed("The noise of the share of replaced records does not follow.")
        if not set(said) <= set(facts):
            raise _Failed(_TOO_MANY)
        calibrations.append(counting.calibration)
    if release.strength is not None:
        needed = asdict(strength_of(release.guarantee, calibrations))
        if any(not _agree(fact, needed[name]) for name, fact in asdict(release.strength).items()):
            raise _Failed("The strength in other notions does not follow from the scales.")
    return "Each stage's scale is at least what its sensitivity and guarantee need."


def _agree(stated: object, needed: object) -> bool:
    """The same, but for rounding in the last digits on another machine."""
    if isinstance(needed, float) and isinstance(stated, (int, float)):
        return math.isclose(stated, needed, rel_tol=_SAME, abs_tol=0.0)
    if isinstance(needed, (list, tuple)) and isinstance(stated, (list, tuple)):
        return len(stated) == len(needed) and all(map(_agree, stated, needed))
    return stated == needed


def _written(stated: Any, ours: Any) -> bool:
    """Whether a document is what geodp writes; an older one may lack fields that say nothing."""
    if isinstance(ours, Mapping):
        if not isinstance(stated, Mapping) or not set(stated) <= set(ours):
            return False
        return all(_written(stated.get(name), fact) for name, fact in ours.items())
    if isinstance(ours, list) and isinstance(stated, list):
        return len(stated) == len(ours) and all(map(_written, stated, ours))
    return stated == ours and isinstance(stated, bool) == isinstance(ours, bool)


def _words(release: Release) -> str:
    if release.stated is not None and not _written(
        release.stated, replace(release, seal=None).to_json()
    ):
        raise _Failed("The words, notes or sums of the receipt do not follow from its numbers.")
    statistic = _statistic(release)
    if statistic is None or release.n is None:
        return "Words and sums follow from the numbers."
    route, last = route_of(statistic), release.stages[-1]
    own = _recalibrated(release, last).facts().get("then")
    if last.get("then") != (own if is_direct(route) else route.words):
        raise _Failed("The receipt says something else of its number than its records and ball do.")
    stages = tuple(
        Stage(_strategy(stage), Guarantee.from_json(stage["guarantee"])) for stage in release.stages
    )
    expected = expected_distance(stages, statistic, release.n)
    if not math.isclose(release.expected_distance, expected, rel_tol=1e-6):
        raise _Failed("The expected distance does not follow from the domain, n and scale.")
    return "Words, sums and the expected distance follow from the numbers."


def _guarantee(release: Release) -> str:
    shares = [Guarantee.from_json(stage["guarantee"]) for stage in release.stages]
    if not shares:
        raise _Failed("The receipt has no stage: it states no noise at all.")
    if any(share.notion != release.guarantee.notion for share in shares):
        raise _Failed("A stage is stated in another notion than the release.")
    if release.replaced is not None:
        count = Guarantee.from_json(release.replaced.stage["guarantee"])
        if count.notion != Division.notion_beside(release.guarantee):
            raise _Failed("The share of replaced records is stated in a notion that does not add.")
        shares.append(count)
    spent = [summands(share) for share in shares]
    whole = summands(release.guarantee)
    fixed = {name for name in whole if name == "alpha"}
    if any(share[name] != whole[name] for share in spent for name in fixed):
        raise _Failed("A stage is stated at another Rényi order than the release.")
    if any(sum(share.get(name, 0) for share in spent) > whole[name] for name in set(whole) - fixed):
        raise _Failed("The stages together cost more than the release states.")
    beside = "" if release.replaced is None else " and the share of replaced records"
    return (
        f"{len(release.stages)} stage(s){beside} that together cost at most the stated guarantee."
    )


def _signature(release: Release) -> str:
    if release.seal is None and release.ledger is None:
        return "None: no ledger signed this receipt, so whoever holds it can change the value."
    if release.seal is None:
        raise _Failed("The receipt names a ledger and has no signature.")
    if not release.seal.holds:
        raise _Failed("The signature is not one of this receipt.")
    signed = Release.from_json(json.loads(release.seal.document))
    if replace(release, seal=None).to_json() != signed.to_json():
        raise _Failed("The release is not the one that was signed.")
    if release.ledger is None:
        raise _Failed("A signed receipt names the ledger that paid.")
    return (
        f"Signed by the key {release.seal.fingerprint}, as entry {release.ledger.entry} of the "
        f"ledger {release.ledger.id}; that this is the curator's key is for you to ask."
    )


def summands(guarantee: Guarantee) -> dict[str, Fraction]:
    """The numbers that add up under composition (mu squared for Gaussian DP)."""
    numbers = {name: x for name, x in vars(guarantee).items() if isinstance(x, Fraction)}
    return {name: x**2 if name == "mu" else x for name, x in numbers.items()}
