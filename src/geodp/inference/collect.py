"""The order in which an inference's numbers are made: the mean first, the rest seen from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.inference.numbers import NO_NOISE, Noise, Noisy, Numbers, radial_deviation
from geodp.inference.shares import PARTS
from geodp.mechanisms import candidates
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.mechanisms.wrapped import Wrapped
from geodp.noise.strategies import Gaussian, L2Laplace
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.statistics.frechet_variance import FrechetVariance, ReplacedShare
from geodp.statistics.protocol import Statistic
from geodp.statistics.sensitivity import hessian_floor
from geodp.statistics.tangent_moments import DistanceMoment, MeanHessian, TangentCovariance, View

Maker = Callable[[str, Statistic], Noisy]
_LEAST_HESSIAN = 0.1


def collect(
    make: Maker, parts: Iterable[str], domain: Ball, n: int, spread: float | None = None
) -> Numbers:
    """Make each part by ``make(name, statistic)``: the mean, then what is seen from it."""
    mean = make("mean", FrechetMean(domain))
    at = domain.project(mean.value)
    statistics = numbers_at(domain, at, spread)
    rest = {name: make(name, statistics[name]()) for name in parts if name != "mean"}
    return Numbers(domain=domain, n=n, at=at, mean=mean, **rest)


def numbers_at(
    domain: Ball, at: Array, spread: float | None = None
) -> dict[str, Callable[[], Statistic]]:
    """The statistics beside the mean, seen from ``at``."""
    view = View.of(domain, at)
    return {
        "covariance": lambda: TangentCovariance(domain, view, spread),
        "hessian": lambda: MeanHessian(domain, view),
        "variance": lambda: FrechetVariance(domain),
        "fourth": lambda: DistanceMoment(domain, view, 4),
        "replaced": lambda: ReplacedShare(domain),
    }


def without_noise(
    domain: Ball,
    records: Any,
    parts: Iterable[str] = PARTS,
    known: Mapping[str, Array] | None = None,
) -> Numbers:
    """The same numbers without any noise: NOT PRIVATE, for comparison only.

    Values in ``known`` are not computed again.
    """
    clipped, kept = domain.clip(records), known or {}
    needless = ("hessian",) if domain.space.is_flat else ()

    def make(name: str, statistic: Statistic) -> Noisy:
        value = kept[name] if name in kept else statistic.evaluate(clipped).value
        return Noisy(value, NO_NOISE)

    return collect(make, [p for p in parts if p not in needless], domain, len(clipped))


def mean_mechanism(space: Space, promise: Guarantee, ball: Ball) -> Mechanism:
    """Wrapped Gaussian where no curvature is positive, else the Riemannian Gaussian if it serves;
    wrapped ℓ2-Laplace for pure ε."""
    if promise.notion == "pure":
        return Wrapped(L2Laplace())
    for mechanism in () if space.is_hadamard else candidates():
        radial = mechanism.name == "riemannian-gaussian"
        if radial and mechanism.why_not(space, promise, ball) is None:
            return mechanism

    return Wrapped(Gaussian())


def number_mechanism(promise: Guarantee) -> Mechanism:
    """What randomises the numbers beside the mean."""
    return Wrapped(L2Laplace()) if promise.notion == "pure" else Wrapped(Gaussian())


def noise_of_calibration(cal: Calibration) -> Noise:
    """The noise of draws from a calibration, as ``noise_of`` reads it from a receipt."""
    from geodp.mechanisms.wrapped import WrappedCalibration

    if isinstance(cal, WrappedCalibration):
        law = cal.law
        deviation = float(np.sqrt(law.mean_square(cal.scale) / law.dim))
        gaussian = cal.mechanism.noise == Gaussian()
        return Noise(deviation, cal.footpoint, None if gaussian else law)
    if cal.facts()["name"] == "riemannian-gaussian":
        return Noise(radial_deviation(cal.space, cal.scale))
    raise InputError("Regions know the noise of wrapped mechanisms and of riemannian-gaussian.")


def check_conditions(space: Space, domain: Ball, n: int) -> None:
    """Refuse what the √n theory does not cover, from public facts."""
    kappa = space.curvature[1]
    if kappa > 0:
        limit = min(space.injectivity_radius, np.pi / np.sqrt(kappa)) / 2
        if domain.reach >= limit or hessian_floor(space, domain.reach) < _LEAST_HESSIAN:
            raise ConditionError(
                f"On {space.spec} the mean Hessian of squared distances can vanish, or nearly so, "
                f"for records in a ball of radius {domain.radius:.4g}: there the mean is smeary, "
                "converges slower than the square root of n, and no region of this kind is valid. "
                "Use a smaller ball."
            )
    least = space.dim + 10
    if n < least:
        raise ConditionError(
            f"A region in dimension {space.dim} needs at least {least} records; there are {n}."
        )
