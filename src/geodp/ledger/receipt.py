"""A release and its receipt: one frozen record, one JSON document under a versioned schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.ledger.canonical import canonical
from geodp.ledger.facts import Domain, Replaced, Sensitivity, Subject
from geodp.ledger.neighbours import NEIGHBOURS, neighbours_of, replaced_thing
from geodp.ledger.seal import Seal, seal_of
from geodp.privacy.guarantees import GaussianDP, Guarantee, percent
from geodp.privacy.least import LeastProfile
from geodp.privacy.numbers import Number
from geodp.privacy.profile import Profile
from geodp.privacy.promised import promised
from geodp.spaces.base import Array, Space
from geodp.spaces.parse import parse_space
from geodp.statistics.entity_rules import rule_in

SCHEMA = "geodp/release/v1"


@final
@dataclass(frozen=True)
class Mark:
    """The entry of a ledger that paid: the ledger's id, the entry's number and hash, whose data,
    and the exact ``price`` in the ledger's additive ``notion``."""

    id: str
    entry: int
    hash: str
    dataset: str
    group: str | None
    notion: str
    price: str


@final
@dataclass(frozen=True)
class Strength:
    """What the guarantee comes to in other words: upper bounds, from public facts alone.

    ``mu`` of Gaussian DP (None where none is known), one pair (``epsilon``, ``delta``), and the
    most that a test can detect when it is wrong on 1 % and on 10 % of the others (estimates).
    """

    mu: float | None
    epsilon: float
    delta: float
    detects_at_1_percent: float
    detects_at_10_percent: float


@final
@dataclass(frozen=True, eq=False)
class Release:
    """What left the building, and everything needed to check its guarantee.

    Nothing here is computed at the true value: errors, iterations and distances reached stay
    private. ``save`` and ``load`` write and read the JSON receipt; of one that was read, ``stated``
    keeps the document, for ``verify`` to compare with what follows from the fields.

    Examples
    --------
    >>> import tempfile, numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> out = gd.release(np.zeros((9, 2)), mean, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    >>> out.value.shape, out.mechanism, out.n, out.private
    ((2,), 'wrapped-gaussian', 9, True)
    >>> place = tempfile.mkdtemp() + "/receipt.json"
    >>> out.save(place)
    >>> gd.Release.load(place).to_json() == out.to_json()
    True
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
    strength: Strength | None = None
    ledger: Mark | None = None
    seal: Seal | None = None
    stated: Mapping[str, Any] | None = None
    about: Subject | None = None
    replaced: Replaced | None = None

    @property
    def scale(self) -> float:
        """The scale of the last stage's noise, a geodesic length."""
        return float(self.stages[-1]["scale"])

    @property
    def promise(self) -> str:
        """The guarantee in one plain sentence, about a record or about what has many."""
        return self.guarantee.about(replaced_thing(self.statistic, self.unit))

    @property
    def profile(self) -> Profile:
        """What the receipt promises, for ``gd.compose`` and for other programs: the least of its
        guarantee and of its mu, where one is known. That it keeps its word, ``gd.verify`` checks.

        Examples
        --------
        >>> import geodp as gd
        >>> one = gd.GivenValue(gd.Euclidean(1), [0.0], 1.0)
        >>> out = gd.release(None, one, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
        >>> gd.compose([out.profile] * 4).mu()
        2.0
        """
        known = [promised(self.guarantee)]
        if self.strength is not None and self.strength.mu is not None:
            known.append(promised(GaussianDP(self.strength.mu)))
        return LeastProfile(tuple(known))

    def to_dp_accounting(self, interval: Number = 1e-4) -> Any:
        """``profile`` for the package dp-accounting; see ``gd.Profile.to_dp_accounting``."""
        return self.profile.to_dp_accounting(interval)

    def to_opendp(self) -> Any:
        """``profile`` for the package OpenDP; see ``gd.Profile.to_opendp``."""
        return self.profile.to_opendp()

    def registry_entry(self) -> dict[str, Any]:
        """The facts that public registries of deployments ask for."""
        from geodp.ledger.registry import registry_entry

        return registry_entry(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""
        budget = (
            "No ledger was given: nothing remembers this spend, and releases about the same people "
            "add up."
            if self.ledger is None
            else f"Paid from the ledger {self.ledger.id} as its entry {self.ledger.entry}."
        )
        seeded = "NOT PRIVATE: the noise came from a seeded generator and can be replayed."
        then = self.stages[-1].get("then")
        return (
            *(() if self.private else (seeded,)),
            budget,
            *self._entities,
            *self._places,
            *(() if then is None else (_text(then),)),
        )

    @property
    def _entities(self) -> tuple[str, ...]:
        """What one unit contributes, where it may have many records."""
        rule = rule_in(self.statistic)[1]
        return () if rule is None else (rule.note(self.unit),)

    @property
    def _places(self) -> tuple[str, ...]:
        """What the domain of maps is."""
        places = self.space.cells
        if places == 1 or self.domain is None:
            return ()
        return (
            f"The domain is a ball of radius {self.domain.radius:g} in each of {places} places; "
            "the promise covers all places of a record together.",
        )

    def to_json(self) -> dict[str, Any]:
        """The receipt as a JSON document (schema ``geodp/release/v1``), as it was signed."""
        if self.seal is not None:
            return {**json.loads(self.seal.document), "signature": self.seal.to_json()}
        return {
            "schema": SCHEMA,
            "request": request_json(
                self.space,
                self.statistic,
                self.domain,
                self.n,
                self.unit,
                self.guarantee,
                self.mechanism,
                self.neighbours,
                self.about,
            ),
            "outcome": {
                "value": self.value.tolist(),
                "sensitivity": self.sensitivity.to_json(),
                "stages": [dict(stage) for stage in self.stages],
                "replaced": None if self.replaced is None else self.replaced.to_json(),
                "expected_distance": self.expected_distance,
                "guarantee_in_words": self.promise,
                "strength": None if self.strength is None else asdict(self.strength),
                "ledger": None if self.ledger is None else asdict(self.ledger),
                "private": self.private,
                "notes": list(self.notes),
                "released_at": self.released_at,
                "versions": dict(self.versions),
            },
            "signature": None,
        }

    def signed_text(self) -> str:
        """What a ledger signs: the canonical JSON of the receipt without its signature."""
        return canonical({k: v for k, v in self.to_json().items() if k != "signature"})

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Release:
        """Read a receipt; ``InputError`` names the schema or the first part that does not fit."""
        if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
            raise InputError(f"This is no receipt of schema {SCHEMA}.")
        try:
            request, outcome = document["request"], document["outcome"]
            ball, parts = request["domain"], outcome["sensitivity"]
            if not outcome["stages"]:
                raise InputError("The receipt has no stage: it states no noise at all.")
            return cls(
                value=np.array(outcome["value"], dtype=np.float64),
                space=parse_space(request["space"]),
                statistic=_name(request["statistic"]),
                domain=None if ball is None else Domain.from_json(ball),
                n=None if request["n"] is None else _count(request["n"]),
                unit=_name(request["unit"]),
                guarantee=Guarantee.from_json(request["guarantee"]),
                mechanism=_text(request["mechanism"]),
                sensitivity=Sensitivity.from_json(parts),
                stages=tuple(dict(stage) for stage in outcome["stages"]),
                expected_distance=_distance(outcome["expected_distance"]),
                private=outcome["private"] is True,
                released_at=_moment(outcome["released_at"]),
                versions={name: _text(said) for name, said in outcome["versions"].items()},
                neighbours=_text(request["neighbours"]),
                strength=_part(outcome, "strength", _strength),
                ledger=_part(outcome, "ledger", _mark),
                about=_part(request, "about", Subject.from_json),
                replaced=_part(outcome, "replaced", Replaced.from_json),
                seal=seal_of(document),
                stated={**document, "signature": None},
            )
        except GeodpError:
            raise
        except KeyError as error:
            raise InputError(f"The receipt lacks the field {error.args[0]!r}.") from error
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
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
        except (ValueError, RecursionError) as error:
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
            *_strength_rows(self.strength),
            *(("note", note) for note in self.notes),
            *(() if self.replaced is None else [("moved", note) for note in self.replaced.notes]),
        ]
        return "\n".join([head, *(f"  {name}: {text}" for name, text in rows)])


def request_json(
    space: Space,
    statistic: str,
    domain: Domain | None,
    n: int | None,
    unit: str,
    guarantee: Guarantee,
    mechanism: str,
    neighbours: str | None = None,
    about: Subject | None = None,
) -> dict[str, Any]:
    """What was asked for, as it stands on a receipt and in a ledger's entry."""
    return {
        "space": space.spec,
        "statistic": statistic,
        "domain": None if domain is None else domain.to_json(),
        "about": None if about is None else about.to_json(),
        "n": n,
        "unit": unit,
        "neighbours": neighbours_of(statistic, unit) if neighbours is None else neighbours,
        "guarantee": guarantee.to_json(),
        "mechanism": mechanism,
    }


def _strength_rows(strength: Strength | None) -> list[tuple[str, str]]:
    if strength is None:
        return []
    mu = "" if strength.mu is None else f"mu {strength.mu:.4g}, "
    pair = f"(epsilon, delta) = ({strength.epsilon:.4g}, {strength.delta:.2g})"
    attack = (
        f"an attack that is wrong on 1 % detects at most {percent(strength.detects_at_1_percent)}, "
        f"on 10 % at most {percent(strength.detects_at_10_percent)}"
    )
    return [("that is", mu + pair), ("attack power", attack)]


_Part = TypeVar("_Part")


def _part(
    document: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any]], _Part]
) -> _Part | None:
    """A part that receipts may lack: it does not apply, or their program was older."""
    facts = document.get(name)
    return None if facts is None else read(facts)


def _strength(facts: Mapping[str, Any]) -> Strength:
    numbers = {k: float(x) for k, x in facts.items() if k != "mu"}
    return Strength(None if facts["mu"] is None else float(facts["mu"]), **numbers)


def _mark(facts: Mapping[str, Any]) -> Mark:
    texts = {k: _text(x) for k, x in facts.items() if k not in ("entry", "group")}
    group = facts["group"]
    return Mark(entry=int(facts["entry"]), group=None if group is None else _text(group), **texts)


def _text(x: object) -> str:
    if not isinstance(x, str):
        raise TypeError
    return x


def _name(x: object) -> str:
    if not _text(x).strip():
        raise InputError("The receipt's unit or statistic is blank.")
    return _text(x)


def _moment(x: object) -> str:
    try:
        datetime.fromisoformat(_text(x))
    except ValueError as error:
        raise InputError("The receipt's time of release is no ISO 8601 time.") from error
    return _text(x)


def _count(x: object) -> int:
    if isinstance(x, bool) or not isinstance(x, int) or x < 2:
        raise InputError("The receipt's number of records is no integer of at least two.")
    return x


def _distance(x: object) -> float:
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 <= x < math.inf:
        raise InputError("The receipt's expected distance is no finite length.")
    return float(x)
