"""What inference knows: numbers that are already released, each with the noise that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from geodp.errors import InputError
from geodp.ledger.receipt import Release
from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import noise_named
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball


@final
@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one released value: its law, and its standard deviation per coordinate.

    ``footpoint`` is where a wrapped mechanism adds it; None for noise around the value itself.
    ``law`` is None where the noise is Gaussian, or near enough (Riemannian Gaussian), or absent.
    """

    deviation: float
    footpoint: Array | None = None
    law: SphericalLaw | None = None


NO_NOISE = Noise(0.0)


@final
@dataclass(frozen=True, eq=False)
class Noisy:
    """A released value and its noise."""

    value: Array
    noise: Noise


@final
@dataclass(frozen=True, eq=False)
class Numbers:
    """The released parts of an inference; those that were not asked for are None.

    ``covariance`` and ``hessian`` are orthonormal vech coordinates at ``at``, the released mean
    moved into the ball; ``variance``, ``fourth`` and ``replaced`` have shape ``(1,)``.
    """

    domain: Ball
    n: int
    at: Array
    mean: Noisy
    covariance: Noisy | None = None
    hessian: Noisy | None = None
    variance: Noisy | None = None
    fourth: Noisy | None = None
    replaced: Noisy | None = None


def numbers_of(releases: Mapping[str, Release]) -> Numbers:
    """The released parts from their receipts alone; InputError where one does not belong there."""
    mean = releases.get("mean")
    if mean is None or mean.domain is None or mean.n is None:
        raise InputError("An inference has a mean, of so many records in a public ball.")
    if any(one.value.shape != one.space.point_shape for one in releases.values()):
        raise InputError("A released value has another shape than the points of its space.")
    ball = Ball(mean.space, mean.domain.center, mean.domain.radius)
    parts = {name: Noisy(one.value, noise_of(one)) for name, one in releases.items()}
    try:
        return Numbers(domain=ball, n=mean.n, at=ball.project(mean.value), **parts)
    except TypeError as error:
        raise InputError("The receipts hold another number than an inference has.") from error


def noise_of(release: Release) -> Noise:
    """The noise that a receipt states, from its last stage."""
    stage = release.stages[-1]
    name, scale = str(stage["name"]), float(stage["scale"])
    space = release.space
    if name.startswith("wrapped-"):
        law = noise_named(name.removeprefix("wrapped-"), stage.get("parameters")).law(space.dim)
        footpoint = np.array(stage["footpoint"], dtype=np.float64)
        deviation = float(np.sqrt(law.mean_square(scale) / space.dim))
        return Noise(deviation, footpoint, None if _is_gaussian(law) else law)
    if name == "riemannian-gaussian":
        return Noise(radial_deviation(space, scale))
    raise InputError(
        f"Regions know the noise of wrapped mechanisms and of riemannian-gaussian, not of {name!r}."
    )


def radial_deviation(space: Space, scale: float) -> float:
    """``sqrt(E dist²/d)`` of a Riemannian Gaussian."""
    from geodp.noise.radial_laws import radial_law

    return float(np.sqrt(radial_law(space, "gaussian", scale).mean_square() / space.dim))


def _is_gaussian(law: SphericalLaw) -> bool:
    return law.power == 2 and law.shape == law.dim - 1
