"""Which radial law a space has, and where it exists: public constants of the space alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError
from geodp.noise.radial import Array, FlatLaw, RadialLaw, TwoPointLaw
from geodp.noise.radial_density import GaussianKernel, Kernel, LaplaceKernel, TwoPointDensity
from geodp.noise.radial_matrix import MatrixLaw
from geodp.noise.strategies import Gaussian, L2Laplace
from geodp.random import public_rng
from geodp.rounding.release import ExactDraw

if TYPE_CHECKING:
    from flint import arb

    from geodp.random import BitStream
    from geodp.spaces.base import Space

KERNELS: dict[str, Kernel] = {"laplace": LaplaceKernel(), "gaussian": GaussianKernel()}
_FLAT = {"laplace": L2Laplace(), "gaussian": Gaussian()}


@lru_cache(maxsize=16)  # a release asks several times, and the envelope takes milliseconds
def radial_law(space: Space, kernel: str, scale: float, stop: float | None = None) -> RadialLaw:
    """The law on ``space`` with density proportional to f(distance/scale), f of ``kernel``.

    ``stop``: draws farther from the centre than this are of no use to the caller, and may be left
    out; then the law always exists.

    Raises
    ------
    ConditionError : it is no probability law, or no exact sampler is known.

    >>> import geodp as gd
    >>> round(radial_law(gd.Sphere(2), "laplace", 0.2).mean_radius(), 4)
    0.3846
    """
    reason = missing(space, kernel) or (diverges(space, kernel, scale) if stop is None else None)
    if reason is not None:
        raise ConditionError(reason)
    if space.is_flat:
        return FlatLaw(_FLAT[kernel].law(space.dim), scale)
    if len(space.factors) > 1:
        parts = tuple(radial_law(f, kernel, scale) for f in space.factors)
        return ProductLaw(parts)
    if is_affine_invariant(space):
        return _checked(MatrixLaw(space.point_shape[0], KERNELS[kernel], scale, stop))
    return TwoPointLaw(space.dim, _two_point_density(space, KERNELS[kernel], scale, stop))


def _checked(law: MatrixLaw) -> MatrixLaw:
    law.check()
    return law


def missing(space: Space, kernel: str) -> str | None:
    """Why a space has no such law at any scale; None if it has."""
    if space.cells > 1:
        return f"On powers such as {space.spec} radial laws are not built. Use a wrapped mechanism."
    if space.is_flat:
        return None
    if len(space.factors) > 1:
        if kernel == "laplace":
            return (
                f"On the product {space.spec} the Riemannian Laplace law does not factorise and "
                "has no exact sampler here. Use wrapped-l2-laplace, or riemannian-gaussian."
            )
        return next(filter(None, (missing(f, kernel) for f in space.factors)), None)
    if is_affine_invariant(space) or space.is_two_point_homogeneous:
        return None
    return f"{space.spec} has no radial law with an exact sampler. Use a wrapped mechanism."


def diverges(space: Space, kernel: str, scale: float) -> str | None:
    """Why the density has an infinite integral at this scale; None if it is a probability law.

    Volume grows like exp(h t): a Laplace law needs scale < 1/h, h = sqrt(k)(d-1) on hyperbolic
    space and sqrt(m(m^2-1)/12) on SPD(m). Decided in exact arithmetic.
    """
    square = growth_squared(space)
    if kernel != "laplace" or Fraction(scale) ** 2 * square < 1:
        return None
    return (
        f"On {space.spec} a Riemannian Laplace law exists for scales below "
        f"{1 / math.sqrt(square):.4g} only, and this needs {scale:.4g}: the volume grows faster "
        "than the density falls. Use wrapped-l2-laplace, or RiemannianLaplace(truncated=True)."
    )


def growth_squared(space: Space) -> Fraction:
    """The square of the exponential growth rate of volume, exact."""
    if is_affine_invariant(space):
        m = space.point_shape[0]
        return Fraction(m * (m * m - 1), 12)
    low = min(space.curvature[0], 0.0) if len(space.factors) == 1 else 0.0
    return Fraction(-low) * (space.dim - 1) ** 2


def is_affine_invariant(space: Space) -> bool:
    """Whether the space is SPD(m), m >= 2, with the affine-invariant metric."""
    return space.spec.endswith(":affine-invariant") and not space.is_flat


def unit_curvature(space: Space) -> float:
    """The exact curvature of a curved two-point homogeneous space (the least, on shapes)."""
    if space.dim > 1:
        return space.curvature[0]
    parts = space.spec.split(":")  # a circle is flat, but its length knows a curvature
    return float(parts[2]) if len(parts) > 2 else 1.0


def _two_point_density(
    space: Space, kernel: Kernel, scale: float, stop: float | None
) -> TwoPointDensity:
    low, high = space.curvature
    shapes = high != low
    cut = stop
    if stop is not None and stop >= space.injectivity_radius * (1 - 1e-12):
        cut = None
    return TwoPointDensity(
        kernel, scale, unit_curvature(space), space.dim - 1, cosine=int(shapes), stop=cut
    )


@final
@dataclass(frozen=True)
class ProductLaw(RadialLaw):
    """Gaussian laws of a common scale on the factors: exp(-sum of squares) factorises."""

    parts: tuple[RadialLaw, ...]

    @property
    def dim(self) -> int:  # type: ignore[override]
        return sum(part.dim for part in self.parts)

    def exact(self, stream: BitStream) -> ExactDraw:
        return _ProductDraw(tuple(part.exact(stream) for part in self.parts))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return np.concatenate([part.sample(rng, size) for part in self.parts], axis=-1)

    def mean_radius(self) -> float:
        z = self.sample(public_rng(), 20000)
        return float(np.linalg.norm(z, axis=1).mean())

    def mean_square(self) -> float:
        return sum(part.mean_square() for part in self.parts)

    def log_density(self, distance: ArrayLike) -> Array:
        """``exp(-t^2/2 scale^2)`` over the product of normalisers, at total distance t."""
        zero = np.zeros(np.shape(distance))
        rest = [part.log_density(zero) for part in self.parts[1:]]
        return np.asarray(self.parts[0].log_density(distance) + sum(rest, zero))

    @property
    def acceptance(self) -> float:
        return math.prod(part.acceptance for part in self.parts)


@final
@dataclass(frozen=True)
class _ProductDraw:
    parts: tuple[ExactDraw, ...]

    def balls(self, precision: int) -> list[arb]:
        return [x for part in self.parts for x in part.balls(precision)]
