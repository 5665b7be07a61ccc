"""Radial laws: density proportional to f(distance from the centre), on the space itself.

A draw is a tangent vector in an orthonormal frame at the centre, drawn without looking at it; exp
at the centre is the release. On a homogeneous space the law around any centre is the image of the
law around any other under an isometry, so one law serves all. Source: Reimherr, Bharath and Soto
(NeurIPS 2021); Hajri et al. (2016). Exact sampling: docs/proofs/riemannian.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geodp.noise.radial_density import TwoPointDensity
from geodp.noise.spherical import SphericalLaw
from geodp.rounding.precision import working_precision
from geodp.rounding.reals import Reals
from geodp.rounding.release import ExactDraw

if TYPE_CHECKING:
    from flint import arb

    from geodp.noise.radial_envelope import Envelope
    from geodp.random import BitStream
    from geodp.rounding.sampler import NormalPair

Array = NDArray[np.float64]
_PANELS, _NODES = 256, 12


class RadialLaw(ABC):
    """A law of tangent vectors with ``dim`` orthonormal coordinates, scale included."""

    dim: int

    @abstractmethod
    def exact(self, stream: BitStream) -> ExactDraw:
        """One exact draw, as balls at any precision. What it reads depends on the law alone."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Draws in floats, shape ``(size, dim)``: for simulation only, never for a release."""

    @abstractmethod
    def mean_radius(self) -> float:
        """E of the distance from the centre."""

    @abstractmethod
    def mean_square(self) -> float:
        """E of the squared distance from the centre."""

    @abstractmethod
    def log_density(self, distance: ArrayLike) -> Array:
        """Log density, with respect to volume, at that distance from the centre."""

    @property
    @abstractmethod
    def acceptance(self) -> float:
        """The probability that a proposal is accepted (an estimate, from public numbers)."""


@final
@dataclass(frozen=True)
class FlatLaw(RadialLaw):
    """On a flat space: the spherical law itself, at ``scale``."""

    law: SphericalLaw
    scale: float

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.law.dim

    def exact(self, stream: BitStream) -> ExactDraw:
        return _Scaled(self.law.exact(stream), self.scale)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return self.law.sample(rng, size, self.scale)

    def mean_radius(self) -> float:
        return self.law.mean_radius(self.scale)

    def mean_square(self) -> float:
        return self.law.mean_square(self.scale)

    def log_density(self, distance: ArrayLike) -> Array:
        point = np.zeros((*np.shape(distance), self.dim))
        point[..., 0] = distance
        return self.law.log_density(point, self.scale)

    @property
    def acceptance(self) -> float:
        return 1.0


@final
@dataclass(frozen=True)
class _Scaled:
    """A draw times an exact float."""

    draw: ExactDraw
    scale: float

    def balls(self, precision: int) -> list[arb]:
        with working_precision(precision):
            return [x * self.scale for x in self.draw.balls(precision)]


@final
@dataclass(frozen=True)
class TwoPointLaw(RadialLaw):
    """On a two-point homogeneous space: a radius with density f(t) A(t), a uniform direction.

    >>> from geodp.noise.radial_density import GaussianKernel
    >>> law = TwoPointLaw(2, TwoPointDensity(GaussianKernel(), 1.0, kappa=1.0, power=1))
    >>> round(law.mean_radius(), 4)
    1.0508
    """

    dim: int
    density: TwoPointDensity

    @cached_property
    def envelope(self) -> Envelope:
        from geodp.noise.radial_envelope import Envelope

        return Envelope(self.density)

    def exact(self, stream: BitStream) -> ExactDraw:
        return TwoPointDraw(self.dim, self.envelope, stream)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        parts, found = [], 0
        while found < size:
            t, line = self.envelope.propose(rng, size + 64)
            keep = np.log(rng.random(len(t))) <= self.density.log(t) - line
            parts.append(t[keep])
            found += int(keep.sum())
        radius = np.concatenate(parts)[:size]
        normal = rng.standard_normal((size, self.dim))
        unit = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        return np.asarray(radius[:, None] * unit)

    def mean_radius(self) -> float:
        return self._moment(1)

    def mean_square(self) -> float:
        return self._moment(2)

    def log_density(self, distance: ArrayLike) -> Array:
        t = np.asarray(distance, dtype=np.float64)
        d, kappa = self.dim, abs(self.density.kappa)
        log_area = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        log_total = self._table.log_total - self.density.power * math.log(kappa) / 2
        kernel = self.density.kernel.log(t, self.density.scale)
        inside = np.where(t <= self.density.reach, 0.0, -math.inf)
        return np.asarray(kernel - log_total - log_area + inside)

    def radius_cdf(self, radius: ArrayLike) -> Array:
        """P(distance <= radius), by quadrature."""
        table = self._table
        t = np.clip(np.asarray(radius, dtype=np.float64), 0.0, table.edges[-1])
        at = np.clip(np.searchsorted(table.edges, t, side="right") - 1, 0, len(table.edges) - 2)
        left = table.edges[at]
        nodes = left[..., None] + (t - left)[..., None] * table.unit
        part = np.exp(self.density.log(nodes) - table.top) @ table.weights * (t - left)
        return np.asarray((table.sums[at] + part) / table.sums[-1])

    @property
    def acceptance(self) -> float:
        log_envelope = math.log(self.envelope.float_table[-1][-1]) + self.envelope.top
        return math.exp(self._table.log_total - log_envelope)

    @cached_property
    def _table(self) -> _Table:
        return _Table(self.density)

    def _moment(self, k: int) -> float:
        table = self._table
        return float((table.nodes**k * table.masses).sum() / table.masses.sum())


@final
class _Table:
    """Gauss-Legendre panels over the range that matters, in floats."""

    def __init__(self, density: TwoPointDensity) -> None:
        from geodp.noise.radial_envelope import _cross, _mode

        mode = _mode(density)
        self.top = float(density.log(np.array(min(mode, density.reach * (1 - 1e-12)) or 1e-300)))
        end = density.reach
        if math.isinf(end) or density.log(np.array(end * (1 - 1e-9))) < self.top - 60:
            far = end if math.isfinite(end) else max(2 * mode, 1.0)
            while math.isinf(end) and density.log(np.array(far)) > self.top - 60:
                far *= 2
            end = _cross(density, mode, far, self.top - 60)
        begin = 0.0
        if mode > 0 and density.log(np.array(mode * 1e-6)) < self.top - 60:
            begin = _cross(density, mode, 0.0, self.top - 60)
        x, w = np.polynomial.legendre.leggauss(_NODES)
        self.unit, self.weights = (x + 1) / 2, w / 2
        # panels shrink towards the ends, where the density may have a kink or a power
        self.edges = begin + (end - begin) * np.sin(np.linspace(0, np.pi / 2, _PANELS + 1)) ** 2
        width = np.diff(self.edges)
        self.nodes = self.edges[:-1, None] + width[:, None] * self.unit
        self.masses = np.exp(density.log(self.nodes) - self.top) * self.weights * width[:, None]
        self.sums = np.concatenate([[0.0], np.cumsum(self.masses.sum(axis=1))])
        self.log_total = math.log(self.sums[-1]) + self.top


@final
class TwoPointDraw:
    """One exact draw of radius times direction."""

    __slots__ = ("_dim", "_direction", "_proposal", "_sign")

    def __init__(self, dim: int, envelope: Envelope, stream: BitStream) -> None:
        from geodp.noise.radial_envelope import Proposal
        from geodp.rounding.sampler import NormalPair

        reals = Reals(stream)
        self._dim = dim
        self._sign = 1 - 2 * reals.bit()
        pairs = (dim + 1) // 2 if dim > 1 else 0
        self._direction = [NormalPair(reals) for _ in range(pairs)]
        self._proposal = Proposal(envelope, reals)
        while not self._proposal.accepts(lambda _, t: envelope.density.log_ball(t)):
            self._proposal = Proposal(envelope, reals)

    @property
    def piece(self) -> int:
        """The index of the envelope's piece that the radius lies on."""
        return self._proposal.piece

    def balls(self, precision: int) -> list[arb]:
        """The ``dim`` coordinates, computed with ``precision`` bits."""
        with working_precision(precision):
            radius = self._proposal.radius(precision)
            if self._dim == 1:
                return [radius * self._sign]
            unit = unit_vector(self._direction, self._dim, precision)
            return [radius * x for x in unit]

    def radius(self, precision: int) -> arb:
        """The distance from the centre."""
        with working_precision(precision):
            return self._proposal.radius(precision)


def unit_vector(pairs: list[NormalPair], dim: int, precision: int) -> list[arb]:
    """A direction in R^dim from normals, at the current working precision."""
    from flint import arb

    normals = [n for pair in pairs for n in pair.balls(precision)][:dim]
    size = sum((n * n for n in normals), arb(0)).sqrt()
    return [n / size for n in normals]
