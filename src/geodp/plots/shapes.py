"""Planar shapes: outlines through the landmarks in order, all rotated onto the released one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodp.outlines import smooth
from geodp.plots import style
from geodp.plots.picture import Picture
from geodp.plots.registry import register
from geodp.spaces.base import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COUNT = 40  # faint outlines, each exactly at the noise radius
_DOTS = 30  # with more landmarks than this their dots would hide the outline


def onto(reference: Array, shapes: Array) -> Array:
    """Configurations ``(n, k, 2)`` rotated to fit ``reference`` best; the same shapes."""
    goal = reference[..., 0] + 1j * reference[..., 1]
    z = shapes[..., 0] + 1j * shapes[..., 1]
    fit = (np.conj(z) * goal).sum(axis=-1, keepdims=True)
    z = z * np.where(fit == 0, 1.0, fit / np.maximum(np.abs(fit), 1e-300))
    return np.stack([z.real, z.imag], axis=-1)


@register("shapes", size=(5.0, 5.9))
def draw_outlines(picture: Picture, ax: Axes) -> None:
    """The released outline, smoothed if asked, others at the noise radius, the ball's centre."""
    value = picture.value
    if picture.records is not None:
        for i, x in enumerate(onto(value, picture.records)):
            label = "_nolegend_" if i else "raw records"
            ax.plot(*_closed(x).T, color=style.RECORD, lw=0.4, alpha=0.3, label=label, zorder=1)
    if picture.radius is not None and picture.value is not picture.base:
        (center,) = onto(value, picture.base[None])
        label = f"centre of the public ball of radius {picture.radius:.3g}"
        ax.plot(*_closed(center).T, label=label, **style.LINE_BALL)
    for i, x in enumerate(onto(value, picture.neighbours(_COUNT))):
        label = "_nolegend_" if i else style.noise_label(picture.noise or 0.0)
        ax.plot(*_closed(x).T, color=style.NOISE_LINE, lw=0.6, alpha=0.4, label=label, zorder=3)
    ax.plot(*_closed(value).T, label=picture.called, **style.LINE_VALUE)
    if picture.smooth is not None:
        (even,) = onto(value, smooth(value, picture.smooth)[None])
        label = f"released value, smoothed at bandwidth {picture.smooth:.3g}"
        ax.plot(*_closed(even).T, label=label, **style.LINE_SMOOTH)
    if len(value) <= _DOTS:
        ax.plot(*value.T, label="_nolegend_", **style.MARK_VALUE)
    ax.set_aspect("equal", adjustable="datalim")  # the legend keeps the place laid out for it
    ax.margins(0.08)
    style.no_frame(ax)
    ax.set_xlabel(f"centred, sum of squares 1, rotated onto the {picture.called}")
    style.legend_below(ax, -0.08)


def _closed(x: Array) -> Array:
    return np.concatenate([x, x[:1]])
