"""Real outlines for ``shapes.py``: handwritten digits of scikit-learn, mosquito wings of ktch.

Each outline is k landmarks in order, counter-clockwise, from a start that means the same on all of
them. The public centre of the ball never comes from the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import geodp as gd

Array = NDArray[np.float64]

RADIUS = 0.15  # of both balls: shapes differ from the centre by a seventh of their size
_LEVEL = 3.0  # of grey 0 … 16: where ink begins
_FINE = 2000  # points on an outline before landmarks are chosen
_ASPECT = 0.6  # width over height of a written zero, the aspect of a printed one
_WINGS = "datasets/data/outline_mosquito_wings/data_outline_mosquito_wings.csv"


@dataclass(frozen=True)
class Outlines:
    """Raw outlines ``(n, k, 2)`` with the public centre ``(k, 2)`` and radius of their ball."""

    name: str
    words: str
    raw: Array
    center: Array
    radius: float

    @property
    def space(self) -> gd.PlanarShapes:
        return gd.PlanarShapes(self.raw.shape[1])

    @property
    def ball(self) -> gd.Ball:
        return gd.Ball(self.space, self.space.from_landmarks(self.center), self.radius)


def digits(count: int) -> Outlines:
    """The outer contour of every zero, by marching squares, from its top. The ball's centre is an
    ellipse."""
    from sklearn.datasets import load_digits

    data: Any = load_digits()
    raw = np.array([_contour(image, count) for image in data.images[data.target == 0]])
    angle = np.linspace(0.0, 2 * math.pi, _FINE, endpoint=False) + math.pi / 2
    ellipse = np.stack([_ASPECT * np.cos(angle), np.sin(angle)], axis=-1)
    words = "zeros of scikit-learn's digits, around an ellipse of aspect 0.6"
    return Outlines("digits", words, raw, _landmarks(ellipse, count), RADIUS)


def wings(count: int) -> Outlines | None:
    """Mosquito wings (Rohlf and Archie 1984), every 100/k-th of 100 points; None without ktch.

    The last specimen is taken as published: it is the ball's centre, and no record.
    """
    found = find_spec("ktch")
    if found is None or found.origin is None:
        return None
    rows = np.loadtxt(Path(found.origin).parent / _WINGS, delimiter=",", skiprows=1)
    raw = rows[:, 2:].reshape(-1, 100, 2)[:, :: 100 // count]
    words = "mosquito wings of ktch, around the last specimen"
    return Outlines("wings", words, raw[:-1], raw[-1], RADIUS)


def available(count: int) -> list[Outlines]:
    """All data sets that are installed."""
    found = (digits(count), wings(count))
    return [outlines for outlines in found if outlines is not None]


def _contour(image: Array, count: int) -> Array:
    from contourpy import contour_generator

    lines: Any = contour_generator(z=np.pad(image, 1)).lines(_LEVEL)
    outer = max(lines, key=lambda line: abs(_area(line))) * [1.0, -1.0]  # rows run downwards
    outer = outer[:-1] if _area(outer) > 0 else outer[:0:-1]
    return _landmarks(outer, count)


def _landmarks(outline: Array, count: int) -> Array:
    """Equally spaced along a closed outline, the first straight above its centroid."""
    around = np.concatenate([outline, outline[:1]])
    steps = np.linalg.norm(np.diff(around, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.linspace(0.0, length[-1], _FINE, endpoint=False)
    fine = np.stack([np.interp(at, length, around[:, i]) for i in (0, 1)], axis=-1)
    x, y = (fine - fine.mean(axis=0)).T
    above = np.abs(np.arctan2(x, y))  # the angle from straight up
    return np.asarray(np.roll(fine, -int(above.argmin()), axis=0)[:: _FINE // count])


def _area(line: Array) -> float:
    x, y = np.asarray(line, dtype=np.float64).T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)
