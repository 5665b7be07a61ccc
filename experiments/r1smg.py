"""The rank-1 singular multivariate Gaussian mechanism (R1SMG) does not give what it claims.

R1SMG (Ji and Li, 2024) adds √σ* Z v, Z standard normal and v a uniform direction in R^M that nobody
sees, with σ* = 2Δ²/(εψ), ψ = (δ Γ((M−1)/2)/(√π Γ(M/2)))^{2/(M−2)}, and claims (ε, δ)-DP. The noise
is a spherical generalized gamma law with shape 0 and power 2: its density has a pole of order M − 1
at the true value, so that the privacy loss is unbounded near it. Two refutations, neither of which
samples anything:

- ``attack``: the event that the output lies within tΔ of f(D). Under D it has probability
  P = erf(tΔ/√(2σ*)); under a neighbour at distance Δ its density is at most that at distance
  (1 − t)Δ, so Q ≤ 2tΔ/(M√(2πσ*)) (t/(1−t))^{M−1}. P − e^ε Q is a lower bound of the true δ(ε).
- ``delta``: the certified lower bound of the exact δ(ε) (docs/proofs/profiles).

A third column draws the noise and counts the same event, for readers who trust neither.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from recording import Run

from geodp.errors import GeodpError
from geodp.noise.spherical import SphericalLaw
from geodp.privacy.spherical import SphericalProfile

CASES = ((1.0, 1e-5), (0.1, 1e-5), (1.0, 1e-2))
DIMENSIONS = (3, 5, 10, 30, 100)
DRAWS = 200_000


def variance(dim: int, epsilon: float, delta: float) -> float:
    """The claimed σ* at Δ = 1."""
    log_psi = math.log(delta) + math.lgamma((dim - 1) / 2) - math.lgamma(dim / 2)
    return 2 / epsilon * math.exp(-(log_psi - math.log(math.pi) / 2) * 2 / (dim - 2))


def attack(dim: int, sigma: float, epsilon: float) -> tuple[float, float]:
    """The best of the events within t of the true value: (t, P − e^ε Q)."""
    best = (0.0, 0.0)
    for t in np.linspace(0.001, 0.499, 499):
        p = math.erf(t / math.sqrt(2 * sigma))
        q = 2 * t / (dim * math.sqrt(2 * math.pi * sigma)) * (t / (1 - t)) ** (dim - 1)
        best = max(best, (float(t), p - math.exp(epsilon) * q), key=lambda pair: pair[1])
    return best


def counted(dim: int, sigma: float, epsilon: float, t: float, draws: int, seed: int) -> float:
    """The same event by drawing: outputs for f(D) = 0 and for f(D') = (1, 0, …)."""
    rng = np.random.default_rng([seed, dim])
    inside = [0, 0]
    for start in range(0, draws, 20_000):
        size = min(20_000, draws - start)
        v = rng.standard_normal((size, dim))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        noise = math.sqrt(sigma) * rng.standard_normal((size, 1)) * v
        for i in (0, 1):
            inside[i] += int((np.linalg.norm(noise + i * np.eye(1, dim), axis=1) <= t).sum())
    return (inside[0] - math.exp(epsilon) * inside[1]) / draws


def row(dim: int, epsilon: float, delta: float, draws: int, seed: int) -> dict[str, Any]:
    sigma = variance(dim, epsilon, delta)
    t, event = attack(dim, sigma, epsilon)
    law = SphericalLaw(dim, shape=0.0, power=2.0, rate=0.5)
    profile = SphericalProfile.of(law, Fraction(1 / math.sqrt(sigma)))
    try:
        exact = float(profile.delta_lower(Fraction(repr(epsilon))))
    except (GeodpError, ArithmeticError):
        exact = math.nan
    return {
        "M": dim,
        "epsilon": epsilon,
        "delta_claimed": delta,
        "sigma_star": sigma,
        "delta_certified_below": exact,
        "within": t,
        "delta_attack": event,
        "delta_counted": counted(dim, sigma, epsilon, t, draws, seed),
        "times_claimed": max(event, exact if exact == exact else 0.0) / delta,
    }


def main() -> int:
    run = Run.parse("r1smg", __doc__.splitlines()[0])
    draws = run.count(DRAWS, 1000)
    rows = [row(dim, *case, draws, run.seed) for case in CASES for dim in DIMENSIONS]
    run.table("r1smg", rows)
    refuted = sum(bool(r["delta_attack"] > r["delta_claimed"]) for r in rows)
    run.document("r1smg", {"cases": len(rows), "refuted_by_the_event": refuted})
    for r in rows:
        print(" ".join(f"{key}={value:.4g}" for key, value in r.items()))
    return 0 if refuted else 1


if __name__ == "__main__":
    raise SystemExit(main())
