"""SPD(2) and SPD(3): ellipses with half axes sqrt(eigenvalue), three projections in space."""

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

_COUNT = 40  # faint ellipses, each exactly at the noise radius
_PLANES = ((0, 1), (0, 2), (1, 2))
_AXES = "xyz"


def ellipse(matrix: Array, count: int = 181) -> Array:
    """Points ``(count, 2)`` with ``xᵀ P⁻¹ x = 1`` for P of shape ``(2, 2)``.

    The projection of an ellipsoid onto a coordinate plane is the ellipse of that sub-matrix.
    """
    angle = np.linspace(0, 2 * math.pi, count)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray((np.linalg.cholesky(matrix) @ circle).T)


@register("spd", 3)
def draw_plane(picture: Picture, ax: Axes) -> None:
    """One ellipse, those at the noise radius around it, and the ball's centre."""
    _panel(picture, picture.neighbours(_COUNT), (0, 1), ax)
    _limits([ax])
    values = np.asarray(np.linalg.eigvalsh(picture.value)[::-1], dtype=np.float64)
    _legend(picture, ax, f"eigenvalues {_numbers(values)}", ax, -0.13)


@register("spd", 6, size=(9.0, 4.1))
def draw_projections(picture: Picture, ax: Axes) -> None:
    """The ellipsoid's three projections at one scale; eigenvalues, their mean and anisotropy."""
    style.no_frame(ax)
    around = picture.neighbours(_COUNT)
    panels = [ax.inset_axes((0.06 + 0.34 * i, 0.08, 0.26, 0.92)) for i in range(3)]
    for panel, plane in zip(panels, _PLANES, strict=True):
        _panel(picture, around, plane, panel)
    _limits(panels)
    values = np.asarray(np.linalg.eigvalsh(picture.value)[::-1], dtype=np.float64)
    facts = f"eigenvalues {_numbers(values)}, mean {values.mean():.3g}"
    unit = "" if picture.unit is None else f" [{style.plain(picture.unit)}]"
    spread = float(np.linalg.norm(values - values.mean()))
    anisotropy = math.sqrt(1.5) * spread / float(np.linalg.norm(values))
    _legend(picture, ax, f"{facts}{unit}, fractional anisotropy {anisotropy:.2f}", panels[0], -0.06)


def _panel(picture: Picture, around: Array, plane: tuple[int, int], ax: Axes) -> None:
    """One coordinate plane: records, ball's centre, noise, value with its principal axes."""
    pick = np.ix_(plane, plane)
    raw = () if picture.records is None else picture.records
    for i, record in enumerate(raw):
        label = "_nolegend_" if i else "raw records"
        ax.plot(*ellipse(record[pick]).T, color=style.RECORD, lw=0.4, alpha=0.3, label=label)
    if picture.radius is not None:
        label = f"centre of the public ball of radius {picture.radius:.3g}"
        ax.plot(*ellipse(picture.base[pick]).T, label=label, **style.LINE_BALL)
    for i, matrix in enumerate(around):
        label = "_nolegend_" if i else style.noise_label(picture.noise or 0.0)
        ax.plot(
            *ellipse(matrix[pick]).T,
            color=style.NOISE_LINE,
            lw=0.6,
            alpha=0.4,
            label=label,
            zorder=3,
        )
    ax.plot(*ellipse(picture.value[pick]).T, label=picture.called, **style.LINE_VALUE)
    values, vectors = np.linalg.eigh(picture.value)
    for half in (vectors * np.sqrt(values)).T[:, plane]:
        ax.plot(*np.stack([-half, half], axis=1), color=style.VALUE, lw=0.9, zorder=5)
    ax.set_aspect("equal")
    style.quiet_frame(ax)
    ax.set_xlabel(style.with_unit(_AXES[plane[0]], picture.unit, "^½"))
    ax.set_ylabel(style.with_unit(_AXES[plane[1]], picture.unit, "^½"))


def _limits(panels: list[Axes]) -> None:
    """One symmetric scale for all panels."""
    reach = max(abs(x) for ax in panels for x in (*ax.dataLim.intervalx, *ax.dataLim.intervaly))
    for ax in panels:
        ax.set_xlim(-1.06 * reach, 1.06 * reach)
        ax.set_ylim(-1.06 * reach, 1.06 * reach)


def _legend(picture: Picture, ax: Axes, facts: str, source: Axes, drop: float) -> None:
    handles, labels = source.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: not labels[i].startswith("released"))
    ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        title=facts,
        loc="upper center",
        bbox_to_anchor=(0.5, drop),
        ncols=1 if ax is source else 4,
        frameon=False,
        fontsize=8,
        title_fontsize=8.5,
        labelcolor=style.INK,
    )


def _numbers(values: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in values)
