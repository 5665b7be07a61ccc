"""The Fréchet mean of chunks, to a public error that it cannot miss.

Fast phase: Newton steps whose Hessian comes from a public subsample and is mended by secant (SR1)
updates, begun at the subsample's own mean; some three passes over the records. Safe phase, entered
only if the fast one has not certified its point: gradient steps with a proven count, after which
the error is proven whatever the gradient says (docs/proofs/sensitivity), so nothing can fail.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.batch import unvech
from geodp.spaces.lattice import LogSum
from geodp.statistics.sensitivity import safe_iterations

if TYPE_CHECKING:
    from geodp.kernels.kernel import Kernel

_SUBSAMPLE_STEPS = 12
FAST_PASSES = 30
_HESSIAN_FLOATS = 2**16  # entries of the Hessians that are averaged
_LEAST_HESSIANS = 128
_HESSIAN_SCALE = 64.0  # of the lattice; a coarse or wrapped sum here would cost time alone
_ROOT2 = 2.0**0.5
_BLOCK = 1024  # records of the subsample at a time
CERTIFIED = 0.45  # of the target: twice that, and rounding, is what a last step may cost

Sums = Callable[[Array], LogSum]


@dataclass(frozen=True)
class Problem:
    """One mean to find: records in a ball of ``radius`` around ``center`` on ``space``.

    ``log_sum`` is that of all records; ``progress`` is told of each pass over them. A computed
    gradient of norm ``target`` certifies its point; ``error`` is what the safe phase must prove.
    ``subsample`` and ``center_log``, the mean log at the centre over all records, only speed it up.
    """

    space: Space
    center: Array
    radius: float
    target: float
    error: float
    log_sum: Sums
    subsample: Array
    progress: Callable[[], None]
    center_log: Array | None = None
    kernel: Kernel | None = None  # for the subsample

    def gradient(self, x: Array) -> Array:
        """Minus the gradient of F at ``x`` over all records: the mean log, in coordinates at x."""
        self.progress()
        return self.log_sum(x).mean_log

    def sampled(self, x: Array) -> Array:
        """The same over the subsample."""
        blocks = _blocks(self.subsample, _BLOCK if self.kernel is None else len(self.subsample))
        fused = None if self.kernel is None else self.kernel.at(x)
        sums = [self.space.log_sum(x, b, 4 * self.radius, fused) for b in blocks]
        return functools.reduce(LogSum.merge, sums).mean_log

    def pull_in(self, x: Array) -> Array:
        """``x``, or the nearest point of the ball; its centre where floats cannot tell."""
        z = self.space.log_coords(self.center, x)
        t = float(np.linalg.norm(z))
        if t <= self.radius:
            return x
        if not np.isfinite(t):
            return self.center
        return self.space.exp_coords(self.center, z * (self.radius / t))


def frechet_mean(problem: Problem) -> Array:
    """A point of the ball within ``problem.error`` of the exact mean."""
    with np.errstate(all="ignore"):  # a warning here would depend on a record
        certified, best = _fast(problem)
        return _safe(problem, best) if certified is None else certified


def _fast(problem: Problem) -> tuple[Array | None, Array]:
    """A certified point, or None; and the point with the least gradient.

    A point whose gradient has norm g <= 0.45 target takes one last step, no longer than g, without
    another pass. The error before it is (g + rounding)/slope, slope <= 1, so after it still at
    most (2 g + rounding)/slope; in practice it falls a hundredfold.
    """
    space = problem.space
    x = _subsample_mean(problem)
    best, least = problem.center, problem.radius  # the safe phase needs a gradient below it
    norm = np.inf
    last: tuple[Array, Array, Array] | None = None  # Hessian, step and gradient of the last pass
    for _ in range(FAST_PASSES):
        g = problem.gradient(x)
        before, norm = norm, float(np.linalg.norm(g))
        if norm < least:
            best, least = x, norm
        certified = norm <= CERTIFIED * problem.target
        if last is None or norm > before / 2:
            hessian = _mean_hessian(problem, x)
        else:
            hessian = _secant(last[0], last[1], last[2] - g)
        step = newton_step(hessian, g)
        length = float(np.linalg.norm(step))
        longest = norm if certified else 2 * problem.radius  # no mean is farther than that
        if length > longest:
            step *= longest / length
        x = problem.pull_in(space.exp_coords(x, step))
        if certified:
            return x, best
        last = hessian, step, g
    return None, best


def _subsample_mean(problem: Problem) -> Array:
    """A starting point: the subsample's mean, roughly, its gradient shifted by what it lacks at the
    centre. Its accuracy affects speed alone."""
    space, x = problem.space, problem.center
    known = problem.center_log
    shift = 0.0 if known is None else known - problem.sampled(x)
    hessian, norm = None, np.inf
    for _ in range(_SUBSAMPLE_STEPS):
        g = problem.sampled(x) + shift
        before, norm = norm, float(np.linalg.norm(g))
        if norm <= 1e-5 * problem.radius:
            break
        if hessian is None or norm > before / 8:
            hessian = _mean_hessian(problem, x, _HESSIAN_FLOATS // 8)
        x = problem.pull_in(space.exp_coords(x, newton_step(hessian, g)))
    return x


def _mean_hessian(problem: Problem, x: Array, floats: int = _HESSIAN_FLOATS) -> Array:
    """Over evenly spaced records of the subsample."""
    space, records = problem.space, problem.subsample
    step = max(1, len(records) // max(_LEAST_HESSIANS, floats // space.dim**2))
    chosen = records[::step]
    reducer = None if problem.kernel is None else problem.kernel.hessian()
    if problem.kernel is not None and reducer is not None:
        scale, far = _HESSIAN_SCALE * (1 + 4 * problem.radius), 4 * problem.radius
        mean = reducer.mean(problem.kernel.at(x), np.ascontiguousarray(chosen), scale, far)
        if mean is not None:
            return unvech(mean, space.dim, _ROOT2)
    total = sum(space.hessian(x, b).sum(axis=0) for b in _blocks(chosen, _LEAST_HESSIANS))
    return np.asarray(total / len(chosen))


def _blocks(records: Array, size: int) -> list[Array]:
    """Few records at a time, so that what is computed of them stays small."""
    return [records[i : i + size] for i in range(0, len(records), size)]


def newton_step(hessian: Array, g: Array) -> Array:
    """Solve with the eigenvalues' absolute values, none below a tenth: no wild step; batched."""
    values, vectors = np.linalg.eigh(hessian)
    along = (g[..., None, :] @ vectors)[..., 0, :] / np.maximum(np.abs(values), 0.1)
    return np.asarray((vectors @ along[..., None])[..., 0])


def _secant(hessian: Array, step: Array, change: Array) -> Array:
    """Symmetric rank-one update, so that ``hessian @ step = change``; skipped where ill-defined."""
    residual = change - hessian @ step
    curvature = residual @ step
    if abs(curvature) <= 1e-8 * np.linalg.norm(residual) * np.linalg.norm(step):
        return hessian
    return np.asarray(hessian + np.outer(residual, residual) / curvature)


def _safe(problem: Problem, start: Array) -> Array:
    """Gradient steps with the proven count; an early stop only where the gradient certifies.

    Positive curvature starts at the centre, where F <= r^2/2; else ``start`` serves, whose gradient
    must be at most the radius (that of the centre is).
    """
    space = problem.space
    length, count = safe_iterations(space, problem.radius, problem.error)
    positive = space.curvature[1] > 0
    x = problem.center if positive else start
    for _ in range(count):
        g = problem.gradient(x)
        if float(np.linalg.norm(g)) <= problem.target:
            break
        x = space.exp_coords(x, length * g)
        if positive:
            x = reflect_into_ball(space, problem.center, problem.radius, x)
        else:
            x = problem.pull_in(x)
    return x


def reflect_into_ball(space: Space, center: Array, radius: float, x: Array) -> Array:
    """``x`` if it lies in the ball; reflected at the edge, ``l -> 2 r - l``, if ``l < 2 r``; else
    the centre. Never raises F (docs/proofs/sensitivity, solver)."""
    z = space.log_coords(center, x)
    length = float(np.linalg.norm(z))
    if length <= radius:
        return x
    if length >= 2 * radius:
        return center
    return space.exp_coords(center, z * ((2 * radius - length) / length))
