"""One restrained look: colours that survive colour blindness and grey printing, labels, legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodp.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette; in grey the value is darkest, the noise lighter, the ball a dashed line
VALUE = "#0072b2"
SMOOTH = "#d55e00"
NOISE = "#e69f00"
NOISE_LINE = "#b87a00"
BALL = "#6b7280"
RECORD = "#111827"
GRID = "#dfe3e8"
FAINT = "#f6f7f9"
INK = "#374151"

LINE_VALUE: dict[str, Any] = {"color": VALUE, "lw": 2.0, "zorder": 5}
LINE_SMOOTH: dict[str, Any] = {"color": SMOOTH, "lw": 2.0, "zorder": 6}
LINE_NOISE: dict[str, Any] = {"color": NOISE_LINE, "lw": 1.2, "zorder": 4}
LINE_BALL: dict[str, Any] = {"color": BALL, "lw": 1.1, "ls": (0, (5, 3)), "zorder": 2}
FILL_NOISE: dict[str, Any] = {"color": NOISE, "alpha": 0.28, "lw": 0, "zorder": 3}
MARK_VALUE: dict[str, Any] = {
    "marker": "o",
    "ms": 6.5,
    "color": VALUE,
    "mec": "white",
    "mew": 1.0,
    "ls": "",
    "zorder": 6,
}
MARK_CENTER: dict[str, Any] = {
    "marker": "+",
    "ms": 8,
    "mew": 1.3,
    "color": BALL,
    "ls": "",
    "zorder": 4,
}
MARK_RECORD: dict[str, Any] = {
    "marker": ".",
    "ms": 4,
    "color": RECORD,
    "alpha": 0.35,
    "mew": 0,
    "ls": "",
    "zorder": 1,
}


def pyplot() -> Any:
    """``matplotlib.pyplot``, or an ``InputError`` that names the extra."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise InputError(
            "Pictures need matplotlib, which is not installed: pip install 'geodp[plot]'."
        ) from error
    return plt


def plain(text: str) -> str:
    """``text`` without matplotlib's mathematics: units are declared by anyone, and drawn as is."""
    return text.replace("$", r"\$")


def with_unit(label: str, unit: str | None, power: str = "") -> str:
    """``label`` with its unit in square brackets, ``power`` after it."""
    if unit is None:
        return label
    body = f"({unit}){power}" if power else unit
    return f"{label}  [{plain(body)}]"


def quiet_frame(ax: Axes) -> None:
    """Only the left and bottom axis lines, in grey; small labels."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#9ca3af")
    ax.tick_params(colors=INK, labelsize=8, length=3, width=0.8)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(9)


def no_frame(ax: Axes) -> None:
    """No axis lines and ticks; a label below the picture stays."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.xaxis.label.set_color(INK)
    ax.xaxis.label.set_fontsize(9)


def legend_below(ax: Axes, drop: float = -0.13, columns: int = 1) -> None:
    """The legend under the axes, without a frame, the released value first."""
    found = zip(*ax.get_legend_handles_labels(), strict=True)
    entries = sorted(found, key=lambda entry: not str(entry[1]).startswith("released"))
    if entries:
        ax.legend(
            *zip(*entries, strict=True),
            loc="upper center",
            bbox_to_anchor=(0.5, drop),
            ncols=columns,
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            handlelength=1.8,
            columnspacing=1.6,
        )


def headline(ax: Axes, title: str) -> None:
    """The title, left-aligned over the axes."""
    ax.set_title(plain(title), loc="left", fontsize=10, color="#111827", pad=10)


def noise_label(noise: float, extra: str = "") -> str:
    """What the noise radius means, in a legend."""
    return f"noise radius {noise:.3g}{extra} (expected distance)"


def ball_label(radius: float, extra: str = "") -> str:
    """What the ball is, in a legend."""
    return f"edge of the public ball, radius {radius:.3g}{extra}"
