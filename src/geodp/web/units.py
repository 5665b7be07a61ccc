"""Geodesic distances in units that people use, each with the assumption it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.plots.registry import kind_of
from geodp.random import public_rng
from geodp.spaces.base import Array, Space

_TENSOR = (1.7, 0.3, 0.3)  # µm²/ms, white matter
_DIRECTIONS = 500


@final
@dataclass(frozen=True)
class Unit:
    """A unit, the conversion of a distance to it, and what that assumes."""

    name: str
    of: Callable[[float], float]
    assumes: str


def units_of(space: Space, size: float | None = None) -> tuple[Unit, ...]:
    """The units of a space. ``size`` is what the conversion refers to, where it needs something:
    the centroid size in pixels of a shape, the length of an edge of a tree.

    >>> import geodp as gd
    >>> [(unit.name, round(unit.of(0.1), 3)) for unit in units_of(gd.Sphere(2))]
    [('degrees', 5.73)]
    """
    return _UNITS.get(kind_of(space), _none)(space, size)


def _none(space: Space, size: float | None) -> tuple[Unit, ...]:
    return ()


def _sphere(space: Space, size: float | None) -> tuple[Unit, ...]:
    root = math.sqrt(max(space.curvature[1], 1e-300)) if space.dim > 1 else 1.0
    return (Unit("degrees", lambda d: math.degrees(d * root), "The angle between two directions."),)


def _euclidean(space: Space, size: float | None) -> tuple[Unit, ...]:
    return (Unit("data units", lambda d: d, "The unit of the records themselves."),)


def _shapes(space: Space, size: float | None) -> tuple[Unit, ...]:
    pixels, count = size or 100.0, len(space.origin)

    def moved(distance: float) -> float:
        return pixels * 2 * math.sin(min(distance, math.pi / 2) / 2) / math.sqrt(count)

    return (
        Unit(
            "pixels",
            moved,
            f"Root mean square over {count} landmarks of an outline of centroid size {pixels:g} "
            "pixels, laid over the other as well as a rotation can.",
        ),
    )


def _hyperbolic(space: Space, size: float | None) -> tuple[Unit, ...]:
    edge = size or 1.0
    return (
        Unit("edges", lambda d: d / edge, f"Edges of a tree that are embedded at length {edge:g}."),
    )


def _spd(space: Space, size: float | None) -> tuple[Unit, ...]:
    order = space.point_shape[0]
    together = Unit(
        "% of every eigenvalue",
        lambda d: 100 * math.expm1(min(d / math.sqrt(order), 700.0)),
        "The error lies along scale alone, so that all eigenvalues grow by this factor.",
    )
    if "log-cholesky" in space.spec:
        return ()
    if order != 3:
        return (together,)
    tensor = "1.7, 0.3, 0.3 µm²/ms, every direction equally likely"
    return (
        Unit("FA", lambda d: _moved(space, d)[0], f"Mean change of FA of a tensor {tensor}."),
        Unit("µm²/ms", lambda d: _moved(space, d)[1], f"Mean change of MD of a tensor {tensor}."),
        together,
    )


def _moved(space: Space, distance: float) -> tuple[float, float]:
    """Mean absolute change of fractional anisotropy and mean diffusivity at a distance."""
    start = np.diag(_TENSOR)
    z = public_rng().standard_normal((_DIRECTIONS, space.dim))
    z *= min(distance, 50.0) / np.linalg.norm(z, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        values = np.asarray(np.linalg.eigvalsh(space.exp_coords(start, z)), dtype=np.float64)
        change = np.abs(_anisotropy(values) - _anisotropy(np.array(_TENSOR)))
        diffusivity = np.abs(values.mean(axis=-1) - np.mean(_TENSOR))
    return float(change.mean()), float(diffusivity.mean())


def _anisotropy(values: Array) -> Array:
    off = values - values.mean(axis=-1, keepdims=True)
    return np.asarray(np.sqrt(1.5 * (off**2).sum(axis=-1) / (values**2).sum(axis=-1)))


_UNITS: dict[str, Callable[[Space, float | None], tuple[Unit, ...]]] = {
    "sphere": _sphere,
    "euclidean": _euclidean,
    "shapes": _shapes,
    "hyperbolic": _hyperbolic,
    "spd": _spd,
}
