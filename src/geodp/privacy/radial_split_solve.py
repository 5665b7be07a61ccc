"""Calibration of Gaussian laws on a flat space times a curved one (see ``radial_split``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from geodp.errors import GuaranteeError
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.least import LeastProfile
from geodp.privacy.profile import Profile
from geodp.privacy.radial_float import FloatPair, mu_at
from geodp.privacy.radial_hadamard import sobolev_rho, sobolev_scale
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.radial_solve import (
    first_scale,
    gdp_scale,
    near_scale,
    proven_scale,
    square_for,
)
from geodp.privacy.radial_split import STEPS, SplitProfile, chained
from geodp.privacy.renyi import ZCDPProfile

Price = tuple[float, Profile]
_MARGIN = 0.008  # above the least scale of a = 0, where a proof by cells is sought
_GAIN = 0.005  # relative, of scale: what makes a proof by cells worth its time


@lru_cache(maxsize=512)
def split_price(where: str, law: RadialPair, shift: float, guarantee: Guarantee) -> Price:
    """The scale that keeps the promise for centres ``shift`` apart, and the certified profile.

    Within about 1 % of the least for the worst split seen. ``where`` names the space; scale and
    shift of ``law``, a Gaussian one of negative curvature, are not read. Raises GuaranteeError.
    """
    exact = law.at(Fraction(1), Fraction(shift))
    found: list[_Found] = []
    refusals: list[GuaranteeError] = []
    for route in _ROUTES[guarantee.notion]:
        try:
            found.append(route(where, exact, shift, guarantee))
        except GuaranteeError as error:
            refusals.append(error)
            continue
        if found[-1].enough:
            break
    if not found:
        raise refusals[-1]
    best = min(found, key=lambda price: price.scale)
    return best.scale, split_profile(exact.at(Fraction(best.scale), exact.shift), best.step)


def split_profile(law: RadialPair, step: Fraction | None = None) -> Profile:
    """All that is proven of a law; ``step``: see ``SplitProfile``."""
    bounds: list[Profile] = [SplitProfile(law, step)] if law.has_exact_profile else []
    rho = sobolev_rho(law.shift, law.scale, _floor(law))
    if rho is not None:
        bounds.append(ZCDPProfile(rho))
    if not bounds:
        raise GuaranteeError("No guarantee is proven for so wide a Gaussian law on this space.")
    return LeastProfile(tuple(bounds))


@final
@dataclass(frozen=True)
class _Found:
    scale: float
    step: Fraction | None = None
    enough: bool = False  # no other route would gain much


def _floor(law: RadialPair) -> Fraction:
    return -law.curvature * (law.dim - 1)


def _by_sobolev(where: str, law: RadialPair, shift: float, guarantee: Guarantee) -> _Found:
    scale = sobolev_scale(where, _floor(law), shift, guarantee)
    return _Found(scale, enough=float(_floor(law)) * scale**2 < 2 * _GAIN)


def _by_steps(where: str, law: RadialPair, shift: float, guarantee: Guarantee) -> _Found:
    square = square_for(guarantee)
    step = square * (1 - Fraction(2, STEPS)) / STEPS**2
    scale = gdp_scale(law.at(law.scale, law.shift / STEPS), step)
    whole = law.at(Fraction(scale), law.shift)
    if chained(whole, step) > square:
        raise GuaranteeError("This promise could not be proven for a Riemannian Gaussian.")
    return _Found(scale, step, enough=_gain(whole, guarantee) < _GAIN)


def _gain(law: RadialPair, guarantee: Guarantee) -> float:
    """About what the profile at the guarantee's epsilon would gain over Gaussian DP, in floats."""
    if guarantee.notion != "approx":
        return 0.0
    floats = FloatPair.of(law)
    at = mu_at(floats, float(guarantee.epsilon))  # type: ignore[attr-defined]
    return mu_at(floats, 0.0) / at - 1 if at > 0 else 0.0


def _by_cells(where: str, law: RadialPair, shift: float, guarantee: Guarantee) -> _Found:
    epsilon, delta = guarantee.epsilon, guarantee.delta  # type: ignore[attr-defined]
    loss, wanted = float(epsilon), float(delta)
    first = first_scale(law, guarantee)
    start = near_scale(law, lambda p: p.delta(loss) <= wanted, 1e-5, first)
    scale = proven_scale(law, start, _MARGIN, lambda pair: SplitProfile(pair).keeps(epsilon, delta))
    return _Found(scale)


_ROUTES: dict[str, tuple[Callable[..., _Found], ...]] = {
    "pure": (_by_sobolev,),
    "approx": (_by_steps, _by_cells, _by_sobolev),
    "gdp": (_by_steps, _by_sobolev),
    "zcdp": (_by_sobolev, _by_steps),
    "renyi": (_by_sobolev, _by_steps),
}
