"""S²: an orthographic view on the public ball's centre, with the noise as a geodesic circle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodp.plots import style
from geodp.plots.picture import Picture
from geodp.plots.registry import register
from geodp.spaces.base import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = (1, 2, 5, 10, 15, 30)  # degrees between lines of the graticule


def frame(view: Array) -> Array:
    """Rows east, north and towards the eye, an orthonormal frame ``(3, 3)`` at direction ``view``.

    North is the third axis; where the view is along it, north is the first one.
    """
    up = view / np.linalg.norm(view)
    pole = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 1 - 1e-12 else np.array([1.0, 0.0, 0.0])
    north = pole - (pole @ up) * up
    north /= np.linalg.norm(north)
    return np.stack([np.cross(north, up), north, up])


def project(axes: Array, points: Array) -> Array:
    """Orthographic image ``(n, 2)`` on the unit disc; the far side becomes NaN."""
    unit = points / np.linalg.norm(points, axis=-1, keepdims=True)
    seen = unit @ axes.T
    return np.where(seen[:, 2:] >= -1e-9, seen[:, :2], np.nan)


@register("sphere", 2)
def draw_globe(picture: Picture, ax: Axes) -> None:
    """The globe, or the part of it that holds ball and noise."""
    stretch = math.sqrt(picture.space.curvature[1])  # length to angle
    view = picture.value if picture.center is None else picture.center
    if float(picture.space.dist(view, picture.value)) * stretch > 1.3:
        view = picture.value  # else the value would lie at the rim or behind
    axes = frame(view)
    reach = _reach(picture, view, stretch)
    angle = np.linspace(0, 2 * math.pi, 361)
    ax.fill(np.cos(angle), np.sin(angle), color=style.FAINT, lw=0, zorder=0)
    ax.plot(np.cos(angle), np.sin(angle), color=style.BALL, lw=0.9, zorder=2)
    step = _graticule(axes, reach, ax)

    def degrees(length: float) -> str:
        return f" = {math.degrees(length * stretch):.3g}°"

    if picture.radius is not None and picture.center is not None:
        edge = project(axes, picture.circle(picture.center, picture.radius))
        label = style.ball_label(picture.radius, degrees(picture.radius))
        ax.plot(*edge.T, label=label, **style.LINE_BALL)
        ax.plot(*project(axes, picture.center[None]).T, **style.MARK_CENTER)
    if picture.noise is not None:
        ring = project(axes, picture.circle(picture.value, picture.noise))
        if np.isfinite(ring).all():
            ax.fill(*ring.T, **style.FILL_NOISE)
        label = style.noise_label(picture.noise, degrees(picture.noise))
        ax.plot(*ring.T, label=label, **style.LINE_NOISE)
    if picture.records is not None:
        ax.plot(*project(axes, picture.records).T, label="raw records", **style.MARK_RECORD)
    ax.plot(*project(axes, picture.value[None]).T, label=picture.called, **style.MARK_VALUE)
    ax.set_aspect("equal")
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    style.no_frame(ax)
    ax.set_xlabel(f"orthographic view, north up, parallels every {step}°")
    style.legend_below(ax, -0.07)


def _reach(picture: Picture, view: Array, stretch: float) -> float:
    """Half the width of the view: what holds ball and noise, at most the whole globe."""
    extent = float(picture.space.dist(view, picture.value)) + (picture.noise or 0.0)
    if picture.radius is not None and view is picture.center:
        extent = max(extent, picture.radius)
    angle = extent * stretch
    return 1.03 if angle <= 0 or angle > 0.9 else min(1.03, 1.25 * math.sin(angle))


def _graticule(axes: Array, reach: float, ax: Axes) -> int:
    """Parallels, about six to the width of the view, and meridians about as far apart.

    Returns the step of the parallels in degrees.
    """
    width = math.degrees(2 * math.asin(min(1.0, reach)))
    step = next((s for s in _STEPS if width / s <= 7), _STEPS[-1])
    lat = np.radians(np.linspace(step - 90, 90 - step, 721))
    lon = np.radians(np.linspace(-180, 180, 1441))
    near = max(math.hypot(*axes[2, :2]), min(1.0, reach))  # cosine of the latitudes in view
    apart = next((s for s in _STEPS if s * near >= 0.8 * step), _STEPS[-1])
    lines = [_direction(np.full_like(lat, math.radians(x)), lat) for x in range(-180, 180, apart)]
    lines += [_direction(lon, np.full_like(lon, math.radians(y))) for y in range(-90, 91, step)]
    for line in lines:
        image = project(axes, line)
        if (np.abs(np.nan_to_num(image, nan=2.0)).max(axis=1) < reach).any():
            ax.plot(*image.T, color=style.GRID, lw=0.7, zorder=1)
    return step


def _direction(lon: Array, lat: Array) -> Array:
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
