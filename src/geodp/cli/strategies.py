"""From options to a statistic and the mechanisms that may randomise it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import geodp as gd
from geodp.cli.build import Given
from geodp.errors import InputError
from geodp.io import Layout, read_point
from geodp.mechanisms import Mechanism, candidates, on_request, parse_mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.route import is_direct, route_of

MECHANISMS = ("best", *(mechanism.name for mechanism in (*candidates(), *on_request())))
SLOW = " and ".join(mechanism.name for mechanism in on_request())
MEAN, EXTRINSIC = "frechet-mean", "extrinsic-mean"
_STATISTICS: dict[str, Callable[[Any], gd.Statistic]] = {
    MEAN: gd.FrechetMean,
    "frechet-median": gd.FrechetMedian,
    "tangent-mean": gd.TangentMean,
    EXTRINSIC: gd.ExtrinsicMean,
    "frechet-variance": gd.FrechetVariance,
}
STATISTICS = tuple(_STATISTICS)
_SMALL = 1e-3  # a radius at which every mechanism that only lacks a ball can serve


def statistic(given: Given, space: gd.Space, domain: gd.Ball | None) -> gd.Statistic:
    """The statistic that --statistic names (the Fréchet mean by default), with its --bound."""
    name = given["statistic"] or MEAN
    if name == MEAN:
        assert domain is not None
        return gd.FrechetMean(domain, given["bound"])
    if given["bound"] != "sharp":
        raise InputError(f"--bound belongs to the Fréchet mean; leave it out for {name}.")
    return _STATISTICS[name](space if domain is None else domain)


def needs_ball(given: Given) -> bool:
    """Whether the statistic is defined on a ball alone."""
    return bool(given["statistic"] != EXTRINSIC)


def mechanisms(given: Given, layout: Layout, *names: str) -> tuple[Mechanism, ...]:
    """The mechanisms that the names ask for ("best": the candidates), with the footpoint.

    A footpoint is one of wrapped noise: with it "best" stands for the wrapped candidates, and
    another mechanism by name is refused.
    """
    chosen: dict[str, Mechanism] = {}
    for name in names:
        named = candidates() if name == "best" else (parse_mechanism(name),)
        if given["footpoint"] is not None:
            wrapped = [one for one in named if isinstance(one, gd.Wrapped)]
            if not wrapped:
                raise InputError(
                    f"--footpoint belongs to the wrapped mechanisms; leave it out for {name}."
                )
            footpoint = _footpoint(given["footpoint"], layout)
            named = tuple(replace(one, footpoint=footpoint) for one in wrapped)
        chosen |= {one.name: one for one in named}
    return tuple(chosen.values())


def check_serves(
    considered: tuple[Mechanism, ...], subject: gd.Statistic, promise: Guarantee, given: Given
) -> None:
    """Refuse, from public facts, when no mechanism can serve this statistic."""
    route = route_of(subject)
    kind = (given["footpoint"] or "center").partition(":")[0]
    if kind not in ("center", "private") and not is_direct(route):
        raise InputError(
            f"The noise of the {subject.name} is not added on {subject.space.spec}, so that no "
            "point of it can be its --footpoint; use center or private[:SHARE]."
        )
    check_one_serves(considered, route.space, promise, route.ball)


def check_one_serves(
    considered: tuple[Mechanism, ...],
    space: gd.Space,
    promise: Guarantee,
    domain: gd.Ball | None,
) -> None:
    """Refuse, from public facts, when no mechanism can serve."""
    if domain is None:
        check_ball(considered, space, promise)
    reasons = [mechanism.why_not(space, promise, domain) for mechanism in considered]
    refused = [reason for reason in dict.fromkeys(reasons) if reason is not None]
    if None not in reasons:
        raise InputError(" ".join(refused))


def check_ball(considered: tuple[Mechanism, ...], space: gd.Space, promise: Guarantee) -> None:
    """Refuse where a ball alone is missing: none serves without one, and one would with it."""
    small = gd.Ball(space, space.origin, _SMALL * min(1.0, space.injectivity_radius))
    for mechanism in considered:
        if mechanism.why_not(space, promise, None) is None:
            return
    for mechanism in considered:
        if mechanism.why_not(space, promise, small) is None:
            raise InputError(
                f"On {space.spec} {mechanism.name} needs the public ball that holds the value: "
                "state it by --center and --radius, --eigenvalues (SPD) or --degrees (sphere:2)."
            )


def _footpoint(text: str, layout: Layout) -> Any:
    if text == "center":
        return None
    kind, _, share = text.partition(":")
    if kind == "private":
        return gd.PrivateFootpoint(share) if share else gd.PrivateFootpoint()
    return read_point(text, layout, "The footpoint")
