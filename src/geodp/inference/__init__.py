"""Regions, intervals and tests from numbers that are already released."""

from geodp.inference.equality import Difference, Verdict, difference, equal_means, one_sample
from geodp.inference.estimate import Direction, Estimate, Interval
from geodp.inference.groups import Groups
from geodp.inference.region import ConfidenceRegion
from geodp.inference.result import Inference, as_csv
from geodp.inference.scalars import angle_to, fractional_anisotropy, mean_diffusivity

__all__ = [
    "ConfidenceRegion",
    "Difference",
    "Direction",
    "Estimate",
    "Groups",
    "Inference",
    "Interval",
    "Verdict",
    "angle_to",
    "as_csv",
    "difference",
    "equal_means",
    "fractional_anisotropy",
    "mean_diffusivity",
    "one_sample",
]
