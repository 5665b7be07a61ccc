"""The public rule for many records: what lies outside moves to the edge in compiled passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodp.spaces.base import Array, BoolArray
from geodp.spaces.batch import length
from geodp.spaces.lattice import LogSum

if TYPE_CHECKING:
    from geodp.kernels.kernel import Pass
    from geodp.statistics.domain import Ball

_FAR = 1e150  # of a logarithm: no limit but that its square is finite


def moved_in(ball: Ball, fused: Pass, x: Array, widest: float) -> tuple[LogSum, Array, BoolArray]:
    """Records ``x`` that are not known to lie in the ball, after the rule of ``Ball.apply_rule``:
    the sum of their log-coordinates at the centre, they themselves, and which have changed.

    ``fused`` is the pass at the centre. It finds coordinates; what they say of a point at the edge
    counts only if the pass finds that point no farther than ``widest``. Whatever it leaves goes to
    ``apply_rule``, each record by itself.
    """
    from geodp.kernels.kernel import by_records

    space, scale = ball.space, 2 * ball.reach
    with np.errstate(all="ignore"):  # a warning here would depend on a record
        rows, marks = fused.rows(x, _FAR)
        z = by_records(rows, len(x))[:, :-1]
        size = length(z)
        known = marks == 0
        far = known & (size > widest)
        edge = z[far] * (ball.radius / size[far])[:, None]
        fixed, changed = x.copy(), np.array(far)
        points = fused.exp(edge)
        if points is None:
            points = space.project(space.exp_coords(ball.center, edge))
        fixed[far] = points
        total, left = space.fused_sum(fused, fixed[known], scale, ball.within(widest))
        rest = np.concatenate([np.flatnonzero(~known), np.flatnonzero(known)[left]])
    for start in range(0, len(rest), ball.chunk_rows):
        some = rest[start : start + ball.chunk_rows]
        fixed[some], changed[some], logs = ball.apply_rule(x[some])
        total = total.merge(LogSum.of(logs, scale))
    return total, fixed, changed
