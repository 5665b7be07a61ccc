"""Many independent Fréchet means at once: the same people in many places, such as voxels.

Each mean is certified like ``FrechetMean``'s, to the same public error. Voxels are solved side by
side, so that what is done once per step in Python is shared by hundreds of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodp.errors import InputError
from geodp.kernels import MANY
from geodp.kernels.threads import each
from geodp.spaces.base import Array
from geodp.spaces.lattice import LogSum, split, unit, value_of
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean, certifying_gradient
from geodp.statistics.protocol import Certified
from geodp.statistics.records import raw_block
from geodp.statistics.solver import CERTIFIED, FAST_PASSES, Problem, frechet_mean, newton_step

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel

_BLOCK_RECORDS = 2**17
_LEAST = 16  # records of a mean: the lanes of a kernel


def frechet_means(
    ball: Ball, records: Any, progress: Callable[[int], None] | None = None
) -> Certified:
    """The means over axis 1 of ``records``, shape ``(V, n, *point_shape)``: V points at once.

    ``value`` has shape ``(V, *point_shape)``; ``error_bound`` holds for each of them by itself.
    Records are clipped to ``ball``. A memory map is read block by block. ``progress`` is told how
    many means are done. ``InputError`` for arrays of another kind.

    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.SPD(2), np.eye(2), 2.0)
    >>> frechet_means(ball, np.tile(np.diag([2.0, 1.0]), (3, 5, 1, 1))).value.shape
    (3, 2, 2)
    """
    mean = FrechetMean(ball)
    shape = ball.space.point_shape
    if not isinstance(records, np.ndarray) or records.dtype.kind not in "iuf":
        raise InputError("Records of many means are one array of real numbers.")
    if records.ndim != len(shape) + 2 or records.shape[2:] != shape or records.shape[1] < 2:
        wanted = ", ".join(["V", "n", *map(str, shape)])
        raise InputError(f"Records of many means have shape ({wanted}), at least two in each.")
    count, n = records.shape[:2]
    kernel = ball.space.kernel() if count * n >= MANY and n >= _LEAST else None
    at_once = max(1, _BLOCK_RECORDS // n)

    def one(start: int) -> Array:
        block = raw_block(records, start, at_once, copy=True)
        if kernel is None:
            return np.stack([mean.evaluate(part).value for part in block])
        return _Block(mean, kernel, block).solve()

    values = []
    for solved in each(one, range(0, count, at_once)):
        values.append(solved)
        if progress is not None:
            progress(len(solved))
    return Certified(np.concatenate(values), mean.error_bound)


@dataclass(frozen=True)
class _Block:
    """Records of some means, clipped in place."""

    mean: FrechetMean
    kernel: Kernel
    records: Array  # (V, n, *point_shape)

    def solve(self) -> Array:
        """The means, each as by ``solver``: Newton steps until a gradient certifies, here with
        Hessians that begin as 1 and are mended by secants; counted steps where that fails."""
        ball, space = self.mean.ball, self.mean.space
        g = self._clip()
        if space.is_flat:
            return space.project(space.exp_coords(ball.center, g))
        target = certifying_gradient(space, ball.center, ball)
        values = np.empty((len(g), *space.point_shape))
        active, norm = np.arange(len(g)), np.linalg.norm(g, axis=1)
        step, hessian = g, np.tile(np.eye(space.dim), (len(g), 1, 1))
        x = self._move(np.broadcast_to(ball.center, values.shape), step)
        for _ in range(FAST_PASSES):
            before, last = norm, g
            g = self._gradients(active, x)
            norm = np.linalg.norm(g, axis=1)
            hessian = _secants(hessian, step, last - g, norm <= before)
            step = newton_step(hessian, g)
            done = norm <= CERTIFIED * target
            length = np.maximum(np.linalg.norm(step, axis=1), norm)
            shrink = done & (length > norm)
            step = step * np.where(shrink, norm / np.where(shrink, length, 1.0), 1.0)[:, None]
            x = self._move(x, step)
            values[active[done]] = x[done]
            rest = ~done
            active, x, g, norm = active[rest], x[rest], g[rest], norm[rest]
            step, hessian = step[rest], hessian[rest]
            if not len(active):
                break
        for voxel in active:
            values[voxel] = self._alone(int(voxel))
        return space.project(values)

    def _clip(self) -> Array:
        """Put the public rule's points in place; mean logs at the centre, shape ``(V, dim)``."""
        ball, space = self.mean.ball, self.mean.space
        centers = np.broadcast_to(ball.center, (len(self.records), *space.point_shape))
        scale = 2 * ball.reach
        limbs, left = self._sums(centers, self.records, scale, ball.radius)
        voxels, _ = np.nonzero(left)
        if len(voxels):
            fixed, _, z = ball.apply_rule(self.records[left])
            self.records[left] = fixed
            np.add.at(limbs, voxels, _limbs_of(z, scale))
        return self._mean_logs(limbs, scale)

    def _gradients(self, active: Any, x: Array) -> Array:
        space, scale = self.mean.space, 4 * self.mean.ball.reach
        blocks = self.records if len(active) == len(self.records) else self.records[active]
        limbs, left = self._sums(x, blocks, scale, scale)
        voxels, _ = np.nonzero(left)
        if len(voxels):
            z = space.log_coords(x[voxels], space.project(blocks[left]))
            np.add.at(limbs, voxels, _limbs_of(z, scale))
        return self._mean_logs(limbs, scale)

    def _sums(self, x: Array, blocks: Array, scale: float, limit: float) -> tuple[Any, Any]:
        return self.kernel.many(x, blocks, unit(scale), unit(scale * scale), limit)

    def _mean_logs(self, limbs: Any, scale: float) -> Array:
        sums = value_of(np.moveaxis(limbs[:, :-1], -1, 0), scale)
        return np.asarray(sums / self.records.shape[1])

    def _move(self, x: Array, step: Array) -> Array:
        """Along the steps, and back to the ball's edge."""
        ball, space = self.mean.ball, self.mean.space
        x = space.exp_coords(x, step)
        z = space.log_coords(ball.center, x)
        t = np.linalg.norm(z, axis=1)
        out = t > ball.reach
        if out.any():
            x[out] = space.exp_coords(ball.center, z[out] * (ball.reach / t[out])[:, None])
        return x

    def _alone(self, voxel: int) -> Array:
        ball, space = self.mean.ball, self.mean.space
        rows, scale = self.records[voxel], 4 * ball.reach

        def log_sum(x: Array) -> LogSum:
            return space.log_sum(x, rows, scale, self.kernel.at(x))

        target = certifying_gradient(space, ball.center, ball)
        error = self.mean.error_bound
        return frechet_mean(
            Problem(space, ball.center, ball.reach, target, error, log_sum, rows, _silent)
        )


def _silent() -> None:
    return None


def _limbs_of(z: Array, scale: float) -> Any:
    """Limbs of every record ``(n, dim + 1, 2)``, squares last, as a kernel adds them up."""
    squares = np.einsum("ni,ni->n", z, z)[:, None]
    parts = [split(z, scale), split(squares, scale * scale)]
    return np.moveaxis(np.concatenate(parts, axis=2), 0, -1)


def _secants(hessian: Array, step: Array, change: Array, better: Any) -> Array:
    """Symmetric rank-one updates, so that ``hessian @ step = change``; 1 where the last step was
    none to learn from."""
    residual = change - (hessian @ step[..., None])[..., 0]
    curvature = (residual * step).sum(axis=-1)
    size = np.linalg.norm(residual, axis=-1) * np.linalg.norm(step, axis=-1)
    with np.errstate(all="ignore"):
        mended = residual[..., :, None] * (residual / curvature[..., None])[..., None, :]
    use = np.abs(curvature) > 1e-8 * size
    hessian = hessian + np.where(use[:, None, None], mended, 0.0)
    return np.where(better[:, None, None], hessian, np.eye(hessian.shape[-1]))
