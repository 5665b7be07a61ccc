"""Estimators for scikit-learn's pipelines: private means and covariances, tangent features."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError(
        "geodp.sklearn needs scikit-learn, which is not installed: pip install 'geodp[sklearn]'."
    )

from geodp.sklearn.covariance import PrivateTangentCovariance
from geodp.sklearn.features import TangentFeatures
from geodp.sklearn.mean import PrivateFrechetMean

__all__ = ["PrivateFrechetMean", "PrivateTangentCovariance", "TangentFeatures"]
