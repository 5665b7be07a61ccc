"""The log-Sobolev bound: zCDP of a Gaussian law on a space of nowhere positive curvature.

rho = shift^2 / (2 scale^2 (1 - K scale^2)) for Ric >= -K, K scale^2 < 1 (docs/proofs/riemannian).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from geodp.errors import GuaranteeError
from geodp.privacy.conversions import zcdp_delta
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.search import greatest
from geodp.privacy.zcdp_to_gdp import mu_squared_of_zcdp


def sobolev_rho(shift: Fraction, scale: Fraction, floor: Fraction) -> Fraction | None:
    """The rho of the bound, K = ``floor``; None where K scale^2 >= 1."""
    rest = 1 - floor * scale**2
    return shift**2 / (2 * scale**2 * rest) if rest > 0 else None


def sobolev_scale(where: str, floor: Fraction, shift: float, guarantee: Guarantee) -> float:
    """The least scale for which the bound keeps the promise; ``where`` names the space.

    Raises GuaranteeError below the least rho that the bound can promise, 2 K shift^2.
    """
    rho = _RHO[guarantee.notion](guarantee)
    least = 2 * floor * Fraction(shift) ** 2
    if rho < least:
        raise GuaranteeError(
            f"On {where} the bound for a Riemannian Gaussian promises no less than "
            f"{float(least):.4g}-zCDP at this sensitivity, and this needs {float(rho):.4g}. Use "
            "wrapped-gaussian."
        )
    # 2 rho u (1 - K u) >= shift^2 at u = scale^2; the smaller root, without cancellation
    root = math.sqrt(max(1 - float(least / rho), 0.0))
    scale = float(shift) / math.sqrt(float(rho) * (1 + root))
    for _ in range(64):
        found = sobolev_rho(Fraction(shift), Fraction(scale), floor)
        if found is not None and found <= rho:
            return scale
        scale *= 1 + 1e-15 if root > 1e-6 else 1 + 1e-9
    raise GuaranteeError(
        f"On {where} this promise is at the edge of what a Riemannian Gaussian can give. Use "
        "wrapped-gaussian."
    )


def rho_for(guarantee: Guarantee) -> Fraction:
    """The largest rho, nearly, whose zCDP keeps the promise."""
    return _RHO[guarantee.notion](guarantee)


def _rho_pure(_: Guarantee) -> Fraction:
    raise GuaranteeError(
        "A Riemannian Gaussian has an unbounded privacy loss here and no pure epsilon; use "
        "RiemannianLaplace, or ask for (epsilon, delta)."
    )


def _rho_approx(guarantee: Guarantee) -> Fraction:
    epsilon, delta = guarantee.epsilon, guarantee.delta  # type: ignore[attr-defined]
    found = greatest(lambda x: zcdp_delta(Fraction(x), epsilon) <= delta, 1.0)
    if found is None:
        raise GuaranteeError("No zCDP keeps this promise; ask for a moderate budget.")
    return Fraction(found)


def _rho_gdp(guarantee: Guarantee) -> Fraction:
    square: Fraction = guarantee.mu**2  # type: ignore[attr-defined]
    low, high = square / 8, square / 2
    if mu_squared_of_zcdp(low) > square:
        raise GuaranteeError("No zCDP is proven to keep this promise; ask for a moderate budget.")
    while high - low > high / 1000:
        middle = (low + high) / 2
        if mu_squared_of_zcdp(middle) <= square:
            low = middle
        else:
            high = middle
    return low


_RHO: dict[str, Callable[..., Fraction]] = {
    "pure": _rho_pure,
    "approx": _rho_approx,
    "gdp": _rho_gdp,
    "renyi": lambda g: g.epsilon / g.alpha,
    "zcdp": lambda g: g.rho,
}
