"""Records that are maps, a point in each of many places: the public rule and the means, place by
place (docs/proofs/units)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodp.kernels import MANY
from geodp.progress import tick, unreported
from geodp.spaces.base import Array, BoolArray, Space
from geodp.statistics.records import ClippedRecords, LocalRecords, mapped, raw_block, source_of

if TYPE_CHECKING:
    from geodp.statistics.domain import Ball
    from geodp.statistics.frechet_mean import FrechetMean

_UP = 1 + 1e-12  # covers the rounding of a square root and a sum
BLOCK_FLOATS = 2**20  # of the points that are read at a time


def clip_maps(ball: Ball, source: Any) -> LocalRecords:
    """Maps of shape ``(n, V, ...)`` after the public rule of each place's ball."""
    rows, places = ball.chunk_rows, ball.places
    moved = np.zeros((len(source), ball.space.cells), dtype=bool)
    replaced = []
    for start in range(0, len(source), rows):
        tick("clipping", start, len(source))
        block = raw_block(source, start, rows, copy=True)
        changed = moved[start : start + len(block)]
        for cell_ball, at in places:
            part = np.ascontiguousarray(block[:, at]).reshape(-1, *cell_ball.space.point_shape)
            hit = _rule(cell_ball, part)
            changed[:, at] = hit.reshape(len(block), len(at))
            block[:, at] = part.reshape(len(block), len(at), *cell_ball.space.point_shape)
        replaced.append(block[changed])
    return LocalRecords(ball, source, moved, tuple(replaced), None, None)


def _rule(ball: Ball, points: Array) -> BoolArray:
    """Put what the rule makes of points in their place; which ones it moved or replaced.

    A kernel finds those well inside, which the rule leaves alone.
    """
    hit = np.zeros(len(points), dtype=bool)
    at = np.arange(len(points))
    kernel = ball.space.kernel() if len(points) >= MANY else None
    if kernel is not None:
        with np.errstate(all="ignore"):
            fused = kernel.at(ball.center)
            limit = ball.within(ball.radius)
            at = np.flatnonzero(ball.space.fused_sum(fused, points, ball.reach, limit)[1])
    for start in range(0, len(at), ball.chunk_rows):
        some = at[start : start + ball.chunk_rows]
        points[some], hit[some], _ = ball.apply_rule(points[some])
    return hit


def map_error(ball: Ball, bound: str) -> float:
    """The error bound of the means of all places together: their own add in squares."""
    from geodp.statistics.frechet_mean import FrechetMean

    squares = sum(len(at) * FrechetMean(b, bound).error_bound ** 2 for b, at in ball.places)
    return math.sqrt(squares) * _UP


def map_mean(statistic: FrechetMean, records: ClippedRecords) -> Array:
    """The certified means of all places, each of the points that the maps have there.

    Read a few places at a time, where the maps are: a memory map is never read whole.
    """
    source, ball, cells = source_of(records), records.ball, records.ball.space.cells
    values = np.empty(ball.space.point_shape)
    size = len(source) * math.prod(ball.space.cell.point_shape)
    step = max(1, BLOCK_FLOATS // size)
    blocks = [slice(first, min(first + step, cells)) for first in range(0, cells, step)]
    jobs = [((slice(None), block), (_there(ball, block), cells)) for block in blocks]
    for block, means in zip(blocks, mapped(source, _means, jobs), strict=True):
        values[block] = means
        tick("places", block.stop, cells)
        statistic.progress()
    return values


def _there(ball: Ball, block: slice) -> tuple[Array, float, Space]:
    """What makes the ball in some of its places."""
    return ball.center[block], ball.radius, ball.space.cell


def _means(maps: Array, argument: tuple[tuple[Array, float, Space], int]) -> Array:
    """The means of maps ``(n, V, ...)`` in V places."""
    from geodp.statistics.domain import Ball
    from geodp.statistics.many_means import frechet_means

    (centers, radius, cell), among = argument
    values = np.empty(centers.shape)
    points, which = np.unique(centers, axis=0, return_inverse=True)
    with unreported():
        for i, point in enumerate(points):
            at = np.flatnonzero(which.ravel() == i)
            there, ball = np.moveaxis(maps[:, at], 1, 0), Ball(cell, point, radius)
            values[at] = frechet_means(ball, there, among=among).value
    return values
