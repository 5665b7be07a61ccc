"""TangentFeatures: log-coordinates at a released point, for pipelines."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from geodp.errors import InputError
from geodp.ledger.receipt import Release
from geodp.sklearn.points import checked, point_of, space_of
from geodp.spaces.base import Array


@final
class TangentFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Records as vectors: orthonormal coordinates of log_at(x), ``(n, space.dim)``.

    Nothing is learnt from ``X``, so that fitting costs no privacy. The features of a record are as
    private as the record: what a classifier learns from them is NOT protected by the guarantee of
    the point at which they are taken.

    Parameters
    ----------
    at : a ``gd.Release`` (such as ``PrivateFrechetMean().fit(X).release_``) or a public point; by
        default the space's origin (0 in R^d, the identity).
    space, metric : as for ``PrivateFrechetMean``; by default a release's own space.

    Attributes
    ----------
    point_ : the point at which logarithms are taken.
    space_ : the space.

    Examples
    --------
    >>> import numpy as np
    >>> from geodp.sklearn import TangentFeatures
    >>> TangentFeatures().fit_transform(np.exp(1.0) * np.eye(2)[None]).round(6)
    array([[1., 0., 1.]])
    """

    def __init__(self, at: Any = None, *, space: Any = None, metric: str = "riemann") -> None:
        self.at = at
        self.space = space
        self.metric = metric

    def fit(self, X: Any, y: object = None) -> Self:
        """Check the shape of ``X``; ``y`` is not used."""
        del y
        x = checked(self, X)
        space = self.space
        if space is None and isinstance(self.at, Release):
            space = self.at.space
        self.space_ = space_of(x.shape, space, self.metric)
        point = point_of(self.at, self.space_)
        self.point_ = self.space_.origin if point is None else point
        self._n_features_out = self.space_.dim
        return self

    def transform(self, X: Any) -> Array:
        """``(n, *point_shape)`` to ``(n, dim)``; ``InputError`` where a record is no point."""
        check_is_fitted(self)
        x = checked(self, X, reset=False)
        space = space_of(x.shape, self.space_, self.metric)
        with np.errstate(all="ignore"):
            inside = space.contains(x)
        if not inside.all():
            raise InputError(f"Some records of X are no points of {space.spec}.")
        z: Array = space.log_coords(self.point_, space.project(x))
        return z

    def inverse_transform(self, X: Any) -> Array:
        """``(n, dim)`` to points ``(n, *point_shape)``."""
        check_is_fitted(self)
        z = np.asarray(X, dtype=np.float64)
        if z.ndim != 2 or z.shape[1] != self.space_.dim:
            raise InputError(f"Features are an array (n, {self.space_.dim}).")
        found: Array = self.space_.exp(self.point_, self.space_.vector(self.point_, z))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
