"""The page: pure functions from receipts to HTML. Every text that is not ours is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from numpy.typing import ArrayLike

from geodp.errors import GeodpError, InputError
from geodp.ledger.receipt import Release
from geodp.plots.registry import component_names
from geodp.report import parts, words
from geodp.report.spaces import tables_of
from geodp.verbs.verify import verify

_RAW = "NOT PRIVATE: this page shows raw records. It is for the curator's own eyes."
_SEEDED = "NOT PRIVATE: the noise came from a seeded generator and can be replayed."


def report(
    release: Release | Sequence[Release],
    path: str | Path,
    records: ArrayLike | None = None,
    titles: Sequence[str] | None = None,
    smooth: float | None = None,
) -> None:
    """Write one self-contained HTML page: no scripts, no links to elsewhere.

    Parameters
    ----------
    release : a ``Release``, or several for one page.
    path : the file to write.
    records : raw records for the picture of a single release; the page then says "NOT PRIVATE".
    titles : a title for each release, such as the group it is about.
    smooth : planar shapes only: the bandwidth at which the pictures show smoothed outlines too.

    A receipt that fails its checks is shown with the failures.

    Raises
    ------
    InputError : no release, records with several releases, another number of titles than of
        releases, a receipt with fields of the wrong kind, a bandwidth for what is no
        shape, or a path that cannot be written.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.report import report
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> out = gd.release(np.zeros((10, 2)), mean, gd.GaussianDP(1))
    >>> report(out, "/dev/null")
    """
    text = html(release, records, titles, smooth)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The report {str(path)!r} cannot be written.") from error


def html(
    release: Release | Sequence[Release],
    records: ArrayLike | None = None,
    titles: Sequence[str] | None = None,
    smooth: float | None = None,
) -> str:
    """The page as a string; see ``report``."""
    releases = _several(release)
    if records is not None and len(releases) > 1:
        raise InputError("Raw records belong to one release: write its report by itself.")
    named = [None] * len(releases) if titles is None else list(titles)
    if len(named) != len(releases):
        raise InputError("Give one title for each release, or none.")
    heads = [_heading(one, name) for one, name in zip(releases, named, strict=True)]
    pairs = enumerate(zip(releases, heads, strict=True), 1)
    try:
        sections = [_section(one, head, i, records, smooth) for i, (one, head) in pairs]
        contents = "" if len(releases) == 1 else _contents(releases, heads)
    except GeodpError:
        raise
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError("A receipt has a field of the wrong kind; verify it first.") from error
    title = "One release" if len(releases) == 1 else f"{len(releases)} releases"
    style = files("geodp.report").joinpath("style.css").read_text(encoding="utf-8")
    warning = "" if records is None else parts.warning(_RAW)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{warning}{contents}{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _several(release: Release | Sequence[Release]) -> list[Release]:
    releases = [release] if isinstance(release, Release) else list(release)
    if not releases or not all(isinstance(one, Release) for one in releases):
        raise InputError("A report takes one Release, or several in a list.")
    return releases


def _section(
    release: Release, heading: str, index: int, records: ArrayLike | None, smooth: float | None
) -> str:
    domain = release.domain
    unit = None if domain is None else domain.physical_unit
    names = () if domain is None else component_names(domain.component_order)
    body = [
        "" if release.private else parts.warning(_SEEDED),
        f"<p class=lead>{escape(words.summary(release))}</p>\n",
        f"<p>{escape(words.accuracy(release))}</p>\n",
        '<div class="columns">\n<div class="values">\n<h3>Value</h3>\n',
        *(parts.table(table) for table in tables_of(release.space, release.value, unit, names)),
        "</div>\n",
        parts.picture(release, records, smooth),
        "</div>\n",
        "<h3>What an attacker cannot do</h3>\n",
        parts.bullets(
            words.cannot(release) or ["Nothing is promised: this release is not private."]
        ),
        parts.detection(release) if release.private else "",
        "<h3>What an attacker can do</h3>\n",
        parts.bullets(words.can(release)),
        "<h3>How it was made</h3>\n",
        parts.facts(release),
        "<h3>Checks of this receipt</h3>\n",
        parts.checks(release),
        "<h3>Notes</h3>\n",
        parts.bullets(release.notes),
        parts.receipt(release, index),
    ]
    head = f'<section id="release-{index}">\n<h2>{heading}</h2>\n'
    return f"{head}{''.join(body)}</section>\n"


def _heading(release: Release, title: str | None) -> str:
    promise = release.guarantee.label if release.private else "NOT PRIVATE"
    before = "" if title is None else f"{title}: "
    return escape(f"{before}{release.statistic} on {release.space.spec}, {promise}")


def _contents(releases: list[Release], heads: list[str]) -> str:
    rows = "".join(
        f'<tr><td><a href="#release-{i}">{i}</a></td><td>{head}</td>'
        f"<td class=num>{'' if one.n is None else one.n}</td>"
        f"<td class=num>{one.scale:.4g}</td><td class=num>{one.expected_distance:.4g}</td>"
        f"<td>{'passed' if all(c.passed for c in verify(one)) else '<strong>FAILED</strong>'}</td>"
        "</tr>\n"
        for i, (one, head) in enumerate(zip(releases, heads, strict=True), 1)
    )
    return (
        '<div class="wide"><table>\n<thead><tr><th></th><th>release</th><th>n</th><th>scale</th>'
        f"<th>expected distance</th><th>checks</th></tr></thead>\n<tbody>\n{rows}</tbody>\n"
        "</table></div>\n"
    )
