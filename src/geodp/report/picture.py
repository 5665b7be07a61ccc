"""The picture as a data URI: an SVG file inside an image tag, so that nothing in it can act."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

from numpy.typing import ArrayLike

from geodp.ledger.receipt import Release


def picture_uri(
    release: Release, records: ArrayLike | None = None, smooth: float | None = None
) -> str | None:
    """``data:image/svg+xml;base64,…``, or None where matplotlib is not installed."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return None
    from geodp.plots.plot import figure_size, plot

    # no window system is involved: the figure never meets pyplot
    figure = Figure(figsize=figure_size(release.space), layout="constrained")
    settings: Any = {"svg.fonttype": "path", "svg.hashsalt": "geodp"}
    buffer = BytesIO()
    with mpl.rc_context(settings):
        plot(release, records=records, ax=figure.subplots(), smooth=smooth)
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
