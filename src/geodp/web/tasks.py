"""What a confirmation does: a release, or an inference of several; each with the plan before it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import geodp as gd
from geodp.mechanisms import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.verbs.infer_preview import InferencePlan, inference_plan
from geodp.verbs.plan_table import Plan
from geodp.web.sent import Held

Outcome: TypeAlias = "gd.Release | gd.Inference"


@final
@dataclass(frozen=True)
class Purpose:
    """Whose records they are, what one of them is, and who pays."""

    unit: str | None = None
    ledger: gd.Ledger | None = None
    dataset: str | None = None
    group: str | None = None
    column: str | None = None  # of ids: all records of one id count as one

    def keywords(self, request_id: str) -> dict[str, Any]:
        """What the verbs are told."""
        if self.ledger is None:
            return {"unit": self.unit}
        named = {"ledger": self.ledger, "dataset": self.dataset, "group": self.group}
        return {"unit": self.unit, **named, "request_id": request_id}

    @property
    def record_is(self) -> str:
        """What one unit is, in a word: a record, or all records of one id."""
        alone = "record" if self.column is None else "person"
        return self.unit or (alone if self.ledger is None else self.ledger.unit)

    @property
    def counted(self) -> str:
        """What n counts, in a word."""
        return "records" if self.column is None else f"{self.record_is}s"

    @property
    def alone(self) -> bool:
        """Whether each record is said to be all that there is of something other than a record."""
        return self.column is None and self.record_is != "record"

    def document(self) -> dict[str, Any]:
        """For a plan's digest."""
        paying = None if self.ledger is None else self.ledger.id
        return {
            "unit": self.unit,
            "ledger": paying,
            "dataset": self.dataset,
            "group": self.group,
            "entities": self.column,
        }


class Task(ABC):
    """Something that spends, asked for and not yet done; its records are held, and shown nowhere.

    A frozen dataclass with ``held``, ``source``, ``ball``, ``guarantee`` and ``purpose``, so
    that it can be kept without its records when it is done.
    """

    held: Held | None
    source: str
    ball: gd.Ball
    guarantee: Guarantee
    purpose: Purpose

    @property
    @abstractmethod
    def kind(self) -> str:
        """Which table its plan has."""

    @abstractmethod
    def plan_document(self) -> dict[str, Any]:
        """What was planned, as JSON values."""

    @abstractmethod
    def done(self, request_id: str) -> Outcome:
        """Do it."""

    @property
    def held_records(self) -> Held:
        """The records, which are there until it is done."""
        assert self.held is not None
        return self.held

    def document(self) -> dict[str, Any]:
        """Everything public that is about to be done."""
        ball = self.ball
        stated = [ball.center.tolist(), ball.radius]
        stated += [ball.physical_unit, ball.component_order, ball.frame]
        return {
            "kind": self.kind,
            "ball": stated,
            "file": self.source,
            **self.plan_document(),
            **self.purpose.document(),
        }

    def run(self, request_id: str) -> Outcome:
        """Do it, without a warning, which could depend on a record."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.done(request_id)


@final
@dataclass(frozen=True, eq=False)
class ReleaseTask(Task):
    """A release by the mechanism that its plan chose."""

    held: Held | None = field(repr=False)
    source: str
    ball: gd.Ball
    guarantee: Guarantee
    purpose: Purpose
    statistic: gd.Statistic
    mechanism: Mechanism
    plan: Plan

    @property
    def kind(self) -> str:
        return "release"

    @property
    def n(self) -> int:
        """The number of records, or of entities."""
        return self.plan.n

    def plan_document(self) -> dict[str, Any]:
        return {"plan": self.plan.to_json(), "mechanism": self.mechanism.name}

    def done(self, request_id: str) -> gd.Release:
        paid = self.purpose.keywords(request_id)
        held = self.held_records
        paid |= {"entities": held.entities}
        return gd.release(held.records, self.statistic, self.guarantee, self.mechanism, **paid)


@final
@dataclass(frozen=True, eq=False)
class InferenceTask(Task):
    """A mean with its region and the variance, to one promise together."""

    held: Held | None = field(repr=False)
    source: str
    ball: gd.Ball
    guarantee: Guarantee
    purpose: Purpose
    plan: InferencePlan
    asked_mechanism: str | None

    @property
    def kind(self) -> str:
        return "inference"

    @property
    def n(self) -> int:
        """The number of records, or of entities."""
        return self.plan.ready.n

    @property
    def confidence(self) -> float:
        """The level of the region and of the intervals."""
        return self.plan.ready.confidence

    def plan_document(self) -> dict[str, Any]:
        ready, budget = self.plan.ready, self.plan.budget
        split = {name: part.to_json() for name, part in ready.split.items()}
        return {
            "n": self.n,
            "space": self.ball.space.spec,
            "guarantee": self.guarantee.to_json(),
            "confidence": self.confidence,
            "mechanism": ready.mechanism.name,
            "split": split,
            "budget": None if budget is None else dict(budget),
        }

    def done(self, request_id: str) -> gd.Inference:
        held = self.held_records
        found = gd.infer(
            held.records,
            self.ball,
            self.guarantee,
            self.confidence,
            mechanism=self.asked_mechanism,
            entities=held.entities,
            **self.purpose.keywords(request_id),
        )
        assert isinstance(found, gd.Inference)
        return found


def inference_task(
    held: Held,
    source: str,
    ball: gd.Ball,
    guarantee: Guarantee,
    purpose: Purpose,
    confidence: float,
    mechanism: str | None,
) -> InferenceTask:
    """The task with its plan; touches no record's value.

    ``ConditionError`` where no finite region is possible, ``LedgerRefusal`` where the ledger would
    not pay for all of it.
    """
    plan = inference_plan(
        ball,
        held.n,
        guarantee,
        confidence,
        how={"mechanism": mechanism},
        ledger=purpose.ledger,
        dataset=purpose.dataset,
        group=purpose.group,
    )
    if plan.pays is False:
        raise plan.refusal
    return InferenceTask(held, source, ball, guarantee, purpose, plan, mechanism)
