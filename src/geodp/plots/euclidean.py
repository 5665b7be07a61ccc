"""R and R²: a line and a plane, with the noise interval or circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodp.plots import style
from geodp.plots.picture import Picture
from geodp.plots.registry import register

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _names(picture: Picture) -> tuple[str, ...]:
    declared = picture.names
    return declared if len(declared) == picture.space.dim else ("x₁", "x₂")[: picture.space.dim]


@register("euclidean", 1, size=(6.2, 3.1))
def draw_line(picture: Picture, ax: Axes) -> None:
    """The value on a number line, its noise interval, the public interval."""
    value = float(picture.value[0])
    if picture.radius is not None:
        center = float(picture.base[0])
        ends = [center - picture.radius, center + picture.radius]
        ax.plot(
            ends,
            [0, 0],
            marker="|",
            ms=14,
            label=style.ball_label(picture.radius),
            **style.LINE_BALL,
        )
    if picture.noise is not None:
        ends = [value - picture.noise, value + picture.noise]
        ax.plot(
            ends,
            [0, 0],
            color=style.NOISE,
            alpha=0.5,
            lw=11,
            solid_capstyle="butt",
            label=style.noise_label(picture.noise),
            zorder=3,
        )
    if picture.records is not None:
        ax.plot(
            picture.records[:, 0],
            np.full(len(picture.records), -0.25),
            label="raw records",
            **style.MARK_RECORD,
        )
    ax.plot([value], [0], label=picture.called, **style.MARK_VALUE)
    ax.set_ylim(-1, 1)
    style.quiet_frame(ax)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(
        style.with_unit(style.plain(_names(picture)[0]) if picture.names else "value", picture.unit)
    )
    style.legend_below(ax, -0.3, columns=2)


@register("euclidean", 2)
def draw_plane(picture: Picture, ax: Axes) -> None:
    """The value in the plane with its noise circle and the public disc's edge."""
    if picture.radius is not None:
        edge = picture.circle(picture.base, picture.radius)
        ax.plot(*edge.T, label=style.ball_label(picture.radius), **style.LINE_BALL)
        ax.plot(*picture.base, **style.MARK_CENTER)
    if picture.noise is not None:
        ring = picture.circle(picture.value, picture.noise)
        ax.fill(*ring.T, **style.FILL_NOISE)
        ax.plot(*ring.T, label=style.noise_label(picture.noise), **style.LINE_NOISE)
    if picture.records is not None:
        ax.plot(*picture.records.T, label="raw records", **style.MARK_RECORD)
    ax.plot(*picture.value[:, None], label=picture.called, **style.MARK_VALUE)
    ax.set_aspect("equal", adjustable="datalim")
    style.quiet_frame(ax)
    first, second = map(style.plain, _names(picture))
    ax.set_xlabel(style.with_unit(first, picture.unit))
    ax.set_ylabel(style.with_unit(second, picture.unit))
    style.legend_below(ax, -0.12)
