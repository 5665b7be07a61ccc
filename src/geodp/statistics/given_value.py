"""A value computed elsewhere, released with a sensitivity that its author has proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from numpy.typing import ArrayLike

from geodp.arguments import positive_real, real_array
from geodp.errors import SpaceError
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Certified
from geodp.statistics.records import ClippedRecords


@final
@dataclass(frozen=True, eq=False)
class GivenValue:
    """A point of ``space`` that you computed, with the sensitivity that you proved for it.

    ``bound`` must hold for the computed floats, rounding and solver error included: the geodesic
    distance between the values of any two neighbouring data sets is at most ``bound``. With a
    ``ball`` (needed where the curvature is positive) a value outside is moved to its edge, and the
    bound is about the values after that move.

    >>> import numpy as np, geodp as gd
    >>> given = gd.GivenValue(gd.SPD(2), np.eye(2), 0.05)
    >>> gd.release(None, given, gd.GaussianDP(1)).sensitivity.total
    0.05
    """

    space: Space
    value: Array
    bound: float
    ball: Ball | None = None

    def __post_init__(self) -> None:
        value = real_array(self.value, "The given value")
        if value.shape != self.space.point_shape or not self.space.contains(value):
            raise SpaceError(f"The given value is no point of {self.space.spec}.")
        object.__setattr__(self, "value", self.space.project(value))
        object.__setattr__(self, "bound", positive_real(self.bound, "The sensitivity"))

    @property
    def name(self) -> str:
        return "given value"

    @property
    def domain(self) -> None:
        """There are no records."""
        return None

    @property
    def error_bound(self) -> float:
        return 0.0

    def sensitivity(self, n: int | None = None) -> float:
        """The bound that was given, whatever ``n``."""
        return self.bound

    def evaluate(self, records: ArrayLike | ClippedRecords | None = None) -> Certified:
        """The given value; records are not looked at."""
        value = self.value if self.ball is None else self.ball.project(self.value)
        return Certified(value, 0.0)
