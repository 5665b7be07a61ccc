"""The scale and the certified profile of a radial mechanism on a space, for a guarantee."""

from __future__ import annotations

from fractions import Fraction

from geodp.errors import GuaranteeError
from geodp.noise.radial_laws import is_affine_invariant, unit_curvature
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.radial_hadamard import sobolev_rho, sobolev_scale
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_solve import law_profile, radial_price
from geodp.privacy.radial_split_solve import split_price, split_profile
from geodp.privacy.renyi import ZCDPProfile
from geodp.privacy.solve import laplace_ratio, scale_for
from geodp.spaces.base import Space

Price = tuple[float, Profile]


def laplace_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Riemannian Laplace: the exact profile on two-point homogeneous spaces, else pure epsilon."""
    if space.is_flat:
        return _flat("l2-laplace", space, sensitivity, guarantee)
    if has_exact_profile(space):
        return radial_price(_pair(space, "laplace"), sensitivity, guarantee)
    scale = scale_for(sensitivity, laplace_ratio(guarantee))
    return scale, PureProfile(Fraction(sensitivity) / Fraction(scale))


def truncated_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Laplace kept to a ball: its normaliser depends on the value, so twice the sensitivity."""
    scale = scale_for(2 * sensitivity, laplace_ratio(guarantee))
    return scale, PureProfile(2 * Fraction(sensitivity) / Fraction(scale))


def gaussian_price(space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    """Riemannian Gaussian: the exact profile where there is one, of a factor where the rest of the
    space is flat, else the log-Sobolev bound."""
    if space.is_flat:
        return _flat("gaussian", space, sensitivity, guarantee)
    if has_exact_profile(space):
        return radial_price(_pair(space, "gaussian"), sensitivity, guarantee)
    curved = curved_factor(space)
    if curved is not None:
        return split_price(space.spec, curved, sensitivity, guarantee)
    floor = Fraction(max(-space.ricci_lower, 0.0))
    scale = sobolev_scale(space.spec, floor, sensitivity, guarantee)
    rho = sobolev_rho(Fraction(sensitivity), Fraction(scale), floor)
    assert rho is not None
    return scale, ZCDPProfile(rho)


def radial_profile(space: Space, kernel: str, scale: float, sensitivity: float) -> Profile:
    """What is proven of a law of that scale on a curved space; GuaranteeError where nothing is."""
    shift, size = Fraction(sensitivity), Fraction(scale)
    if has_exact_profile(space):
        return law_profile(_pair(space, kernel).at(size, shift))
    if kernel == "laplace":
        return PureProfile(shift / size)
    curved = curved_factor(space)
    if curved is not None:
        return split_profile(curved.at(size, shift))
    rho = sobolev_rho(shift, size, Fraction(max(-space.ricci_lower, 0.0)))
    if rho is None:
        raise GuaranteeError(f"No guarantee is proven for so wide a Gaussian law on {space.spec}.")
    return ZCDPProfile(rho)


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


def has_exact_profile(space: Space) -> bool:
    """Whether the space is a curved sphere, hyperbolic space or planar shapes, or a circle."""
    return len(space.factors) == 1 and space.is_two_point_homogeneous and not space.is_flat


def curved_factor(space: Space) -> RadialPair | None:
    """The Gaussian law on H of a space that is a product of flat spaces and one hyperbolic H.

    SPD(2) is such a product: log det/sqrt(2), and the matrices of determinant one, which are a
    hyperbolic plane of curvature -1/2.
    """
    curved = [factor for factor in space.factors if not factor.is_flat]
    if len(curved) != 1 or not space.is_hadamard:
        return None
    if is_affine_invariant(curved[0]) and curved[0].point_shape[0] == 2:
        return RadialPair("gaussian", 2, Fraction(-1, 2), Fraction(1), Fraction(1))
    return _pair(curved[0], "gaussian") if has_exact_profile(curved[0]) else None


def _pair(space: Space, kernel: str) -> RadialPair:
    low, high = space.curvature
    curvature = Fraction(unit_curvature(space))
    return RadialPair(kernel, space.dim, curvature, Fraction(1), Fraction(1), int(low != high))


def _flat(noise: str, space: Space, sensitivity: float, guarantee: Guarantee) -> Price:
    scale = scale_for(sensitivity, ratio_for(noise, space.dim, guarantee))
    return scale, profile_for(noise, space.dim, Fraction(sensitivity) / Fraction(scale))
