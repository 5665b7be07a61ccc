"""A release asked for by a JSON document: the request part of a receipt, under the same schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, final

from geodp.errors import GeodpError, InputError
from geodp.inference.result import Inference
from geodp.io.document import read_document
from geodp.io.schema import problems, release_schema
from geodp.io.source import named
from geodp.io.spec_infer import Footpoint, InferenceSpec, considered, footpoint_of
from geodp.ledger.receipt import SCHEMA, Release
from geodp.mechanisms import Mechanism, parse_mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Space
from geodp.spaces.parse import parse_space
from geodp.statistics import (
    ExtrinsicMean,
    FrechetMean,
    FrechetMedian,
    FrechetVariance,
    TangentMean,
)
from geodp.statistics.declarations import agreed
from geodp.statistics.domain import Ball
from geodp.statistics.entities import Entities, PerEntity
from geodp.statistics.entity_rules import EntityMean, EntityRule, rule_in
from geodp.statistics.protocol import Statistic
from geodp.verbs.infer import infer
from geodp.verbs.plan import plan
from geodp.verbs.release import release
from geodp.verbs.replaced import replaced_part

_REPLACED = "0.01"
Declared: TypeAlias = "Callable[[Space], Mapping[str, Any]]"
_PUBLISHED = partial(FrechetMean, bound="published")
STATISTICS: dict[str, Callable[[Any], Statistic]] = {
    "frechet-mean": FrechetMean,
    "Fréchet mean": FrechetMean,
    "Fréchet mean (published bound)": _PUBLISHED,
    "frechet-median": FrechetMedian,
    "Fréchet median": FrechetMedian,
    "tangent-mean": TangentMean,
    "tangent mean": TangentMean,
    "extrinsic-mean": ExtrinsicMean,
    "frechet-variance": FrechetVariance,
    "Fréchet variance": FrechetVariance,
}
"""Statistics by their names on the command line and on receipts."""


@final
@dataclass(frozen=True, eq=False)
class Spec:
    """What a spec file asks for; ``n`` is None where the data say how many there are.

    ``space`` and ``domain`` are those of the records; the statistic may live elsewhere.

    With ``entities``, the column of the records' file with their ids, or a ``rule`` in the
    statistic's name, the unit is an entity and n their number. ``columns`` of that file spell a
    point, where not all do.
    """

    space: Space
    statistic: Statistic
    guarantee: Guarantee
    mechanism: str
    unit: str
    n: int | None = None
    entities: str | None = None
    rule: EntityRule | None = None
    footpoint: Footpoint = None
    replaced: str | None = None
    inference: InferenceSpec | None = None
    columns: tuple[str, ...] | None = None
    domain: Ball | None = None

    def check_count(self, n: int) -> None:
        """``InputError`` where the data have another number of records, or of entities."""
        if self.n is not None and n != self.n:
            what = "records" if self.rule is None else "entities"
            raise InputError(
                f"At $.request.n: the data have another number of {what} than the spec states."
            )

    def grouped(self, ids: Any, n: int) -> Entities | None:
        """Whose ``n`` records with these ids are, by the spec's rule."""
        if self.rule is not None and ids is None:
            raise InputError(
                "At $.request.statistic: it is one of entities, so the ids of the records must be "
                "named: state the column in $.request.entities, or say --entities."
            )
        if ids is None:
            return None
        return Entities(ids, n, EntityMean() if self.rule is None else self.rule)

    @property
    def considered(self) -> tuple[Mechanism, ...]:
        """The mechanisms that may serve, at their footpoint."""
        return considered(self.mechanism, self.footpoint)

    def release(self, records: Any, ids: Any = None, **how: Any) -> Release:
        """``gd.release`` of the records as the spec asks, with the id of each where the unit is an
        entity (``read_grouped``); ``how`` names ledger, data set, request id, group, and a seed for
        simulations."""
        if self.inference is not None:
            raise InputError("At $.request.infer: this spec asks for an inference, not a release.")
        groups = self._counted(records, ids)
        n = len(records if groups is None else groups)
        subject = self.statistic if groups is None else PerEntity(self.statistic, groups.rule)
        how = {"replaced": self.replaced or _REPLACED, **how, "unit": self.unit, "entities": groups}
        chosen: Any = self.mechanism
        if self.footpoint is not None:
            chosen = plan(subject, n, self.guarantee, self.considered, **_priced(how)).best
        return release(records, self.statistic, self.guarantee, chosen, **how)

    def infer(self, records: Any, ids: Any = None, **how: Any) -> Inference:
        """``gd.infer`` of the records as the spec asks; ``how`` as for ``release``."""
        asked, ball = self.check_inference(), self.statistic.ball
        assert ball is not None
        groups = self._counted(records, ids)
        how = {"replaced": self.replaced or _REPLACED, **how, "unit": self.unit, "entities": groups}
        found = infer(
            records, ball, self.guarantee, mechanism=self.of_the_mean, **asked.keywords, **how
        )
        assert isinstance(found, Inference)
        return found

    def check_inference(self) -> InferenceSpec:
        """What is asked of an inference; ``InputError`` where the spec asks for a release."""
        if self.inference is None:
            raise InputError(
                "At $.request.infer: it is missing, so that this spec asks for a release; state "
                '{"confidence": 0.95} for an inference.'
            )
        return self.inference

    @property
    def of_the_mean(self) -> Mechanism | None:
        """The mechanism of an inference's mean; None for the one that fits the space."""
        if self.mechanism == "best" and self.footpoint is None:
            return None
        return self.considered[0]

    def _counted(self, records: Any, ids: Any) -> Entities | None:
        """Whose records they are; ``InputError`` where they are not as many as stated."""
        groups = self.grouped(ids, len(records))
        self.check_count(len(records if groups is None else groups))
        return groups


def read_spec(path: str | os.PathLike[str], declared: Declared | None = None) -> Spec:
    """The spec in a JSON file ``{"schema": "geodp/release/v1", "request": {…}}``.

    The request is that of a receipt (``geodp/ledger/schema_v1.json``): a receipt's own can be
    copied. ``mechanism`` may be ``"best"``, ``statistic`` a name of the command line, ``n`` null.
    Beyond that, ``footpoint`` is a point or ``{"private": share}``, ``replaced`` the part of the
    promise for the share of replaced records, ``infer`` (``confidence``, ``split``, ``spread``)
    asks for an inference, ``columns`` names the columns of a CSV file that spell a point, and
    ``entities`` the column of the records' file that says whose each is. ``declared`` tells, of the
    spec's space, what the records' file says of unit, order and frame, where the spec's domain is
    silent.

    Raises
    ------
    InputError : no JSON, or the first thing that does not fit, with its JSON path.

    Examples
    --------
    >>> import json, pathlib, tempfile, geodp as gd
    >>> from geodp.io import read_spec
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> out = gd.release([[0.0, 0.1]] * 9, mean, gd.GaussianDP(1), "wrapped-gaussian")
    >>> document = {name: out.to_json()[name] for name in ("schema", "request")}
    >>> file = pathlib.Path(tempfile.mkdtemp(), "spec.json")
    >>> _ = file.write_text(json.dumps(document))
    >>> read_spec(file).release([[0.0, 0.1]] * 9).mechanism
    'wrapped-gaussian'
    """
    name = named(path)
    document = read_document(path, strict=True)
    try:
        return spec_of(document, declared)
    except (OverflowError, RecursionError) as error:
        raise InputError(f"{name} has a field of the wrong kind.") from error


def spec_of(document: Any, declared: Declared | None = None) -> Spec:
    """The spec that a JSON document states; see ``read_spec``."""
    _check_shape(document)
    request = document["request"]
    with _at("$.request.space"):
        space = parse_space(request["space"])
    if request.get("about") is not None:
        raise InputError(
            "At $.request.about: it is a receipt's. A spec of a number about records states their "
            "own space and domain, and the statistic frechet-variance."
        )
    domain, found = request["domain"], {} if declared is None else declared(space)
    ball = None if domain is None else _ball(space, domain, found)
    with _at("$.request.guarantee"):
        guarantee = Guarantee.from_json(request["guarantee"])
    with _at("$.request.mechanism"):
        if request["mechanism"] != "best":
            parse_mechanism(request["mechanism"])
    n = request["n"] if request["n"] is None else int(request["n"])
    name, rule = rule_in(request["statistic"])
    statistic, column = _statistic(name, space, ball), request.get("entities")
    with _at("$.request.footpoint"):
        footpoint = footpoint_of(request.get("footpoint"), statistic)
        considered(request["mechanism"], footpoint)
    with _at("$.request.replaced"):
        replaced = request.get("replaced")
        replaced_part(_REPLACED if replaced is None else replaced)
    inference = _inference(request.get("infer"), statistic, name)
    if column is not None and rule is None:
        rule = EntityMean()
    head = (space, statistic, guarantee, request["mechanism"], request["unit"], n, column, rule)
    named = request.get("columns")
    columns = None if named is None else tuple(named)
    return Spec(*head, footpoint, replaced, inference, columns, ball)


def _inference(stated: Any, statistic: Statistic, name: str) -> InferenceSpec | None:
    if stated is None:
        return None
    with _at("$.request.infer"):
        if STATISTICS.get(name) is not FrechetMean:
            raise InputError("An inference is of the Fréchet mean: state $.request.statistic so.")
        return InferenceSpec.of(stated, statistic.space)


def _priced(how: Mapping[str, Any]) -> dict[str, Any]:
    """What of a release's keywords decides which mechanism is best."""
    names = ("replaced", "ledger", "dataset", "group")
    return {name: how[name] for name in names if how.get(name) is not None}


def _check_shape(document: Any) -> None:
    if not isinstance(document, Mapping):
        raise InputError("At $: a spec is a JSON object.")
    if document.get("schema") != SCHEMA:
        raise InputError(f"At $.schema: a spec states the schema {SCHEMA}.")
    if "outcome" in document:
        raise InputError(
            "At $.outcome: this is a receipt. A spec has its schema and its request alone."
        )
    for name in document:
        if name not in ("schema", "request"):
            raise InputError(f"At $: a spec has no field {name!r}, but schema and request.")
    if "request" not in document:
        raise InputError("At $: the spec lacks 'request'.")
    root = release_schema()
    for path, what in problems(document["request"], root["properties"]["request"], root):
        raise InputError(f"At $.request{path[1:]}: it {what}.")


def _ball(space: Space, domain: Mapping[str, Any], found: Mapping[str, Any]) -> Ball:
    with _at("$.request.domain"):
        return Ball(space, **{**domain, **agreed(domain, found)})


def _statistic(name: str, space: Space, ball: Ball | None) -> Statistic:
    with _at("$.request.statistic"):
        make = ExtrinsicMean if name.startswith("extrinsic mean") else STATISTICS.get(name)
        if make is None:
            raise InputError(f"{name!r} is none that a spec can ask for.")
        if ball is None and make is not ExtrinsicMean:
            raise InputError("It is defined on a public ball: state $.request.domain.")
        found = make(space if ball is None else ball)
        if name not in STATISTICS and name != found.name:
            raise InputError(f"On {space.spec} it is called {found.name!r}.")
        return found


@contextmanager
def _at(path: str) -> Iterator[None]:
    try:
        yield
    except GeodpError as error:
        raise InputError(f"At {path}: {error}") from error
