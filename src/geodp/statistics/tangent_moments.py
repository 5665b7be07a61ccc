"""Moments of records seen from a point that is already released: numbers with proven sensitivities.

Each is the mean over records of a vector that depends on one record and public facts alone, so one
record moves it by at most the diameter of that vector's range, over n. Proofs:
docs/proofs/inference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real, real_array
from geodp.errors import ConditionError, SpaceError
from geodp.spaces.base import Array, Space
from geodp.spaces.batch import dot, vech
from geodp.spaces.euclidean import Euclidean
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Certified
from geodp.statistics.records import ClippedRecords
from geodp.statistics.route import Route

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel
    from geodp.kernels.reduce import Reducer

DISTANCES = {2: "mean squared distance", 4: "mean fourth power of the distance"}
COVARIANCE = "tangent covariance"
HESSIAN = "mean Hessian"
ROOT2 = math.sqrt(2.0)
_UP = 1 + 1e-12  # covers the rounding of the few float operations of a sensitivity
_FLOATS = 2.0**-44  # rounding of the float operations on one record, relative to the term's size
_EPS = 2.0**-52
_NARROWEST = 1e-6  # a public spread, relative to the radius
_WIDEST = 40.0  # times the curvature radius: beyond, numpy takes Hessians
_HESSIANS = 64.0  # allowance: how much a Hessian can magnify the relative error of a logarithm


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
        return self.diameter / n * _UP

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


@final
@dataclass(frozen=True, eq=False)
class View:
    """A public point in the ball from which records are seen, and how far they can be from it."""

    domain: Ball
    at: Array

    @classmethod
    def of(cls, domain: Ball, at: ArrayLike | View) -> View:
        """``at`` moved into the ball by the public rule: nearer to every record, never farther."""
        if isinstance(at, View) and at.domain is domain:
            return at
        point = real_array(at, "The released point")
        space = domain.space
        if point.shape != space.point_shape or not space.contains(point):
            raise SpaceError(f"The released point is no point of {space.spec}.")
        if not 1e-30 <= domain.reach <= 1e30:
            raise ConditionError(
                "Fourth powers of this radius leave the range of floats. Use another unit of "
                "length."
            )
        return cls(domain, domain.project(point))

    @cached_property
    def reach(self) -> float:
        """R: the largest distance of a clipped record."""
        offset = float(self.domain.space.dist(self.domain.center, self.at))
        return self.domain.reach * (1 + 1e-9) + min(offset, self.domain.reach) * (1 + 1e-9)

    @cached_property
    def log_error(self) -> float:
        """Rounding of the records' log-coordinates at this point."""
        return self.domain.space.log_error(self.domain.center, self.domain.reach * (1 + 1e-9))

    def logs(self, chunk: Array) -> Array:
        return self.domain.space.log_coords(self.at, chunk)


@final
@dataclass(frozen=True, eq=False)
class DistanceMoment(MeanOfTerms):
    """``(1/n) sum dist(at, x_i)^power`` for power 2 or 4; sensitivity ``R^power/n``.

    ``at`` is a point that is already released or public, moved into the ball first; R is the
    largest distance that a record can have from it.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.statistics import DistanceMoment
    >>> ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    >>> fourth = DistanceMoment(ball, [1.0], 4)
    >>> round(fourth.sensitivity(16), 6), round(float(fourth.evaluate([[0.0], [-1.0]]).value[0]), 6)
    (1.0, 8.5)
    """

    domain: Ball
    at: ArrayLike | View
    power: int = 2
    _view: View = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.power not in (2, 4):
            raise ConditionError("A moment of distances has power 2 or 4.")
        object.__setattr__(self, "_view", View.of(self.domain, self.at))
        object.__setattr__(self, "at", self._view.at)

    @property
    def name(self) -> str:
        return DISTANCES[self.power]

    @property
    def parameters(self) -> dict[str, Any]:
        return {"at": self._view.at.tolist()}

    @property
    def label(self) -> str:
        return f"mean distance^{self.power} from the released point"

    @property
    def size(self) -> int:
        return 1

    @property
    def largest(self) -> float:
        return self._view.reach**self.power * _UP

    @property
    def diameter(self) -> float:
        return self.largest

    @property
    def term_error(self) -> float:
        view = self._view
        return float((view.reach + view.log_error) ** self.power - view.reach**self.power) * 2

    @property
    def origin(self) -> Array:
        return self._view.at

    def reducer(self, kernel: Kernel) -> Reducer | None:
        from geodp.kernels.moments import distances

        return distances(kernel.dim, self.power)

    def terms(self, chunk: Array) -> Array:
        z = self._view.logs(chunk)
        return np.asarray(dot(z, z)[:, None] ** (self.power // 2))


@final
@dataclass(frozen=True, eq=False)
class TangentCovariance(MeanOfTerms):
    """``(1/n) sum u u^T``, u = log_at x_i, as the orthonormal vech in R^{d(d+1)/2}.

    Sensitivity ``sqrt(2) R^2/n`` in the Frobenius norm (``R^2/n`` in dimension one). With a public
    ``spread`` longer u are shortened to it, and R is the lesser of both: give one where records are
    known to keep near to their mean.

    Examples
    --------
    >>> import geodp as gd
    >>> from geodp.statistics import TangentCovariance
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> round(TangentCovariance(ball, [0.0, 0.0, 1.0]).sensitivity(100), 6)
    0.003536
    """

    domain: Ball
    at: ArrayLike | View
    spread: float | None = None
    _view: View = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_view", View.of(self.domain, self.at))
        object.__setattr__(self, "at", self._view.at)
        if self.spread is not None:
            spread = positive_real(self.spread, "The spread")
            if not spread >= _NARROWEST * self.domain.radius:
                raise ConditionError(
                    f"The spread must be at least {_NARROWEST:g} of the ball's radius: shorter "
                    "vectors are lost in rounding."
                )
            object.__setattr__(self, "spread", spread)

    @property
    def _radius(self) -> float:
        reach = self._view.reach
        return reach if self.spread is None else min(reach, self.spread * (1 + 1e-9))

    @property
    def name(self) -> str:
        return COVARIANCE

    @property
    def parameters(self) -> dict[str, Any]:
        spread = {} if self.spread is None else {"spread": self.spread}
        return {"at": self._view.at.tolist()} | spread

    @property
    def label(self) -> str:
        cut = "" if self.spread is None else f" of vectors cut at {self.spread:.17g}"
        return f"tangent covariance{cut}, at the released point"

    @property
    def size(self) -> int:
        return self.domain.space.dim * (self.domain.space.dim + 1) // 2

    @property
    def largest(self) -> float:
        return self._radius**2 * _UP

    @property
    def diameter(self) -> float:
        return self.largest * (ROOT2 * _UP if self.domain.space.dim > 1 else 1.0)

    @property
    def term_error(self) -> float:
        e = self._view.log_error
        return 2 * self._radius * e + e * e

    @property
    def origin(self) -> Array:
        return self._view.at

    def reducer(self, kernel: Kernel) -> Reducer | None:
        from geodp.kernels.moments import products

        return products(kernel.dim, math.inf if self.spread is None else self.spread)

    def terms(self, chunk: Array) -> Array:
        u = self._view.logs(chunk)
        if self.spread is not None:
            length = np.sqrt(dot(u, u))
            factor = np.divide(
                self.spread, length, out=np.ones_like(length), where=length > self.spread
            )
            u = u * factor[:, None]
        return vech(u[:, :, None] * u[:, None, :], ROOT2)


@final
@dataclass(frozen=True, eq=False)
class MeanHessian(MeanOfTerms):
    """``(1/n) sum Hess (1/2) dist(., x_i)^2`` at a released point, as the orthonormal vech.

    Its eigenvalues lie in ``bounds = [a, b]``, so the sensitivity is ``sqrt(d) (b-a)/n`` in the
    Frobenius norm, and ``(b-a) max(sqrt 2, sqrt(d-1))/n`` in constant curvature, d >= 2. Flat
    spaces need none: there it is the identity.

    Examples
    --------
    >>> import geodp as gd
    >>> from geodp.statistics import MeanHessian
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> [round(x, 4) for x in MeanHessian(ball, [0.0, 0.0, 1.0]).bounds]
    [0.9152, 1.0]
    """

    domain: Ball
    at: ArrayLike | View
    _view: View = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.domain.space.is_flat:
            raise ConditionError("On a flat space the mean Hessian is the identity: release none.")
        object.__setattr__(self, "_view", View.of(self.domain, self.at))
        object.__setattr__(self, "at", self._view.at)

    @property
    def bounds(self) -> tuple[float, float]:
        """Public limits of each record's Hessian eigenvalues."""
        return hessian_bounds(self.domain.space, self._view.reach)

    @property
    def name(self) -> str:
        return HESSIAN

    @property
    def parameters(self) -> dict[str, Any]:
        return {"at": self._view.at.tolist()}

    @property
    def label(self) -> str:
        return "mean Hessian at the released point"

    @property
    def size(self) -> int:
        return self.domain.space.dim * (self.domain.space.dim + 1) // 2

    @property
    def largest(self) -> float:
        return math.sqrt(self.domain.space.dim) * max(map(abs, self.bounds)) * _UP

    @property
    def diameter(self) -> float:
        space, (low, high) = self.domain.space, self.bounds
        factor = math.sqrt(space.dim)
        if space.curvature[0] == space.curvature[1]:
            factor = max(ROOT2, math.sqrt(space.dim - 1))
        return (high - low) * factor * _UP

    @property
    def term_error(self) -> float:
        view = self._view
        allowed = _HESSIANS * self.largest * view.log_error / view.reach
        high = math.sqrt(max(0.0, self.domain.space.curvature[1]))
        angle = high * view.reach
        if angle <= 1.0:  # there, and where no curvature is positive, the allowance is larger
            return allowed
        steep = angle / math.sin(angle) ** 2 - 1 / math.tan(angle)
        slope = 4 * high * math.sqrt(self.domain.space.dim + 1) * steep
        return max(allowed, slope * view.log_error) * _UP

    @property
    def origin(self) -> Array:
        return self._view.at

    def reducer(self, kernel: Kernel) -> Reducer | None:
        low, high = self.domain.space.curvature
        angle = math.sqrt(max(-low, high)) * self._view.reach
        return kernel.hessian() if angle <= _WIDEST else None

    def terms(self, chunk: Array) -> Array:
        return vech(self.domain.space.hessian(self._view.at, chunk), ROOT2)


def hessian_bounds(space: Space, reach: float) -> tuple[float, float]:
    """Limits of the eigenvalues of Hess ½ dist² up to the distance ``reach`` (Rauch)."""
    low, high = space.curvature
    least = most = 1.0
    if high > 0:
        angle = math.sqrt(high) * reach
        if not angle < math.pi:
            raise ConditionError(
                f"On {space.spec} the Hessian has no lower bound at distances of {reach:.4g} and "
                "more. Use a smaller ball."
            )
        least = angle / math.tan(angle)
    if low < 0:
        angle = math.sqrt(-low) * reach
        most = angle / math.tanh(angle)
    slack = 1e-12 * (1 + abs(least) + most)
    return least - slack * (high > 0), most + slack * (low < 0)
