"""The expected error along the budget, n and the radius, and the way back from an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import geodp as gd
from geodp.errors import GeodpError
from geodp.web.estimates import reference_distance
from geodp.web.question import NOTIONS, STATISTICS, Question

_POINTS = 11
_FEWER = ((64, 5), (128, 3))  # beyond so many dimensions, where a calibration takes milliseconds
_FARTHEST = 2.0**40
_DIGITS = 3


@final
@dataclass(frozen=True)
class Curve:
    """Expected errors of one statistic, as pairs of what varies and the distance."""

    statistic: str
    points: tuple[tuple[float, float], ...]


@final
@dataclass(frozen=True)
class Family:
    """One chart: what varies, where the question stands, and a curve for each statistic."""

    name: str
    label: str
    here: float
    curves: tuple[Curve, ...]


def families(question: Question) -> tuple[Family, ...]:
    """Error over budget, n and radius, by the reference mechanism."""
    amount = NOTIONS[question.notion].amount
    points = min([_POINTS, *(few for wide, few in _FEWER if question.space.dim > wide)])
    wide, near = _factors(points, 5 / 2), _factors(points, 5 / 4)
    budget = float(Fraction(question.amount))
    return (
        _family(question, "budget", f"budget {amount}", budget, wide, with_budget),
        _family(question, "n", "number of records n", question.n, wide, with_n),
        _family(question, "radius", "radius of the ball", question.ball.radius, near, with_radius),
    )


def _factors(points: int, most: float) -> list[float]:
    """So many powers of two, as many below 1 as above, up to ``2**most``."""
    half = points // 2
    return [2.0 ** (most * k / half) for k in range(-half, half + 1)]


def with_budget(question: Question, factor: float) -> Question:
    """The question with its promise's number times a factor, to three digits."""
    return asked_for(question, three_digits(float(Fraction(question.amount)) * factor))


def asked_for(question: Question, amount: str) -> Question:
    """The question with another number in its promise."""
    made = NOTIONS[question.notion].make(amount, question.second)
    return replace(question, guarantee=made, amount=amount)


def three_digits(x: float) -> str:
    """The number to three significant digits, as it would be typed."""
    return f"{float(f'{x:.{_DIGITS}g}'):.15g}"


def with_n(question: Question, factor: float) -> Question:
    """The question with another number of records."""
    return replace(question, n=min(2**53, max(2, round(question.n * factor))))


def with_radius(question: Question, factor: float) -> Question:
    """The question with another radius around the same centre."""
    ball = gd.Ball(question.space, question.ball.center, question.ball.radius * factor)
    return replace(question, ball=ball)


def _family(
    question: Question,
    name: str,
    label: str,
    here: float,
    factors: list[float],
    vary: Callable[[Question, float], Question],
) -> Family:
    curves = []
    for statistic in STATISTICS:
        found = [(here * f, _distance(question, statistic, f, vary)) for f in factors]
        points = tuple((x, y) for x, y in found if y is not None and 0 < y < _FARTHEST)
        curves.append(Curve(statistic, points))
    return Family(name, label, here, tuple(curve for curve in curves if len(curve.points) > 1))


def _distance(
    question: Question,
    statistic: str,
    factor: float,
    vary: Callable[[Question, float], Question],
) -> float | None:
    try:
        moved = vary(question, factor)
    except GeodpError:  # beyond what the promise or the ball allows
        return None
    return reference_distance(moved, statistic)


@final
@dataclass(frozen=True)
class Needed:
    """What a target error takes of one statistic: so many records, or so large a budget; empty
    where neither is enough."""

    statistic: str
    n: str
    amount: str


def needed(question: Question, target: float) -> tuple[Needed, ...]:
    """The least n at this budget, and the least budget (three digits) at this n, whose expected
    error at the centre is at most ``target``; by the reference mechanism."""
    rows = []
    for statistic in STATISTICS:
        if reference_distance(question, statistic) is None:
            continue
        least = (search(question, statistic, target) for search in (_n, _a))
        rows.append(Needed(statistic, *least))
    return tuple(rows)


def _n(question: Question, statistic: str, target: float) -> str:
    def enough(n: int) -> bool:
        found = reference_distance(replace(question, n=n), statistic)
        return found is not None and found <= target

    high = 2
    while not enough(high):
        if high >= 2**53:
            return ""
        high = min(2**53, high * 4)
    low = max(1, high // 4)  # never enough, or no number of records
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return str(high)


def _a(question: Question, statistic: str, target: float) -> str:
    """By bisection over numbers of three digits: 900 to a power of ten."""

    def enough(step: int) -> bool:
        try:
            asked = asked_for(question, _amount(step))
        except GeodpError:
            return False
        found = reference_distance(asked, statistic)
        return found is not None and found <= target

    low, high = -6 * 900, 4 * 900
    if not enough(high):
        return ""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _amount(high)


def _amount(step: int) -> str:
    """The numbers of three digits in order: step 0 is 1, step 900 is 10."""
    power, digits = divmod(step, 900)
    exact = Fraction(100 + digits, 100) * Fraction(10) ** power
    return f"{float(exact):.15g}"
