"""Certified profiles of radial laws against simulation, on random cases.

    python experiments/radial_profiles.py [--share 0.1]

A case is a space, a law, a scale, a sensitivity and an epsilon. Draws around one centre and their
distances to a second one, found on the space itself (exp and dist) and not by the law of cosines,
give delta(epsilon) with a standard error. A certified bound may not be below it by more than five.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from recording import Run

import geodp as gd
from geodp.mechanisms.riemannian_price import radial_profile
from geodp.noise.radial_laws import radial_law

CASES, DRAWS = 200, 100_000
ERRORS = 5.0
EXACT = 0.05  # what a bound from the exact profile may exceed five standard errors by, relative


@dataclass(frozen=True)
class Case:
    space: gd.Space
    kernel: str
    scale: float
    shift: float
    epsilon: float


def random_case(index: int, rng: np.random.Generator) -> Case:
    """Spheres, hyperbolic spaces, planar shapes and SPD(2) in turn."""
    kernel = str(rng.choice(["laplace", "gaussian"]))
    size = int(rng.integers(2, 9))
    curvature = float(np.exp(rng.uniform(-1, 1)))
    space: gd.Space = [
        lambda: gd.Sphere(size, curvature),
        lambda: gd.Hyperbolic(size, -curvature),
        lambda: gd.PlanarShapes(size + 1),
        lambda: gd.SPD(2),
    ][index % 4]()
    unit = 1 / math.sqrt(curvature) if index % 4 < 2 else 1.0
    scale = float(np.exp(rng.uniform(-2.5, 0))) * unit
    if kernel == "laplace" and space.is_hadamard:  # where it exists
        scale = min(scale, 0.8 * unit / (space.dim - 1))
    shift = min(scale * float(np.exp(rng.uniform(-1.5, 0.7))), 0.7 * unit)
    return Case(space, kernel, scale, shift, float(rng.uniform(0, 1)) * shift / scale)


def simulated(case: Case, count: int, rng: np.random.Generator) -> tuple[float, float]:
    """delta(epsilon) and its standard error."""
    space, base = case.space, case.space.origin
    step = rng.standard_normal(space.dim)
    other = space.exp_coords(base, case.shift * step / np.linalg.norm(step))
    z = radial_law(space, case.kernel, case.scale).sample(rng, count)
    points = space.exp_coords(np.broadcast_to(base, (count, *base.shape)), z)
    r, t = np.linalg.norm(z, axis=-1), space.dist(other, points)
    loss = (t - r) / case.scale
    if case.kernel == "gaussian":
        loss = (t - r) * (t + r) / (2 * case.scale**2)
    parts = np.maximum(0.0, -np.expm1(np.minimum(case.epsilon - loss, 0.0)))
    return float(parts.mean()), float(parts.std() / math.sqrt(count))


def row(case: Case, count: int, rng: np.random.Generator) -> dict[str, Any]:
    begun = time.process_time()
    profile = radial_profile(case.space, case.kernel, case.scale, case.shift)
    bound = float(profile.delta_upper(Fraction(case.epsilon)))
    seconds = time.process_time() - begun
    value, error = simulated(case, count, rng)
    return {
        "space": case.space.spec,
        "kernel": case.kernel,
        "scale": case.scale,
        "shift": case.shift,
        "epsilon": case.epsilon,
        "bound": bound,
        "simulated": value,
        "error": error,
        "errors_above": (bound - value) / error if error else math.inf,
        "seconds": seconds,
    }


def main() -> int:
    run = Run.parse("radial_profiles", __doc__.splitlines()[0])
    rng = np.random.default_rng(run.seed)
    cases = [random_case(index, rng) for index in range(run.count(CASES))]
    rows = [row(case, run.count(DRAWS, 20_000), rng) for case in cases]
    below = sum(r["bound"] < r["simulated"] - ERRORS * r["error"] for r in rows)
    exact = [r for r in rows if not r["space"].startswith("spd")]
    loose = sum(
        r["bound"] > (1 + EXACT) * r["simulated"] + ERRORS * r["error"] + 1e-4 for r in exact
    )
    run.table("radial_profiles", rows)
    run.document(
        "radial_profiles",
        {
            "cases": len(rows),
            "below": below,
            "exact_cases": len(exact),
            "exact_cases_too_high": loose,
            "least_errors_above": min(r["errors_above"] for r in rows),
            "median_seconds": float(np.median([r["seconds"] for r in rows])),
            "slowest_seconds": max(r["seconds"] for r in rows),
        },
    )
    print(f"{len(rows)} cases, {below} below the simulation, {loose} exact ones too high")
    return 1 if below or loose else 0


if __name__ == "__main__":
    raise SystemExit(main())
