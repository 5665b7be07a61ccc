"""Privacy profiles of spherical noise: one float δ(ε), one certified, and calibrations.

Results go to benchmarks/results/profiles.json: medians in milliseconds, and how much more a
certified δ costs than a float one in the same run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest

from geodp.noise.spherical import SphericalLaw
from geodp.noise.strategies import L2Laplace
from geodp.privacy.guarantees import ApproxDP
from geodp.privacy.spherical_certified import SINGLE, delta_enclosure
from geodp.privacy.spherical_estimates import estimated_ratio
from geodp.privacy.spherical_float import FloatShift, delta_estimate
from geodp.privacy.spherical_shift import Shift
from geodp.privacy.spherical_solve import spherical_ratio

RESULTS = Path(__file__).parent / "results"
DIMENSIONS = (1, 3, 10, 100)


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def milliseconds(run: Callable[[int], object], repeats: int) -> float:
    """Median processor time; the argument differs from run to run, so that nothing is memoised."""
    run(0)
    times = []
    for k in range(1, repeats + 1):
        start = time.process_time()
        run(k)
        times.append(1e3 * (time.process_time() - start))
    return median(times)


def law(dim: int, power: float = 1.3) -> SphericalLaw:
    return SphericalLaw(dim, dim - 1.0, power, 1.0)


def test_profiles() -> None:
    shifts = {dim: Shift.of(law(dim), Fraction(2, 3)) for dim in DIMENSIONS}
    floats = {dim: FloatShift.of(shift) for dim, shift in shifts.items()}
    facts: dict[str, object] = {
        "float_delta": {
            dim: milliseconds(lambda k, d=dim: delta_estimate(floats[d], 0.3 + k / 1e4), 50)
            for dim in DIMENSIONS
        },
        "certified_delta": {
            dim: milliseconds(
                lambda k, d=dim: delta_enclosure(shifts[d], Fraction(3000 + k, 10_000), SINGLE), 5
            )
            for dim in DIMENSIONS
        },
        "float_calibration_l2_laplace": {
            dim: milliseconds(
                lambda k, d=dim: estimated_ratio(
                    L2Laplace().law(d), ApproxDP(Fraction(1000 + k, 1000), "1e-5"), 1
                ),
                5,
            )
            for dim in DIMENSIONS
        },
        "certified_calibration_l2_laplace": {
            dim: milliseconds(
                lambda k, d=dim: spherical_ratio(
                    L2Laplace().law(d), ApproxDP(Fraction(1000 + k, 1000), "1e-5")
                ),
                3,
            )
            for dim in DIMENSIONS
        },
    }
    print("profiles:", json.dumps(facts))
    text = json.dumps({"command": "make bench", "unit": "ms of processor time"} | facts, indent=2)
    (RESULTS / "profiles.json").write_text(text + "\n", encoding="utf-8")
