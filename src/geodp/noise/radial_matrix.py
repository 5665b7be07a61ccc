"""Radial laws on SPD matrices with the affine-invariant metric, in the whitened tangent space.

A tangent matrix S of norm t has density proportional to f(t) J(S), J the volume density of exp, in
the coordinates of the lower triangle, off-diagonal entries times sqrt 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError
from geodp.noise.radial import Array, RadialLaw, unit_vector
from geodp.noise.radial_density import Kernel, MatrixEnvelopeDensity
from geodp.random import public_rng
from geodp.rounding.precision import is_positive, working_precision
from geodp.rounding.reals import Reals, Uniform
from geodp.rounding.release import ExactDraw

if TYPE_CHECKING:
    from flint import arb

    from geodp.noise.radial_envelope import Envelope
    from geodp.random import BitStream

_TRIALS = 4096
_LEAST = 1 / 400  # acceptance below which a law is refused


def log_volume(values: Array) -> Array:
    """log J from eigenvalues ``(..., m)``."""
    first, second = np.triu_indices(values.shape[-1], 1)
    x = np.abs(values[..., first] - values[..., second]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        far = x + np.log(-np.expm1(-2 * x)) - np.log(2 * x)
    return np.asarray(np.where(x > 1e-4, far, x * x / 6).sum(axis=-1))


def matrices(z: Array, size: int) -> Array:
    """The symmetric matrices with those coordinates."""
    out = np.zeros((*z.shape[:-1], size, size))
    i, j = np.tril_indices(size)
    out[..., i, j] = out[..., j, i] = np.where(i == j, z, z / math.sqrt(2))
    return out


def coordinates(s: Array) -> Array:
    """The coordinates of symmetric matrices."""
    i, j = np.tril_indices(s.shape[-1])
    return np.asarray(np.where(i == j, 1.0, math.sqrt(2)) * s[..., i, j])


@final
@dataclass(frozen=True)
class MatrixLaw(RadialLaw):
    """f(distance) on SPD(m), m >= 2, by the sampler that accepts more often.

    ``stop`` truncates the law to a ball of that radius around its centre.

    Raises
    ------
    ConditionError : neither sampler accepts one proposal in 400.
    """

    size: int
    kernel: Kernel
    scale: float
    stop: float | None = None

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.size * (self.size + 1) // 2

    @cached_property
    def envelope(self) -> Envelope:
        from geodp.noise.radial_envelope import Envelope

        return Envelope(MatrixEnvelopeDensity(self.kernel, self.scale, self.size, self.stop))

    @cached_property
    def by_chamber(self) -> bool:
        """Whether eigenvalues are drawn first: for wide Gaussian laws."""
        return self._chamber_acceptance > self._direct_acceptance

    @property
    def acceptance(self) -> float:
        return max(self._chamber_acceptance, self._direct_acceptance)

    def check(self) -> None:
        """Refuse a law that cannot be drawn in reasonable time; public numbers alone decide."""
        if self.acceptance < _LEAST:
            raise ConditionError(
                f"On SPD({self.size}) a Riemannian {self.kernel.name.capitalize()} law of scale "
                f"{self.scale:.4g} is too wide to be drawn exactly in reasonable time. Use a "
                "wrapped mechanism, or a smaller scale."
            )

    @cached_property
    def _direct_acceptance(self) -> float:
        t, line, values, _ = self._direct(public_rng(), _TRIALS)
        return float(np.exp(self.log_target(t, values) - line).mean())

    @cached_property
    def _chamber_acceptance(self) -> float:
        if self.kernel.name != "gaussian" or self.stop is not None:
            return 0.0
        return float(self._chamber(public_rng(), _TRIALS)[1].mean())

    def log_target(self, t: Array, values: Array) -> Array:
        """The log-density of a tangent matrix of norm ``t`` with eigenvalues ``values``, floats."""
        return np.asarray(
            self.kernel.log(t, self.scale) + (self.dim - 1) * np.log(t) + log_volume(values)
        )

    def _direct(self, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array, Array]:
        t, line = self.envelope.propose(rng, count)
        normal = rng.standard_normal((count, self.dim))
        z = t[:, None] * normal / np.linalg.norm(normal, axis=1, keepdims=True)
        return t, line, np.asarray(np.linalg.eigvalsh(matrices(z, self.size))), np.asarray(z)

    def _chamber(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Eigenvalues and their probability of being accepted."""
        rho = (self.size + 1 - 2 * np.arange(1, self.size + 1)) / 2
        values = self.scale**2 * rho + self.scale * rng.standard_normal((count, self.size))
        first, second = np.triu_indices(self.size, 1)
        gaps = values[:, first] - values[:, second]
        keep = (gaps > 0).all(axis=1)
        return values, np.where(keep, np.prod(-np.expm1(-np.abs(gaps)), axis=1), 0.0)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        self.check()
        parts, found = [], 0
        while found < size:
            count = min(int((size - found) / self.acceptance * 1.1) + 64, 1 << 18)
            part = self._sample_batch(rng, count)
            parts.append(part)
            found += len(part)
        return np.concatenate(parts)[:size]

    def _sample_batch(self, rng: np.random.Generator, count: int) -> Array:
        if self.by_chamber:
            values, chance = self._chamber(rng, count)
            values = values[rng.random(count) <= chance]
            normal = rng.standard_normal((len(values), self.size, self.size))
            frames, upper = np.linalg.qr(normal)
            frames = frames * np.sign(np.einsum("nii->ni", upper))[:, None, :]
            return coordinates((frames * values[:, None, :]) @ frames.swapaxes(1, 2))
        t, line, values, z = self._direct(rng, count)
        return np.asarray(z[np.log(rng.random(count)) <= self.log_target(t, values) - line])

    def exact(self, stream: BitStream) -> ExactDraw:
        self.check()
        if self.by_chamber:
            return ChamberDraw(self.size, self.scale, stream)
        return DirectDraw(self, stream)

    @cached_property
    def _simulated(self) -> Array:
        z = self.sample(public_rng(), 20000)
        return np.asarray(np.linalg.norm(z, axis=1))

    def mean_radius(self) -> float:
        return float(self._simulated.mean())

    def mean_square(self) -> float:
        return float((self._simulated**2).mean())

    def log_density(self, distance: ArrayLike) -> Array:
        from geodp.noise.radial_normaliser import log_normaliser

        t = np.asarray(distance, dtype=np.float64)
        if self.stop is not None:
            raise ConditionError("The normaliser of a truncated law depends on its centre.")
        total = log_normaliser(self.kernel.name, self.size, self.scale)
        return np.asarray(self.kernel.log(t, self.scale) - total)


@final
class DirectDraw:
    """Radius from the envelope (the law's, or one with steps), direction uniform, accepted by J."""

    __slots__ = ("_direction", "_law", "_proposal")

    def __init__(self, law: MatrixLaw, stream: BitStream, envelope: Envelope | None = None) -> None:
        from geodp.noise.radial_envelope import Proposal
        from geodp.rounding.sampler import NormalPair

        reals = Reals(stream)
        self._law = law
        accepted = False
        while not accepted:
            self._direction = [NormalPair(reals) for _ in range((law.dim + 1) // 2)]
            self._proposal = Proposal(envelope or law.envelope, reals)
            accepted = self._proposal.accepts(self._log_target)

    def _log_target(self, precision: int, t: arb) -> arb:
        from flint import arb

        law = self._law
        kernel = law.kernel.log_ball(t, arb(law.scale)) + (law.dim - 1) * t.log()
        z = [t * x for x in unit_vector(self._direction, law.dim, precision)]
        return kernel + _log_volume_ball(z, law.size)

    @property
    def piece(self) -> int:
        """The index of the envelope's piece that the radius lies on."""
        return self._proposal.piece

    def balls(self, precision: int) -> list[arb]:
        """The coordinates, computed with ``precision`` bits."""
        with working_precision(precision):
            t = self._proposal.radius(precision)
            return [t * x for x in unit_vector(self._direction, self._law.dim, precision)]

    def radius(self, precision: int) -> arb:
        """The distance from the centre."""
        with working_precision(precision):
            return self._proposal.radius(precision)


def _log_volume_ball(z: list[arb], size: int) -> arb:
    """log J at the tangent matrix with coordinates ``z``."""
    from flint import acb_mat, arb

    from geodp.spaces import balls

    if size == 2:
        gap = (z[0] - z[2]) ** 2 + 2 * z[1] ** 2
        return balls.cosh_sinhc(gap / 4)[1].log()
    matrix = balls.symmetric(z, size, arb(2).sqrt())
    try:
        values = [v.real for v in acb_mat(matrix).eig(multiple=True)]
    except (ValueError, ArithmeticError):  # not isolated at this precision: undecided
        return arb(0, 1) / arb(0, 1)
    total = arb(1)
    for i in range(size):
        for j in range(i):
            total *= balls.cosh_sinhc(((values[i] - values[j]) / 2) ** 2)[1]
    return total.log()


@final
class ChamberDraw:
    """Eigenvalues N(s^2 rho, s^2) kept if decreasing and accepted, eigenvectors uniform.

    The density of the ordered eigenvalues of the Gaussian law is proportional to
    exp(-|l|^2/2s^2 + <rho, l>) prod (1 - exp(lj - li)).
    """

    __slots__ = ("_frame", "_normals", "_scale", "_size")

    def __init__(self, size: int, scale: float, stream: BitStream) -> None:
        from geodp.rounding.sampler import NormalPair

        reals = Reals(stream)
        self._size, self._scale = size, scale
        self._frame = [NormalPair(reals) for _ in range((size * size + 1) // 2)]
        accepted = False
        while not accepted:
            self._normals = [NormalPair(reals) for _ in range((size + 1) // 2)]
            coin = reals.uniform()
            accepted = self._decreasing() and is_positive(partial(self._margin, coin))

    def _decreasing(self) -> bool:
        return all(is_positive(partial(self._gap, i)) for i in range(self._size - 1))

    def _values(self, precision: int) -> list[arb]:
        from flint import arb

        scale = arb(self._scale)
        normals = [n for pair in self._normals for n in pair.balls(precision)]
        rho = [arb(self._size - 1 - 2 * i) / 2 for i in range(self._size)]
        return [scale**2 * r + scale * n for r, n in zip(rho, normals, strict=False)]

    def _gap(self, i: int, precision: int) -> arb:
        values = self._values(precision)
        return values[i] - values[i + 1]

    def _margin(self, coin: Uniform, precision: int) -> arb:
        from flint import arb

        values, total = self._values(precision), arb(1)
        for i in range(self._size):
            for j in range(i):
                total *= -(values[i] - values[j]).expm1()
        return total - coin.ball(precision)

    def balls(self, precision: int) -> list[arb]:
        """The coordinates, computed with ``precision`` bits."""
        from flint import arb

        with working_precision(precision):
            size = self._size
            normals = [n for pair in self._frame for n in pair.balls(precision)]
            frame: list[list[arb]] = []
            for k in range(size):  # Gram and Schmidt on normals: Haar measure
                row = normals[k * size : (k + 1) * size]
                for done in frame:
                    along = sum((a * b for a, b in zip(row, done, strict=True)), arb(0))
                    row = [a - along * b for a, b in zip(row, done, strict=True)]
                length = sum((a * a for a in row), arb(0)).sqrt()
                frame.append([a / length for a in row])
            values, root, out = self._values(precision), arb(2).sqrt(), []
            for i in range(size):
                for j in range(i + 1):
                    terms = (v * row[i] * row[j] for v, row in zip(values, frame, strict=True))
                    entry = sum(terms, arb(0))
                    out.append(entry if i == j else entry * root)
            return out

    def radius(self, precision: int) -> arb:
        """The distance from the centre."""
        from flint import arb

        with working_precision(precision):
            return sum((v * v for v in self._values(precision)), arb(0)).sqrt()
