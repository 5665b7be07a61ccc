"""The page of an inference: the regions first, then every receipt."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from geodp.errors import InputError
from geodp.inference.groups import Groups
from geodp.inference.result import Inference
from geodp.report import parts
from geodp.report.page import html
from geodp.report.spaces import Table, number

_END = "</h1>\n"


def inference_html(found: Inference | Groups) -> str:
    """One self-contained page: picture and tables of the regions, intervals, split, receipts."""
    groups = _groups(found)
    releases, titles = [], []
    for label, one in groups.items():
        for name, release in one.releases.items():
            releases.append(release)
            titles.append(f"{label}: {name}" if label else name)
    page = html(releases, titles=titles)
    sections = [section(label, one) for label, one in groups.items()]
    notes = parts.bullets(list(found.notes)) if isinstance(found, Groups) else ""
    body = f"{_picture(found)}{''.join(sections)}{notes}<h2>Receipts</h2>\n"
    return page.replace(_END, f"{_END}{body}", 1).replace(
        f"{len(releases)} releases", "Mean, region and variance"
    )


def inference_report(found: Inference | Groups, path: str | Path) -> None:
    """Write ``inference_html`` to a file.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.report.inference import inference_report
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> inference_report(gd.infer(np.zeros((50, 2)), ball, gd.GaussianDP(1)), "/dev/null")
    """
    try:
        Path(path).write_text(inference_html(found), encoding="utf-8")
    except OSError as error:
        raise InputError(f"The report {str(path)!r} cannot be written.") from error


def _groups(found: Inference | Groups) -> Mapping[str, Inference]:
    return found.inferences if isinstance(found, Groups) else {"": found}


def section(label: str, one: Inference) -> str:
    """Tables of one inference: region, intervals, principal directions and split; its notes."""
    region = one.region
    level = f"{100 * region.confidence:g} %"
    lengths, _ = region.axes
    axes = tuple((f"half axis {i}", (number(float(x)),)) for i, x in enumerate(lengths, 1))
    rows = (*axes, ("privacy noise", (f"{100 * region.noise_share:.3g} % of the variance",)))
    tables = [Table(f"{level} confidence region of the mean", (), rows)]
    named = {"Fréchet variance": one.interval, "share of replaced records": one.replaced}
    intervals = tuple(
        (name, tuple(number(x) for x in (found.value, found.low, found.high)))
        for name, found in named.items()
        if found is not None
    )
    if intervals:
        tables.append(Table(f"{level} intervals", ("value", "from", "to"), intervals))
    shares = tuple(
        (f"direction {i}", (number(way.variance**0.5), f"{100 * way.share:.3g} %"))
        for i, way in enumerate(one.principal_directions(), 1)
    )
    columns = ("standard deviation along it", "share of the variance")
    tables.append(Table("Principal geodesic directions of the records", columns, shares))
    split = tuple((name, (promise.label,)) for name, promise in one.split.items())
    tables.append(Table(f"How {one.guarantee.label} was divided", (), split))
    head = f"<h2>{escape(label)}</h2>\n" if label else ""
    seeded = "" if one.private else parts.warning("NOT PRIVATE: the noise was seeded.")
    return head + seeded + "".join(map(parts.table, tables)) + parts.bullets(one.notes)


def _picture(found: Inference | Groups) -> str:
    drawn = region_svg(found)
    if drawn is None:
        return "<p>The picture needs matplotlib: install the extra geodp[plot].</p>\n"
    data = base64.b64encode(drawn).decode("ascii")
    return (
        f'<figure class="tall"><img src="data:image/svg+xml;base64,{data}" alt="Confidence regions '
        'of the mean."><figcaption>Filled: what the sample leaves open. Outline: with the privacy '
        "noise.</figcaption></figure>\n"
    )


def region_svg(found: Inference | Groups) -> bytes | None:
    """The regions drawn as an SVG file; None where matplotlib is not installed."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(5.0, 5.6), layout="constrained")
    settings: Any = {"svg.fonttype": "path", "svg.hashsalt": "geodp"}
    buffer = BytesIO()
    with mpl.rc_context(settings):
        found.plot(ax=figure.subplots())
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
