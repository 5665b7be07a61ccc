"""The ℓ2-Laplace (power 1, no pole) in dimension T ≥ 2: its privacy loss has a density.

In coordinates r ± t everything factorises, and with ν = T/2 − 1, z = s/2,
κ = 1 + (T−1)/z · K_{ν+1}(z)/K_ν(z),

    δ(ε) = c ∫ (κ − sin² θ) cos^{T−2} θ (e^{z sin θ} − e^{ε − z sin θ}) dθ,  sin θ ≥ ε/s,

a positive integrand, so nothing cancels in any dimension. For T ≥ 3 it is μ-GDP as soon as
δ(0) ≤ δ_μ(0). Proofs: docs/proofs/profiles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from geodp.privacy.balls import ball
from geodp.privacy.gaussian import gaussian_delta
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import acb, arb

    from geodp.privacy.spherical_float import FloatShift
    from geodp.privacy.spherical_shift import Shift

_SLACKS = (1e-12, 1e-10, 1e-8, 1e-6)  # tried in turn: relative, above the estimate
_BITS = 128
_POINTS = 2000


def factorises(shift: Shift | FloatShift) -> bool:
    """Whether the formula holds for this law."""
    return shift.pole == 0 and shift.power == 1 and shift.dim >= 2


def laplace_delta(shift: Shift, epsilon: Fraction, width: Fraction) -> arb:
    """δ(ε) for 0 ≤ ε < s, to about ``width`` relative, as a ball at the working precision."""
    from flint import acb, arb

    dim, z, loss = shift.dim, ball(shift.rate * shift.ratio) / 2, ball(epsilon)
    nu = arb(dim) / 2 - 1
    k, k1 = z.bessel_k(nu, True), z.bessel_k(nu + 1, True)  # both times e^z
    excess = (dim - 1) * k1 / (z * k)

    def integrand(theta: acb, _: bool) -> acb:
        sine, cosine = theta.sin(), theta.cos()
        rise = z * sine - loss / 2
        # e^{ε/2} 2 sinh(rise), over e^z
        factor = (rise + loss / 2 - z).exp() - (loss / 2 - rise - z).exp()
        return (excess + cosine * cosine) * cosine ** (dim - 2) * factor

    start = (loss / (2 * z)).asin()
    found = acb.integral(
        integrand,
        acb(start),
        acb(arb.pi() / 2),
        rel_tol=arb(0),
        abs_tol=arb(_log_size(dim, float(z), float(loss), float(excess))).exp() * float(width) / 8,
    ).real
    # the same integral with e^{z sin θ} alone over the whole range, by the Wronskian, over e^z
    root = arb.pi().sqrt() * (arb(dim - 1) / 2).gamma() * (2 / z) ** nu
    return found * z * z * k / (root * (dim - 1))


def _log_size(dim: int, z: float, loss: float, excess: float) -> float:
    """The log of the integral in floats, roughly: it sets the tolerance."""
    start = min(math.asin(min(loss / (2 * z), 1.0)), math.pi / 2 - 1e-7)
    theta = start + (math.pi / 2 - start) * (np.arange(_POINTS) + 0.5) / _POINTS
    sine, cosine = np.sin(theta), np.cos(theta)
    rise = np.maximum(2 * z * sine - loss, 1e-300)
    logs = np.log(excess + cosine**2) + (dim - 2) * np.log(cosine) + z * (sine - 1)
    logs += np.log(-np.expm1(-rise))
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()) * (math.pi / 2 - start))


def laplace_mu_estimate(shift: FloatShift) -> float:
    """The least μ in floats."""
    from geodp.privacy.spherical_float import delta_estimate

    return _mu_of(delta_estimate(shift, 0.0))


def laplace_mu_squared(shift: Shift, delta: Fraction) -> Fraction | None:
    """A certified μ² from an upper bound on δ(0), T ≥ 3; None where floats cannot tell it."""
    guess = _mu_of(float(delta))
    for slack in _SLACKS:
        if not math.isfinite(guess) or guess <= 0:
            break
        square = Fraction(guess * (1 + slack)) ** 2
        with working_precision(_BITS):
            if gaussian_delta(square, Fraction(0)) >= ball(delta):
                return square
    return None


def _mu_of(delta: float) -> float:
    """The μ with δ_μ(0) = ``delta``."""
    from scipy.special import erfinv

    return 2 * math.sqrt(2) * float(erfinv(delta))
