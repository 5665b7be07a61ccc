"""Spaces and their points in words and rows, looked up by the kind of space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from geodp.plots.registry import kind_of
from geodp.spaces.base import Array, Space


class Table(NamedTuple):
    """A table of text: a caption, the columns' heads (may be empty), rows with their heads."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


class Reading(NamedTuple):
    """How a kind of space is named and its points are tabulated."""

    name: Callable[[Any], str]
    tables: Callable[[Any, Array, str | None, Sequence[str]], list[Table]]


def name_of(space: Space) -> str:
    """The space in words.

    >>> import geodp as gd
    >>> name_of(gd.SPD(3))
    'symmetric positive definite 3 × 3 matrices with the affine-invariant metric'
    """
    return _READINGS.get(kind_of(space), _UNKNOWN).name(space)


def tables_of(
    space: Space, value: Array, unit: str | None = None, names: Sequence[str] = ()
) -> list[Table]:
    """The value as tables; ``names`` are the declared names of components.

    What is no point of the space, on a receipt that fails its checks, is listed as it is.
    """
    if value.shape != space.point_shape or not space.contains(value):
        return [_vector(value, f"Entries (no point of {space.spec})")]
    return _READINGS.get(kind_of(space), _UNKNOWN).tables(space, value, unit, names)


def number(x: float) -> str:
    """A number for people: seven significant digits; the receipt holds all."""
    return f"{x:.7g}"


def _caption(text: str, unit: str | None) -> str:
    return text if unit is None else f"{text}, in {unit}"


def _labels(count: int, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if len(names) == count else tuple(str(i + 1) for i in range(count))


def _vector(value: Array, caption: str, names: Sequence[str] = ()) -> Table:
    flat = np.ravel(value)
    labels = _labels(len(flat), names)
    return Table(caption, (), tuple((a, (number(x),)) for a, x in zip(labels, flat, strict=True)))


def _spd_name(space: Space) -> str:
    size = space.point_shape[0]
    metric = space.spec.split(":")[-1]
    return f"symmetric positive definite {size} × {size} matrices with the {metric} metric"


def _spd_tables(space: Space, value: Array, unit: str | None, names: Sequence[str]) -> list[Table]:
    labels = _labels(len(value), names)
    rows = tuple((a, tuple(map(number, row))) for a, row in zip(labels, value, strict=True))
    eigen = np.asarray(np.linalg.eigvalsh(value)[::-1], dtype=np.float64)
    return [
        Table(_caption("Matrix", unit), labels, rows),
        _vector(eigen, _caption("Eigenvalues", unit)),
    ]


def _sphere_name(space: Space) -> str:
    return f"the {space.dim}-dimensional sphere{_curvature(space, 1.0, space.curvature[1])}"


def _sphere_tables(
    space: Space, value: Array, unit: str | None, names: Sequence[str]
) -> list[Table]:
    tables = [_vector(value, "Components", names)]
    if space.dim == 2:
        x, y, z = value
        degrees = [math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))]
        tables.append(
            _vector(np.array(degrees), "Direction, in degrees", ("longitude", "latitude"))
        )
    return tables


def _hyperbolic_name(space: Space) -> str:
    return f"{space.dim}-dimensional hyperbolic space{_curvature(space, -1.0, space.curvature[0])}"


def _hyperbolic_tables(
    space: Any, value: Array, unit: str | None, names: Sequence[str]
) -> list[Table]:
    return [
        _vector(value, "Hyperboloid, time coordinate first", names),
        _vector(space.to_ball(value), "Poincaré ball"),
    ]


def _curvature(space: Space, usual: float, kappa: float) -> str:
    return "" if kappa == usual or space.dim == 1 else f" of curvature {kappa:g}"


def _euclidean_tables(
    space: Space, value: Array, unit: str | None, names: Sequence[str]
) -> list[Table]:
    return [_vector(value, _caption("Components", unit), names)]


def _product_tables(
    space: Space, value: Array, unit: str | None, names: Sequence[str]
) -> list[Table]:
    found = []
    for i, (factor, part) in enumerate(zip(space.factors, space.split(value), strict=True), 1):
        for table in tables_of(factor, part):
            found.append(table._replace(caption=f"Factor {i}, {factor.spec}: {table.caption}"))
    return found


def _shape_tables(
    space: Space, value: Array, unit: str | None, names: Sequence[str]
) -> list[Table]:
    rows = tuple((str(i), tuple(map(number, row))) for i, row in enumerate(value, 1))
    return [Table("Landmarks, centred and of size 1", ("x", "y"), rows)]


_UNKNOWN = Reading(lambda space: str(space.spec), _euclidean_tables)
_READINGS: dict[str, Reading] = {
    "spd": Reading(_spd_name, _spd_tables),
    "sphere": Reading(_sphere_name, _sphere_tables),
    "shapes": Reading(
        lambda space: f"planar shapes of {len(space.origin)} landmarks", _shape_tables
    ),
    "hyperbolic": Reading(_hyperbolic_name, _hyperbolic_tables),
    "euclidean": Reading(lambda space: f"{space.dim}-dimensional space", _euclidean_tables),
    "product": Reading(
        lambda space: "the product of " + " and ".join(map(name_of, space.factors)),
        _product_tables,
    ),
}
