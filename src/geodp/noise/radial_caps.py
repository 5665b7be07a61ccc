"""Stepped laws whose directions are kept to a cap: proposals that stay near a ball off centre.

At distance t from the value, the public ball is seen under an angle that falls with t. On step k a
direction is uniform on the cap of angle ``caps[k]`` around the axis, of share F of all directions;
the step is chosen as if only so much of it were there. So the law has density ``exp(-drop)``, as
without caps, at all points within them, and none beyond. The cap is a ball of the unit sphere: its
points are drawn like those of any space. Proof: docs/proofs/knorm_gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from geodp.noise.radial import Array, TwoPointDraw
from geodp.noise.radial_density import TwoPointDensity
from geodp.noise.radial_steps import (
    LevelKernel,
    Volume,
    directions,
    stepped_envelope,
    volume_of,
)
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    from geodp.noise.radial_envelope import Envelope
    from geodp.random import BitStream
    from geodp.spaces.base import Space

_LEAST = 1e-290  # a smaller share is taken for this one: slower, as right
_SAFE = 1e-9  # covers the float operations of a log share


def cap_angles(kappa: float, offset: float, radius: float, distances: Array) -> Array:
    """At least the angle at a point, ``offset`` from a ball's centre, between the directions to the
    centre and to any point of the ball that far away or farther; pi where all directions count.

    ``kappa >= 0`` bounds the curvature from above, and the ball is convex and of radius below
    ``pi / (2 sqrt(kappa))``: by comparison, the model triangle's angle is no smaller.
    """
    root = math.sqrt(kappa)

    def sn(t: Array) -> Array:
        return np.sin(root * t) / root if root > 0 else t

    t = np.maximum(distances, 1e-300)
    gap = sn(np.asarray(radius / 2)) ** 2 - sn((t - offset) / 2) ** 2
    with np.errstate(over="ignore"):
        square = gap / (sn(np.asarray(offset)) * sn(t))
    angle = 2 * np.arcsin(np.sqrt(np.clip(square, 0.0, 1.0)))
    return np.where(t <= radius - offset, math.pi, np.minimum(angle + 1e-6, math.pi))


@final
@dataclass(frozen=True, eq=False)
class CappedLaw:
    """``SteppedLaw`` with directions within ``caps[k]`` of ``axis`` on step k.

    The volume of the space must not depend on the direction: not SPD matrices of the
    affine-invariant metric.
    """

    space: Space
    ends: Sequence[float]
    drops: Sequence[float]
    caps: Sequence[float]
    axis: Array

    def exact(self, stream: BitStream) -> CappedDraw:
        """One exact draw from a stream of bits."""
        return CappedDraw(self, TwoPointDraw(self.space.dim, self._envelope, stream), stream)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Draws in floats, shape ``(size, dim)``: for simulation only."""
        from scipy.special import betaincinv

        parts, found = [], 0
        dim, half = self.space.dim, (self.space.dim - 1) / 2
        ends, axis = np.asarray(self.ends), self.axis / np.linalg.norm(self.axis)
        while found < size:
            t, line = self._envelope.propose(rng, size + 64)
            t = t[rng.random(len(t)) <= np.exp(self._volume.density.log(t) - line)]
            share = self.shares[np.clip(np.searchsorted(ends, t) - 1, 0, len(ends) - 2)]
            cosine = 1 - 2 * betaincinv(half, half, share * rng.random(len(t)))
            across = directions(rng, len(t), dim)
            across -= (across @ axis)[:, None] * axis
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            sine = np.sqrt(np.maximum(1 - cosine**2, 0.0))
            parts.append(t[:, None] * (cosine[:, None] * axis + sine[:, None] * across))
            found += len(t)
        return np.concatenate(parts)[:size]

    def log_share(self, piece: int) -> arb:
        """What the log of a chance of acceptance changes by on a step, beside its drop."""
        from flint import arb

        if self.caps[piece] >= math.pi:
            return arb(0)
        half = arb(self.space.dim - 1) / 2
        square = (arb(self.caps[piece]) / 2).sin() ** 2
        return square.beta_lower(half, half, 1).log() + self._lowered[piece]

    @cached_property
    def shares(self) -> Array:
        """F of each step, in floats."""
        from scipy.special import betainc

        half = (self.space.dim - 1) / 2
        return np.asarray(betainc(half, half, np.sin(np.asarray(self.caps) / 2) ** 2))

    @cached_property
    def _lowered(self) -> list[float]:
        """What each step's choice is lowered by: a little less than -log F."""
        logs = -np.log(np.maximum(self.shares, _LEAST))
        low = np.where(self.shares >= 1, 0.0, logs * (1 - _SAFE) - _SAFE)
        return [float(x) for x in low]

    @cached_property
    def _volume(self) -> Volume:
        return volume_of(self.space, self.ends[-1])

    @cached_property
    def _envelope(self) -> Envelope:
        drops = [drop + low for drop, low in zip(self.drops, self._lowered, strict=True)]
        return stepped_envelope(self._volume.density, self.space.dim, self.ends, drops)

    @cached_property
    def _angles(self) -> dict[int, Envelope]:
        return {}

    def angle_envelope(self, piece: int) -> Envelope:
        """That of the angle from the axis: a radius in a ball of the unit sphere."""
        from geodp.noise.radial_envelope import Envelope

        if piece not in self._angles:
            power, stop = self.space.dim - 2, self.caps[piece]
            density = TwoPointDensity(LevelKernel(), 1.0, 1.0, power, 0, stop)
            self._angles[piece] = Envelope(density)
        return self._angles[piece]


@final
class CappedDraw:
    """One exact draw of a radius, and a direction within the cap of its step."""

    __slots__ = ("_law", "_radial", "_turn")

    def __init__(self, law: CappedLaw, radial: TwoPointDraw, stream: BitStream) -> None:
        self._law, self._radial = law, radial
        self._turn = None
        if law.caps[radial.piece] < math.pi:
            envelope = law.angle_envelope(radial.piece)
            self._turn = TwoPointDraw(law.space.dim - 1, envelope, stream)

    @property
    def piece(self) -> int:
        """The index of the step."""
        return self._radial.piece

    def balls(self, precision: int) -> list[arb]:
        """The coordinates, computed with ``precision`` bits."""
        if self._turn is None:
            return self._radial.balls(precision)
        with working_precision(precision):
            radius, angle = self._radial.radius(precision), self._turn.radius(precision)
            across = [x / angle for x in self._turn.balls(precision)]
            unit = [angle.cos(), *(angle.sin() * x for x in across)]
            return [radius * x for x in _turned(unit, self._law.axis)]


def _turned(unit: list[arb], axis: Array) -> list[arb]:
    """The image of a vector under an isometry that takes the first axis to ``axis``."""
    from flint import arb

    sign = -1 if axis[0] > 0 else 1
    size = sum((arb(x) ** 2 for x in axis.tolist()), arb(0)).sqrt()
    # the reflection that swaps e1 and sign * axis, whose difference is at least sqrt(2) long
    mirror = [-sign * arb(x) / size for x in axis.tolist()]
    mirror[0] += 1
    inner = sum((a * b for a, b in zip(mirror, unit, strict=True)), arb(0))
    square = sum((a * a for a in mirror), arb(0))
    return [sign * (x - 2 * inner / square * a) for x, a in zip(unit, mirror, strict=True)]
