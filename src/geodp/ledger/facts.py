"""Parts of a receipt: sensitivity, domain, what a number is about, the share of moved records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.parse import parse_space

_MANY = 0.05  # a share beyond it, and beyond its noise, is worth a warning
_DROWNED = 0.5  # noise of this standard deviation hides any share


@final
@dataclass(frozen=True)
class Sensitivity:
    """What the noise is calibrated to: ``total = statistic + 2 * error_bound``, rounded up.

    ``statistic`` is the exact statistic's replace-one sensitivity; ``error_bound`` the public bound
    on solver and rounding errors, the same for every data set. Geodesic lengths.
    """

    statistic: float
    error_bound: float

    @property
    def total(self) -> float:
        """The sensitivity of the computed value."""
        if self.error_bound == 0:
            return self.statistic
        return math.nextafter(self.statistic + 2 * self.error_bound, math.inf)

    def to_json(self) -> dict[str, float]:
        """The parts and their total."""
        return asdict(self) | {"total": self.total}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Sensitivity:
        """What ``to_json`` wrote."""
        return cls(float(facts["statistic"]), float(facts["error_bound"]))


@final
@dataclass(frozen=True)
class Domain:
    """The public ball, and what one raw number of a record means, as declared."""

    center: Array
    radius: float
    physical_unit: str | None = None
    component_order: str | None = None
    frame: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The ball as JSON values."""
        return asdict(self) | {"center": self.center.tolist()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Domain:
        """What ``to_json`` wrote; TypeError where a declared text is none."""
        declared = (facts.get(name) for name in ("physical_unit", "component_order", "frame"))
        if not all(text is None or isinstance(text, str) for text in declared):
            raise TypeError
        return cls(**(dict(facts) | {"center": np.array(facts["center"], dtype=np.float64)}))


@final
@dataclass(frozen=True)
class Subject:
    """The records that a released number is about, where it does not live on their space.

    ``parameters`` are the public facts that the statistic was made with, such as the released point
    from which its records were seen.
    """

    space: Space
    domain: Domain
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The subject as JSON values."""
        domain = self.domain.to_json()
        return {"space": self.space.spec, "domain": domain, "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Subject:
        """What ``to_json`` wrote."""
        domain = Domain.from_json(facts["domain"])
        return cls(parse_space(facts["space"]), domain, dict(facts["parameters"]))


@final
@dataclass(frozen=True)
class Replaced:
    """The noisy share of records that the public rule moved or replaced.

    It is drawn beside the value, to its own part of the promise, which ``stage`` states together
    with the noise. ``share`` may lie below 0 or above 1; ``deviation`` is the noise's standard
    deviation.
    """

    share: float
    deviation: float
    sensitivity: Sensitivity
    stage: Mapping[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """What it says, in sentences, and a warning where the records do not fit the ball."""
        shown, spread = (
            format(float(f"{100 * part:.2g}"), "g")  # two digits, never 1e+02
            for part in (min(max(self.share, 0.0), 1.0), self.deviation)
        )
        if self.deviation >= _DROWNED:
            return (
                "What share of the records was moved into the ball or replaced by its centre "
                f"cannot be told: the noise has a standard deviation of {spread} %.",
            )
        said = (
            f"About {shown} % of the records were moved into the ball or replaced by its "
            f"centre (noise of standard deviation {spread} %)."
        )
        if self.share - 2 * self.deviation <= _MANY:
            return (said,)
        return (said, "That is many: check the physical unit, the ball and the data.")

    def to_json(self) -> dict[str, Any]:
        """The share as JSON values."""
        return {
            "share": self.share,
            "deviation": self.deviation,
            "sensitivity": self.sensitivity.to_json(),
            "stage": dict(self.stage),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Replaced:
        """What ``to_json`` wrote."""
        numbers = float(facts["share"]), float(facts["deviation"])
        return cls(*numbers, Sensitivity.from_json(facts["sensitivity"]), dict(facts["stage"]))
