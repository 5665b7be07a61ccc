"""The planner's answer: rows, charts, units and the picture of the noise, ready for a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.web.chart import Chart, Cloud, chart_of, clouds_of
from geodp.web.curves import Needed, families, needed
from geodp.web.desk import ASKED, Desk, Key
from geodp.web.estimates import Estimate, calibrations, reference, released
from geodp.web.fields import Fields, number
from geodp.web.question import STATISTICS, Question, question_of
from geodp.web.units import Unit, units_of

_DOTS = 200
_USELESS = 1e50  # beyond it a distance stands for none
_PATIENCE = 2.0  # seconds that a second request waits for the next row
_TIE = 1.001  # what differs less is as good


@final
@dataclass(frozen=True)
class Row:
    """A line of the table: the estimate and its distance in each unit, as text. ``best`` is the
    nearest of its statistic; others estimate other points."""

    statistic: str
    mechanism: str
    law: str
    distance: str
    converted: tuple[str, ...]
    why_not: str
    waits: bool
    best: bool


@final
@dataclass(frozen=True)
class View:
    """Everything below the planner's form."""

    question: Question
    promise: str
    rows: tuple[Row, ...]
    shown: tuple[tuple[str, tuple[Row, ...]], ...]
    units: tuple[Unit, ...]
    charts: tuple[Chart, ...]
    clouds: tuple[Cloud, ...]
    reasons: tuple[tuple[str, tuple[str, ...]], ...]
    reference: str
    needed: tuple[Needed, ...]
    target: float | None
    waits: bool
    plainly: str


def view_of(fields: Fields, desk: Desk) -> View | None:
    """The answer to a form; None where a field is wrong, which ``fields.errors`` then says."""
    question = question_of(fields)
    target = fields.read("target", lambda text: _positive(text, "The target error"))
    size = fields.read("reference", lambda text: _positive(text, "The size"))
    if question is None or fields.errors:
        return None
    patience = _PATIENCE if fields.text("wait") else 0.0
    return _answered(question, fields.texts, desk, target or None, size or None, patience)


def _positive(text: str, what: str) -> float:
    """A number above zero; 0 for nothing written."""
    if not text:
        return 0.0
    value = number(text, what)
    if not 1e-100 < value < 1e100:
        raise InputError(f"{what} must be finite and positive.")
    return value


def _answered(
    question: Question,
    texts: Mapping[str, str],
    desk: Desk,
    target: float | None,
    size: float | None,
    patience: float,
) -> View:
    units = units_of(question.space, size)
    found = desk.rows(texts, question, patience)
    known = [row for row in found if isinstance(row, Estimate)]
    rows = tuple(_row(row, units, known) for row in found)
    charts, clouds = _drawn(tuple((name, texts.get(name, "")) for name in ASKED))
    return View(
        question=question,
        promise=question.guarantee.text,
        rows=rows,
        shown=_grouped(rows),
        units=units,
        charts=charts,
        clouds=clouds,
        reasons=_reasons(rows),
        reference=reference(question.notion).name,
        needed=() if target is None else needed(question, target),
        target=target,
        waits=any(row.waits for row in rows),
        plainly=_plainly(known, units),
    )


def _grouped(rows: tuple[Row, ...]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    """The rows that the table has, by statistic."""
    able = [row for row in rows if row.distance or row.waits]
    return tuple(
        (name, tuple(row for row in able if row.statistic == name))
        for name in dict.fromkeys(row.statistic for row in able)
    )


def _nearest(known: list[Estimate], statistic: str) -> float:
    mine = [row.distance for row in known if row.statistic == statistic]
    return min((distance for distance in mine if distance is not None), default=0.0)


def _row(row: Estimate | Key, units: tuple[Unit, ...], known: list[Estimate]) -> Row:
    if not isinstance(row, Estimate):
        return Row(row[1], row[2], "", "", (), "", True, False)
    if row.distance is None:
        return Row(row.statistic, row.mechanism, "", "", (), row.why_not, False, False)
    if row.distance > _USELESS:
        said = "The noise is wider than 64-bit floats can tell on this space."
        return Row(row.statistic, row.mechanism, "", "", (), said, False, False)
    error = f" ± {row.error:.1g}" if row.error else ""
    converted = tuple(f"{unit.of(row.distance):.3g}" for unit in units)
    best = row.distance <= _nearest(known, row.statistic) * _TIE
    text = f"{row.distance:.4g}{error}"
    return Row(row.statistic, row.mechanism, row.law, text, converted, "", False, best)


def _reasons(rows: tuple[Row, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Why not, with all that it is said of; once for a statistic that no mechanism can serve."""
    said: dict[str, list[Row]] = {}
    for row in rows:
        if row.why_not:
            said.setdefault(row.why_not, []).append(row)
    everything = {row.mechanism for row in rows}
    found = []
    for reason, them in said.items():
        whole = {row.mechanism for row in them} == everything
        names = [one.statistic if whole else f"{one.statistic} by {one.mechanism}" for one in them]
        found.append((reason, tuple(dict.fromkeys(names))))
    return tuple(found)


def _plainly(known: list[Estimate], units: tuple[Unit, ...]) -> str:
    """The nearest known row of the first statistic that can be given, in one sentence."""
    able = [row for row in known if row.distance is not None and row.distance < _USELESS]
    if not able:
        return "No mechanism that is known so far can give this; the reasons are in the table."
    name = next(name for name in STATISTICS if any(row.statistic == name for row in able))
    nearest = _nearest(able, name)
    row = next(
        one
        for one in able
        if one.statistic == name and one.distance is not None and one.distance <= nearest * _TIE
    )
    assert row.distance is not None
    also = ", ".join(f"{unit.of(row.distance):.3g} {unit.name}" for unit in units)
    return (
        f"A release lands about {row.distance:.3g} from the {row.statistic} of the records"
        f"{f' ({also})' if also else ''}, by {row.mechanism}."
    )


@lru_cache(maxsize=64)
def _drawn(asked: tuple[tuple[str, str], ...]) -> tuple[tuple[Chart, ...], tuple[Cloud, ...]]:
    """What is drawn for a form, kept while the rest of the rows comes in."""
    question = question_of(Fields(dict(asked)))
    assert question is not None
    charts = (chart_of(family) for family in families(question))
    return tuple(chart for chart in charts if chart is not None), _clouds(question)


def _clouds(question: Question) -> tuple[Cloud, ...]:
    """Draws of the Fréchet mean's noise, or of the first statistic that can be released."""
    for make in STATISTICS.values():
        try:
            subject = make(question.ball)
            cal = calibrations(question, subject, reference(question.notion))[0]
        except GeodpError:
            continue
        with np.errstate(all="ignore"):
            points = released(subject, cal, _DOTS)
            z = question.space.log_coords(question.ball.center, points)
        z = z[np.isfinite(z).all(axis=1)]
        if len(z) == 0:
            return ()
        mean = float(np.linalg.norm(z, axis=1).mean())
        return clouds_of(z, question.ball.radius, mean)
    return ()
