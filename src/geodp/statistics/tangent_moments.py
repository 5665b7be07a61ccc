"""Moments of records seen from a point that is already released: numbers with proven sensitivities.

Each is the mean over records of a vector that depends on one record and public facts alone, so one
record moves it by at most the diameter of that vector's range, over n. Proofs:
docs/proofs/inference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real, real_array
from geodp.errors import ConditionError, SpaceError
from geodp.spaces.base import Array, Space
from geodp.spaces.batch import dot, vech
from geodp.statistics.domain import Ball
from geodp.statistics.mean_of_terms import UP, MeanOfTerms

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel
    from geodp.kernels.reduce import Reducer

DISTANCES = {2: "mean squared distance", 4: "mean fourth power of the distance"}
COVARIANCE = "tangent covariance"
HESSIAN = "mean Hessian"
ROOT2 = math.sqrt(2.0)
_NARROWEST = 1e-6  # a public spread, relative to the radius
_WIDEST = 40.0  # times the curvature radius: beyond, numpy takes Hessians
_HESSIANS = 64.0  # how much one can magnify the relative error of a logarithm: proofs/kernels


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
        return self._view.reach**self.power * UP

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
        return self._radius**2 * UP

    @property
    def diameter(self) -> float:
        return self.largest * (ROOT2 * UP if self.domain.space.dim > 1 else 1.0)

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
        return math.sqrt(self.domain.space.dim) * max(map(abs, self.bounds)) * UP

    @property
    def diameter(self) -> float:
        space, (low, high) = self.domain.space, self.bounds
        factor = math.sqrt(space.dim)
        if space.curvature[0] == space.curvature[1]:
            factor = max(ROOT2, math.sqrt(space.dim - 1))
        return (high - low) * factor * UP

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
        return max(allowed, slope * view.log_error) * UP

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
