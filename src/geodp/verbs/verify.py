"""verify: a receipt checked by someone else, without the records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.ledger.check import Check
from geodp.ledger.receipt import NEIGHBOURS, Release
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.mechanisms.wrapped import Wrapped
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Space
from geodp.spaces.parse import parse_space
from geodp.statistics.domain import Ball
from geodp.statistics.known import known_statistic
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.stages import finished, sensitivity_of


def verify(release: Release) -> list[Check]:
    """Recompute everything on a receipt that follows from public facts.

    The sensitivity from domain, n and statistic; each stage's scale from the sensitivity and its
    share of the guarantee; the shares' sum; that the value is a point of the space; that the noise
    was private; the signature of a ledger. A receipt proves what was promised, not that the program
    that wrote it was geodp.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> out = gd.release(np.zeros((10, 2)), mean, gd.GaussianDP(1))
    >>> all(check.passed for check in gd.verify(out))
    True
    """
    if not isinstance(release, Release):
        raise InputError("verify takes a Release; read a receipt with gd.Release.load(path).")
    checks: list[tuple[str, Callable[[Release], str]]] = [
        ("noise", _noise),
        ("value", _value),
        ("neighbours", _neighbours),
        ("sensitivity", _sensitivity),
        ("scale", _scale),
        ("guarantee", _guarantee),
    ]
    if release.ledger is not None or release.seal is not None:
        checks.append(("signature", _signature))
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
    if release.value.shape != space.point_shape or not space.contains(release.value):
        raise _Failed(f"The value is no point of {space.spec}.")
    statistic = _statistic(release)
    if statistic is not None and not is_direct(route_of(statistic)):
        drawn = np.array(release.stages[-1]["drawn"], dtype=np.float64)
        if not space.dist(finished(statistic, drawn), release.value) <= 1e-9:
            raise _Failed("The value does not follow from the point that was drawn.")
    return f"A point of {space.spec}."


def _neighbours(release: Release) -> str:
    if release.neighbours != NEIGHBOURS:
        raise _Failed(f"Another neighbour relation than '{NEIGHBOURS}'.")
    return f"{release.neighbours}; one record is one {release.unit}."


def _ball(release: Release) -> Ball | None:
    if release.domain is None:
        return None
    return Ball(release.space, release.domain.center, release.domain.radius)


def _statistic(release: Release) -> Statistic | None:
    """The statistic named on the receipt, if it is one of geodp's own."""
    ball = _ball(release)
    if ball is None or release.n is None:
        return None
    return known_statistic(release.statistic, ball)


def _sensitivity(release: Release) -> str:
    parts = release.sensitivity
    if not (math.isfinite(parts.total) and parts.statistic > 0 and parts.error_bound >= 0):
        raise _Failed("The sensitivity must be finite and positive.")
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
    return _strategy(stage).calibrate(space, release.sensitivity.total, guarantee, ball)


def _noise_space(release: Release, stage: Mapping[str, Any]) -> tuple[Space, Ball | None]:
    """Where the stage's noise was added: known of geodp's own statistics, else as it says."""
    statistic = _statistic(release)
    if statistic is not None:
        route = route_of(statistic)
        return route.space, route.ball
    if "space" in stage:
        return parse_space(str(stage["space"])), None
    return release.space, _ball(release)


def _scale(release: Release) -> str:
    for stage in release.stages:
        needed = _recalibrated(release, stage).scale
        if not float(stage["scale"]) >= needed * (1 - 1e-12):
            raise _Failed(
                f"The receipt states the scale {float(stage['scale']):.9g}; sensitivity and "
                f"guarantee need {needed:.9g}."
            )
    return "Each stage's scale is at least what its sensitivity and guarantee need."


def _guarantee(release: Release) -> str:
    shares = [Guarantee.from_json(stage["guarantee"]) for stage in release.stages]
    if not shares:
        raise _Failed("The receipt has no stage: it states no noise at all.")
    if any(share.notion != release.guarantee.notion for share in shares):
        raise _Failed("A stage is stated in another notion than the release.")
    spent = [_additive(share) for share in shares]
    whole = _additive(release.guarantee)
    fixed = {name for name in whole if name == "alpha"}
    if any(share[name] != whole[name] for share in spent for name in fixed):
        raise _Failed("A stage is stated at another Rényi order than the release.")
    if any(sum(share[name] for share in spent) > whole[name] for name in set(whole) - fixed):
        raise _Failed("The stages together cost more than the release states.")
    return f"{len(shares)} stage(s) that together cost at most the stated guarantee."


def _signature(release: Release) -> str:
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


def _additive(guarantee: Guarantee) -> dict[str, Fraction]:
    """The numbers that add up under composition (mu squared for Gaussian DP)."""
    numbers = {name: x for name, x in vars(guarantee).items() if isinstance(x, Fraction)}
    return {name: x**2 if name == "mu" else x for name, x in numbers.items()}
