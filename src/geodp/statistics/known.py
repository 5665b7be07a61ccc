"""geodp's own statistics by the name on a receipt, so that someone else can rebuild them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from geodp.errors import InputError
from geodp.statistics.domain import Ball
from geodp.statistics.entities import PerEntity
from geodp.statistics.entity_rules import rule_in
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.frechet_median import MEDIAN, FrechetMedian
from geodp.statistics.frechet_variance import SHARE, VARIANCE, FrechetVariance, ReplacedShare
from geodp.statistics.protocol import Statistic
from geodp.statistics.relatives import EXTRINSIC, TANGENT, ExtrinsicMean, TangentMean
from geodp.statistics.tangent_moments import (
    COVARIANCE,
    DISTANCES,
    HESSIAN,
    DistanceMoment,
    MeanHessian,
    TangentCovariance,
)

KNOWN: dict[str, Callable[..., Statistic]] = {
    "Fréchet mean": FrechetMean,
    "Fréchet mean (published bound)": lambda ball: FrechetMean(ball, "published"),
    MEDIAN: FrechetMedian,
    TANGENT: TangentMean,
    **dict.fromkeys(EXTRINSIC, ExtrinsicMean),
    VARIANCE: FrechetVariance,
    SHARE: ReplacedShare,
    COVARIANCE: TangentCovariance,
    HESSIAN: MeanHessian,
    **{name: partial(DistanceMoment, power=power) for power, name in DISTANCES.items()},
}
"""Each is made from the ball of the records and the parameters on the receipt, if any."""


def is_known(name: str) -> bool:
    """Whether it is one of geodp's own, of records or of entities."""
    return rule_in(name)[0] in KNOWN


def known_statistic(name: str, ball: Ball, **parameters: object) -> Statistic | None:
    """The statistic of that name on ``ball``; None for a stranger's, or one not defined there."""
    base, rule = rule_in(name)
    try:
        statistic = KNOWN[base](ball, **parameters) if base in KNOWN else None
        if statistic is not None and rule is not None:
            statistic = PerEntity(statistic, rule)
    except (InputError, TypeError):
        return None
    return statistic if statistic is not None and statistic.name == name else None
