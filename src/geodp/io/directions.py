"""Directions as angles, and points of hyperbolic space in one of its models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NoReturn

import numpy as np

from geodp.errors import InputError
from geodp.io.layout import Layout, plain
from geodp.spaces.base import Array, Space

_QUARTER = {"degrees": 90.0, "radians": np.pi / 2}


def angles(space: Space, unit: str) -> Layout:
    """Longitude and latitude; x points to longitude 0, z to the north pole."""
    _check_sphere(space, "Longitude and latitude describe")
    return Layout(space, 2, f"longitude and latitude in {unit}", _turned(space, unit, 0), False)


def dips(space: Space, unit: str) -> Layout:
    """Dip below the horizontal and azimuth clockwise from north, as geologists note lines and
    magnetic declination with inclination; x points north, y east, z down."""
    _check_sphere(space, "Dip and azimuth describe")
    return Layout(space, 2, f"dip and azimuth in {unit}", _turned(space, unit, 1), False)


def vectors(space: Space) -> Layout:
    """Vectors of the sphere's own length."""
    if not space.spec.startswith("sphere:") or len(space.factors) > 1:
        raise InputError(f"Unit vectors describe spheres, not {space.spec}.")
    return plain(space)


def axes(space: Space) -> NoReturn:
    """Lines without an arrow: refused, since they have no mean direction."""
    raise InputError(
        "Axial data, where x and -x are the same line, have no mean direction: which of the two is "
        "written down would decide the mean. Release the mean of the matrices x x' instead (six "
        "numbers of each in euclidean:6); its leading eigenvector is the mean axis."
    )


def ball_model(space: Space) -> Layout:
    """Poincaré's unit ball."""
    from_ball = getattr(space, "from_ball", None)
    if from_ball is None:
        raise InputError(f"Poincaré's ball describes hyperbolic space, not {space.spec}.")
    return Layout(space, space.dim, "coordinates in Poincaré's unit ball", from_ball, False)


def hyperboloid(space: Space, time: int) -> Layout:
    """The hyperboloid, its time coordinate first (0) or last (-1)."""
    if getattr(space, "from_ball", None) is None:
        raise InputError(f"The hyperboloid describes hyperbolic space, not {space.spec}.")
    if time == 0:
        return plain(space)
    what = "the hyperboloid's coordinates, time last"
    width = space.point_shape[0]
    return Layout(space, width, what, partial(np.roll, shift=1, axis=-1), False)


LAYOUTS: dict[str, Callable[[Space], Layout]] = {
    "lonlat-degrees": partial(angles, unit="degrees"),
    "lonlat-radians": partial(angles, unit="radians"),
    "dip-azimuth-degrees": partial(dips, unit="degrees"),
    "dip-azimuth-radians": partial(dips, unit="radians"),
    "unit-vectors": vectors,
    "axes": axes,
    "poincare": ball_model,
    "hyperboloid": partial(hyperboloid, time=0),
    "hyperboloid-time-last": partial(hyperboloid, time=-1),
}


def _check_sphere(space: Space, what: str) -> None:
    if not space.spec.startswith("sphere:") or space.point_shape != (3,):
        raise InputError(f"{what} Sphere(2), not {space.spec}.")


def _turned(space: Space, unit: str, turn_column: int) -> Callable[[Array], Array]:
    """Rows with the angle in the plane in one column and the angle out of it in the other."""
    size = float(np.linalg.norm(space.origin))  # the sphere's radius, 1/sqrt(curvature)
    quarter = _QUARTER[unit]

    def convert(rows: Array) -> Array:
        turn, height = rows[:, turn_column], rows[:, 1 - turn_column]
        height = np.where(np.abs(height) <= quarter, height, np.nan)
        turn, height = np.fmod(turn, 4 * quarter), np.asarray(height)
        if unit == "degrees":
            turn, height = np.deg2rad(turn), np.deg2rad(height)
        flat = np.cos(height)
        return size * np.stack([flat * np.cos(turn), flat * np.sin(turn), np.sin(height)], axis=-1)

    return convert
