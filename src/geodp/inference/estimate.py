"""From released numbers to a region for the mean and an interval for the variance.

Everything here is post-processing: it costs no privacy. Mathematics: docs/inference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from geodp.errors import InputError
from geodp.inference import quantiles
from geodp.inference.linear import clamped, exp_derivative, log_derivative, symmetric
from geodp.inference.numbers import Noisy, Numbers
from geodp.inference.pivot import Limited, Pivot, matched_dof
from geodp.inference.quantiles import check_confidence
from geodp.inference.region import ConfidenceRegion
from geodp.inference.scalars import scalar_of
from geodp.inference.simulated import quantile as far_quantile
from geodp.noise.spherical import SphericalLaw
from geodp.spaces.base import Array
from geodp.statistics.sensitivity import hessian_floor
from geodp.statistics.tangent_moments import View, hessian_bounds

_FLOOR = 1.0  # of the noise's standard deviation
_TINY = 1e-14  # of R^2: keeps the covariance of identical records invertible
_BENT = 0.01  # of the slope: second differences beyond it, over tiny steps, are a kink's
_ROUNDING = 1e-12  # relative, of a function's values


@final
@dataclass(frozen=True)
class Interval:
    """A confidence interval, cut to the public range of its parameter.

    ``sampling`` and ``noise`` are the standard errors that the sample and the privacy noise leave.
    """

    value: float
    low: float
    high: float
    confidence: float
    sampling: float
    noise: float

    @property
    def inside(self) -> float:
        """The value, cut to the interval as the interval is to the parameter's range: what noise
        moves below zero is no variance."""
        return min(max(self.value, self.low), self.high)

    def to_json(self) -> dict[str, float]:
        """The interval as JSON values."""
        return dict(vars(self))


@final
@dataclass(frozen=True)
class Direction:
    """A principal geodesic direction: ``variance`` along the unit tangent vector ``vector``, its
    ``share`` of the total, and the points ``ends`` one standard deviation to either side."""

    variance: float
    share: float
    vector: Array
    ends: Array


@final
@dataclass(frozen=True, eq=False)
class Estimate:
    """What released numbers say about the population of clipped records.

    ``numbers`` are the released parts; no record is ever needed again.
    """

    numbers: Numbers
    confidence: float = field(default=0.95)

    @cached_property
    def covariance(self) -> Array:
        """The tangent covariance at ``numbers.at``, eigenvalues kept between its noise's standard
        deviation and R², both public."""
        part, reach = _present(self.numbers.covariance, "covariance"), self._reach
        return clamped(symmetric(part.value, self._dim), *self._covariance_limits(part, reach))

    @cached_property
    def hessian(self) -> Array:
        """The mean Hessian at ``numbers.at``, eigenvalues kept in their public limits; the identity
        on flat spaces."""
        part = self.numbers.hessian
        if part is None:
            return np.eye(self._dim)
        return clamped(symmetric(part.value, self._dim), *self._hessian_limits)

    @cached_property
    def region(self) -> ConfidenceRegion:
        """The confidence region of the Fréchet mean."""
        numbers, pivot = self.numbers, self._pivot
        root = pivot.frame @ np.linalg.inv(self.hessian)
        sampling = root @ self.covariance @ root.T / numbers.n
        quantile = far_quantile(self.confidence, self.squares, self._dim)
        return ConfidenceRegion(
            numbers.domain.space,
            numbers.mean.value,
            sampling,
            pivot.noise,
            self.confidence,
            quantile,
            matched_dof(self.confidence, self._dim, quantile),
            pivot.law is None,
            numbers.domain,
            pivot,
        )

    @cached_property
    def squares(self) -> Array:
        """Simulated studentised squares, whose quantile is the region's."""
        return self._pivot.squares

    def at_level(self, confidence: float) -> Estimate:
        """The same at another confidence."""
        other = Estimate(self.numbers, check_confidence(confidence))
        kept = {name: getattr(self, name) for name in ("squares", "_pivot", "covariance")}
        other.__dict__.update(kept | {"hessian": self.hessian, "_reach": self._reach})
        return other

    @cached_property
    def interval(self) -> Interval | None:
        """The confidence interval of the Fréchet variance; None if it was not released.

        Its value is the released one times ``1 + w/(n − 1)``, ``w = tr(Λ⁻¹C)/tr C``: a sample's
        variance about its own mean is too small by ``tr(Λ⁻¹C)/n``, the n − 1 of flat spaces.
        """
        numbers = self.numbers
        if numbers.variance is None or numbers.fourth is None:
            return None
        value, fourth = float(numbers.variance.value[0]) * self._lost, numbers.fourth
        most = max(value, 0.0) * self._reach**2  # E ρ⁴ <= R² E ρ²
        floor = max(fourth.noise.deviation, _TINY * self._reach**4)
        spread = max(min(float(fourth.value[0]), most) - value**2, floor)
        noise = numbers.variance.noise
        deviation = noise.deviation * self._lost
        total = spread / numbers.n + deviation**2
        weight = spread / numbers.n / total
        shaky = fourth.noise.deviation / numbers.n / total
        dof = 1 / (weight**2 / (numbers.n - 1) + shaky**2 / 2)
        width = self._width(spread / numbers.n, deviation**2, noise.law, max(dof, 4.0))
        top = numbers.domain.reach**2
        return Interval(
            value,
            min(max(value - width, 0.0), top),
            max(min(value + width, top), 0.0),
            self.confidence,
            math.sqrt(spread / numbers.n),
            deviation,
        )

    @cached_property
    def replaced(self) -> Interval | None:
        """The share of records that the public rule moved or replaced, with its interval."""
        part = self.numbers.replaced
        if part is None:
            return None
        share, deviation = float(part.value[0]), part.noise.deviation
        width = self._width(0.0, deviation**2, part.noise.law, math.inf) if deviation else 0.0
        low, high = max(share - width, 0.0), min(share + width, 1.0)
        return Interval(share, min(low, 1.0), max(high, 0.0), self.confidence, 0.0, deviation)

    def function(self, f: Callable[[Array], float]) -> Interval:
        """The interval of a scalar function of the mean, by the delta method through the region.

        ``f`` takes one point and is differentiated numerically at the released mean. Functions with
        a kink or a stationary point there (fractional anisotropy at an isotropic tensor) have no
        such interval and are refused.

        Examples
        --------
        >>> import numpy as np, geodp as gd
        >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
        >>> records = np.random.default_rng(1).uniform(-0.5, 0.5, (400, 2))
        >>> out = gd.infer(records, ball, gd.GaussianDP(5))
        >>> interval = out.function(lambda x: x[0])
        >>> interval.low < interval.value < interval.high
        True
        """
        region, space = self.region, self.numbers.domain.space
        step = 1e-5 * float(region.axes[0][-1]) + 1e-9
        moved = space.exp_coords(region.center, step * np.eye(self._dim))
        back = space.exp_coords(region.center, -step * np.eye(self._dim))
        value = scalar_of(f, region.center)
        ahead = np.array([scalar_of(f, x) for x in moved])
        behind = np.array([scalar_of(f, x) for x in back])
        slope, bend = (ahead - behind) / (2 * step), ahead + behind - 2 * value
        if not (np.isfinite(slope).all() and np.isfinite(value)):
            raise InputError("The function has no finite derivative at the released mean.")
        rounding = _ROUNDING * max(abs(value), float(np.abs(ahead).max()))
        if np.linalg.norm(bend) > _BENT * np.linalg.norm(ahead - behind) + rounding:
            raise InputError(
                "The function has a kink or a stationary point at the released mean, where its "
                "first derivatives do not say how far it can be off."
            )
        parts = [float(slope @ part @ slope) for part in (region.sampling, region.noise)]
        width = self._width(parts[0], parts[1], self.numbers.mean.noise.law, region.dof)
        errors = (math.sqrt(parts[0]), math.sqrt(parts[1]))
        return Interval(value, value - width, value + width, self.confidence, *errors)

    def principal_directions(self) -> list[Direction]:
        """Principal geodesic directions at ``numbers.at``, by falling variance."""
        space, at = self.numbers.domain.space, self.numbers.at
        values, vectors = np.linalg.eigh(self.covariance)
        found = []
        for variance, z in zip(values[::-1], vectors.T[::-1], strict=True):
            ends = space.exp_coords(at, np.sqrt(variance) * np.stack([-z, z]))
            share = float(variance / values.sum())
            found.append(Direction(float(variance), share, space.vector(at, z), ends))
        return found

    def table(
        self, functions: Mapping[str, Callable[[Array], float]] | None = None
    ) -> list[dict[str, Any]]:
        """Tidy rows: what, value, low, high, and the standard errors of sample and noise.

        The value of what noise can move out of its range (the variance, the share of replaced
        records) is cut to its interval; ``released`` beside it is the number on the receipt.

        ``functions`` : scalar functions of the mean by the names that their rows get, each for
        ``function``.
        """
        rows: list[dict[str, Any]] = []
        lengths, _ = self.region.axes
        for i, length in enumerate(lengths, 1):
            rows.append(
                {"what": f"half axis {i} of the region of the mean", "value": float(length)}
            )
        for what, (interval, released) in self.ranged.items():
            facts = {**interval.to_json(), "value": interval.inside, "released": released}
            rows.append({"what": what, **facts})
        named = {name: self.function(f) for name, f in (functions or {}).items()}
        return rows + [{"what": name, **found.to_json()} for name, found in named.items()]

    @property
    def ranged(self) -> dict[str, tuple[Interval, float]]:
        """The intervals of what has a public range, each with the number that was released."""
        numbers = self.numbers
        named = {
            "Fréchet variance": (self.interval, numbers.variance),
            "share of replaced records": (self.replaced, numbers.replaced),
        }
        return {
            what: (interval, float(part.value[0]))
            for what, (interval, part) in named.items()
            if interval is not None and part is not None
        }

    # --- parts ----------------------------------------------------------------------------------
    @property
    def _dim(self) -> int:
        return self.numbers.domain.space.dim

    @cached_property
    def _reach(self) -> float:
        return View(self.numbers.domain, self.numbers.at).reach

    @property
    def _lost(self) -> float:
        """What the sample variance is multiplied with for the mean's own fluctuation."""
        if self.numbers.covariance is None:
            return 1.0
        share = np.trace(np.linalg.solve(self.hessian, self.covariance)) / np.trace(self.covariance)
        return 1 + float(share) / (self.numbers.n - 1)

    @cached_property
    def _hessian_limits(self) -> tuple[float, float]:
        space = self.numbers.domain.space
        low, high = hessian_bounds(space, self._reach)
        return max(low, hessian_floor(space, self.numbers.domain.reach)), high

    def _covariance_limits(self, part: Noisy, reach: float) -> tuple[float, float]:
        return max(_FLOOR * part.noise.deviation, _TINY * reach**2), reach**2

    @cached_property
    def _pivot(self) -> Pivot:
        numbers, hessian = self.numbers, self.numbers.hessian
        part = _present(numbers.covariance, "covariance")
        limits = self._covariance_limits(part, self._reach)
        curved = None
        if hessian is not None:
            curved = Limited(self.hessian, hessian.noise.deviation, *self._hessian_limits)
        return Pivot(
            numbers.n,
            Limited(self.covariance, part.noise.deviation, *limits),
            curved,
            self._carried,
            numbers.mean.noise.deviation**2 * self._frame,
            numbers.mean.noise.law,
        )

    @cached_property
    def _carried(self) -> Array:
        """From coordinates at ``at`` to those at the released mean, where these differ."""
        numbers, space = self.numbers, self.numbers.domain.space
        if space.dist(numbers.at, numbers.mean.value) <= 1e-9 * numbers.domain.radius:
            return np.eye(self._dim)
        return log_derivative(space, numbers.mean.value, numbers.at)

    @cached_property
    def _frame(self) -> Array:
        """J Jᵀ: what unit noise at the footpoint is at the released mean."""
        numbers, space = self.numbers, self.numbers.domain.space
        footpoint = numbers.mean.noise.footpoint
        if footpoint is None or space.is_flat:
            return np.eye(self._dim)
        jacobian = exp_derivative(space, footpoint, numbers.mean.value)
        return jacobian @ jacobian.T

    def _width(self, sampling: float, noise: float, law: SphericalLaw | None, dof: float) -> float:
        if law is None or noise == 0:
            return quantiles.student_quantile(self.confidence, dof) * math.sqrt(sampling + noise)
        return quantiles.convolution_width(self.confidence, sampling, noise, law, dof)


def _present(part: Noisy | None, what: str) -> Noisy:
    if part is None:
        raise InputError(f"The {what} was not released, so there is no region.")
    return part
