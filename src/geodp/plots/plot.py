"""plot: the released value and its noise, drawn the way its space is read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError, SpaceError
from geodp.ledger.receipt import Release
from geodp.plots import drawers  # noqa: F401  (registers the pictures)
from geodp.plots.picture import Picture
from geodp.plots.registry import component_names, drawing_of, kind_of
from geodp.plots.style import headline, pyplot
from geodp.spaces.base import Array, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    release_or_point: Release | ArrayLike,
    space: Space | None = None,
    records: ArrayLike | None = None,
    radius: float | None = None,
    ax: Axes | None = None,
    smooth: float | None = None,
) -> Axes:
    """Draw a release, or any point of a space, with a noise radius around it.

    SPD(2) and SPD(3) are ellipses, larger SPD a heat map with its spectrum, S² a globe, H² the
    Poincaré disk, R and R² axes, planar shapes outlines; any other space shows log-coordinates
    around the ball's centre.
    Only public facts are drawn, unless ``records`` are given: then the title says "not private".

    Parameters
    ----------
    release_or_point : a ``Release``, or an array of shape ``space.point_shape``.
    space : the space of a bare point; a release brings its own.
    records : raw records ``(n, *point_shape)``, for the curator's own eyes; those that are no
        points of the space are left out.
    radius : the noise radius, a geodesic length; a release's is its expected distance.
    ax : matplotlib axes to draw on; new ones by default. Pictures of several panels divide it.
    smooth : planar shapes only: the bandwidth at which ``geodp.outlines.smooth`` smooths the value;
        both outlines are drawn.

    Returns
    -------
    Axes : the axes drawn on.

    Raises
    ------
    InputError : matplotlib is missing, a bare point comes without its space, or an outline is
        smoothed where there is none.
    SpaceError : the value or the records have the wrong shape, or the value is no point.

    Examples
    --------
    >>> import geodp as gd
    >>> from geodp.plots import plot
    >>> ax = plot([0.0, 0.6, 0.8], gd.Sphere(2), radius=0.2)
    """
    if space is not None and not isinstance(space, Space):
        raise InputError("The space is an object such as gd.SPD(3) or gd.Sphere(2).")
    if radius is not None and not (math.isfinite(radius) and radius >= 0):
        raise InputError("The noise radius is a finite length, zero or more.")
    picture = _picture(release_or_point, space, records, radius)
    if smooth is not None:
        picture = _smoothed(picture, smooth)
    drawing = drawing_of(picture.space)
    if ax is None:
        _, ax = pyplot().subplots(figsize=drawing.size, layout="constrained")
    headline(ax, picture.title)
    drawing.draw(picture, ax)
    return ax


def figure_size(space: Space) -> tuple[float, float]:
    """The size of a new figure for a space, in inches."""
    return drawing_of(space).size


def _picture(
    release_or_point: Any, space: Space | None, records: Any, radius: float | None
) -> Picture:
    if not isinstance(release_or_point, Release):
        if space is None:
            raise InputError("A bare point needs its space: plot(point, space=gd.SPD(3)).")
        value = _point(release_or_point, space)
        raw = None if records is None else points_of(records, space)
        title = "A point of " + space.spec + _warning(raw, True)
        return Picture(value, space, title, radius, records=raw)
    release = release_or_point
    if space is not None and space != release.space:
        raise InputError(f"The release lies in {release.space.spec}; leave space out.")
    domain = release.domain
    if domain is not None:
        _point(domain.center, release.space, "The ball's centre")
    raw = None if records is None else points_of(records, release.space)
    return Picture(
        value=_point(release.value, release.space),
        space=release.space,
        title=_title(release) + _warning(raw, release.private),
        noise=release.expected_distance if radius is None else radius,
        center=None if domain is None else domain.center,
        radius=None if domain is None else domain.radius,
        unit=None if domain is None else domain.physical_unit,
        names=() if domain is None else component_names(domain.component_order),
        records=raw,
    )


def _smoothed(picture: Picture, bandwidth: float) -> Picture:
    if kind_of(picture.space) != "shapes":
        raise InputError(
            f"Outlines of planar shapes are smoothed; this value lies on {picture.space.spec}. "
            "Leave the bandwidth out."
        )
    return replace(picture, smooth=bandwidth)


def _title(release: Release) -> str:
    count = "" if release.n is None else f"n = {release.n}, "
    return f"{release.statistic} on {release.space.spec}\n{count}{release.guarantee.label}"


def _warning(records: Array | None, private: bool) -> str:
    warnings = [] if private else ["NOT PRIVATE: seeded noise"]
    if records is not None:
        warnings.append("not private: raw records are drawn")
    return "".join(f"\n{line}" for line in warnings)


def _point(x: Any, space: Space, what: str = "The value") -> Array:
    point = np.asarray(x, dtype=np.float64)
    if point.shape != space.point_shape or not space.contains(point):
        raise SpaceError(f"{what} is no point of {space.spec}.")
    return point


def points_of(records: Any, space: Space) -> Array:
    """Those of the records that are points of the space."""
    raw = np.asarray(records, dtype=np.float64)
    if raw.ndim != len(space.point_shape) + 1 or raw.shape[1:] != space.point_shape:
        raise SpaceError(f"Records of {space.spec} have the shape (n, *{space.point_shape}).")
    return raw[space.contains(raw)]
