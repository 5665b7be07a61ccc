"""Proposals of a K-norm gradient draw: around the value, and hardly beyond the ball."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, final

import numpy as np

from geodp.noise.radial_caps import CappedLaw, cap_angles
from geodp.noise.radial_laws import is_affine_invariant
from geodp.noise.radial_steps import SteppedDraw, SteppedLaw
from geodp.spaces.base import Array, Space

if TYPE_CHECKING:
    from flint import arb

    from geodp.random import BitStream

_STEP = 0.25  # of log density: what one step of the proposals may fall by
_DEEP, _WIDE = 45.0, 1.4  # so little log mass below the most, steps may be this wide instead
_BESIDE = 1e-3  # of the radius: nearer to the centre the ball looks the same in all directions
_FINE = 96  # steps where the ball's edge cuts off some directions


class Proposals(Protocol):
    """A ``SteppedLaw`` or ``CappedLaw``."""

    @property
    def drops(self) -> Sequence[float]: ...

    def exact(self, stream: BitStream) -> SteppedDraw: ...

    def sample(self, rng: np.random.Generator, size: int) -> Array: ...

    def log_share(self, piece: int) -> arb: ...


@final
@dataclass(frozen=True, eq=False)
class Nearby:
    """The ball of radius ``edge`` as seen from a value ``offset`` from its centre.

    ``axis`` is the direction to the centre, None where directions are not told apart: at the
    centre, on a line, and where volume depends on the direction. ``blur`` bounds the rounding of
    points and distances.
    """

    space: Space
    offset: float
    edge: float
    axis: Array | None
    blur: float

    @classmethod
    def of(cls, space: Space, center: Array, value: Array, edge: float, blur: float) -> Self:
        offset = float(space.dist(center, value))
        kappa = max(space.curvature[1], 0.0)
        plain = space.dim < 2 or is_affine_invariant(space) or len(space.factors) > 1
        wide = kappa > 0 and math.sqrt(kappa) * (edge + blur) >= math.pi / 2
        if plain or wide or not offset > max(_BESIDE * edge, 1e6 * blur):
            return cls(space, offset, edge, None, blur)
        axis = space.log_coords(value, center)
        return cls(space, offset, edge, np.asarray(axis / np.linalg.norm(axis)), blur)

    @property
    def _radius(self) -> float:
        """That of a ball in floats, rounded up: a triangle's side moves by what the others do."""
        return max(self.edge + 2 * self.blur, self.offset) * (1 + 1e-9)

    def ends(self, distances: Array) -> Array:
        """Steps as far as the ball reaches, finer where its edge cuts off directions."""
        stop = min(float(distances[-1]), self._radius + self.offset)
        parts = [distances[distances < stop], np.array([stop])]
        if self.axis is not None:
            first = max(self._radius - self.offset, float(distances[1]))
            parts.append(np.linspace(first, stop, _FINE, endpoint=False))
        return np.unique(np.concatenate(parts))

    def law(self, ends: Array, drops: Array, *, thin: bool = True) -> Proposals:
        """The proposals of those heights; ``thin``: no more steps than their fall needs."""
        if self.axis is None:
            chosen = thinned(ends, drops, self.space.dim) if thin else range(len(drops))
            kept = [*(float(ends[k]) for k in chosen), float(ends[-1])]
            return SteppedLaw(self.space, kept, [float(drops[k]) for k in chosen])
        kappa = max(self.space.curvature[1], 0.0)
        caps = cap_angles(kappa, self.offset, self._radius, ends[:-1])
        caps = np.minimum(caps + 4 * self.blur / self.offset, math.pi)
        plain = CappedLaw(self.space, ends.tolist(), drops.tolist(), caps.tolist(), self.axis)
        lost = -np.log(np.maximum(plain.shares, 1e-290))
        lowered = np.maximum.accumulate(drops + lost)
        chosen = thinned(ends, lowered, self.space.dim) if thin else range(len(drops))
        return CappedLaw(
            self.space,
            [*(float(ends[k]) for k in chosen), float(ends[-1])],
            [float(drops[k]) for k in chosen],
            [float(caps[k]) for k in chosen],
            self.axis,
        )


def thinned(ends: Array, drops: Array, dim: int) -> list[int]:
    """Where steps begin: each as wide as a small fall of the density allows.

    Volume grows at least like ``t^dim``: in many dimensions most of the law lies where its density
    has fallen far.
    """
    mass = dim * np.log(ends[1:]) - drops
    deeps = mass < mass.max() - _DEEP
    chosen = [0]
    for k in range(1, len(drops)):
        last = chosen[-1]
        deep = deeps[last] and deeps[k]
        wide = ends[k + 1] > _WIDE * ends[last] if deep else drops[k] > drops[last]
        falls = drops[min(k + 1, len(drops) - 1)] - drops[last] > _STEP
        if wide and (deep or falls):
            chosen.append(k)
    return chosen
