"""Pairs of neighbouring data sets: random, climbed to the worst, and the two-cluster construction.

A pair is given as few atoms with multiplicities: ``n - 1`` records that both data sets share, and
the one record that differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import geodp as gd

Array = NDArray[np.float64]

_CLUSTERS = 4  # atoms of a large data set
_FIRST_STEP, _LAST_STEP = 0.7, 0.01  # of the radius


@dataclass(frozen=True)
class Pair:
    """``atoms`` (k, *point_shape) with ``counts`` (k,) are shared; ``moved`` holds the two ends."""

    atoms: Array
    counts: NDArray[np.int64]
    moved: tuple[Array, Array]

    def data(self, side: int) -> Array:
        """All records of one of the two data sets, the moved one first."""
        shared = np.repeat(self.atoms, self.counts, axis=0)
        return np.concatenate([self.moved[side][None], shared])


def random_pairs(ball: gd.Ball, n: int, count: int, rng: np.random.Generator) -> list[Pair]:
    """Records spread over the ball, on its edge or in clusters; the moved one at random, or from
    the edge to the opposite edge."""
    pairs = []
    for index in range(count):
        clustered = index % 3 == 2 and n > _CLUSTERS + 1
        k = _CLUSTERS if clustered else n - 1
        z = _directions(rng, k + 2, ball.space.dim)
        edge = index % 3 == 1
        z *= ball.radius * (1.0 if edge else rng.random((k + 2, 1)))
        if index % 2:
            z[k] *= ball.radius / np.linalg.norm(z[k])
            z[k + 1] = -z[k]
        counts = _split(n - 1, k, rng)
        pairs.append(_pair(ball, z, counts))
    return pairs


def climbed_pairs(
    ball: gd.Ball, n: int, count: int, proposals: int, rng: np.random.Generator
) -> list[Pair]:
    """Hill climbing over the position of every atom for the greatest shift, many pairs at once."""
    space, dim = ball.space, ball.space.dim
    k = n - 1 if n <= 12 else _CLUSTERS
    counts = np.stack([_split(n - 1, k, rng) for _ in range(count)])
    z = _directions(rng, (count, k + 2), dim) * ball.radius * rng.random((count, k + 2, 1)) ** 0.2
    z[:, k + 1] = -z[:, k]
    center = np.broadcast_to(ball.center, (count, *space.point_shape))
    shift, means, _ = _shifts(ball, z, counts, (center, center), 12)
    for proposal in range(proposals):
        size = _FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** (proposal / proposals)
        chosen = rng.random((count, k + 2, 1)) < (0.3 if k > 3 else 0.6)
        trial = z + chosen * size * ball.radius * rng.normal(size=z.shape)
        length = np.linalg.norm(trial, axis=-1, keepdims=True)
        trial *= np.minimum(1.0, ball.radius / np.maximum(length, 1e-300))
        new, at, solved = _shifts(ball, trial, counts, means, 3)
        better = solved & (new > shift)
        z[better], shift = trial[better], np.where(better, new, shift)
        for mean, found in zip(means, at, strict=True):
            mean[better] = found[better]
    return [_pair(ball, z[i], counts[i]) for i in range(count)]


def two_clusters(ball: gd.Ball, n: int, plane: tuple[int, int] = (0, 1)) -> Pair:
    """(n-1)/2 records at each end of a diameter, the moved one across: the worst case for large n
    where the plane of the two diameters has the greatest curvature (n odd)."""
    z = np.zeros((4, ball.space.dim))
    z[0, plane[0]], z[1, plane[0]] = ball.radius, -ball.radius
    z[2, plane[1]], z[3, plane[1]] = ball.radius, -ball.radius
    return _pair(ball, z, np.array([(n - 1) // 2, n - 1 - (n - 1) // 2]))


def stopped_early(space: gd.Space, records: Array, threshold: float) -> Array:
    """A solver as others have it: from the first record, unit gradient steps, stopped at a norm."""
    x = records[0]
    for _ in range(100):
        g = space.log_coords(x, records).mean(axis=0)
        if np.linalg.norm(g) <= threshold:
            break
        x = space.exp_coords(x, g)
    return x


def _pair(ball: gd.Ball, z: Array, counts: NDArray[np.int64]) -> Pair:
    points = ball.space.project(ball.space.exp_coords(ball.center, z))
    return Pair(points[:-2], counts, (points[-2], points[-1]))


def _directions(rng: np.random.Generator, shape: Any, dim: int) -> Array:
    z = rng.normal(size=(*np.atleast_1d(shape), dim))
    return z / np.linalg.norm(z, axis=-1, keepdims=True)


def _split(total: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``total`` records on ``parts`` atoms, at least one each; even if there are as many."""
    return 1 + rng.multinomial(total - parts, rng.dirichlet(np.full(parts, 2.0)))


def _shifts(
    ball: gd.Ball, z: Array, counts: NDArray[np.int64], start: tuple[Array, Array], steps: int
) -> tuple[Array, tuple[Array, Array], NDArray[np.bool_]]:
    """Distances between the two means of each pair, the means, and whether both were reached."""
    space, n = ball.space, counts[0].sum() + 1
    points = space.exp_coords(ball.center, z)
    weights = np.concatenate([counts / n, np.full((len(z), 1), 1 / n)], axis=1)
    found, solved = [], np.ones(len(z), dtype=bool)
    for side in (0, 1):
        rows = [*range(counts.shape[1]), counts.shape[1] + side]
        mean, norm = _newton(space, start[side], points[:, rows], weights, steps)
        solved &= norm <= 1e-4 * ball.radius / n
        found.append(mean)
    first, second = found
    return space.dist(first, second), (first, second), solved


def _newton(
    space: gd.Space, x: Array, points: Array, weights: Array, steps: int
) -> tuple[Array, Array]:
    """Newton steps towards the weighted means of a batch, and the last gradient norms."""
    x = np.array(x)
    for _ in range(steps):
        g = np.einsum("bk,bki->bi", weights, space.log_coords(x[:, None], points))
        hessian = np.einsum("bk,bkij->bij", weights, space.hessian(x[:, None], points))
        values, vectors = np.linalg.eigh(hessian)
        along = np.einsum("bij,bi->bj", vectors, g) / np.maximum(np.abs(values), 0.1)
        x = space.exp_coords(x, np.einsum("bij,bj->bi", vectors, along))
    g = np.einsum("bk,bki->bi", weights, space.log_coords(x[:, None], points))
    return x, np.linalg.norm(g, axis=-1)
