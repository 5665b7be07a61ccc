"""The curator's picture of raw records: NOT PRIVATE."""

from __future__ import annotations

from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.io.matrices_layout import component_names
from geodp.plots.picture import Picture
from geodp.plots.style import BALL, NOISE_LINE, VALUE, headline, plain, quiet_frame
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

_DOTS = 2000  # records drawn as points, at least: every k-th of more
_MOST = 200_000  # matrices looked at: every k-th of more
_LARGEST = 6  # matrices of more channels are drawn as one map of medians
_PRIVATE = "not private"


def draw_records(
    records: Any, space: Space, path: str, ball: Ball | None = None, *, unit: str | None = None
) -> None:
    """Write a picture (.png, .svg, .pdf) of raw records as they were understood. NOT PRIVATE.

    Symmetric matrices are drawn entry by entry, a histogram at each place of the matrix: variances
    belong on the diagonal and are positive. With a wrong order of components they stand elsewhere,
    and a part of the diagonal lies below zero, which is said in its panel. Other spaces show the
    records in the picture of ``geodp.plots.plot``, with the public ball.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("Pictures need matplotlib: pip install 'geodp[plot]'.") from error
    cell = space.cell
    figure = Figure(figsize=(7.0, 6.4), layout="constrained")
    if cell.spec.startswith("spd:") and len(cell.factors) == 1:
        found = _some(records, cell.point_shape)
        draw = _histograms if cell.point_shape[0] <= _LARGEST else _medians
        draw(figure, found, unit)
    else:
        _points(figure.subplots(), records, space, ball, unit)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"The picture cannot be written to {path!r}: use .png or .svg.") from error


def _points(ax: Any, records: Any, space: Space, ball: Ball | None, unit: str | None) -> None:
    from geodp.plots import drawers  # noqa: F401  (registers the pictures)
    from geodp.plots.plot import points_of
    from geodp.plots.registry import drawing_of

    some = points_of(np.asarray(records)[:: max(1, len(records) // _DOTS)], space)
    picture = Picture(
        value=space.origin if ball is None else ball.center,
        space=space,
        title=f"Records as understood on {space.spec}\n{_PRIVATE}",
        center=None if ball is None else ball.center,
        radius=None if ball is None else ball.radius,
        unit=unit,
        records=some,
        called="the space's origin" if ball is None else "centre of the public ball",
    )
    headline(ax, picture.title)
    drawing_of(space).draw(picture, ax)


def _some(records: Any, shape: tuple[int, ...]) -> Array:
    every = np.asarray(records).reshape(-1, *shape)
    some = np.array(every[:: max(1, len(every) // _MOST)], dtype=np.float64)
    return some[np.isfinite(some).all(axis=(1, 2))]


def _histograms(figure: Any, x: Array, unit: str | None) -> None:
    size = x.shape[1]
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    names = dict(zip(pairs, component_names("upper", size), strict=True))
    axes = figure.subplots(size, size, sharex=True, squeeze=False)
    high = float(np.quantile(np.abs(x), 0.99)) if len(x) else 1.0
    edges = np.linspace(-high, high, 61) if high > 0 else np.linspace(-1, 1, 61)
    for i in range(size):
        for j in range(size):
            ax = axes[i, j]
            ax.hist(x[:, i, j], edges, color=VALUE if i == j else BALL)
            ax.axvline(0.0, color=NOISE_LINE, lw=1)
            ax.set_yticks([])
            ax.locator_params(axis="x", nbins=3)  # small diffusivities are long numbers
            quiet_frame(ax)
            said = names[min(i, j), max(i, j)]
            below = float((x[:, i, i] < 0).mean()) if i == j and len(x) else 0.0
            wrong = f": {100 * below:.2g} % below zero" if below else ""
            ax.set_title(said + wrong, fontsize=9, color=NOISE_LINE if wrong else "black")
    what = "entries as understood" if unit is None else f"entries as understood, in {plain(unit)}"
    figure.suptitle(f"{what} ({_PRIVATE})", fontsize=10)


def _medians(figure: Any, x: Array, unit: str | None) -> None:
    ax = figure.subplots()
    size = x.shape[1]
    medians = np.median(np.abs(x), axis=0) if len(x) else np.zeros((size, size))
    image = ax.imshow(medians, cmap="viridis")
    figure.colorbar(image, label="" if unit is None else plain(unit))
    ax.set_title(f"median absolute entries as understood ({_PRIVATE})", fontsize=10)
