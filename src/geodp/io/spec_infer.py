"""The parts of a spec beyond a receipt's request: where noise is wrapped, what an inference is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

from geodp.errors import InputError
from geodp.inference.quantiles import check_confidence
from geodp.inference.shares import checked_shares
from geodp.mechanisms import Mechanism, PrivateFootpoint, Wrapped, candidates, parse_mechanism
from geodp.spaces.base import Space
from geodp.statistics.route import is_direct, route_of

Footpoint: TypeAlias = "PrivateFootpoint | list[Any] | None"


@final
@dataclass(frozen=True)
class InferenceSpec:
    """What a spec states of an inference: level, split of the promise (None: the default), and the
    length at which tangent vectors are cut."""

    confidence: float = 0.95
    split: Mapping[str, Any] | None = None
    spread: float | None = None

    @classmethod
    def of(cls, stated: Mapping[str, Any], space: Space) -> InferenceSpec:
        """From the field ``infer`` of a request; ``InputError`` where a share does not fit."""
        confidence = check_confidence(stated.get("confidence", cls.confidence))
        split = stated.get("split")
        if split is not None:
            checked_shares(split, space)
        return cls(confidence, split, stated.get("spread"))

    @property
    def keywords(self) -> dict[str, Any]:
        """What ``gd.infer`` is told."""
        return {"confidence": self.confidence, "split": self.split, "spread": self.spread}


def footpoint_of(stated: Any, statistic: Any) -> Footpoint:
    """From the field ``footpoint``: null, a point, or ``{"private": share}``."""
    if isinstance(stated, Mapping):
        return PrivateFootpoint(stated["private"])
    if stated is not None and not is_direct(route_of(statistic)):
        raise InputError(
            f"The noise of the {statistic.name} is not added on {statistic.space.spec}, so that no "
            'point of it can be the footpoint; leave it out, or state {"private": "1/4"}.'
        )
    found: Footpoint = stated
    return found


def considered(name: str, footpoint: Footpoint) -> tuple[Mechanism, ...]:
    """The mechanisms that a name stands for ("best": the candidates), at their footpoint, which
    belongs to the wrapped ones."""
    named = candidates() if name == "best" else (parse_mechanism(name),)
    if footpoint is None:
        return named
    wrapped = [one for one in named if isinstance(one, Wrapped)]
    if not wrapped:
        raise InputError(f"It belongs to the wrapped mechanisms; leave it out for {name}.")
    return tuple(replace(one, footpoint=footpoint) for one in wrapped)
