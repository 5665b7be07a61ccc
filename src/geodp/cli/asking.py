"""What a release is asked for: by options, or by a spec file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import geodp as gd
from geodp.cli import build, grouping, options, reading, strategies
from geodp.cli.build import Given
from geodp.errors import InputError
from geodp.io import Layout, layout_for
from geodp.io.spec import Spec, read_spec
from geodp.mechanisms import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.entities import Entities

SPELLED = ("layout", "columns", "lonlat", "poincare")
_SAID = (
    *("space", "statistic", "center", "radius", "eigenvalues", "degrees", "physical_unit"),
    *("component_order", "frame", "pure", "approx", "gdp", "renyi", "zcdp", "unit", "value"),
    *("sensitivity", "per_entity"),
)  # what a spec states, or rules out


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """The request, every refusal from public facts alone behind it; no record is read yet.

    ``mean`` is None for a value that was computed elsewhere.
    """

    layout: Layout
    promise: Guarantee
    domain: gd.Ball | None
    mean: gd.Statistic | None
    considered: tuple[Mechanism, ...]
    unit: str | None
    files: Sequence[str]
    given: Given
    spec: Spec | None = field(default=None)

    def entities(self, ids: Any, n: int) -> Entities | None:
        """Whose ``n`` records with these ids are; None where each is by itself."""
        if self.spec is None:
            return grouping.entities(self.given, ids, n)
        return self.spec.grouped(ids, n)

    def check_count(self, n: int) -> None:
        """Refuse where the spec states another number of records."""
        if self.spec is not None:
            self.spec.check_count(n)


def asked(files: Sequence[str], given: Given) -> Asked:
    """What FILE... and options ask for; a first FILE that ends in .json is a spec."""
    if files and files[0].lower().endswith(".json"):
        return _by_spec(files, given)
    if given["unit"] is not None and not given["unit"].strip():
        raise InputError("--unit says in words what one record is.")
    if given["space"] is None:
        raise InputError("Say where the records live (--space), or name a SPEC.json first.")
    space, layout = build.space_and_layout(given)
    promise = build.guarantee(given)
    given = reading.declared(files, given, space)
    own = given["value"] is not None
    domain = build.ball(given, layout, required=not own and strategies.needs_ball(given))
    considered = strategies.mechanisms(given, layout, given["mechanism"] or "best")
    mean = None if own else strategies.statistic(given, space, domain)
    if mean is None:
        strategies.check_one_serves(considered, space, promise, domain)
    else:
        strategies.check_serves(considered, mean, promise, given)
    return Asked(layout, promise, domain, mean, considered, given["unit"], files, given)


def _by_spec(files: Sequence[str], given: Given) -> Asked:
    if given["bound"] != "sharp":
        raise InputError("The spec says what is asked for; leave out --bound.")
    spec, stated = spec_and_options(files, given)
    if spec.inference is not None:
        raise InputError("At $.request.infer: this spec asks for an inference; use geodp infer.")
    domain = spec.domain
    layout = layout_for(spec.space, **{name: stated[name] for name in SPELLED})
    considered = spec.considered
    if spec.footpoint is None:
        considered = strategies.mechanisms(given, layout, spec.mechanism)
    strategies.check_serves(considered, spec.statistic, spec.guarantee, given)
    return Asked(
        layout,
        spec.guarantee,
        domain,
        spec.statistic,
        considered,
        spec.unit,
        files[1:],
        stated,
        spec,
    )


def spec_and_options(files: Sequence[str], given: Given) -> tuple[Spec, dict[str, Any]]:
    """The spec in the first file, and the options with what it states; refused where both do."""
    for name in (*_SAID, "mechanism"):
        if given.get(name) not in (None, ()):
            raise InputError(f"The spec says what is asked for; leave out --{_dashed(name)}.")
    spec = read_spec(files[0], lambda space: reading.declared(files[1:], {}, space))
    if spec.footpoint is not None and given.get("footpoint") is not None:
        raise InputError("The spec states the footpoint itself; leave out --footpoint.")
    if spec.replaced is not None and given["replaced"] != options.REPLACED:
        raise InputError("The spec states the share for replaced records; leave out --replaced.")
    if spec.entities is not None and given["entities"] is not None:
        raise InputError("The spec names the column of ids itself; leave out --entities.")
    if spec.columns is not None and given["columns"] is not None:
        raise InputError("The spec names the columns itself; leave out --columns.")
    column = {} if spec.entities is None else {"entities": spec.entities}
    if not column and given["entities"] is None:
        spec.grouped(None, 0)  # refuses where its statistic needs ids
    domain = spec.domain
    unit = {"physical_unit": None if domain is None else domain.physical_unit}
    replaced = {} if spec.replaced is None else {"replaced": spec.replaced}
    spelled = {} if spec.columns is None else {"columns": spec.columns}
    return spec, dict(given) | column | unit | replaced | spelled


def _dashed(name: str) -> str:
    return name.replace("_", "-")
