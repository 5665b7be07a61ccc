"""What is released, and the domain it is defined on. Knows no manifold."""

from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.frechet_median import FrechetMedian
from geodp.statistics.frechet_variance import FrechetVariance, ReplacedShare
from geodp.statistics.given_value import GivenValue
from geodp.statistics.gradient import LossGradient
from geodp.statistics.protocol import Certified, Statistic
from geodp.statistics.records import ClippedRecords
from geodp.statistics.relatives import ExtrinsicMean, TangentMean
from geodp.statistics.route import Route
from geodp.statistics.tangent_moments import DistanceMoment, MeanHessian, TangentCovariance

__all__ = [
    "Ball",
    "Certified",
    "ClippedRecords",
    "DistanceMoment",
    "ExtrinsicMean",
    "FrechetMean",
    "FrechetMedian",
    "FrechetVariance",
    "GivenValue",
    "LossGradient",
    "MeanHessian",
    "ReplacedShare",
    "Route",
    "Statistic",
    "TangentCovariance",
    "TangentMean",
]
