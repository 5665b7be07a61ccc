"""From the form of a release to its task: every refusal comes before anything is spent."""

from __future__ import annotations

from collections.abc import Callable

import geodp as gd
from geodp.arguments import text_or_none
from geodp.errors import ConditionError, GeodpError, InputError, LedgerRefusal
from geodp.inference.quantiles import check_confidence
from geodp.io import Layout, layout_for
from geodp.io.declared import LAYOUTS
from geodp.ledger.totals import part_of
from geodp.mechanisms import parse_mechanism
from geodp.web.estimates import mechanisms
from geodp.web.fields import Fields, number, one_of
from geodp.web.question import STATISTICS, ball_of, promise_of
from geodp.web.sent import Upload, held_of, shown
from geodp.web.tasks import Purpose, ReleaseTask, Task, inference_task

INFERENCE = "inference"
RELEASED: dict[str, Callable[[gd.Ball], gd.Statistic]] = STATISTICS | {INFERENCE: gd.FrechetMean}
"""What can be released here; an inference is of the Fréchet mean."""
DEFAULT_CONFIDENCE = 0.95
HEADERS = {"": None, "yes": True, "no": False}


def task_of(fields: Fields, upload: Upload | None) -> Task | None:
    """What a form asks for; None where a field is wrong, which ``fields.errors`` then says.

    The file is read here, its form looked at and no record's value.
    """
    ball, promise = ball_of(fields), promise_of(fields)
    make = fields.read("statistic", lambda text: one_of(text, "The statistic", RELEASED))
    statistic = None
    if ball is not None and make is not None:
        statistic = fields.read("statistic", lambda _: make(ball))
    choice = {"best": None} | mechanisms()
    fields.read("mechanism", lambda text: one_of(text, "The mechanism", choice))
    confidence = fields.read("confidence", _confidence)
    fields.read("key", _text)
    purpose = _purpose(fields)
    layout = None if ball is None else fields.read("layout", lambda text: _layout(text, ball))
    header = fields.read("header", lambda text: one_of(text, "The header", HEADERS))
    held = None
    if ball is not None and layout is not None and not {"header", "key"} & set(fields.errors):
        held = held_of(fields, upload, layout, header, ball)
    if fields.errors or ball is None or statistic is None or promise is None or held is None:
        return None
    common = (held, shown(fields, upload), ball, promise, purpose)
    named = fields.text("mechanism")
    name = None if named == "best" else named

    def release() -> Task:
        considered = None if name is None else [parse_mechanism(name)]
        plan = gd.plan(
            statistic,
            held.n,
            promise,
            considered,
            entities=held.entities,
            ledger=purpose.ledger,
            dataset=purpose.dataset,
            group=purpose.group,
        )
        return ReleaseTask(*common, statistic, plan.best, plan)

    def inference() -> Task:
        return inference_task(*common, confidence or DEFAULT_CONFIDENCE, name)

    return _planned(fields, inference if fields.text("statistic") == INFERENCE else release)


def _planned(fields: Fields, make: Callable[[], Task]) -> Task | None:
    """The task; what stands against it is said where it can be changed."""
    try:
        return make()
    except LedgerRefusal as error:
        fields.wrong("ledger", str(error))
    except ConditionError as error:
        fields.wrong("radius" if fields.text("radius") else "statistic", str(error))
    except GeodpError as error:
        fields.wrong("ledger" if fields.text("ledger") else "mechanism", str(error))
    return None


def _purpose(fields: Fields) -> Purpose:
    """Whose records they are and who pays, with a sentence beside what does not fit."""
    unit = fields.read("unit", _text) or None
    column = fields.read("entities", _text) or None
    paying = fields.read("ledger", _ledger)
    dataset = fields.read("dataset", _text) or None
    group = fields.read("group", _text) or None
    if fields.text("ledger") and not fields.text("dataset"):
        fields.wrong("dataset", "A ledger needs the data set's name, by which it knows it again.")
    for name, said in (("dataset", dataset), ("group", group)):
        if said and not fields.text("ledger"):
            fields.wrong(name, "This belongs to a ledger: name the ledger too.")
    if paying is not None and unit and unit != paying.unit:
        fields.wrong("unit", f"The ledger protects one {paying.unit}: use its unit.")
    if column and _unit_of(unit, paying) == "record":
        fields.wrong("unit", "With a column of ids the unit is what an id names, such as person.")
    if dataset and "group" not in fields.errors:
        fields.read("group", lambda _: part_of(dataset, group))
    return Purpose(unit, paying, dataset, group, column)


def _unit_of(unit: str | None, paying: gd.Ledger | None) -> str | None:
    return unit if unit or paying is None else paying.unit


def _confidence(text: str) -> float:
    return check_confidence(number(text, "The confidence") if text else DEFAULT_CONFIDENCE)


def _text(text: str) -> str:
    return text_or_none(text, "The text") or ""


def _ledger(text: str) -> gd.Ledger | None:
    if not text:
        return None
    ledger = gd.Ledger(text)
    _ = ledger.facts  # a ledger that cannot be read is found out here
    return ledger


def _layout(text: str, ball: gd.Ball) -> Layout:
    if text and text not in LAYOUTS:
        raise InputError(f"The layout is one of {', '.join(LAYOUTS)}, or none.")
    return layout_for(ball.space, layout=text or None)
