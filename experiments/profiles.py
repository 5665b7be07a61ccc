"""Certified profiles of spherical noise against independent quadrature, on random laws.

    python experiments/profiles.py [cases] [seed]

Prints the cases where a bound is below the truth or more than 1e-4 above it (δ ≥ 1e-12), of which
there should be none, and writes experiments/results/profiles_seed_<seed>.json. 1000 cases take
about a quarter of an hour on one core.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from recording import RESULTS, versions, write_json

from geodp.noise.spherical import SphericalLaw
from geodp.privacy.spherical_certified import SINGLE, delta_enclosure
from geodp.privacy.spherical_shift import Shift

_ORACLE = Path(__file__).parent.parent / "tests" / "privacy" / "oracle_spherical.py"


def main(count: int = 2000, seed: int = 1) -> int:
    """Run the study; the number of failures."""
    spec = spec_from_file_location("oracle_spherical", _ORACLE)
    assert spec is not None
    assert spec.loader is not None
    oracle = module_from_spec(spec)
    spec.loader.exec_module(oracle)
    rng = np.random.default_rng(seed)
    checked = failures = rejudged = 0
    seconds, widest = [], 0.0
    while checked < count:
        dim = int(rng.choice([1, 2, 3, 4, 5, 6, 8, 10, 15, 21, 50]))
        pole = float(rng.choice([0.0, rng.uniform(0, min(dim - 0.2, 3))]))
        power = float(rng.choice([1, 2, 0.5, 1.5, rng.uniform(0.5, 8)]))
        ratio = float(np.exp(rng.normal(-0.2, 1)))
        epsilon = float(rng.normal() * rng.choice([0.1, 1, 2]) * min(1.0, ratio))
        law = (dim, dim - 1 - pole, power)
        truth, error = oracle.delta(*law, ratio, epsilon)
        if truth < 1e-12 or error > 2e-5 * truth:  # beyond what float quadrature can judge
            continue
        checked += 1
        shift = Shift.of(SphericalLaw(*law, 1.0), Fraction(ratio))
        start = time.perf_counter()
        bound = delta_enclosure(shift, Fraction(epsilon), SINGLE)
        seconds.append(time.perf_counter() - start)
        low, high = float(bound.low), float(bound.high)
        widest = max(widest, high / low - 1)
        least, most = truth - error, truth + error
        if not (high >= least and low <= most):
            rejudged += 1  # the oracle's error is a guess: its spread over finer rules decides
            finer = [oracle.delta(*law, ratio, epsilon, cuts=cuts) for cuts in (8, 40)]
            least = min(least, *(value - wrong for value, wrong in finer))
            most = max(most, *(value + wrong for value, wrong in finer))
        if not (high >= least and low <= most and high <= low * (1 + 1e-4)):
            failures += 1
            print("FAIL", law, ratio, epsilon, truth, error, low, high, flush=True)
    facts = {
        "command": f"python experiments/profiles.py {count} {seed}",
        "seed": seed,
        **versions(),
        "cases": count,
        "failures": failures,
        "rejudged_by_finer_rules": rejudged,
        "widest_relative": float(f"{widest:.2g}"),
        "median_seconds": round(float(np.median(seconds)), 4),
        "slowest_seconds": round(max(seconds), 3),
    }
    write_json(RESULTS / f"profiles_seed_{seed}.json", facts)
    print(facts)
    return failures


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
