"""PrivateFrechetMean: the Fréchet mean as an estimator."""

from __future__ import annotations

from typing import Any, final

from geodp.ledger.receipt import Release
from geodp.sklearn.private import PrivateEstimator
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.protocol import Statistic


@final
class PrivateFrechetMean(PrivateEstimator):
    """The Fréchet mean of records, released with a guarantee.

    Without arguments: the mean of rows in the unit ball around 0, to 1-Gaussian DP. Arrays
    ``(n, m, m)`` are SPD matrices, as in pyriemann.

    Parameters
    ----------
    space : a space or its string; by default R^d for ``(n, d)``, SPD(m) for ``(n, m, m)``.
    metric : of SPD: ``"riemann"``, ``"logeuclid"`` or ``"logchol"``, where no space is given.
    center, radius : the public ball; by default the space's origin (0, the identity) and 1. Choose
        them from public knowledge, never from ``X``.
    guarantee : such as ``gd.PureDP(1)``; by default ``gd.GaussianDP(1)``.
    mechanism : ``"best"``, a name or a mechanism.
    unit : what one record is, in words.
    ledger, dataset, group, request_id : who pays. A ledger (better its file: estimators are copied)
        needs a data set's name and a request id. The same request again, by this estimator or a
        clone, returns the stored release and costs nothing; another request under the same id, and
        other records under the data set's name, such as the folds of a cross-validation, are
        refused.
    random_state : a seed makes the release repeatable and NOT PRIVATE; a ledger refuses it.

    Attributes
    ----------
    mean_ : array ``space.point_shape``, the released point.
    release_ : the ``gd.Release`` with its receipt.
    space_ : the space.

    Examples
    --------
    >>> import numpy as np
    >>> from geodp.sklearn import PrivateFrechetMean
    >>> matrices = np.tile(np.diag([1.0, 2.0]), (50, 1, 1))
    >>> mean = PrivateFrechetMean(metric="logeuclid", mechanism="wrapped-gaussian")
    >>> mean.fit(matrices).mean_.shape
    (2, 2)
    """

    def __init__(
        self,
        space: Any = None,
        *,
        metric: str = "riemann",
        center: Any = None,
        radius: float = 1.0,
        guarantee: Any = None,
        mechanism: Any = "best",
        unit: str | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        group: str | None = None,
        request_id: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.metric = metric
        self.center = center
        self.radius = radius
        self.guarantee = guarantee
        self.mechanism = mechanism
        self.unit = unit
        self.ledger = ledger
        self.dataset = dataset
        self.group = group
        self.request_id = request_id
        self.random_state = random_state

    def _statistic(self, ball: Ball) -> Statistic:
        return FrechetMean(ball)

    def _keep(self, ball: Ball, out: Release) -> None:
        self.mean_ = out.value
