"""A release asked for by a JSON document: the request part of a receipt, under the same schema."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from geodp.errors import GeodpError, InputError
from geodp.io.schema import problems, release_schema
from geodp.io.source import named, open_bytes
from geodp.ledger.receipt import SCHEMA, Release
from geodp.mechanisms import parse_mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Space
from geodp.spaces.parse import parse_space
from geodp.statistics import ExtrinsicMean, FrechetMean, FrechetMedian, TangentMean
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.verbs.release import release

_LONGEST = 2**26  # bytes: a map's centre is long
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
}
"""Statistics by their names on the command line and on receipts."""


@final
@dataclass(frozen=True, eq=False)
class Spec:
    """What a spec file asks for; ``n`` is None where the data say how many records there are."""

    space: Space
    statistic: Statistic
    guarantee: Guarantee
    mechanism: str
    unit: str
    n: int | None = None

    def check_count(self, n: int) -> None:
        """``InputError`` where the data have another number of records."""
        if self.n is not None and n != self.n:
            raise InputError(
                "At $.request.n: the data have another number of records than the spec states."
            )

    def release(self, records: Any, **how: Any) -> Release:
        """``gd.release`` of the records as the spec asks; ``how`` names ledger, data set, request
        id, group, the share for replaced records, and a seed for simulations."""
        self.check_count(len(records))
        return release(
            records, self.statistic, self.guarantee, self.mechanism, unit=self.unit, **how
        )


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """The spec in a JSON file ``{"schema": "geodp/release/v1", "request": {…}}``.

    The request is that of a receipt (``geodp/ledger/schema_v1.json``): a receipt's own can be
    copied. ``mechanism`` may be ``"best"``, ``statistic`` a name of the command line, ``n`` null.

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
    with open_bytes(path) as stream:
        try:
            content = stream.read(_LONGEST + 1)
            if len(content) > _LONGEST:
                raise InputError(f"{name} is too long for a spec.")
            document = json.loads(content.decode("utf-8"), parse_constant=_no_number)
        except OSError as error:
            raise InputError(f"{name} cannot be read.") from error
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} is no JSON document.") from error
    try:
        return spec_of(document)
    except (OverflowError, RecursionError) as error:
        raise InputError(f"{name} has a field of the wrong kind.") from error


def spec_of(document: Any) -> Spec:
    """The spec that a JSON document states; see ``read_spec``."""
    _check_shape(document)
    request = document["request"]
    with _at("$.request.space"):
        space = parse_space(request["space"])
    if request.get("about") is not None:
        raise InputError("At $.request.about: numbers about records are not asked for by a spec.")
    ball = None if request["domain"] is None else _ball(space, request["domain"])
    with _at("$.request.guarantee"):
        guarantee = Guarantee.from_json(request["guarantee"])
    with _at("$.request.mechanism"):
        if request["mechanism"] != "best":
            parse_mechanism(request["mechanism"])
    n = request["n"] if request["n"] is None else int(request["n"])
    statistic = _statistic(request["statistic"], space, ball)
    return Spec(space, statistic, guarantee, request["mechanism"], request["unit"], n)


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


def _ball(space: Space, domain: Mapping[str, Any]) -> Ball:
    with _at("$.request.domain"):
        return Ball(space, **domain)


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


def _no_number(text: str) -> Any:
    raise ValueError(text)  # NaN and infinities are no JSON
