"""What an inference is asked for: by options, or by a spec file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import geodp as gd
from geodp.cli import build, grouping, reading
from geodp.cli.asking import SPELLED, spec_and_options
from geodp.cli.build import Given
from geodp.errors import InputError
from geodp.io import Layout, layout_for
from geodp.io.spec import Spec
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.entities import Entities

_STATED = ("confidence", "spread", "by")


@final
@dataclass(frozen=True, eq=False)
class AskedInference:
    """The request; no record is read yet. ``how`` are the keywords of ``gd.infer`` that say which
    inference it is."""

    layout: Layout
    promise: Guarantee
    domain: gd.Ball
    how: dict[str, Any]
    unit: str | None
    files: Sequence[str]
    given: Given
    spec: Spec | None = None

    def entities(self, ids: Any, n: int) -> Entities | None:
        """Whose ``n`` records with these ids are; refused where the spec states another number."""
        if self.spec is None:
            return grouping.entities(self.given, ids, n)
        groups = self.spec.grouped(ids, n)
        self.spec.check_count(n if groups is None else len(groups))
        return groups


def asked_inference(files: Sequence[str], given: Given) -> AskedInference:
    """What FILE... and options ask for; a first FILE that ends in .json is a spec."""
    if files[0].lower().endswith(".json"):
        return _by_spec(files, given)
    if given["space"] is None:
        raise InputError("Say where the records live (--space), or name a SPEC.json first.")
    space, layout = build.space_and_layout(given)
    given = dict(reading.declared(files, given, space))
    promise = build.guarantee(given)
    domain = build.ball(given, layout, required=True)
    assert domain is not None
    confidence = 0.95 if given["confidence"] is None else given["confidence"]
    how = {"confidence": confidence, "spread": given["spread"]}
    return AskedInference(layout, promise, domain, how, given["unit"], files, given)


def _by_spec(files: Sequence[str], given: Given) -> AskedInference:
    for name in _STATED:
        if given[name] is not None:
            raise InputError(f"The spec says what is asked for; leave out --{name}.")
    if len(files) == 1:
        raise InputError("Name the FILE of records after the spec.")
    spec, stated = spec_and_options(files, given)
    how = spec.check_inference().keywords | {"mechanism": spec.of_the_mean}
    domain = spec.statistic.ball
    assert domain is not None
    layout = layout_for(spec.space, **{name: stated[name] for name in SPELLED})
    head = (layout, spec.guarantee, domain, how, spec.unit)
    return AskedInference(*head, files[1:], stated, spec)
