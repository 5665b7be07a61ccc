"""Any other space: log-coordinates around the ball's centre, with the noise of one coordinate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodp.plots import style
from geodp.plots.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_coordinates(picture: Picture, ax: Axes) -> None:
    """One dot per coordinate, a band of the noise's share in it: radius / sqrt(dim)."""
    from matplotlib import ticker

    space = picture.space
    z = np.asarray(space.log_coords(picture.base, picture.value))
    at = np.arange(1, space.dim + 1)
    ax.axhline(0, color=style.BALL, lw=0.8, zorder=1)
    if picture.noise is not None:
        share = picture.noise / math.sqrt(space.dim)
        label = f"noise in one coordinate ± {share:.3g} (of radius {picture.noise:.3g})"
        ax.bar(at, 2 * share, bottom=z - share, width=0.7, label=label, **style.FILL_NOISE)
    if picture.records is not None:
        inside = ~space.cut_locus(picture.base, picture.records)
        cloud = np.asarray(space.log_coords(picture.base, picture.records[inside]))
        ax.plot(np.tile(at, len(cloud)), cloud.ravel(), label="raw records", **style.MARK_RECORD)
    ax.plot(at, z, label=picture.called, **style.MARK_VALUE)
    ax.margins(y=0.12)
    if picture.radius is not None and picture.radius < 4 * max(map(abs, ax.get_ylim())):
        for side in (-1, 1):  # a wider ball would make a hair of the noise
            label = style.ball_label(picture.radius) if side > 0 else "_nolegend_"
            ax.axhline(side * picture.radius, label=label, **style.LINE_BALL)
    _separate_factors(picture, ax)
    style.quiet_frame(ax)
    ax.set_xlim(0.4, space.dim + 0.6)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    around = "the space's origin" if picture.center is None else "the ball's centre"
    ax.set_xlabel(f"log-coordinate around {around}")
    flat = picture.unit if space.spec.startswith("euclidean") else None
    ax.set_ylabel(style.with_unit("geodesic length", flat))
    style.legend_below(ax, -0.16, columns=2)


def _separate_factors(picture: Picture, ax: Axes) -> None:
    factors = picture.space.factors
    if len(factors) == 1:
        return
    start = 0.5
    for factor in factors:
        if start > 0.5:
            ax.axvline(start, color=style.BALL, lw=0.8, zorder=1)
        middle = start + factor.dim / 2
        ax.text(
            middle,
            1.0,
            factor.spec,
            transform=ax.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=7.5,
            color=style.INK,
        )
        start += factor.dim
