"""The page's fragments: each a pure function from a release to HTML, every text escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from html import escape

from numpy.typing import ArrayLike

from geodp.errors import SpaceError
from geodp.ledger.check import Check
from geodp.ledger.neighbours import replaced_thing
from geodp.ledger.receipt import Release
from geodp.plots.plot import figure_size
from geodp.privacy.guarantees import Guarantee
from geodp.report import words
from geodp.report.picture import picture_uri
from geodp.report.spaces import Table, number
from geodp.verbs.verify import verify


def table(content: Table) -> str:
    """A table with its caption; wide ones scroll."""
    head = ""
    if content.columns:
        cells = "".join(f"<th scope=col>{escape(name)}</th>" for name in content.columns)
        head = f"<thead><tr><th></th>{cells}</tr></thead>\n"
    body = "".join(
        f"<tr><th scope=row>{escape(name)}</th>"
        + "".join(f"<td class=num>{escape(cell)}</td>" for cell in cells)
        + "</tr>\n"
        for name, cells in content.rows
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(content.caption)}">'
        f"<table>\n<caption>{escape(content.caption)}</caption>\n{head}"
        f"<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def picture(release: Release, records: ArrayLike | None, smooth: float | None = None) -> str:
    """The picture, or what to install for it."""
    try:
        uri = picture_uri(release, records, smooth)
    except SpaceError as error:  # a receipt that fails its checks
        return f"<p>There is no picture: {escape(str(error))}</p>\n"
    if uri is None:
        return "<p>The picture needs matplotlib: install the extra geodp[plot].</p>\n"
    width, height = figure_size(release.space)
    shape = "broad" if width > 1.4 * height else "tall"
    radius = f"noise radius {release.expected_distance:.3g}, the expected distance"
    alt = escape(f"The released value on {release.space.spec} with its {radius}.", quote=True)
    return (
        f'<figure class="{shape}"><img src="{uri}" alt="{alt}">\n<figcaption>The released value '
        f"with its {escape(radius)} to the value without noise.{_smoothing(smooth)}</figcaption>"
        "</figure>\n"
    )


def _smoothing(bandwidth: float | None) -> str:
    if bandwidth is None:
        return ""
    return (
        f" The smoothed outline is a local linear regression at bandwidth {bandwidth:.3g}. It looks"
        " at the released value alone and costs no privacy."
    )


def detection(release: Release) -> str:
    """What any test can reach, as a table."""
    rows = tuple((a, (b,)) for a, b in words.detection(release))
    content = Table("The best test there is", ("recognises at most",), rows)
    return table(content).replace("<tr><th></th>", "<tr><th>false alarms</th>", 1)


def facts(release: Release) -> str:
    """Everything stated on the receipt, as a list of terms."""
    parts = release.sensitivity
    domain = release.domain
    rows = [
        ("guarantee", release.guarantee.label),
        ("neighbours", release.neighbours),
        ("unit of privacy", f"one {release.unit}"),
        (
            f"{replaced_thing(release.statistic, release.unit)}s",
            "not stated" if release.n is None else str(release.n),
        ),
        ("statistic", release.statistic),
        *_subject(release),
        ("mechanism", release.mechanism),
        *_stages(release),
        (
            "sensitivity",
            f"{number(parts.total)} = {number(parts.statistic)} (the exact statistic) "
            f"+ 2 × {parts.error_bound:.3g} (public bound on computing it), rounded up",
        ),
        *_replaced(release),
        ("expected distance", number(release.expected_distance)),
        ("public ball", "none" if domain is None else f"radius {number(domain.radius)}"),
    ]
    if domain is not None:
        declared = [domain.physical_unit, domain.component_order, domain.frame]
        labels = ["physical unit", "component order", "frame"]
        rows += [(a, x or "not declared") for a, x in zip(labels, declared, strict=True)]
    rows += [
        ("released at", release.released_at),
        ("versions", ", ".join(f"{k} {v}" for k, v in release.versions.items())),
    ]
    body = "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>\n" for k, v in rows)
    return f"<dl>\n{body}</dl>\n"


def _subject(release: Release) -> Iterable[tuple[str, str]]:
    """The records that a number is about, where it does not live on their space."""
    if release.about is None:
        return
    about, ball = release.about, release.about.domain
    yield "about records on", about.space.spec
    yield "their public ball", f"radius {number(ball.radius)}"
    declared = [ball.physical_unit, ball.component_order, ball.frame]
    for label, text in zip(("unit", "component order", "frame"), declared, strict=True):
        if text is not None:
            yield f"their {label}", text


def _stages(release: Release) -> Iterable[tuple[str, str]]:
    if len(release.stages) == 1:
        yield "scale of the noise", number(release.scale)
        return
    for i, stage in enumerate(release.stages, 1):
        yield f"stage {i}", f"{stage['name']}, scale {number(float(stage['scale']))}"


def _replaced(release: Release) -> Iterable[tuple[str, str]]:
    if release.replaced is not None:
        promise = Guarantee.from_json(release.replaced.stage["guarantee"])
        noise = f"noise of standard deviation {number(release.replaced.deviation)}"
        share = number(release.replaced.share)
        yield "share of replaced records", f"{share}, {noise}, paid by {promise.label}"


def checks(release: Release) -> str:
    """The outcome of ``gd.verify``."""
    return check_rows(verify(release))


def check_rows(found: Iterable[Check]) -> str:
    """Checks with their outcome, as a table."""
    rows = "".join(
        f'<tr class="{"pass" if check.passed else "fail"}"><td>'
        f"{'✓ pass' if check.passed else '✗ FAIL'}</td><td>{escape(check.name)}</td>"
        f"<td>{escape(check.detail)}</td></tr>\n"
        for check in found
    )
    return f'<div class="wide"><table class="checks">\n<tbody>\n{rows}</tbody>\n</table></div>\n'


def receipt(release: Release, index: int) -> str:
    """The receipt to download and to read."""
    text = json.dumps(release.to_json(), indent=2, ensure_ascii=False)
    data = base64.b64encode((text + "\n").encode()).decode("ascii")
    return (
        f'<p><a download="receipt-{index}.json" href="data:application/json;base64,{data}">'
        "Download the receipt (JSON)</a></p>\n"
        f"<details><summary>Show the receipt</summary><pre>{escape(text)}</pre></details>\n"
    )


def bullets(items: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>\n" + "".join(f"<li>{escape(item)}</li>\n" for item in items) + "</ul>\n"


def warning(text: str) -> str:
    """A sentence that nobody should miss."""
    return f'<p class="warning" role="alert">{escape(text)}</p>\n'
