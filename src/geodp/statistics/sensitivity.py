"""How far one record can move a Fréchet mean, and how near a computed one is. Knows no manifold.

Everything here is a bound rounded outward. Proofs: docs/proofs/sensitivity.
"""

from __future__ import annotations

import math

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.spaces.base import Space

_UP = 1 + 1e-12  # covers the rounding of the few float operations below


def check_radius(space: Space, radius: float) -> None:
    """Refuse radii beyond the theorem's condition ``r < min(inj, pi/sqrt(kappa)) / 2``."""
    kappa = space.curvature[1]
    limit = space.injectivity_radius
    if kappa > 0:
        limit = min(limit, math.pi / math.sqrt(kappa))
    if not radius < limit / 2:
        raise ConditionError(
            f"The Fréchet mean on {space.spec} has a sensitivity bound for radii below "
            f"{limit / 2:.6g}; the radius asked for is {radius:.6g}. Use a smaller ball, "
            "or another estimand that reaches farther, such as gd.TangentMean(ball)."
        )


def mean_sensitivity(space: Space, radius: float, n: int, bound: str = "sharp") -> float:
    """Replace-one sensitivity of the Fréchet mean of ``n`` records in a ball of ``radius``.

    ``2 r / n`` where no curvature is positive; else ``min(2 r, 2 tan(sqrt(kappa) r) /
    (sqrt(kappa) n))`` for ``r < min(inj, pi / sqrt(kappa)) / 2`` (sharp), or, with
    ``bound="published"``, ``2 r (2 - h) / (n h)``, ``h = T cot T``, ``T = 2 sqrt(kappa) r``, for
    ``r < pi / (4 sqrt(kappa))`` (Reimherr, Bharath, Soto, NeurIPS 2021, Theorem 2).
    """
    check_radius(space, radius)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise InputError("The number of records n is an integer of at least two.")
    flat = 2 * radius / n
    kappa = space.curvature[1]
    if bound not in ("sharp", "published"):
        raise InputError(f"The bound is 'sharp' or 'published', not {bound!r}.")
    if kappa <= 0:
        return flat * _UP
    angle = math.sqrt(kappa) * radius
    if bound == "published":
        limit = min(space.injectivity_radius, math.pi / math.sqrt(kappa)) / 4
        if not radius < limit:
            raise ConditionError(
                f"The published bound holds for radii below {limit:.6g} on {space.spec}; the "
                f"radius asked for is {radius:.6g}. The sharp bound (the default) reaches twice "
                "as far."
            )
        h = 2 * angle / math.tan(2 * angle)
        return flat * (2 - h) / h * _UP / _conditioning(2 * angle)
    # tan(angle) (1 + e) with |e| <= 2 eps angle / sin(2 angle) when the angle is off by eps
    wide = 2 * math.tan(angle) / math.sqrt(kappa) / n / _conditioning(angle)
    return min(2 * radius, wide) * _UP


def _conditioning(angle: float) -> float:
    """A factor below 1 that covers how tan magnifies the rounding of an angle near pi/2."""
    return 1 - 8 * float(np.finfo(np.float64).eps) * (1 + angle / (math.pi / 2 - angle))


def hessian_floor(space: Space, radius: float) -> float:
    """``G = R cot R``, ``R = sqrt(kappa) r``: the least Hessian eigenvalue at a mean; 1 if flat or
    negatively curved."""
    kappa = space.curvature[1]
    if kappa <= 0:
        return 1.0
    angle = math.sqrt(kappa) * radius
    return angle / math.tan(angle)


def certificate_slope(space: Space, radius: float, gradient: float) -> float:
    """``lambda`` with ``dist(x, mean) <= gradient / lambda`` for x in the ball, if positive."""
    kappa = space.curvature[1]
    if kappa <= 0:
        return 1.0
    angle = math.sqrt(kappa) * radius
    floor = hessian_floor(space, radius)
    z = math.sqrt(kappa) * gradient * math.tan(angle)
    gap = 1 - floor
    return floor - (min(z, z * z / (4 * gap)) if gap > 0 else z)


def provable_error(space: Space, radius: float, rounding: float) -> float:
    """The least error that the counted gradient steps reach when each is off by ``rounding``.

    ``8 L^(3/2) rounding`` where no curvature is positive, ``8 rounding / lambda^2`` else, with L
    and lambda as in ``safe_iterations`` (docs/proofs/sensitivity, rounding).
    """
    if space.curvature[1] > 0:
        return 8 * rounding / (hessian_floor(space, radius) / 2) ** 2
    smooth = _smoothness(space, radius)
    return 8 * rounding * smooth * math.sqrt(smooth)


def safe_iterations(space: Space, radius: float, error: float) -> tuple[float, int]:
    """Step length and number of gradient steps after which the error is at most ``error``.

    Holds for every data set and in spite of rounding, for ``error >= provable_error``. Nowhere
    positive curvature >= -k: steps ``1/L``, ``L = zeta(3 sqrt(k) r)``, ``zeta(t) = t coth t``, from
    any point whose gradient is at most ``r``. Nowhere negative: unit steps from the centre, with
    ``lambda`` half the Hessian's floor.
    """
    if space.curvature[1] <= 0:
        smooth = _smoothness(space, radius)
        steps = math.log(max(radius / error, 1.0)) / -math.log1p(-1 / (4 * smooth))
        return 1 / smooth, math.ceil(steps)
    if space.curvature[0] < 0:
        raise ConditionError(
            f"{space.spec} has curvature of both signs and is no product; no solver is proven."
        )
    slope = hessian_floor(space, radius) / 2
    entry = entry_gradient(space, radius)
    first = 2 * (radius / entry) ** 2
    second = math.log(entry / (math.sqrt(slope) * slope * error)) / -math.log1p(-slope / 4)
    return 1.0, math.ceil(first + max(second, 0.0)) + 1


def entry_gradient(space: Space, radius: float) -> float:
    """The gradient norm below which the Hessian is at least half its floor (positive curvature)."""
    floor = hessian_floor(space, radius)
    scale = math.sqrt(space.curvature[1])
    return max(floor / 2, math.sqrt(2 * floor * (1 - floor))) / (scale * math.tan(scale * radius))


def _smoothness(space: Space, radius: float) -> float:
    """A bound on the Hessian of half squared distances up to ``3 radius``."""
    reach = 3 * math.sqrt(max(-space.curvature[0], 0.0)) * radius
    return reach / math.tanh(reach) if reach > 0 else 1.0
