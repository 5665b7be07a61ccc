"""A release and its receipt: one frozen record, one JSON document under a versioned schema."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array, Space
from geodp.spaces.parse import parse_space

SCHEMA = "geodp/release/v1"
NEIGHBOURS = "replace one record, number of records public"


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


@final
@dataclass(frozen=True)
class Domain:
    """The public ball, and what one raw number of a record means, as declared."""

    center: Array
    radius: float
    physical_unit: str | None = None
    component_order: str | None = None
    frame: str | None = None


@final
@dataclass(frozen=True, eq=False)
class Release:
    """What left the building, and everything needed to check its guarantee.

    Nothing here is computed at the true value: errors, iterations and distances reached stay
    private. ``save`` and ``load`` write and read the JSON receipt.
    """

    value: Array
    space: Space
    statistic: str
    domain: Domain | None
    n: int | None
    unit: str
    guarantee: Guarantee
    mechanism: str
    sensitivity: Sensitivity
    stages: tuple[Mapping[str, Any], ...]
    expected_distance: float
    private: bool
    released_at: str
    versions: Mapping[str, str]
    neighbours: str = NEIGHBOURS

    @property
    def scale(self) -> float:
        """The scale of the last stage's noise, a geodesic length."""
        return float(self.stages[-1]["scale"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""
        budget = (
            "No ledger was given: nothing remembers this spend, and releases about the same people "
            "add up."
        )
        seeded = "NOT PRIVATE: the noise came from a seeded generator and can be replayed."
        return (budget,) if self.private else (seeded, budget)

    def to_json(self) -> dict[str, Any]:
        """The receipt as a JSON document (schema ``geodp/release/v1``)."""
        domain = None
        if self.domain is not None:
            domain = asdict(self.domain) | {"center": self.domain.center.tolist()}
        return {
            "schema": SCHEMA,
            "request": {
                "space": self.space.spec,
                "statistic": self.statistic,
                "domain": domain,
                "n": self.n,
                "unit": self.unit,
                "neighbours": self.neighbours,
                "guarantee": self.guarantee.to_json(),
                "mechanism": self.mechanism,
            },
            "outcome": {
                "value": self.value.tolist(),
                "sensitivity": asdict(self.sensitivity) | {"total": self.sensitivity.total},
                "stages": [dict(stage) for stage in self.stages],
                "expected_distance": self.expected_distance,
                "guarantee_in_words": self.guarantee.text,
                "private": self.private,
                "notes": list(self.notes),
                "released_at": self.released_at,
                "versions": dict(self.versions),
            },
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Release:
        """Read a receipt; ``InputError`` names the schema or the first part that does not fit."""
        if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
            raise InputError(f"This is no receipt of schema {SCHEMA}.")
        try:
            request, outcome = document["request"], document["outcome"]
            domain = request["domain"]
            if domain is not None:
                center = np.array(domain["center"], dtype=np.float64)
                domain = Domain(**(domain | {"center": center}))
            parts = outcome["sensitivity"]
            if not outcome["stages"]:
                raise InputError("The receipt has no stage: it states no noise at all.")
            return cls(
                value=np.array(outcome["value"], dtype=np.float64),
                space=parse_space(request["space"]),
                statistic=_text(request["statistic"]),
                domain=domain,
                n=None if request["n"] is None else int(request["n"]),
                unit=_text(request["unit"]),
                guarantee=Guarantee.from_json(request["guarantee"]),
                mechanism=_text(request["mechanism"]),
                sensitivity=Sensitivity(float(parts["statistic"]), float(parts["error_bound"])),
                stages=tuple(dict(stage) for stage in outcome["stages"]),
                expected_distance=float(outcome["expected_distance"]),
                private=outcome["private"] is True,
                released_at=_text(outcome["released_at"]),
                versions=dict(outcome["versions"]),
                neighbours=_text(request["neighbours"]),
            )
        except GeodpError:
            raise
        except KeyError as error:
            raise InputError(f"The receipt lacks the field {error.args[0]!r}.") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError("The receipt has a field of the wrong type.") from error

    def plot(self, ax: Any = None) -> Any:
        """Draw the value and its noise radius; see ``geodp.plots.plot``."""
        from geodp.plots import plot

        return plot(self, ax=ax)

    def save(self, path: str | Path) -> None:
        """Write the receipt as JSON."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a receipt written by ``save``."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"The receipt {str(path)!r} cannot be read.") from error
        except ValueError as error:
            raise InputError(f"{str(path)!r} is no JSON document.") from error
        return cls.from_json(document)

    def __repr__(self) -> str:
        count = "" if self.n is None else f" of {self.n} {self.unit}s"
        head = f"{self.statistic}{count} on {self.space.spec}"
        rows = [
            ("guarantee", f"{self.guarantee.label}, {self.neighbours}"),
            ("mechanism", f"{self.mechanism}, scale {self.scale:.6g}"),
            ("sensitivity", f"{self.sensitivity.total:.6g}"),
            ("expected distance", f"{self.expected_distance:.4g}"),
            *(("note", note) for note in self.notes),
        ]
        return "\n".join([head, *(f"  {name}: {text}" for name, text in rows)])


def _text(x: object) -> str:
    if not isinstance(x, str):
        raise TypeError
    return x
