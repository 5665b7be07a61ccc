"""Calibration in closed form: the largest certified ratio Δ/σ that keeps a promise.

Ratios are rationals on the private side; the scale is then the least float64 whose exact quotient
does not exceed the ratio. Searches end with a proof, in ball arithmetic, at the returned number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from geodp.errors import GuaranteeError
from geodp.privacy.balls import ball, lower, upper_tail
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from geodp.privacy.numbers import root_down
from geodp.privacy.pure import PureProfile
from geodp.privacy.search import greatest

if TYPE_CHECKING:
    from flint import arb


def gaussian_ratio(guarantee: Guarantee) -> Fraction:
    """The largest certified Δ/σ for which Gaussian noise keeps the promise, in any dimension.

    GDP: μ. Rényi: √(2ε/α). zCDP: √(2ρ). (ε, δ): the exact profile (Balle and Wang 2018, Thm 8),
    within 1e-9 relative of the optimum. Pure ε: GuaranteeError.

    >>> from geodp.privacy.guarantees import ApproxDP
    >>> round(float(1 / gaussian_ratio(ApproxDP(1, 1e-5)) ** 2), 4)
    13.9176
    """
    return _GAUSSIAN[guarantee.notion](guarantee)


def laplace_ratio(guarantee: Guarantee) -> Fraction:
    """The largest certified Δ/σ for which *pure ε alone* makes ℓ2-Laplace noise keep the promise.

    The ℓ2-Laplace with Δ/σ = e is e-DP in every dimension; a promise in another notion is kept
    when randomised response with that e keeps it. (ε, δ): e = log((e^ε + δ)/(1 − δ)). GDP:
    e = log(Φ(μ/2)/Φ(−μ/2)). zCDP: e tanh(e/2) = ρ. Rényi: its divergence of order α.
    The exact profile allows less noise for all but the pure promise (``spherical_solve``).

    >>> from geodp.privacy.guarantees import PureDP
    >>> laplace_ratio(PureDP(0.5))
    Fraction(1, 2)
    """
    return _LAPLACE[guarantee.notion](guarantee)


def scale_for(sensitivity: float | Fraction, ratio: float | Fraction) -> float:
    """The least float64 σ with sensitivity/σ ≤ ratio, proved in rationals.

    Both are positive and finite, read as the binary numbers they are (they are certified bounds,
    not budgets). Raises GuaranteeError for others, and when no finite σ is large enough.

    >>> scale_for(0.5, Fraction(1, 2))
    1.0
    """
    for name, value in (("the sensitivity", sensitivity), ("the ratio", ratio)):
        if not 0 < value < math.inf:
            raise GuaranteeError(f"{name[:1].upper()}{name[1:]} must be a positive finite number.")
    wanted = Fraction(sensitivity) / Fraction(ratio)
    try:
        scale = float(wanted)
    except OverflowError:
        scale = math.inf
    if math.isfinite(scale) and Fraction(scale) < wanted:
        scale = math.nextafter(scale, math.inf)
    if not math.isfinite(scale):
        raise GuaranteeError("The scale that this promise needs exceeds the largest float64.")
    return scale


# ---- one solver for each (law, notion) ----------------------------------------------------------


def _found(passes: Callable[[Fraction], bool], start: float) -> Fraction:
    value = greatest(lambda x: passes(Fraction(x)), start)
    if value is None:
        raise GuaranteeError(
            "No scale within the range of float64 keeps this promise; ask for a moderate budget."
        )
    return Fraction(value)


def _gaussian_pure(_: PureDP) -> Fraction:
    raise GuaranteeError(
        "Gaussian noise cannot promise pure epsilon, its privacy loss is unbounded; use L2Laplace, "
        "or ask for (epsilon, delta)."
    )


@lru_cache(maxsize=1024)
def _gaussian_approx(promise: ApproxDP) -> Fraction:
    return _found(
        lambda t: GaussianProfile(square=t**2).delta_upper(promise.epsilon) <= promise.delta, 1.0
    )


def _gaussian_gdp(promise: GaussianDP) -> Fraction:
    return promise.mu


def _gaussian_renyi(promise: RenyiDP) -> Fraction:
    return root_down(2 * promise.epsilon / promise.alpha)


def _gaussian_zcdp(promise: ZCDP) -> Fraction:
    return root_down(2 * promise.rho)


def _laplace_pure(promise: PureDP) -> Fraction:
    return promise.epsilon


def _laplace_approx(promise: ApproxDP) -> Fraction:
    def solution() -> arb:  # ε + log((1 + δe^{−ε})/(1 − δ)), without e^ε
        epsilon, delta = ball(promise.epsilon), ball(promise.delta)
        return epsilon + (delta * (-epsilon).exp()).log1p() - (-delta).log1p()

    return lower(solution)


def _laplace_gdp(promise: GaussianDP) -> Fraction:
    def solution() -> arb:
        tail = upper_tail(ball(promise.mu) / 2)
        return ((1 - tail) / tail).log()

    return lower(solution)


def _laplace_renyi(promise: RenyiDP) -> Fraction:
    return _found(lambda e: PureProfile(e).renyi_upper(promise.alpha) <= promise.epsilon, 1.0)


def _laplace_zcdp(promise: ZCDP) -> Fraction:
    return _found(lambda e: PureProfile(e).rho_upper() <= promise.rho, 1.0)


_GAUSSIAN: dict[str, Callable[..., Fraction]] = {
    "pure": _gaussian_pure,
    "approx": _gaussian_approx,
    "gdp": _gaussian_gdp,
    "renyi": _gaussian_renyi,
    "zcdp": _gaussian_zcdp,
}

_LAPLACE: dict[str, Callable[..., Fraction]] = {
    "pure": _laplace_pure,
    "approx": _laplace_approx,
    "gdp": _laplace_gdp,
    "renyi": _laplace_renyi,
    "zcdp": _laplace_zcdp,
}
