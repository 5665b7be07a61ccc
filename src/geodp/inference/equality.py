"""Tests on released regions alone: is the mean at x, are several means equal?

All of it is post-processing. Each region's covariance already holds both the sampling error and the
privacy noise, so a test needs no records and no further budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError, MismatchError
from geodp.inference.linear import log_derivative
from geodp.inference.pivot import Draws
from geodp.inference.quantiles import check_confidence, hotelling_quantile, hotelling_tail
from geodp.inference.region import ConfidenceRegion
from geodp.inference.simulated import equality, null_squares, tail
from geodp.inference.simulated import quantile as far_quantile
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

_ROUNDS = 50
_CLOSE = 1e-10


@final
@dataclass(frozen=True)
class Verdict:
    """``p_value`` under the null; ``statistic`` is the studentised square."""

    null: str
    statistic: float
    p_value: float

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        return dict(vars(self))

    def __repr__(self) -> str:
        numbers = f"statistic {self.statistic:.4g}, p-value {self.p_value:.3g}"
        return f"test that {self.null}: {numbers}"


@final
@dataclass(frozen=True, eq=False)
class Difference:
    """The difference of two means at a common point: ``vector`` in the coordinates at ``point``.

    The region of the difference is ``{v : (v − vector)ᵀ covariance⁻¹ (v − vector) <= quantile}``.
    """

    space: Space
    point: Array
    vector: Array
    sampling: Array
    noise: Array
    confidence: float
    quantile: float
    test: Verdict

    @property
    def distance(self) -> float:
        """Length of the difference: about the distance between the released means."""
        return float(np.linalg.norm(self.vector))

    @property
    def told_apart(self) -> bool:
        """Whether a difference of zero lies outside the region."""
        return self.test.p_value < 1 - self.confidence

    @property
    def covariance(self) -> Array:
        """Of the difference, sampling error and privacy noise together."""
        return self.sampling + self.noise

    @property
    def half_axes(self) -> Array:
        """Half lengths of the principal axes of its region, the longest first."""
        values = np.linalg.eigvalsh(self.covariance)[::-1]
        return np.asarray(np.sqrt(self.quantile * np.maximum(values, 0.0)))

    def __repr__(self) -> str:
        return (
            f"Difference of two means on {self.space.spec}: length {self.distance:.4g}; {self.test}"
        )


def one_sample(result: Any, point: ArrayLike) -> Verdict:
    """Is the mean at ``point``? The studentised square against the law that the region's quantile
    comes from.

    ``result`` is an inference, or a ``ConfidenceRegion``; of one that was read from JSON only the
    region's degrees of freedom are known, and the law is Hotelling's.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> from geodp.inference import ConfidenceRegion, one_sample
    >>> one, zero = np.eye(1), np.zeros((1, 1))
    >>> region = ConfidenceRegion(gd.Euclidean(1), np.zeros(1), one, zero, 0.95, 3.841459, 1e9)
    >>> round(one_sample(region, [1.959964]).p_value, 4)
    0.05
    """
    region = _region(result)
    square = float(region.square(np.asarray(point, dtype=np.float64)))
    if region.pivot is not None:
        p_value = tail(square, region.pivot.squares, region.space.dim)
    else:
        _check_gaussian([region])
        # p below 1 - confidence outside the region exactly
        square /= _stretch(region)
        p_value = _tail(square, region.space.dim, region.dof)
    return Verdict("the mean is at the point", square, p_value)


def equal_means(results: Sequence[Any]) -> Verdict:
    """Are the means of two or more groups equal? Unequal covariances, sizes and noise are allowed.

    The statistic is the studentised sum of squares about the common mean weighted by the inverse
    covariances (found by iteration). Its law under equal means is simulated from the groups'
    pivots, as the regions' quantiles are. Regions that were read from JSON have none: for them it
    is Johansen's approximation ``c F(f1, f2)`` (S. Johansen, Biometrika 1980).
    """
    regions = [_region(one) for one in results]
    if len(regions) < 2:
        raise InputError("Equality is a question about two groups or more.")
    _check_same(regions)
    null = f"the {len(regions)} means are equal"
    draws = _draws(regions)
    if draws is None:
        _check_gaussian(regions)
        return _johansen(null, regions)
    point, logs, covariances = _common(regions, [1.0] * len(regions))
    square = float(equality(logs, covariances).square)
    simulated = null_squares(_carried_draws(regions, point, draws))
    return Verdict(null, square, tail(square, simulated, logs.shape[1] * (len(regions) - 1)))


def difference(first: Any, second: Any) -> Difference:
    """The second mean minus the first, with its region at the level of the first's region."""
    regions = [_region(first), _region(second)]
    _check_same(regions)
    space, level = regions[0].space, regions[0].confidence
    check_confidence(level)
    draws = _draws(regions)
    stretches = [1.0, 1.0] if draws is not None else [_stretch(r) for r in regions]
    point, logs, _ = _common(regions, stretches)
    pairs = list(zip(regions, stretches, strict=True))
    sampling = _carried(space, point, regions, [r.sampling * c for r, c in pairs])
    noise = _carried(space, point, regions, [r.noise * c for r, c in pairs])
    total = (sampling + noise).sum(axis=0)
    vector = logs[1] - logs[0]
    square = float(vector @ np.linalg.solve(total, vector))
    if draws is not None:
        simulated = null_squares(_carried_draws(regions, point, draws))
        quantile = far_quantile(level, simulated, space.dim)
        p_value = tail(square, simulated, space.dim)
    else:
        _check_gaussian(regions)
        dof = _pooled_dof(regions, sampling + noise)
        quantile = hotelling_quantile(level, space.dim, dof)
        p_value = _tail(square, space.dim, dof)
    test = Verdict("the 2 means are equal", square, p_value)
    sums = (sampling.sum(axis=0), noise.sum(axis=0))
    return Difference(space, point, vector, *sums, level, quantile, test)


def _pooled_dof(regions: Sequence[ConfidenceRegion], covariances: Array) -> float:
    """Satterthwaite's degrees of freedom of the summed covariances."""
    total, dim = covariances.sum(axis=0), len(covariances[0])
    parts = [float(np.trace(np.linalg.solve(total, s))) / dim for s in covariances]
    dof = 1 / sum(p**2 / r.dof for p, r in zip(parts, regions, strict=True))
    return max(dof, dim + 3.0)


def _johansen(null: str, regions: Sequence[ConfidenceRegion]) -> Verdict:
    _, logs, covariances = _common(regions, [_stretch(r) for r in regions])
    square = float(equality(logs, covariances).square)
    weights = np.linalg.inv(covariances)
    total = np.linalg.inv(weights.sum(axis=0))
    d, k = logs.shape[1], len(logs)
    spill = 0.0
    for weight, region in zip(weights, regions, strict=True):
        rest = np.eye(d) - total @ weight
        spill += (np.trace(rest @ rest) + np.trace(rest) ** 2) / region.dof / 2
    first = d * (k - 1)
    factor = first + 2 * spill - 6 * spill / (first + 2)
    second = first * (first + 2) / (3 * spill) if spill > 0 else 1e12
    from scipy.special import fdtrc

    return Verdict(null, square, float(fdtrc(first, second, square / factor)))


def _draws(regions: Sequence[ConfidenceRegion]) -> list[Draws] | None:
    """Each region's simulated errors; None where one has no pivot."""
    found = [r.pivot.draws for r in regions if r.pivot is not None]
    return found if len(found) == len(regions) else None


def _carried_draws(
    regions: Sequence[ConfidenceRegion], point: Array, draws: Sequence[Draws]
) -> list[Draws]:
    """Draws in the coordinates at ``point``; all pivots start from one public seed, so each
    group's are shifted against the others'."""
    space, step = regions[0].space, len(draws[0].errors) // (len(draws) + 1)
    return [
        one.carried(log_derivative(space, point, region.center), i * max(step, 1))
        for i, (one, region) in enumerate(zip(draws, regions, strict=True))
    ]


def _common(
    regions: Sequence[ConfidenceRegion], stretches: Sequence[float]
) -> tuple[Array, Array, Array]:
    """The weighted common mean, the centres' logs there ``(k, d)``, their covariances there."""
    space = regions[0].space
    centers = np.stack([r.center for r in regions])
    point = centers[0]
    for _ in range(_ROUNDS):
        logs = space.log_coords(point, centers)
        pairs = zip(regions, stretches, strict=True)
        covariances = _carried(space, point, regions, [r.covariance * c for r, c in pairs])
        step = equality(logs, covariances).center
        scale = float(np.linalg.norm(logs, axis=1).max())
        if np.linalg.norm(step) <= _CLOSE * scale or scale == 0:
            break
        point = space.project(space.exp_coords(point, step))
    return point, logs, covariances


def _carried(
    space: Space, point: Array, regions: Sequence[ConfidenceRegion], matrices: Sequence[Array]
) -> Array:
    """Covariances at the regions' centres, in the coordinates at ``point``."""
    frames = [log_derivative(space, point, r.center) for r in regions]
    return np.stack([a @ m @ a.T for a, m in zip(frames, matrices, strict=True)])


def _stretch(region: ConfidenceRegion) -> float:
    """The region's simulated quantile over Hotelling's: below 1 where limits keep S too large."""
    return region.quantile / hotelling_quantile(region.confidence, region.space.dim, region.dof)


def _tail(square: float, dim: int, dof: float) -> float:
    return 0.0 if np.isinf(square) else hotelling_tail(square, dim, dof)


def _region(result: Any) -> ConfidenceRegion:
    region = result if isinstance(result, ConfidenceRegion) else getattr(result, "region", None)
    if not isinstance(region, ConfidenceRegion):
        raise InputError("A test takes confidence regions, or what gd.infer returned.")
    return region


def _check_same(regions: Sequence[ConfidenceRegion]) -> None:
    if len({r.space.spec for r in regions}) > 1:
        raise MismatchError("The groups lie on different spaces; their means cannot be compared.")
    balls = [r.domain for r in regions if r.domain is not None]
    if any(not _same_ball(balls[0], other) for other in balls[1:]):
        raise MismatchError(
            "The groups were moved into different balls, so their means are of populations that "
            "were clipped differently: use one public ball for all groups."
        )


def _same_ball(one: Ball, other: Ball) -> bool:
    return one.radius == other.radius and np.array_equal(one.center, other.center)


def _check_gaussian(regions: Sequence[ConfidenceRegion]) -> None:
    """Without a pivot tests use the F distribution, which wants Gaussian noise."""
    if any(not r.gaussian for r in regions):
        raise InputError(
            "A bare region with ℓ2-Laplace noise says too little for a test: give the inference "
            "that it belongs to."
        )
