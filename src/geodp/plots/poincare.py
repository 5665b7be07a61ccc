"""H²: the Poincaré disk, where geodesic circles are circles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodp.plots import style
from geodp.plots.picture import Picture
from geodp.plots.registry import register

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@register("hyperbolic", 2)
def draw_disk(picture: Picture, ax: Axes) -> None:
    """The disk with circles at distance 1, 2, … from its centre, the ball's edge and the noise."""
    space: Any = picture.space
    angle = np.linspace(0, 2 * math.pi, 721)
    ax.fill(np.cos(angle), np.sin(angle), color=style.FAINT, lw=0, zorder=0)
    ax.plot(np.cos(angle), np.sin(angle), color=style.INK, lw=1.2, zorder=2)
    for rung in (1, 2, 3, 4):
        ring = space.to_ball(picture.circle(space.origin, float(rung)))
        if np.abs(ring).max() < 0.97:
            ax.plot(*ring.T, color=style.GRID, lw=0.7, zorder=1)
    for turn in np.arange(0, math.pi, math.pi / 6):
        ends = np.array([[-math.cos(turn), -math.sin(turn)], [math.cos(turn), math.sin(turn)]])
        ax.plot(*ends.T, color=style.GRID, lw=0.7, zorder=1)
    if picture.radius is not None and picture.center is not None:
        edge = space.to_ball(picture.circle(picture.center, picture.radius))
        ax.plot(*edge.T, label=style.ball_label(picture.radius), **style.LINE_BALL)
        ax.plot(*space.to_ball(picture.center)[:, None], **style.MARK_CENTER)
    if picture.noise is not None:
        ring = space.to_ball(picture.circle(picture.value, picture.noise))
        ax.fill(*ring.T, **style.FILL_NOISE)
        ax.plot(*ring.T, label=style.noise_label(picture.noise), **style.LINE_NOISE)
    if picture.records is not None:
        ax.plot(*space.to_ball(picture.records).T, label="raw records", **style.MARK_RECORD)
    ax.plot(*space.to_ball(picture.value)[:, None], label=picture.called, **style.MARK_VALUE)
    ax.set_aspect("equal")
    ax.set_xlim(-1.03, 1.03)
    ax.set_ylim(-1.03, 1.03)
    style.no_frame(ax)
    ax.set_xlabel("Poincaré disk, grey circles at distance 1, 2, … from its centre")
    style.legend_below(ax, -0.07)
