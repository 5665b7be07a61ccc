"""PrivateTangentCovariance: the covariance around a released point as an estimator."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from geodp.inference.linear import symmetric
from geodp.ledger.receipt import Release
from geodp.sklearn.points import point_of
from geodp.sklearn.private import PrivateEstimator
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.statistics.tangent_moments import TangentCovariance


@final
class PrivateTangentCovariance(PrivateEstimator):
    """The mean of u u^T over records, u = log_at(x) in orthonormal coordinates, released with a
    guarantee.

    Without arguments: second moments around 0 of rows in the unit ball, to 1-Gaussian DP.

    Parameters
    ----------
    at : a ``gd.Release`` (such as ``PrivateFrechetMean().fit(X).release_``) or a public point; by
        default the ball's centre. It is moved into the ball. What the mean cost was paid before:
        both add up.
    spread : a public length at which longer u are cut, which lessens the noise.
    others : as for ``PrivateFrechetMean``.

    Attributes
    ----------
    covariance_ : array ``(dim, dim)``, negative eigenvalues set to 0: the noise may make some.
    location_ : the point from which records were seen.
    release_ : the ``gd.Release``, whose value is the covariance's orthonormal vech.
    space_ : the space.

    Examples
    --------
    >>> import numpy as np
    >>> from geodp.sklearn import PrivateTangentCovariance
    >>> rows = np.random.default_rng(0).normal(size=(500, 2)) / 4
    >>> PrivateTangentCovariance(mechanism="wrapped-gaussian").fit(rows).covariance_.shape
    (2, 2)
    """

    def __init__(
        self,
        at: Any = None,
        *,
        spread: float | None = None,
        space: Any = None,
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
        self.at = at
        self.spread = spread
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
        return TangentCovariance(ball, self._point(ball), self.spread)

    def _keep(self, ball: Ball, out: Release) -> None:
        values, vectors = np.linalg.eigh(symmetric(out.value, ball.space.dim))
        self.covariance_ = (vectors * np.maximum(values, 0.0)) @ vectors.T
        self.location_ = ball.project(self._point(ball)[None])[0]

    def _point(self, ball: Ball) -> Any:
        point = point_of(self.at, ball.space)
        return ball.center if point is None else point
