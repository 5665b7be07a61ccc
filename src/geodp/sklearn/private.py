"""What the private estimators share: public facts in, one release out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from geodp.errors import InputError
from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import GaussianDP
from geodp.sklearn.points import checked, space_of
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.verbs.release import release


class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """``fit`` makes one release. Its parameters are public and never learnt from ``X``."""

    @abstractmethod
    def _statistic(self, ball: Ball) -> Statistic:
        """What is released."""

    @abstractmethod
    def _keep(self, ball: Ball, out: Release) -> None:
        """Set the fitted attributes."""

    def fit(self, X: Any, y: object = None, entities: Any = None) -> Self:
        """Release the statistic of the records ``X``, one row or matrix each; ``y`` is not used.

        ``entities`` holds one id for each record where a person has several: all records of a
        person then count as one, and the promise is about the person. In a pipeline it is routed
        as scikit-learn's ``sample_weight`` is (``set_fit_request(entities=True)``).

        Records outside the ball are moved by its rule, NaN and what is no point to the centre:
        nothing is raised because of a value. With a ledger this charges it, once for each
        ``request_id``: fitting again, or fitting a clone, returns the stored release.
        """
        del y
        x = checked(self, X, ensure_all_finite=False, ensure_min_samples=2)
        space = space_of(x.shape, self.space, self.metric)
        if self.ledger is not None and self.request_id is None:
            raise InputError(
                "A ledger needs a request_id here: cross-validation and grid search fit again and "
                "again, and without it each fit would be charged."
            )
        center = space.origin if self.center is None else self.center
        ball = Ball(space, center, self.radius)
        self.space_ = space
        self.release_ = release(
            x,
            self._statistic(ball),
            GaussianDP(1) if self.guarantee is None else self.guarantee,
            self.mechanism,
            unit=self.unit,
            entities=entities,
            ledger=self.ledger,
            dataset=self.dataset,
            group=self.group,
            request_id=self.request_id,
            rng=None if self.random_state is None else np.random.default_rng(self.random_state),
        )
        self._keep(ball, self.release_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True  # an error on NaN would be a release of its own
        return tags
