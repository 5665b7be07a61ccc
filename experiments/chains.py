"""The Markov chains of the literature, for comparing cost and law only.

Metropolis-Hastings as published: start at the centre, propose exp of a random direction times a
random radius at the current point, accept by the ratio of the target's densities, discard 10,000
steps, keep the last state or one in 200. The proposal's density with respect to volume at y from x
depends on log_x y through its norm and, on SPD, the differences of its eigenvalues; both are the
same for log_y x, so the ratio of the proposals is 1 on all spaces here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

import geodp as gd

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Array]

BURN_IN, THINNING = 10_000, 200


def radial(space: gd.Space, center: Array, kernel: str, scale: float) -> LogDensity:
    """log f(dist(x, center)) of a Riemannian Laplace (``"laplace"``) or Gaussian law."""

    def log(x: Array) -> Array:
        t = space.dist(np.broadcast_to(center, x.shape), x) / scale
        return np.asarray(-t if kernel == "laplace" else -t * t / 2)

    return log


def knorm(ball: gd.Ball, records: Array, scale: float) -> LogDensity:
    """``-|grad F(x)| / scale`` of the Fréchet mean, in the ball where curvature is positive."""
    space = ball.space

    def log(x: Array) -> Array:
        gradient = space.log_coords(x[:, None], records).mean(axis=1)
        value = -np.linalg.norm(gradient, axis=-1) / scale
        if space.curvature[1] <= 0:
            return np.asarray(value)
        inside = space.dist(np.broadcast_to(ball.center, x.shape), x) <= ball.radius
        return np.where(inside, value, -np.inf)

    return log


@final
@dataclass
class Chain:
    """``walkers`` independent chains in step, all from ``start``.

    ``step`` is the standard deviation of a proposal's tangent coordinates. Side by side in numpy
    they cost far less per step than one chain in a loop.
    """

    space: gd.Space
    log_density: LogDensity
    start: Array
    step: float
    walkers: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.state = np.broadcast_to(self.start, (self.walkers, *self.start.shape)).copy()
        self.height = self.log_density(self.state)
        self.accepted = self.steps = 0

    def run(self, steps: int) -> Chain:
        """So many steps of every walker."""
        for _ in range(steps):
            z = self.step * self.rng.standard_normal((self.walkers, self.space.dim))
            proposed = self.space.exp_coords(self.state, z)
            height = self.log_density(proposed)
            moved = np.log(self.rng.random(self.walkers)) < height - self.height
            self.state[moved], self.height[moved] = proposed[moved], height[moved]
            self.accepted += int(moved.sum())
        self.steps += steps
        return self

    @property
    def acceptance(self) -> float:
        """The share of proposals accepted so far."""
        return self.accepted / (self.steps * self.walkers)


def last_states(chain: Chain, burn_in: int = BURN_IN) -> Array:
    """One independent draw per walker: its state after the burn-in."""
    return chain.run(burn_in).state


def thinned(chain: Chain, count: int, burn_in: int = BURN_IN, every: int = THINNING) -> Array:
    """``(count, walkers, …)`` draws: one in ``every`` steps of each walker after the burn-in."""
    chain.run(burn_in)
    return np.stack([chain.run(every).state.copy() for _ in range(count)])


def usual_step(dim: int, radius: float) -> float:
    """A step that accepts a third to a half on small spaces: 1.7 mean radii over the dimension."""
    return 1.7 * radius / dim
