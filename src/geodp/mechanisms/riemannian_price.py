"""The scale and the certified profile of a radial mechanism on a space, for a guarantee."""

from __future__ import annotations

import math
from fractions import Fraction

from geodp.noise.radial_laws import unit_curvature
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.radial_hadamard import sobolev_rho, sobolev_scale
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_solve import radial_price
from geodp.privacy.renyi import ZCDPProfile
from geodp.privacy.solve import laplace_ratio, scale_for
from geodp.spaces.base import Space

Price = tuple[float, Profile]


def laplace_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Riemannian Laplace: pure epsilon on homogeneous spaces, the exact profile on space forms."""
    if space.is_flat:
        return _flat("l2-laplace", space, sensitivity, guarantee)
    if is_space_form(space):
        return radial_price(_pair(space, "laplace"), sensitivity, guarantee)
    scale = scale_for(sensitivity, laplace_ratio(guarantee))
    return scale, PureProfile(Fraction(sensitivity) / Fraction(scale))


def truncated_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Laplace kept to a ball: its normaliser depends on the value, so twice the sensitivity."""
    scale = scale_for(2 * sensitivity, laplace_ratio(guarantee))
    return scale, PureProfile(2 * Fraction(sensitivity) / Fraction(scale))


def gaussian_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Riemannian Gaussian: the exact profile on space forms, else the log-Sobolev bound."""
    if space.is_flat:
        return _flat("gaussian", space, sensitivity, guarantee)
    if is_space_form(space):
        return radial_price(_pair(space, "gaussian"), sensitivity, guarantee)
    if not space.is_hadamard:
        return _bounded(space, sensitivity, guarantee)
    floor = Fraction(max(-space.ricci_lower, 0.0))
    scale = sobolev_scale(space.spec, floor, sensitivity, guarantee)
    rho = sobolev_rho(Fraction(sensitivity), Fraction(scale), floor)
    assert rho is not None
    return scale, ZCDPProfile(rho)


def gaussian_refusal(space: Space, guarantee: Guarantee) -> str | None:
    """Why no scale of a Riemannian Gaussian keeps such a promise, whatever the sensitivity."""
    if space.is_hadamard and guarantee.notion == "pure":
        return (
            f"A Riemannian Gaussian on {space.spec} has an unbounded privacy loss and no pure "
            "epsilon; use RiemannianLaplace, or ask for (epsilon, delta)."
        )
    if space.is_hadamard or space.is_two_point_homogeneous:
        return None
    return (
        f"No guarantee is proven for a Riemannian Gaussian on {space.spec}. Use a wrapped "
        "mechanism."
    )


def _bounded(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """A Gaussian law on a compact space through its largest loss, sensitivity diameter/scale^2."""
    diameter = Fraction(space.injectivity_radius * (1 + 1e-12))  # equal on these spaces
    ratio = laplace_ratio(guarantee)
    scale = math.sqrt(sensitivity * float(diameter / ratio)) * (1 + 1e-12)
    return scale, PureProfile(Fraction(sensitivity) * diameter / Fraction(scale) ** 2)


def is_space_form(space: Space) -> bool:
    """Whether the space is a curved sphere or hyperbolic space, or a circle."""
    low, high = space.curvature
    if len(space.factors) > 1 or not space.is_two_point_homogeneous:
        return False
    return low == high and not space.is_flat


def _pair(space: Space, kernel: str) -> RadialPair:
    return RadialPair(kernel, space.dim, Fraction(unit_curvature(space)), Fraction(1), Fraction(1))


def _flat(noise: str, space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    scale = scale_for(sensitivity, ratio_for(noise, space.dim, guarantee))
    return scale, profile_for(noise, space.dim, Fraction(sensitivity) / Fraction(scale))
