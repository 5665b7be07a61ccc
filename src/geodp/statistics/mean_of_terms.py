"""Statistics that are the mean of a vector of each record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.spaces.base import Array, Space
from geodp.spaces.euclidean import Euclidean
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Certified
from geodp.statistics.records import ClippedRecords
from geodp.statistics.route import Route

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel
    from geodp.kernels.reduce import Reducer

UP = 1 + 1e-12  # covers the rounding of the few float operations of a sensitivity
_FLOATS = 2.0**-44  # rounding of the float operations on one record, relative to the term's size
_EPS = 2.0**-52


class MeanOfTerms(ABC):
    """A statistic ``(1/n) sum f(x_i)`` in R^size; noise is added there (``Route``).

    ``domain`` is the public ball of the records; there is no public ``ball`` of the values.
    """

    domain: Ball

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is, in words."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers it has."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """Public bound on the length of one record's term."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """Public bound on the distance between two records' terms."""

    @property
    @abstractmethod
    def term_error(self) -> float:
        """Public bound on the error of a computed term, as a length."""

    @abstractmethod
    def terms(self, chunk: Array) -> Array:
        """The terms ``(n, size)`` of clipped records ``(n, *point_shape)``."""

    @abstractmethod
    def reducer(self, kernel: Kernel) -> Reducer | None:
        """The compiled sum of the same terms, if there is one."""

    @property
    @abstractmethod
    def origin(self) -> Array:
        """The point that records are seen from."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is, as printed on a receipt."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The public facts that it was made with, for the receipt."""

    @property
    def space(self) -> Space:
        return Euclidean(self.size)

    @property
    def ball(self) -> None:
        return None

    @property
    def error_bound(self) -> float:
        rounding = float_rounding(self.domain.space.dim) * self.largest
        return float(np.nextafter(self.term_error + rounding, np.inf))

    @property
    def route(self) -> Route:
        return numbers_route(self.size, self.label, self.domain, self.parameters.get("at"))

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity of the mean of ``n`` terms, a Euclidean length."""
        return self.diameter / n * UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The mean of the clipped records' terms, shape ``(size,)``."""
        return Certified(self.domain.clip(records).term_sum(self).mean_log, self.error_bound)


def float_rounding(dim: int) -> float:
    """Rounding of the float operations on ``dim`` coordinates, relative to a term's size."""
    return max(_FLOATS, (dim + 8) * _EPS)


def numbers_route(size: int, label: str, domain: Ball, at: object = None) -> Route:
    """Noise on R^size; the receipt says of which records the numbers are, and seen from where."""
    seen = "" if at is None else f" {at}"
    words = (
        f"These are numbers about records on {domain.space.spec} in the public ball of radius "
        f"{domain.radius:.17g} around {domain.center.tolist()}: the {label}{seen}."
    )
    return Route(Euclidean(size), None, lambda x: x, lambda x: x, words, 1.0)
