"""Charts as numbers on a drawing: a template writes them down as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.spaces.base import Array
from geodp.web.curves import Family
from geodp.web.question import STATISTICS

WIDTH, HEIGHT = 340, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 10, 12, 40
_PICTURE = 240
_FAR = 10.0 * _PICTURE  # as good as infinite
_WIDEST = 4  # times the ball: what lies beyond is not drawn
_SMALL = 2.5  # times: noise that is smaller beside the ball gets a picture of its own


@final
@dataclass(frozen=True)
class Line:
    """A curve: its statistic, a number for its colour and dashes, and the path."""

    name: str
    style: int
    path: str
    here: tuple[float, float] | None


@final
@dataclass(frozen=True)
class Chart:
    """A chart with logarithmic axes; ticks are places and their words."""

    name: str
    label: str
    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    here: float
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def chart_of(family: Family) -> Chart | None:
    """The drawing of a family of curves; None where there is nothing to draw."""
    points = [point for curve in family.curves for point in curve.points]
    if not points:
        return None
    xs, ys = zip(*points, strict=True)
    across = _Axis(min(xs), max(xs), _LEFT, WIDTH - _RIGHT)
    up = _Axis(min(ys), max(ys), HEIGHT - _BOTTOM, _TOP)
    lines, styles = [], list(STATISTICS)
    for curve in family.curves:
        placed = [(across.at(x), up.at(y)) for x, y in curve.points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        near = min(curve.points, key=lambda point: abs(math.log(point[0] / family.here)))
        here = (round(across.at(near[0]), 1), round(up.at(near[1]), 1))
        lines.append(Line(curve.statistic, styles.index(curve.statistic), path, here))
    return Chart(
        family.name,
        family.label,
        tuple(lines),
        across.ticks(4),
        up.ticks(5),
        round(across.at(family.here), 1),
        _table(family),
    )


def _table(family: Family) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The same in words: a row for each place, a cell for each curve."""
    places = sorted({x for curve in family.curves for x, _ in curve.points})
    known = [dict(curve.points) for curve in family.curves]
    return tuple(
        (f"{x:.3g}", tuple(f"{one[x]:.3g}" if x in one else "" for one in known)) for x in places
    )


class _Axis:
    """A logarithmic axis from ``low`` to ``high``, drawn from ``start`` to ``stop``."""

    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        pad = (high / low) ** 0.04 if high > low else 2.0
        self._low, self._high = math.log(low / pad), math.log(high * pad)
        self._start, self._stop = start, stop

    def at(self, value: float) -> float:
        part = (math.log(value) - self._low) / (self._high - self._low)
        return self._start + part * (self._stop - self._start)

    def ticks(self, most: int) -> tuple[tuple[float, str], ...]:
        """Round numbers: 1, 2 and 5 times powers of ten, as many as fit."""
        first, last = (math.floor(x / math.log(10)) for x in (self._low, self._high))
        for digits in ((1, 2, 5), (1, 3), (1,)):
            round_ones = [d * 10.0**k for k in range(first, last + 1) for d in digits]
            inside = [x for x in round_ones if self._low <= math.log(x) <= self._high]
            if len(inside) <= most:
                break
        if not inside:  # a curve so flat that no round number lies beside it
            near = 0.1 * (self._high - self._low)
            ends = (math.exp(self._low + near), math.exp(self._high - near))
            return tuple((round(self.at(x), 1), f"{x:.4g}") for x in ends)
        step = -(-len(inside) // most)
        return tuple((round(self.at(x), 1), _word(x)) for x in inside[::step])


def _word(x: float) -> str:
    return f"{x:.0f}" if 1 <= x < 1e5 else f"{x:g}"


@final
@dataclass(frozen=True)
class Cloud:
    """Simulated releases of a value at the ball's centre, in two of the normal coordinates there;
    ``shown`` of them lie inside the picture. ``ball`` and ``reach`` are radii in the picture."""

    path: str
    ball: float
    reach: float
    shown: int
    drawn: int
    axes: str
    magnified: float = 1.0


def clouds_of(coordinates: Array, radius: float, distance: float) -> tuple[Cloud, ...]:
    """Draws ``(m, dim)`` in normal coordinates beside the ball, and magnified where they are
    small."""
    flat = np.zeros((len(coordinates), 2))
    flat[:, : min(2, coordinates.shape[1])] = coordinates[:, :2]
    axes = "one normal coordinate" if coordinates.shape[1] == 1 else "two normal coordinates"
    spread = float(np.quantile(np.abs(flat).max(axis=1), 0.95))
    whole = 1.08 * max(radius, min(spread, _WIDEST * radius))
    close = 1.08 * max(spread, distance)
    halves = (whole, close) if whole > _SMALL * close else (whole,)
    return tuple(_cloud(flat, radius, distance, half, axes, whole / half) for half in halves)


def _cloud(
    flat: Array, radius: float, distance: float, half: float, axes: str, magnified: float
) -> Cloud:
    middle = _PICTURE / 2
    unit = middle / half
    inside = (np.abs(flat) < half).all(axis=1)
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in middle + flat[inside] * (unit, -unit))
    ball, reach = (round(min(x * unit, _FAR), 1) for x in (radius, distance))
    return Cloud(path, ball, reach, int(inside.sum()), len(flat), axes, magnified)
