"""geodp's own statistics by the name on a receipt, so that someone else can rebuild them."""

from __future__ import annotations

from collections.abc import Callable

from geodp.errors import InputError
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.protocol import Statistic
from geodp.statistics.relatives import EXTRINSIC, TANGENT, ExtrinsicMean, TangentMean

KNOWN: dict[str, Callable[[Ball], Statistic]] = {
    "Fréchet mean": FrechetMean,
    "Fréchet mean (published bound)": lambda ball: FrechetMean(ball, "published"),
    TANGENT: TangentMean,
    **dict.fromkeys(EXTRINSIC, ExtrinsicMean),
}


def known_statistic(name: str, ball: Ball) -> Statistic | None:
    """The statistic of that name on ``ball``; None for a stranger's, or one not defined there."""
    try:
        statistic = KNOWN[name](ball) if name in KNOWN else None
    except InputError:
        return None
    return statistic if statistic is not None and statistic.name == name else None
