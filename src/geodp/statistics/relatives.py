"""Relatives of the Fréchet mean with a smaller sensitivity, or none of its conditions.

They estimate other points than the Fréchet mean does. Proofs: docs/proofs/relatives.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError, SpaceError
from geodp.spaces.base import Array, Space
from geodp.spaces.embeddings import Embedding
from geodp.spaces.euclidean import Euclidean
from geodp.spaces.lattice import LogSum
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Certified, Statistic
from geodp.statistics.records import ClippedRecords
from geodp.statistics.route import Route

_UP = 1 + 1e-12  # covers the rounding of the few float operations of a sensitivity
_SUMS = 2.0**-48  # lattice, division and norm of an exact sum, relative to the records' lengths


@final
@dataclass(frozen=True, eq=False)
class TangentMean:
    """``exp_c((1/n) sum log_c x_i)`` at the ball's centre c: one pass, no curvature factor.

    Noise is added to the mean of the logs, in the tangent space at c, where one record moves it by
    at most ``2 r/n`` on every space; exp_c follows as post-processing. It estimates another point
    than the Fréchet mean: the two agree where the space is flat and where c is the Fréchet mean.

    Parameters
    ----------
    ball : the public domain, of radius below the injectivity radius.

    Raises
    ------
    ConditionError : the radius reaches the injectivity radius.

    Examples
    --------
    >>> import geodp as gd
    >>> mean = gd.TangentMean(gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 2.0))
    >>> round(mean.sensitivity(100), 6)
    0.04
    """

    ball: Ball
    error_bound: float = field(init=False, repr=False)
    route: Route = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.ball, Ball):
            raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
        space, ball = self.ball.space, self.ball
        if not ball.cell_reach < space.injectivity_radius:
            raise ConditionError(
                f"The tangent mean on {space.spec} needs a radius below the injectivity radius "
                f"{space.injectivity_radius:.6g}; the radius asked for is {ball.radius:.6g}. Use a "
                "smaller ball."
            )
        rounding = ball.log_error() + _SUMS * ball.reach
        object.__setattr__(self, "error_bound", float(np.nextafter(rounding, np.inf)))
        route = Route(
            space=Euclidean(space.dim),
            ball=_around_zero(space.dim, ball.reach),
            lift=self._lift,
            finish=self._finish,
            words=(
                "The noise was added in the tangent space at the ball's centre, and the outcome "
                "mapped to the space by the exponential map there. The tangent mean is another "
                "point than the Fréchet mean."
            ),
            stretch=1.0 if _never_stretches(space) else None,
        )
        object.__setattr__(self, "route", route)

    @property
    def name(self) -> str:
        return TANGENT

    @property
    def space(self) -> Space:
        return self.ball.space

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity of the mean log, a length in the tangent space."""
        return 2 * self.ball.reach / n * _UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The mean log at the centre, orthonormal coordinates of shape ``(dim,)``."""
        clipped, ball = self.ball.clip(records), self.ball
        return Certified(clipped.log_sum(ball.center, ball.reach).mean_log, self.error_bound)

    def _lift(self, points: Array) -> Array:
        return self.space.log_coords(self.ball.center, points)

    def _finish(self, drawn: Array) -> Array:
        return self.space.project(self.space.exp_coords(self.ball.center, drawn))


@final
@dataclass(frozen=True, eq=False)
class ExtrinsicMean:
    """The point nearest to the mean of embedded records: no condition on their spread.

    On spheres the mean direction, in R^{d+1}; on planar shapes the full Procrustes mean, the
    leading eigenvector of the mean of ``z z*`` in the Hermitian matrices. Noise is added in the
    embedding, where one record moves the mean by at most

    - ``2 sin(sqrt(kappa) r)/n`` on spheres (of radius 1; ``2/n`` beyond a quarter circle),
    - ``sqrt(2) sin(2 r)/n`` on planar shapes (``sqrt(2)/n`` beyond ``pi/4``);

    the nearest point follows as post-processing. It estimates another point than the Fréchet mean.
    The farther records spread, the shorter is the mean and the more the same noise moves its
    nearest point; planned distances are those for records at one point.

    Parameters
    ----------
    domain : a ball, or the space itself for records anywhere (a ball of the injectivity radius
        around a point in general position, on whose cut locus no record lies but by design).

    Raises
    ------
    SpaceError : the space has no such embedding.

    Examples
    --------
    >>> import geodp as gd
    >>> round(gd.ExtrinsicMean(gd.Sphere(2)).sensitivity(100), 6)
    0.02
    >>> gd.ExtrinsicMean(gd.Sphere(2)).name
    'extrinsic mean (mean direction)'
    """

    domain: Ball | Space
    ball: Ball = field(init=False, repr=False)
    error_bound: float = field(init=False, repr=False)
    route: Route = field(init=False, repr=False)

    def __post_init__(self) -> None:
        space, ball = _space(self.domain), self.domain
        flat = _embedding(space)
        if not isinstance(ball, Ball):
            ball = Ball(space, _general_point(space), space.injectivity_radius)
        object.__setattr__(self, "ball", ball)
        object.__setattr__(self, "error_bound", flat.rounding + _SUMS * flat.radius)
        target = Euclidean(flat.dim)
        route = Route(
            space=target,
            ball=_around_zero(flat.dim, flat.radius),
            lift=flat.embed,
            finish=flat.nearest,
            words=(
                f"The noise was added in the embedding of {space.spec} in {target.spec}, and the "
                "nearest point of the space taken. The extrinsic mean is another point than the "
                "Fréchet mean, and the expected distance is that for records at one point: it "
                "grows with their spread."
            ),
        )
        object.__setattr__(self, "route", route)

    @property
    def _embedding(self) -> Embedding:
        return _embedding(self.space)

    @property
    def name(self) -> str:
        return f"extrinsic mean ({self._embedding.mean_name})"

    @property
    def space(self) -> Space:
        return _space(self.domain)

    def sensitivity(self, n: int) -> float:
        """Replace-one sensitivity of the mean of ``n`` embedded records, a Euclidean length."""
        return self._embedding.chord(self.ball.reach) / n * _UP

    def evaluate(self, records: ArrayLike | ClippedRecords) -> Certified:
        """The mean of the embedded records, shape ``(T,)``."""
        flat, clipped = self._embedding, self.ball.clip(records)
        sums = [LogSum.of(flat.embed(x), flat.radius) for x in clipped.chunks()]
        return Certified(_mean(sums), self.error_bound)


def relatives_of(ball: Ball) -> tuple[Statistic, ...]:
    """The relatives of the Fréchet mean of records in ``ball``, as far as they exist and differ."""
    if ball.space.is_flat or ball.space.cells > 1:
        return ()
    found: list[Statistic] = []
    for kind in (TangentMean, ExtrinsicMean):
        with contextlib.suppress(ConditionError, SpaceError):
            found.append(kind(ball))
    return tuple(found)


def _never_stretches(space: Space) -> bool:
    """Whether exp is known not to stretch: symmetric spaces of curvature at least 0."""
    symmetric = all(part.is_two_point_homogeneous or part.is_flat for part in space.factors)
    return symmetric and space.curvature[0] >= 0


TANGENT = "tangent mean"
EXTRINSIC = ("extrinsic mean (mean direction)", "extrinsic mean (full Procrustes mean)")


def _space(domain: object) -> Space:
    space = getattr(domain, "space", domain)
    if not isinstance(space, Space):
        raise InputError("The domain is a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
    return space


def _embedding(space: Space) -> Embedding:
    embedding = getattr(space, "embedding", None)
    if embedding is None:
        raise SpaceError(
            f"Extrinsic means exist on spheres and planar shapes, not on {space.spec}. Use "
            "gd.FrechetMean or gd.TangentMean."
        )
    assert isinstance(embedding, Embedding)
    return embedding


def _general_point(space: Space) -> Array:
    """A public point that no symmetry relates to the origin, nor to records on axes."""
    j = np.arange(space.dim)
    z = (7 * j * j + 3 * j + 1) % 13 + 1 / 3
    z *= 0.2371 * space.injectivity_radius / np.linalg.norm(z)
    return space.project(space.exp_coords(space.origin, z))


def _around_zero(dim: int, radius: float) -> Ball:
    return Ball(Euclidean(dim), np.zeros(dim), radius * (1 + 1e-9))


def _mean(sums: list[LogSum]) -> Array:
    total = sums[0]
    for other in sums[1:]:
        total = total.merge(other)
    return total.mean_log
