"""What a page says of several groups together: the test of equal means, differences of pairs."""

from __future__ import annotations

from html import escape
from itertools import combinations

from geodp.errors import GeodpError
from geodp.inference.groups import Groups
from geodp.report import parts
from geodp.report.spaces import Table, number

_MOST = 12  # groups of which all pairs are listed
_COLUMNS = ("length", "half axes of its region", "p-value of equal means", "told apart")
_EACH = "Each row is a test by itself: among many pairs some are told apart by chance."


def comparison(groups: Groups) -> str:
    """The groups' notes, the test that all means are equal, and a table of all differences."""
    notes = parts.bullets(groups.notes)
    if len(groups.inferences) < 2:
        return notes
    head = "<h2>Comparison of the groups</h2>\n"
    try:
        return head + _tests(groups) + notes
    except GeodpError as error:
        return f"{head}<p>{escape(str(error))}</p>\n{notes}"


def _tests(groups: Groups) -> str:
    verdict = groups.equal_means()
    said = (
        f"The test that {verdict.null} has statistic {verdict.statistic:.4g} and p-value "
        f"{verdict.p_value:.3g}. It costs no privacy."
    )
    if len(groups.inferences) > _MOST:
        more = f"Differences are listed for up to {_MOST} groups; Groups.difference makes any."
        return f"<p>{escape(said)} {escape(more)}</p>\n"
    rows = tuple(_row(groups, one, other) for one, other in combinations(groups.inferences, 2))
    level = next(iter(groups.inferences.values())).region.confidence
    caption = f"Differences of means, with regions at {100 * level:g} %"
    table = parts.table(Table(caption, _COLUMNS, rows))
    return f"<p>{escape(said)}</p>\n{table}<p>{_EACH}</p>\n"


def _row(groups: Groups, one: str, other: str) -> tuple[str, tuple[str, ...]]:
    found = groups.difference(one, other)
    axes = ", ".join(f"{float(x):.4g}" for x in found.half_axes)
    told = "yes" if found.told_apart else "no"
    cells = (number(found.distance), axes, f"{found.test.p_value:.3g}", told)
    return f"{other} minus {one}", cells
