"""How a row of numbers spells a point: declared by the reader, never guessed from the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.errors import InputError
from geodp.spaces.base import Array, Space

_CHUNK = 2**16  # rows converted at a time


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of ``width`` numbers, and the map from ``(n, width)`` to ``(n, *space.point_shape)``.

    ``is_plain`` says that arrays hold points as the library does, with no conversion.
    """

    space: Space
    width: int
    columns: str
    convert: Callable[[Array], Array]
    is_plain: bool
    is_raw: bool = False  # arrays have the shape of points, but hold what is to be converted

    @property
    def array_shape(self) -> tuple[int, ...]:
        """The shape of one record in an array."""
        return self.space.point_shape if self.is_plain or self.is_raw else (self.width,)

    def points(self, rows: Array) -> Array:
        """The points that ``(n, width)`` rows spell; what spells none becomes NaN or no point."""
        out = np.empty((len(rows), *self.space.point_shape))
        with np.errstate(all="ignore"):  # a warning here would depend on a record
            for start in range(0, len(rows), _CHUNK):
                chunk = np.array(rows[start : start + _CHUNK], dtype=np.float64)
                out[start : start + len(chunk)] = self.convert(chunk)
        return out


def layout_for(
    space: Space, *, columns: str | None = None, lonlat: bool = False, poincare: bool = False
) -> Layout:
    """The layout that was declared for records of ``space``.

    Parameters
    ----------
    columns : for SPD matrices, ``"full"`` (m² numbers, row by row; the default in CSV) or
        ``"lower"`` (the lower triangle row by row: 11, 21, 22, 31, …).
    lonlat : longitude and latitude in degrees, for ``Sphere(2)``.
    poincare : points of the unit ball in Poincaré's model, for ``Hyperbolic(d)``.

    Raises
    ------
    InputError : the declaration does not describe points of ``space``, or there are two.

    Examples
    --------
    >>> import geodp as gd
    >>> layout_for(gd.SPD(3), columns="lower").width
    6
    """
    if sum((columns is not None, lonlat, poincare)) > 1:
        raise InputError("Declare one of columns, lonlat and poincare; they exclude each other.")
    shape = space.point_shape
    if lonlat:
        if not space.spec.startswith("sphere:") or shape != (3,):
            raise InputError(f"Longitude and latitude describe Sphere(2), not {space.spec}.")
        return Layout(space, 2, "longitude and latitude in degrees", _directions(space), False)
    if poincare:
        from_ball = getattr(space, "from_ball", None)
        if from_ball is None:
            raise InputError(f"Poincaré's ball describes hyperbolic space, not {space.spec}.")
        return Layout(space, space.dim, "coordinates in Poincaré's unit ball", from_ball, False)
    if columns is not None and not space.spec.startswith("spd:"):
        raise InputError(f"Columns full or lower describe SPD matrices, not {space.spec}.")
    if columns == "lower":
        size = shape[0]
        width = size * (size + 1) // 2
        return Layout(space, width, "the lower triangle, row by row", _lower(size), False)
    if columns not in (None, "full"):
        raise InputError(f"The columns of a matrix are full or lower, not {columns!r}.")
    from_landmarks = getattr(space, "from_landmarks", None)
    if from_landmarks is not None:
        what = "the landmarks x1, y1, x2, y2, …, in any position, size and rotation"

        def shaped(rows: Array) -> Array:
            points: Array = from_landmarks(rows.reshape(-1, *shape))
            return points

        return Layout(space, math.prod(shape), what, shaped, False, True)
    what = "the matrix, row by row" if len(shape) == 2 else "the point's coordinates"

    def reshaped(rows: Array) -> Array:
        return rows.reshape(-1, *shape)

    return Layout(space, math.prod(shape), what, reshaped, columns is None)


def _directions(space: Space) -> Callable[[Array], Array]:
    size = float(np.linalg.norm(space.origin))  # the sphere's radius, 1/sqrt(curvature)

    def convert(rows: Array) -> Array:
        longitude, latitude = rows[:, 0], rows[:, 1]
        latitude = np.where(np.abs(latitude) <= 90, latitude, np.nan)
        turn, height = np.deg2rad(np.fmod(longitude, 360)), np.deg2rad(latitude)
        flat = np.cos(height)
        return size * np.stack([flat * np.cos(turn), flat * np.sin(turn), np.sin(height)], axis=-1)

    return convert


def _lower(size: int) -> Callable[[Array], Array]:
    row, column = np.tril_indices(size)

    def convert(rows: Array) -> Array:
        out = np.full((len(rows), size, size), np.nan)
        out[:, row, column] = rows
        out[:, column, row] = rows
        return out

    return convert
