"""Baselines that ignore the geometry: a mean in an embedding, released there, and projected back.

The statistic's space is Euclidean, so that ``Wrapped`` adds plain Laplace or Gaussian noise to the
embedded mean. Without a projection a released point lies off the sphere almost surely, and may
leave the cone of SPD matrices; with one it is moved to the nearest point, which is post-processing.
Releases use seeded bits: they are simulations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import geodp as gd
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee

Array = NDArray[np.float64]
_UP = 1 + 1e-12  # covers the rounding of the few float operations of a sensitivity


class Embedding(ABC):
    """A space in R^dim, its records in a ball around the origin of the space."""

    space: gd.Space

    @property
    @abstractmethod
    def dim(self) -> int:
        """The ambient dimension."""

    @abstractmethod
    def embed(self, points: Array) -> Array:
        """Points ``(..., *point_shape)`` as vectors ``(..., dim)``."""

    @abstractmethod
    def shaped(self, vectors: Array) -> Array:
        """Vectors in the shape of points, whether or not they are any."""

    @abstractmethod
    def nearest(self, shaped: Array, radius: float) -> Array:
        """The projection back, for records that lay within ``radius``."""

    @abstractmethod
    def contains(self, shaped: Array) -> bool:
        """Whether one released array is a point of the space."""

    @abstractmethod
    def error(self, a: Array, b: Array) -> float:
        """The Euclidean error that the papers plot."""

    @abstractmethod
    def published(self, radius: float) -> float:
        """n times the sensitivity of the papers' ambient baseline."""

    @abstractmethod
    def chord(self, radius: float) -> float:
        """A bound on the ambient distance of two records."""

    @abstractmethod
    def stretch(self, radius: float) -> float:
        """A bound on ambient over geodesic distance within the ball."""


@final
@dataclass(frozen=True)
class SphereInSpace(Embedding):
    """The unit sphere in R^{d+1}. A chord is no longer than its arc."""

    space: gd.Space

    @property
    def dim(self) -> int:
        return self.space.dim + 1

    def embed(self, points: Array) -> Array:
        return points

    def shaped(self, vectors: Array) -> Array:
        return vectors

    def nearest(self, shaped: Array, radius: float) -> Array:
        return np.asarray(shaped / np.linalg.norm(shaped, axis=-1, keepdims=True))

    def contains(self, shaped: Array) -> bool:
        return bool(self.space.contains(shaped))

    def error(self, a: Array, b: Array) -> float:
        return float(np.linalg.norm(a - b))

    def published(self, radius: float) -> float:
        """Two records each within ``2 sin(r/2)`` of the centre."""
        return 4 * math.sin(radius / 2)

    def chord(self, radius: float) -> float:
        return 2 * math.sin(min(radius, math.pi / 2))

    def stretch(self, radius: float) -> float:
        return 1.0


@final
@dataclass(frozen=True)
class MatricesInSym(Embedding):
    """SPD(m) in the symmetric matrices with the Frobenius norm; the ball lies around the identity.

    Eigenvalues within the ball lie in ``[e^-r, e^r]``. So ``|x - I| <= e^r - 1``, and along a
    geodesic in the ball, which is convex, the ambient speed is at most ``e^r`` times the
    geodesic one. The projection raises eigenvalues to ``e^-r``: the cone is open, so that there
    is no nearest point, and this is the least eigenvalue of a record.
    """

    space: gd.Space

    @property
    def dim(self) -> int:
        return self.space.dim

    @property
    def _lower(self) -> tuple[Any, Any, Array]:
        i, j = np.tril_indices(self.space.point_shape[0])
        return i, j, np.where(i == j, 1.0, math.sqrt(2))

    def embed(self, points: Array) -> Array:
        i, j, weight = self._lower
        return np.asarray(points[..., i, j] * weight)

    def shaped(self, vectors: Array) -> Array:
        i, j, weight = self._lower
        out = np.zeros((*vectors.shape[:-1], *self.space.point_shape))
        out[..., i, j] = out[..., j, i] = vectors / weight
        return out

    def nearest(self, shaped: Array, radius: float) -> Array:
        values, frames = np.linalg.eigh(shaped)
        values = np.maximum(values, math.exp(-radius))
        return np.asarray((frames * values[..., None, :]) @ frames.swapaxes(-1, -2))

    def contains(self, shaped: Array) -> bool:
        return bool(np.linalg.eigvalsh(shaped)[0] > 0)

    def error(self, a: Array, b: Array) -> float:
        """The norm of vech, each entry off the diagonal once."""
        i, j, _ = self._lower
        return float(np.linalg.norm((a - b)[i, j]))

    def published(self, radius: float) -> float:
        return 4 * math.expm1(radius)

    def chord(self, radius: float) -> float:
        return 2 * math.expm1(radius)

    def stretch(self, radius: float) -> float:
        return math.exp(radius)


def embedding_of(space: gd.Space) -> Embedding:
    """The sphere's, or that of SPD matrices."""
    return SphereInSpace(space) if space.spec.startswith("sphere") else MatricesInSym(space)


@final
@dataclass(frozen=True, eq=False)
class AmbientMean:
    """An embedded mean as a ``gd.Statistic`` whose space is Euclidean.

    Parameters
    ----------
    ball : the records' domain on the curved space, around its origin.
    of : ``"frechet"``, the embedded Fréchet mean as in the papers, or ``"records"``, the mean of
        the embedded records.
    bound : ``"proven"``, or ``"published"``: the papers' number. On the sphere that one is proven
        for the mean of the embedded records alone; on SPD for both up to r = 1.59.
    """

    ball_of_records: gd.Ball
    of: str = "frechet"
    bound: str = "proven"

    @property
    def embedding(self) -> Embedding:
        return embedding_of(self.ball_of_records.space)

    @property
    def name(self) -> str:
        return "embedded Fréchet mean" if self.of == "frechet" else "mean of embedded records"

    @property
    def space(self) -> gd.Space:
        return gd.Euclidean(self.embedding.dim)

    @property
    def ball(self) -> None:
        """None: the values' space is not the records', whose ball clips in ``evaluate``."""
        return

    @property
    def error_bound(self) -> float:
        reach = self.ball_of_records.reach
        solver = gd.FrechetMean(self.ball_of_records).error_bound * self.embedding.stretch(reach)
        return solver if self.of == "frechet" else 1e-12 * self.embedding.chord(reach)

    def sensitivity(self, n: int) -> float:
        reach = self.ball_of_records.reach
        if self.bound == "published":
            return self.embedding.published(reach) / n * _UP
        if self.of == "records":
            return self.embedding.chord(reach) / n * _UP
        mean = gd.FrechetMean(self.ball_of_records)
        return mean.sensitivity(n) * self.embedding.stretch(reach) * _UP

    def evaluate(self, records: Any) -> gd.Certified:
        if self.of == "frechet":
            value = self.embedding.embed(
                gd.FrechetMean(self.ball_of_records).evaluate(records).value
            )
            return gd.Certified(value, self.error_bound)
        clipped = self.ball_of_records.clip(records)
        total = sum(self.embedding.embed(x).sum(axis=0) for x in clipped.chunks())
        return gd.Certified(total / len(clipped), self.error_bound)


@final
@dataclass(frozen=True)
class Method:
    """One line of a comparison: what is released, how, and what is done to it after."""

    name: str
    statistic: gd.Statistic
    mechanism: Mechanism
    guarantee: Guarantee
    finish: Callable[[Array], Array] = np.asarray

    def run(self, records: Array, rng: np.random.Generator) -> Array:
        """A seeded release, after its post-processing."""
        released = gd.release(records, self.statistic, self.guarantee, self.mechanism, rng=rng)
        return self.finish(released.value)


def ambient_methods(
    ball: gd.Ball, guarantee: Guarantee, noise: Any, bound: str = "published"
) -> list[Method]:
    """The embedded Fréchet mean with and without the projection back."""
    statistic, embedding = AmbientMean(ball, bound=bound), embedding_of(ball.space)

    def back(vector: Array) -> Array:
        return embedding.nearest(embedding.shaped(vector), ball.radius)

    mechanism = gd.Wrapped(noise)
    return [
        Method("ambient", statistic, mechanism, guarantee, embedding.shaped),
        Method("ambient, projected", statistic, mechanism, guarantee, back),
    ]


def compare(
    ball: gd.Ball,
    methods: list[Method],
    records: Callable[[int, float, np.random.Generator], Array],
    n: int,
    repeats: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """A row per method: mean geodesic and Euclidean distance from the mean of fresh records.

    ``outside`` is the share of releases that are no point of the space; the geodesic distance is
    averaged over the others, nan if there are none.
    """
    embedding, mean = embedding_of(ball.space), gd.FrechetMean(ball)
    found: dict[str, list[tuple[float, float]]] = {method.name: [] for method in methods}
    for _ in range(repeats):
        x = records(n, ball.radius, rng)
        center = mean.evaluate(x).value
        for method in methods:
            point = method.run(x, rng)
            inside = embedding.contains(point)
            far = float(ball.space.dist(center, point)) if inside else math.nan
            found[method.name].append((far, embedding.error(center, point)))
    return [_row(ball, n, name, np.array(pairs)) for name, pairs in found.items()]


def _row(ball: gd.Ball, n: int, name: str, pairs: Array) -> dict[str, Any]:
    geodesic, euclidean = pairs[~np.isnan(pairs[:, 0]), 0], pairs[:, 1]
    row: dict[str, Any] = {"space": ball.space.spec, "radius": ball.radius, "n": n, "method": name}
    for what, values in (("geodesic", geodesic), ("euclidean", euclidean)):
        several = len(values) > 1
        row[what] = float(values.mean()) if several else math.nan
        row[f"{what}_error"] = (
            float(values.std(ddof=1) / math.sqrt(len(values))) if several else 0.0
        )
    return row | {"outside": 1 - len(geodesic) / len(pairs), "repeats": len(pairs)}


def polar_records(n: int, radius: float, rng: np.random.Generator) -> Array:
    """Directions with polar angle uniform on [0, r] and longitude uniform, as in the papers."""
    angle, turn = radius * rng.random(n), 2 * math.pi * rng.random(n)
    sine = np.sin(angle)
    first, second = sine * np.cos(turn), sine * np.sin(turn)
    out = np.stack([first, second, np.cos(angle)], axis=-1)
    return np.asarray(out / np.linalg.norm(out, axis=-1, keepdims=True))


def wishart_records(n: int, radius: float, rng: np.random.Generator) -> Array:
    """SPD(2) matrices, Wishart with 2 degrees of freedom and mean I, none beyond r of I."""
    space, parts, found = gd.SPD(2), [], 0
    while found < n:
        z = rng.standard_normal((4 * n, 2, 2)) / math.sqrt(2)
        x = z @ z.swapaxes(1, 2)
        regular = np.linalg.eigvalsh(x)[:, 0] > math.exp(-radius) / 2  # dist needs definite ones
        x = x[regular]
        x = x[space.dist(space.origin, x) <= radius]
        parts.append(x)
        found += len(x)
    return np.concatenate(parts)[:n]


def ball_and_records(
    space: gd.Space, radius: float
) -> tuple[gd.Ball, Callable[[int, float, np.random.Generator], Array]]:
    """The ball of a study, centred like its records, and how these are drawn."""
    if space.spec == "sphere:2":
        return gd.Ball(space, np.array([0.0, 0.0, 1.0]), radius), polar_records
    return gd.Ball(space, space.origin, radius), wishart_records
