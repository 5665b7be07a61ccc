"""Laws whose density falls with the distance in steps: proposals for densities of any shape.

Density, with respect to volume, ``exp(-drop)`` at distances within the step of that drop, none
beyond the last step. Heights are public numbers or computed ones; whichever they are, draws are
those of the ideal real-valued sampler. Sampling: docs/proofs/riemannian and knorm_gradient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from geodp.errors import ConditionError
from geodp.noise.radial import Array, TwoPointDraw
from geodp.noise.radial_density import Density, Kernel, TwoPointDensity
from geodp.noise.radial_laws import is_affine_invariant, unit_curvature
from geodp.noise.radial_matrix import DirectDraw, MatrixLaw, matrices
from geodp.random import public_rng

if TYPE_CHECKING:
    from flint import arb

    from geodp.noise.radial_envelope import Envelope
    from geodp.random import BitStream
    from geodp.spaces.base import Space

_TRIALS = 4096
_LEAST = 1 / 400  # share of proposals that must be accepted


@final
@dataclass(frozen=True)
class LevelKernel(Kernel):
    """f(t) = 1: the volume itself."""

    name: str = "level"

    def log(self, t: Array, scale: float) -> Array:
        return np.zeros_like(t)

    def slope(self, t: float, scale: float) -> float:
        return 0.0

    def log_ball(self, t: arb, scale: arb) -> arb:
        return 0 * t

    def slope_ball(self, t: arb, scale: arb) -> arb:
        return 0 * t


@final
@dataclass(frozen=True)
class PowerDensity(Density):
    """t^power on ``[0, stop]``: the volume of a flat space."""

    power: int
    stop: float

    @property
    def reach(self) -> float:
        return self.stop

    def reach_ball(self) -> arb:
        from flint import arb

        return arb(self.stop)

    def log(self, t: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(self.power * np.log(t) if self.power else np.zeros_like(t))

    def log_ball(self, t: arb) -> arb:
        return self.power * t.log() if self.power else 0 * t

    def slope(self, t: float) -> float:
        return self.power / t

    def slope_ball(self, t: arb) -> arb:
        return self.power / t


class SteppedDraw(Protocol):
    """One exact draw: a tangent vector, and the index of the step that its length lies on."""

    @property
    def piece(self) -> int: ...

    def balls(self, precision: int) -> list[arb]: ...


@final
@dataclass(frozen=True, eq=False)
class SteppedLaw:
    """Step k reaches from ``ends[k]`` to ``ends[k + 1]`` and has density ``exp(-drops[k])``.

    ``ends`` begins with 0. Tangent vectors are in orthonormal coordinates, as for ``RadialLaw``.

    >>> import numpy as np, geodp as gd
    >>> disc = SteppedLaw(gd.Euclidean(2), (0.0, 1.0), (0.0,))
    >>> z = disc.sample(np.random.default_rng(1), 10_000)
    >>> bool(abs(np.linalg.norm(z, axis=1).mean() - 2 / 3) < 0.01)
    True
    """

    space: Space
    ends: Sequence[float]
    drops: Sequence[float]

    def exact(self, stream: BitStream) -> SteppedDraw:
        """One exact draw from a stream of bits."""
        return self._volume.draw(self._envelope, stream)

    def log_share(self, piece: int) -> arb:
        """What the log of a chance of acceptance changes by on a step, beside its drop."""
        from flint import arb

        return arb(0)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Draws in floats, shape ``(size, dim)``: for simulation only."""
        parts, found = [], 0
        while found < size:
            z, chance = self._propose(rng, size + 64)
            parts.append(z[rng.random(len(z)) <= chance])
            found += len(parts[-1])
        return np.concatenate(parts)[:size]

    def check(self) -> None:
        """Refuse a law that cannot be drawn in reasonable time; for public steps alone."""
        if self._propose(public_rng(), _TRIALS)[1].mean() < _LEAST:
            raise ConditionError(
                f"On {self.space.spec} a law that reaches {self.ends[-1]:.4g} far is too wide to "
                "be drawn exactly in reasonable time. Use a wrapped mechanism, or a smaller ball."
            )

    def _propose(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Float proposals and their chance of being accepted."""
        t, line = self._envelope.propose(rng, count)
        z = t[:, None] * directions(rng, count, self.space.dim)
        with np.errstate(over="ignore"):
            return z, np.exp(self._volume.log(t, z) - line)

    @cached_property
    def _volume(self) -> Volume:
        return volume_of(self.space, self.ends[-1])

    @cached_property
    def _envelope(self) -> Envelope:
        return stepped_envelope(self._volume.density, self.space.dim, self.ends, self.drops)


def directions(rng: np.random.Generator, count: int, dim: int) -> Array:
    """Uniform unit vectors in floats."""
    normal = rng.standard_normal((count, dim))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def stepped_envelope(
    density: Density, dim: int, ends: Sequence[float], drops: Sequence[float]
) -> Envelope:
    """The envelope of a density lowered by each step's drop."""
    from geodp.noise.radial_envelope import Envelope, Piece

    pieces, power = [], dim - 1
    for left, right, drop in zip(ends[:-1], ends[1:], drops, strict=True):
        # near 0 volume grows like t^power: lay the tangent where t^power has its mean
        anchor = left + (right - left) * max(0.5, power / (power + 1) * (left == 0))
        flat = abs(density.slope(anchor)) * (right - left) < 1e-6
        pieces.append(Piece(anchor, left, right, flat, drop))
    return Envelope(density, tuple(pieces))


class Volume(ABC):
    """The volume of a space in polar coordinates: a log-concave bound, and how to draw from it."""

    density: Density

    @abstractmethod
    def draw(self, envelope: Envelope, stream: BitStream) -> SteppedDraw:
        """One exact draw under the envelope."""

    @abstractmethod
    def log(self, t: Array, z: Array) -> Array:
        """The log volume density at tangent vectors ``z`` of length ``t``, in floats."""


@final
@dataclass(frozen=True)
class _Round(Volume):
    """The same in all directions."""

    dim: int
    density: Density

    def draw(self, envelope: Envelope, stream: BitStream) -> SteppedDraw:
        return TwoPointDraw(self.dim, envelope, stream)

    def log(self, t: Array, z: Array) -> Array:
        return self.density.log(t)


@final
@dataclass(frozen=True)
class _Matrices(Volume):
    """On SPD matrices with the affine-invariant metric."""

    law: MatrixLaw

    @property
    def density(self) -> Density:  # type: ignore[override]
        return self.law.envelope.density

    def draw(self, envelope: Envelope, stream: BitStream) -> SteppedDraw:
        return DirectDraw(self.law, stream, envelope)

    def log(self, t: Array, z: Array) -> Array:
        return self.law.log_target(t, np.asarray(np.linalg.eigvalsh(matrices(z, self.law.size))))


def volume_of(space: Space, stop: float) -> Volume:
    if space.is_flat:
        return _Round(space.dim, PowerDensity(space.dim - 1, stop))
    level = LevelKernel()
    if is_affine_invariant(space):
        return _Matrices(MatrixLaw(space.point_shape[0], level, 1.0, stop))
    low, high = space.curvature
    shapes = int(low != high)
    kappa = unit_curvature(space)
    return _Round(space.dim, TwoPointDensity(level, 1.0, kappa, space.dim - 1, shapes, stop))
