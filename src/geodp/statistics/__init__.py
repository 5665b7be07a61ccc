"""What is released, and the domain it is defined on. Knows no manifold."""

from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.given_value import GivenValue
from geodp.statistics.protocol import Certified, Statistic
from geodp.statistics.records import ClippedRecords
from geodp.statistics.relatives import ExtrinsicMean, TangentMean
from geodp.statistics.route import Route

__all__ = [
    "Ball",
    "Certified",
    "ClippedRecords",
    "ExtrinsicMean",
    "FrechetMean",
    "GivenValue",
    "Route",
    "Statistic",
    "TangentMean",
]
