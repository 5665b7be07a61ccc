"""SPD(m), m >= 4: the matrix as a heat map, its eigenvalues with the noise around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodp.plots import style
from geodp.plots.coordinates import draw_coordinates
from geodp.plots.picture import Picture
from geodp.plots.registry import register
from geodp.spaces.base import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COUNT = 400
_WRITTEN = 8  # sizes up to this have their numbers written into the cells

register("spd", 1, size=(5.6, 4.0))(draw_coordinates)


@register("spd", size=(9.6, 4.4))
def draw_matrix(picture: Picture, ax: Axes) -> None:
    """Heat map on the left, spectrum on the right."""
    style.no_frame(ax)
    heat_map(picture, ax.inset_axes((0.03, 0.02, 0.44, 0.98)))
    spectrum(picture, ax.inset_axes((0.62, 0.3, 0.38, 0.7)))


def heat_map(picture: Picture, ax: Axes) -> None:
    """The matrix, colours symmetric about zero, numbers written in while they fit."""
    matrix = picture.value
    size = len(matrix)
    top = float(np.abs(matrix).max())
    image = ax.imshow(matrix, cmap="PuOr_r", vmin=-top, vmax=top)
    if size <= _WRITTEN:
        for (i, j), entry in np.ndenumerate(matrix):
            dark = abs(entry) > 0.6 * top
            ax.text(
                j,
                i,
                f"{entry:.2g}",
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if dark else "#111827",
            )
    names = picture.names if len(picture.names) == size else tuple(map(str, range(1, size + 1)))
    if size <= 20 or len(picture.names) == size:
        ticks = [style.plain(name) for name in names]
        ax.set_xticks(range(size), ticks, rotation=45 if max(map(len, names)) > 3 else 0)
        ax.set_yticks(range(size), ticks)
    ax.tick_params(length=0, labelsize=8, colors=style.INK)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(style.with_unit("entries", picture.unit), fontsize=9, color=style.INK)
    if size > _WRITTEN:
        bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.04, 0.1, 0.035, 0.8)))
        bar.ax.tick_params(labelsize=7.5, length=2, colors=style.INK)
        bar.ax.spines[:].set_visible(False)


def noise_band(picture: Picture) -> tuple[Array, Array]:
    """5 % and 95 % quantiles of each eigenvalue over points at the noise radius, ``(m,)`` each."""
    spectra = np.linalg.eigvalsh(picture.neighbours(_COUNT))[:, ::-1]
    low, high = np.quantile(spectra, [0.05, 0.95], axis=0)
    return low, high


def spectrum(picture: Picture, ax: Axes) -> None:
    """Eigenvalues from the largest down on a log scale, the noise band, the ball's centre."""
    from matplotlib import ticker

    size = len(picture.value)
    at = np.arange(1, size + 1)
    if picture.records is not None:
        spectra = np.linalg.eigvalsh(picture.records)[:, ::-1]
        ax.plot(
            np.tile(at, len(spectra)), spectra.ravel(), label="raw records", **style.MARK_RECORD
        )
    if picture.radius is not None:
        center = np.linalg.eigvalsh(picture.base)[::-1]
        label = f"centre of the public ball of radius {picture.radius:.3g}"
        ax.plot(at, center, label=label, **style.LINE_BALL)
    if picture.noise is not None:
        label = f"90 % of points at the noise radius {picture.noise:.3g}"
        ax.fill_between(at, *noise_band(picture), label=label, **style.FILL_NOISE)
    values = np.linalg.eigvalsh(picture.value)[::-1]
    ax.plot(at, values, color=style.VALUE, lw=1.0, zorder=5)
    ax.plot(at, values, label=picture.called, **style.MARK_VALUE)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    style.quiet_frame(ax)
    ax.set_xticks(at if size <= 20 else at[:: size // 10])
    ax.minorticks_off()
    ax.set_xlabel("eigenvalue, from the largest")
    ax.set_ylabel(style.with_unit("eigenvalue", picture.unit))
    style.legend_below(ax, -0.2)
