"""Calibration of radial laws: a scale searched in floats, proven in balls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, rational_up
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.least import LeastProfile
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.radial_certified import delta_bound
from geodp.privacy.radial_float import FloatPair, mu_estimate
from geodp.privacy.radial_gdp import is_flat_like, keeps_gdp, margin
from geodp.privacy.radial_hadamard import sobolev_rho, sobolev_scale
from geodp.privacy.radial_profile import RadialProfile
from geodp.privacy.radial_shift import RadialPair
from geodp.privacy.renyi import ZCDPProfile
from geodp.privacy.solve import gaussian_ratio, laplace_ratio, scale_for

Price = tuple[float, Profile]
_ATTEMPTS = 5  # at a proof, each with a little more noise
_LARGEST = 16  # dimension up to which Gaussian DP on hyperbolic space is proven by cells


@lru_cache(maxsize=512)
def radial_price(law: RadialPair, shift: float, guarantee: Guarantee) -> Price:
    """The scale that keeps the promise for centres ``shift`` apart, and the certified profile.

    Within about 2 % of the least scale that the exact profile allows. Scale and shift of ``law``
    are not read. Raises GuaranteeError where no scale is found.
    """
    exact = law.at(Fraction(1), Fraction(shift))
    found: list[_Answer] = []
    for route in _ROUTES[guarantee.notion]:
        found.append(route(exact, shift, guarantee))
        if isinstance(found[-1], _Found) and found[-1].enough:
            break
    prices = [price for price in found if isinstance(price, _Found)]
    if prices:
        best = min(prices, key=lambda price: price.scale)
        return best.scale, law_profile(exact.at(Fraction(best.scale), exact.shift), best.square)
    refusals = [error for error in found if isinstance(error, GuaranteeError)]
    raise refusals[-1] if guarantee.notion == "pure" else refusals[0]


@final
@dataclass(frozen=True)
class _Found:
    scale: float
    square: Fraction | None = None
    enough: bool = False  # no other route would gain much


_Answer = _Found | GuaranteeError


def law_profile(pair: RadialPair, square: Fraction | None = None) -> Profile:
    """All that is proven of a pair; ``square``: a mu^2 that is proven already."""
    bounds: list[Profile] = []
    if pair.has_exact_profile:
        bounds.append(RadialProfile(pair, square))
    if pair.kernel == "laplace":
        bounds.append(PureProfile(pair.shift / pair.scale))
    elif pair.sign > 0:
        most = pair.loss_ball()
        assert most is not None
        bounds.append(PureProfile(rational_up(most)))
    else:
        rho = sobolev_rho(pair.shift, pair.scale, _floor(pair))
        if rho is not None:
            bounds.append(ZCDPProfile(rho))
    return LeastProfile(tuple(bounds))


def _floor(pair: RadialPair) -> Fraction:
    return max(-pair.curvature, Fraction(0)) * (pair.dim - 1)


def _answer(solve: Callable[[], _Found]) -> _Answer:
    try:
        return solve()
    except GuaranteeError as error:
        return error


def _by_pure(pair: RadialPair, shift: float, guarantee: Guarantee) -> _Answer:
    """Through the largest privacy loss alone."""

    def solve() -> _Found:
        if pair.kernel == "laplace":
            return _Found(scale_for(shift, laplace_ratio(guarantee)))
        if pair.sign < 0:
            raise GuaranteeError(
                "A Riemannian Gaussian on hyperbolic space has an unbounded privacy loss and no "
                "pure epsilon; use RiemannianLaplace, or ask for (epsilon, delta)."
            )
        ratio = laplace_ratio(guarantee)
        most = pair.loss_ball()  # at scale one
        assert most is not None
        scale = float((most / ball(ratio)).sqrt())
        while rational_up(most) > ratio * Fraction(scale) ** 2:
            scale *= 1 + 1e-15
        return _Found(scale)

    return _answer(solve)


def _by_sobolev(pair: RadialPair, shift: float, guarantee: Guarantee) -> _Answer:
    if pair.kernel != "gaussian" or pair.sign > 0:
        return GuaranteeError("This bound is for Gaussian laws on hyperbolic space.")
    where = f"hyperbolic space of dimension {pair.dim}"

    def solve() -> _Found:
        scale = sobolev_scale(where, _floor(pair), shift, guarantee)
        return _Found(scale, enough=float(_floor(pair)) * scale**2 < 0.1)

    return _answer(solve)


def _by_delta(pair: RadialPair, shift: float, guarantee: Guarantee) -> _Answer:
    epsilon, delta = guarantee.epsilon, guarantee.delta  # type: ignore[attr-defined]
    loss, wanted = float(epsilon), float(delta)

    def proved(candidate: RadialPair) -> bool:
        return bool(delta_bound(candidate, epsilon, Fraction(1, 10**4)) <= delta)

    def solve() -> _Found:
        start = near_scale(
            pair, lambda p: p.delta(loss) <= wanted, 1e-7, first_scale(pair, guarantee)
        )
        return _Found(proven_scale(pair, start, 1e-5, proved))

    return _answer(solve)


def _by_gdp(pair: RadialPair, shift: float, guarantee: Guarantee) -> _Answer:
    square = square_for(guarantee)
    return _answer(lambda: _Found(gdp_scale(pair, square), square))


def gdp_scale(pair: RadialPair, square: Fraction) -> float:
    """The scale at which mu^2 = ``square`` is proven, or GuaranteeError."""
    mu = float(square) ** 0.5
    if not pair.has_exact_profile:
        raise GuaranteeError("The exact profile needs dimension two and a moderate shift.")
    if pair.kernel == "gaussian" and pair.sign < 0 and pair.dim > _LARGEST:
        raise GuaranteeError("In this dimension the proof by cells takes too long.")
    start, step = float(pair.shift) / mu, 2e-3
    if not is_flat_like(pair.at(Fraction(start), pair.shift)):
        start = near_scale(pair, lambda p: mu_estimate(p) <= mu, 1e-4, start)
        step = margin(pair.at(Fraction(start), pair.shift)) - 1
    return proven_scale(pair, start, step, lambda p: keeps_gdp(p, square))


def square_for(guarantee: Guarantee) -> Fraction:
    """The mu^2 whose Gaussian DP keeps a promise."""
    return _SQUARES[guarantee.notion](guarantee)


_SQUARES: dict[str, Callable[..., Fraction]] = {
    "gdp": lambda g: g.mu**2,
    "zcdp": lambda g: 2 * g.rho,
    "renyi": lambda g: 2 * g.epsilon / g.alpha,
    "approx": lambda g: gaussian_ratio(g) ** 2,
}

_ROUTES: dict[str, tuple[Callable[..., _Answer], ...]] = {
    "pure": (_by_pure,),
    "approx": (_by_delta, _by_pure),
    "gdp": (_by_gdp, _by_sobolev, _by_pure),
    "zcdp": (_by_sobolev, _by_gdp, _by_pure),
    "renyi": (_by_sobolev, _by_gdp, _by_pure),
}


def first_scale(pair: RadialPair, guarantee: Guarantee) -> float:
    """Where the search for a scale begins."""
    return float(pair.shift) / float(laplace_ratio(guarantee))


def near_scale(
    pair: RadialPair, passes: Callable[[FloatPair], bool], accuracy: float, start: float
) -> float:
    """About the least scale at which the float estimate passes; GuaranteeError if none does."""
    if not pair.has_exact_profile:
        raise GuaranteeError("The exact profile needs dimension two and a moderate sensitivity.")

    def test(scale: float) -> bool:
        return passes(FloatPair.of(pair.at(Fraction(scale), pair.shift)))

    widest = _widest(pair, start)
    low = high = min(start, 0.99 * widest)  # from where the law still exists
    while high <= widest and not test(high):
        low, high = high, high * 1.2
    if high > widest:
        raise GuaranteeError(
            "No scale of this radial law keeps the promise: on a space where volume grows "
            "exponentially more noise can reveal more. Use wrapped-gaussian."
        )
    while low == high or test(low):
        high, low = (high, low / 1.2) if low == high else (low, low / 1.2)
        if low < start * 1e-3:
            break
    while high / low > 1 + accuracy:
        middle = (low * high) ** 0.5
        if test(middle):
            high = middle
        else:
            low = middle
    return high


def _widest(pair: RadialPair, start: float) -> float:
    """Where a search ends: a Laplace law ceases to exist, a Gaussian one gets no better."""
    if pair.sign > 0:
        return 1e4 * start
    if pair.kernel == "gaussian":
        return 6 * start
    growth = _floor(pair) * (pair.dim - 1)  # squared
    return float(1 / float(growth) ** 0.5)


def proven_scale(
    pair: RadialPair, start: float, step: float, proved: Callable[[RadialPair], bool]
) -> float:
    """The first scale a little above ``start`` that is proven."""
    scale = start * (1 + step)
    for _ in range(_ATTEMPTS):
        if proved(pair.at(Fraction(scale), pair.shift)):
            return scale
        scale *= 1 + 2 * step
    raise GuaranteeError("This promise could not be proven for a radial law; use wrapped noise.")
