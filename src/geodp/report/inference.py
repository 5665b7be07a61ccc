"""The page of an inference: the regions first, then every receipt."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from geodp.errors import GeodpError, InputError
from geodp.inference.document import inference_of
from geodp.inference.groups import Groups
from geodp.inference.result import Inference
from geodp.inference.scalars import parse_scalar
from geodp.ledger.check import Check
from geodp.report import parts
from geodp.report.groups import comparison
from geodp.report.page import html
from geodp.report.spaces import Table, number
from geodp.spaces.base import Array
from geodp.verbs.verify_document import verify_document

Scalar: TypeAlias = Callable[[Array], float]
Rows: TypeAlias = "tuple[tuple[str, tuple[str, ...]], ...]"
_END = "</h1>\n"
_COLUMNS = ("value", "from", "to", "released")
_WHOLE = ("sum", "records", "results", "groups")  # checks of the document beside its receipts


def inference_html(
    found: Inference | Groups,
    scalars: Mapping[str, Scalar] | None = None,
    checks: Sequence[Check] = (),
) -> str:
    """One self-contained page: picture and tables of the regions, intervals, split, receipts.

    Parameters
    ----------
    found : what ``gd.infer`` returned; groups are compared too.
    scalars : scalar functions of the mean by name, which get intervals of their own.
    checks : of the document that it was read from.
    """
    groups = _groups(found)
    releases, titles = [], []
    for label, one in groups.items():
        for name, release in one.releases.items():
            releases.append(release)
            titles.append(f"{label}: {name}" if label else name)
    page = html(releases, titles=titles)
    compared = comparison(found) if isinstance(found, Groups) else ""
    sections = [section(label, one, scalars) for label, one in groups.items()]
    whole = parts.check_rows(checks) if checks else ""
    checked = f"<h2>Checks of the document</h2>\n{whole}" if checks else ""
    body = f"{_picture(found)}{compared}{''.join(sections)}{checked}<h2>Receipts</h2>\n"
    return page.replace(_END, f"{_END}{body}", 1).replace(
        f"{len(releases)} releases", "Mean, region and variance"
    )


def inference_report(
    found: Inference | Groups,
    path: str | Path,
    scalars: Mapping[str, Scalar] | None = None,
    checks: Sequence[Check] = (),
) -> None:
    """Write ``inference_html`` to a file.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.report.inference import inference_report
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> inference_report(gd.infer(np.zeros((50, 2)), ball, gd.GaussianDP(1)), "/dev/null")
    """
    text = inference_html(found, scalars, checks)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The report {str(path)!r} cannot be written.") from error


def document_report(document: object, path: str | Path, scalars: Sequence[str] = ()) -> int:
    """Write the page of a document that infer wrote, and return how many receipts it holds.

    ``scalars`` are names as for ``parse_scalar``. A document that fails its checks is shown with
    the failures.

    Raises
    ------
    InputError : it is no such document, a scalar is not one of its space, or the page cannot be
        written.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> document = gd.infer(np.zeros((50, 2)), ball, gd.GaussianDP(1)).to_json()
    >>> document_report(document, "/dev/null")
    5
    """
    checks = [one for one in verify_document(document) if one.name.rsplit(": ", 1)[-1] in _WHOLE]
    found = inference_of(document)
    groups = _groups(found).values()
    space = next(iter(groups)).mean.space
    functions = {name: parse_scalar(name, space) for name in scalars}
    inference_report(found, path, functions, checks)
    return sum(len(one.releases) for one in groups)


def _groups(found: Inference | Groups) -> Mapping[str, Inference]:
    return found.inferences if isinstance(found, Groups) else {"": found}


def section(label: str, one: Inference, scalars: Mapping[str, Scalar] | None = None) -> str:
    """Tables of one inference: region, intervals, principal directions and split; its notes."""
    region = one.region
    level = f"{100 * region.confidence:g} %"
    lengths, _ = region.axes
    axes = tuple((f"half axis {i}", (number(float(x)),)) for i, x in enumerate(lengths, 1))
    rows = (*axes, ("privacy noise", (f"{100 * region.noise_share:.3g} % of the variance",)))
    tables = [Table(f"{level} confidence region of the mean", (), rows)]
    intervals = tuple(
        (name, tuple(number(x) for x in (found.inside, found.low, found.high, released)))
        for name, (found, released) in one.estimate.ranged.items()
    )
    more, refused = _scalars(one, scalars or {})
    if intervals or more:
        tables.append(Table(f"{level} intervals", _COLUMNS, intervals + more))
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
    return head + seeded + "".join(map(parts.table, tables)) + parts.bullets([*one.notes, *refused])


def _scalars(one: Inference, scalars: Mapping[str, Scalar]) -> tuple[Rows, list[str]]:
    """Rows of the scalar functions, and why some have no interval."""
    rows: list[tuple[str, tuple[str, ...]]] = []
    refused = []
    for name, function in scalars.items():
        try:
            found = one.function(function)
        except InputError as error:
            refused.append(f"The {name} has no interval. {error}")
        else:
            cells = tuple(number(x) for x in (found.value, found.low, found.high))
            rows.append((name, (*cells, "")))
    return tuple(rows), refused


def _picture(found: Inference | Groups) -> str:
    try:
        drawn = region_svg(found)
    except (GeodpError, ValueError):  # of a document that fails its checks
        return "<p>There is no picture: the regions do not fit together.</p>\n"
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
