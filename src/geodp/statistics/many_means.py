"""Many independent Fréchet means at once: people in many places, such as voxels, or the records of
many persons.

Each mean is certified like ``FrechetMean``'s, to the same public error, and depends on its own
records alone, bit for bit. Means are solved side by side, so that what is done once per step in
Python is shared by thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.kernels import MANY
from geodp.kernels.threads import each
from geodp.spaces.base import Array, BoolArray, Space
from geodp.spaces.batch import dot, length
from geodp.spaces.lattice import LogSum
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean, certifying_gradient
from geodp.statistics.protocol import Certified
from geodp.statistics.records import raw_block
from geodp.statistics.segments import Ints, Segments
from geodp.statistics.solver import CERTIFIED, FAST_PASSES, Problem, frechet_mean

BLOCK_FLOATS = 2**20  # of the records that are solved together
_LONGEST = 10.0  # a step, relative to the gradient


def frechet_means(
    ball: Ball,
    records: Any,
    progress: Callable[[int], None] | None = None,
    *,
    among: int | None = None,
) -> Certified:
    """The means over axis 1 of ``records``, shape ``(V, n, *point_shape)``: V points at once.

    ``value`` has shape ``(V, *point_shape)``; ``error_bound`` holds for each of them by itself.
    Records are clipped to ``ball``. A memory map is read block by block. ``progress`` is told how
    many means are done. These may be some of more means: ``among`` so many.
    ``InputError`` for arrays of another kind.

    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.SPD(2), np.eye(2), 2.0)
    >>> frechet_means(ball, np.tile(np.diag([2.0, 1.0]), (3, 5, 1, 1))).value.shape
    (3, 2, 2)
    """
    shape = ball.space.point_shape
    if not isinstance(records, np.ndarray) or records.dtype.kind not in "iuf":
        raise InputError("Records of many means are one array of real numbers.")
    if records.ndim != len(shape) + 2 or records.shape[2:] != shape or records.shape[1] < 2:
        wanted = ", ".join(["V", "n", *map(str, shape)])
        raise InputError(f"Records of many means have shape ({wanted}), at least two in each.")
    count, n = records.shape[:2]
    all_of_them = count if among is None else among
    at_once = max(1, BLOCK_FLOATS // (n * math.prod(shape)))

    def one(start: int) -> Array:
        block = raw_block(records, start, at_once, copy=True)
        starts = n * np.arange(len(block))
        rows, counts = block.reshape(-1, *shape), np.full(len(block), n)
        return segment_means(ball, rows, starts, counts, all_of_them)[0]

    values = []
    for solved in each(one, range(0, count, at_once)):
        values.append(solved)
        if progress is not None:
            progress(len(solved))
    return Certified(np.concatenate(values), FrechetMean(ball).error_bound)


def segment_means(
    ball: Ball, rows: Array, starts: Ints, counts: Ints, among: int
) -> tuple[Array, BoolArray]:
    """The mean of ``counts[i]`` of the rows from ``starts[i]`` on, for every i; which rows the
    public rule moved or replaced, which is done in place.

    They are some of ``among`` means, a public number. Whether a kernel serves a mean depends on
    that and on its own count.
    """
    mean = FrechetMean(ball)
    values = np.empty((len(starts), *ball.space.point_shape))
    moved = np.zeros(len(rows), dtype=bool)
    compiled = counts * among >= MANY
    for some in (compiled, ~compiled):
        if some.any():
            kernel = ball.space.kernel() if some is compiled else None
            part = Segments(ball.space, rows, starts[some], counts[some], kernel)
            with np.errstate(all="ignore"):  # a warning here would depend on a record
                logs = part.clip(ball, moved)
                values[some] = _solved(mean, part, logs)
    return values, moved


def _solved(mean: FrechetMean, segments: Segments, center_logs: Array) -> Array:
    """The means of clipped segments, factor by factor."""
    space, ball, parts, dim = mean.space, mean.ball, [], 0
    for index, (factor, center) in enumerate(
        zip(space.factors, space.split(ball.center), strict=True)
    ):
        logs, dim = center_logs[:, dim : dim + factor.dim], dim + factor.dim
        if factor.is_flat:
            parts.append(factor.exp_coords(center, logs))
        else:
            parts.append(_curved(mean, segments.of_factor(index, factor), center, logs))
    return space.project(space.join(parts))


def _curved(mean: FrechetMean, segments: Segments, center: Array, g: Array) -> Array:
    """Each as by ``solver``: Newton steps until a gradient certifies, here with inverse Hessians
    that begin as 1 and are mended by secants; counted steps where that fails."""
    space, ball = segments.space, mean.ball
    target, scale = certifying_gradient(space, center, ball), 4 * ball.reach
    values = np.empty((len(segments), *space.point_shape))
    active, norm = np.arange(len(segments)), length(g)
    step, inverse = g, np.tile(np.eye(space.dim), (len(g), 1, 1))
    x, far = np.broadcast_to(center, values.shape), np.zeros(len(g))
    x, far = _moved(space, center, ball.reach, x, step, far)
    for _ in range(FAST_PASSES):
        before, last = norm, g
        g = segments.mean_logs(active, x, scale)
        norm = length(g)
        inverse = _secants(inverse, step, last - g, norm <= before)
        step = _newton_steps(inverse, g, norm, 2 * ball.reach)
        done = norm <= CERTIFIED * target
        longest = np.maximum(length(step), norm)
        shrink = done & (longest > norm)
        step = step * np.where(shrink, norm / np.where(shrink, longest, 1.0), 1.0)[:, None]
        x, far = _moved(space, center, ball.reach, x, step, far)
        values[active[done]] = x[done]
        rest = ~done
        active, x, far, g, norm = active[rest], x[rest], far[rest], g[rest], norm[rest]
        step, inverse = step[rest], inverse[rest]
        if not len(active):
            break
    for i in active:
        values[i] = _alone(mean, segments, center, int(i))
    return values


def _moved(
    space: Space, center: Array, reach: float, x: Array, step: Array, far: Array
) -> tuple[Array, Array]:
    """Along the steps, and back to the ball's edge, or to its centre where floats cannot tell; and
    how far from the centre each is at most, which spares most of them a look."""
    x = space.exp_coords(x, step)
    far = (far + length(step)) * (1 + 1e-6)
    at = np.flatnonzero(~(far <= reach))
    if len(at):
        z = space.log_coords(center, x[at])
        t = length(z)
        lost = ~np.isfinite(t)
        x[at[lost]], t[lost] = center, 0.0
        out = t > reach
        x[at[out]] = space.exp_coords(center, z[out] * (reach / t[out])[:, None])
        far[at] = np.minimum(t, reach)
    return x, far


def _alone(mean: FrechetMean, segments: Segments, center: Array, i: int) -> Array:
    space, ball, rows = segments.space, mean.ball, segments.own(i)
    scale, kernel = 4 * ball.reach, segments.kernel

    def log_sum(x: Array) -> LogSum:
        return space.log_sum(x, rows, scale, None if kernel is None else kernel.at(x))

    target = certifying_gradient(space, center, ball)
    problem = Problem(space, center, ball.reach, target, mean.error_bound, log_sum, rows, _silent)
    return frechet_mean(problem)


def _silent() -> None:
    return None


def _newton_steps(inverse: Array, g: Array, norm: Array, diameter: float) -> Array:
    """Steps by the inverse Hessians; by 1 where that would be a wild one. No mean is farther than
    the ball's diameter."""
    step = dot(inverse, g[:, None, :])
    wild = ~((length(step) <= _LONGEST * norm) & (dot(step, g) >= norm * norm / _LONGEST))
    step = np.where(wild[:, None], g, step)
    return np.asarray(step * (diameter / np.maximum(length(step), diameter))[:, None])


def _secants(inverse: Array, step: Array, change: Array, better: Any) -> Array:
    """Symmetric rank-one updates, so that ``inverse @ change = step``; 1 where the last step was
    none to learn from."""
    residual = step - dot(inverse, change[:, None, :])
    curvature = dot(residual, change)
    size = length(residual) * length(change)
    with np.errstate(all="ignore"):
        mended = residual[..., :, None] * (residual / curvature[..., None])[..., None, :]
    use = np.abs(curvature) > 1e-8 * size
    inverse = inverse + np.where(use[:, None, None], mended, 0.0)
    return np.where(better[:, None, None], inverse, np.eye(inverse.shape[-1]))
