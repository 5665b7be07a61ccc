"""Confidence regions: the sampling error's part filled, the whole with privacy noise outlined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geodp.errors import InputError
from geodp.inference.region import ConfidenceRegion
from geodp.plots import style
from geodp.plots.ellipses import ellipse
from geodp.plots.globe import frame, project
from geodp.plots.registry import kind_of
from geodp.plots.style import headline, pyplot
from geodp.spaces.base import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = (style.VALUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#374151")
_FAINT = 24  # ellipses drawn from the edge of a region of tensors


def plot_regions(
    regions: Sequence[ConfidenceRegion],
    labels: Sequence[str] | None = None,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw one region or several on one picture.

    S² is seen from the regions' middle, H² in the Poincaré disk, R² as it is, SPD(2) as ellipses
    with those on the region's edge; any other space shows intervals of log-coordinates around the
    first centre, each for itself.

    Parameters
    ----------
    regions : regions on one space.
    labels : a name for each.
    ax : matplotlib axes; new ones by default.
    title : the first line; the level and the space by default.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.inference import ConfidenceRegion
    >>> from geodp.plots.regions import plot_regions
    >>> one, zero = np.eye(2), np.zeros((2, 2))
    >>> disc = ConfidenceRegion(gd.Euclidean(2), np.zeros(2), one, zero, 0.95, 4.0, 50.0)
    >>> ax = plot_regions([disc])
    """
    if not regions or len({r.space.spec for r in regions}) > 1:
        raise InputError("A picture shows one or more regions on one space.")
    names = [f"mean {i}" for i in range(1, len(regions) + 1)] if labels is None else list(labels)
    if labels is None and len(regions) == 1:
        names = ["mean"]
    if len(names) != len(regions):
        raise InputError("Give one label for each region, or none.")
    space = regions[0].space
    if ax is None:
        _, ax = pyplot().subplots(figsize=(5.0, 5.6), layout="constrained")
    level = title or f"{100 * regions[0].confidence:g} % confidence regions on {space.spec}"
    headline(ax, f"{level}\nfilled: the sample's part; outline: with privacy noise")
    _DRAW.get((kind_of(space), space.dim), _intervals)(regions, names, ax)
    style.legend_below(ax, -0.1, columns=2)
    return ax


def _curves(
    regions: Sequence[ConfidenceRegion],
    names: Sequence[str],
    ax: Axes,
    image: Callable[[Array], Array],
) -> None:
    for i, (region, name) in enumerate(zip(regions, names, strict=True)):
        color = _COLORS[i % len(_COLORS)]
        inner, outer = image(region.boundary(noise=False)), image(region.boundary())
        ax.fill(*inner.T, color=color, alpha=0.35, lw=0, zorder=3)
        ax.plot(*outer.T, color=color, lw=1.4, zorder=4)
        ax.plot(*image(region.center[None]).T, "o", color=color, ms=4, label=name, zorder=5)


def _globe(regions: Sequence[ConfidenceRegion], names: Sequence[str], ax: Axes) -> None:
    middle = sum(r.center for r in regions)
    if not np.linalg.norm(middle) > 1e-6:
        middle = regions[0].center
    axes = frame(np.asarray(middle))
    angle = np.linspace(0, 2 * math.pi, 361)
    ax.fill(np.cos(angle), np.sin(angle), color=style.FAINT, lw=0, zorder=0)
    for k in range(-75, 90, 15):
        lat, lon = np.full_like(angle, math.radians(k)), angle
        for a, b in ((lat, lon), (angle / 2 - math.pi / 2, np.full_like(angle, 2 * lat[0]))):
            line = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=-1)
            ax.plot(*project(axes, line).T, color=style.GRID, lw=0.6, zorder=1)
    _curves(regions, names, ax, lambda x: project(axes, x))
    seen = np.concatenate([project(axes, r.boundary()) for r in regions])
    reach = min(1.03, 1.4 * float(np.nanmax(np.abs(seen))))
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    ax.set_aspect("equal")
    style.no_frame(ax)
    ax.set_xlabel("orthographic view, north up, lines every 15° of latitude")


def _disk(regions: Sequence[ConfidenceRegion], names: Sequence[str], ax: Axes) -> None:
    space: Any = regions[0].space
    angle = np.linspace(0, 2 * math.pi, 361)
    ax.fill(np.cos(angle), np.sin(angle), color=style.FAINT, lw=0, zorder=0)
    ax.plot(np.cos(angle), np.sin(angle), color=style.INK, lw=1.0, zorder=2)
    _curves(regions, names, ax, space.to_ball)
    seen = np.concatenate([space.to_ball(r.boundary()) for r in regions])
    middle = (seen.max(axis=0) + seen.min(axis=0)) / 2
    reach = max(1.4 * float(np.abs(seen - middle).max()), 0.05)
    if reach < 0.5:  # a small region is looked at closely
        ax.set_xlim(middle[0] - reach, middle[0] + reach)
        ax.set_ylim(middle[1] - reach, middle[1] + reach)
    ax.set_aspect("equal")
    style.quiet_frame(ax)
    ax.set_xlabel("Poincaré disk")


def _plane(regions: Sequence[ConfidenceRegion], names: Sequence[str], ax: Axes) -> None:
    _curves(regions, names, ax, lambda x: x)
    ax.set_aspect("equal", adjustable="datalim")
    style.quiet_frame(ax)


def _tensors(regions: Sequence[ConfidenceRegion], names: Sequence[str], ax: Axes) -> None:
    for i, (region, name) in enumerate(zip(regions, names, strict=True)):
        color = _COLORS[i % len(_COLORS)]
        for noise, alpha, style_ in ((True, 0.25, (0, (4, 2))), (False, 0.5, "-")):
            for matrix in region.boundary(_FAINT, noise=noise):
                ax.plot(*ellipse(matrix).T, color=color, lw=0.5, alpha=alpha, ls=style_, zorder=3)
        ax.plot(*ellipse(region.center).T, color=color, lw=2.0, label=name, zorder=5)
    ax.set_aspect("equal")
    style.quiet_frame(ax)
    ax.set_xlabel("dashed: with privacy noise; solid: the sample's part")


def _intervals(regions: Sequence[ConfidenceRegion], names: Sequence[str], ax: Axes) -> None:
    space, base = regions[0].space, regions[0].center
    at = np.arange(1, space.dim + 1)
    for i, (region, name) in enumerate(zip(regions, names, strict=True)):
        color, shift = _COLORS[i % len(_COLORS)], 0.6 * (i + 0.5) / len(regions) - 0.3
        z = space.log_coords(base, region.center)
        for matrix, width in ((region.covariance, 1.2), (region.sampling, 4.0)):
            half = np.sqrt(region.quantile * np.maximum(np.diag(matrix), 0.0))
            ax.vlines(at + shift, z - half, z + half, color=color, lw=width, alpha=0.7)
        ax.plot(at + shift, z, "o", ms=3.5, color=color, label=name)
    style.quiet_frame(ax)
    ax.set_xlabel("log-coordinate around the first mean")
    ax.set_ylabel("geodesic length; thick: the sample's part")


_DRAW: dict[tuple[str, int], Callable[..., None]] = {
    ("sphere", 2): _globe,
    ("hyperbolic", 2): _disk,
    ("euclidean", 2): _plane,
    ("spd", 3): _tensors,
}
