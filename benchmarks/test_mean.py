"""How fast, how lean: ``make bench``. Results go to benchmarks/results/.

The certified mean beside pyriemann's: both on one thread, in turns, by the time that the processor
spends on them, so that a busy machine matters little. Ratios are medians with their quartiles.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.random import bit_stream
from geodp.testing import random_points

RESULTS = Path(__file__).parent / "results"
RECORDS, RADIUS, TURNS = 100_000, 3.0, 9


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    """SPD(3) matrices within the ball, so that clipping moves none of them."""
    return random_points(gd.SPD(3), RECORDS, 0.97 * RADIUS, np.random.default_rng(1))


def _mean() -> gd.FrechetMean:
    return gd.FrechetMean(gd.Ball(gd.SPD(3), np.eye(3), RADIUS))


def test_certified_mean_beside_pyriemann(benchmark: Any, records: np.ndarray) -> None:
    """Ratio of times at equal or better accuracy, clipping included: at most 0.1."""
    from pyriemann.geometry.mean import mean_riemann

    space, mean = gd.SPD(3), _mean()

    def theirs() -> np.ndarray:
        return np.asarray(mean_riemann(records, tol=1e-9))

    def ours() -> np.ndarray:
        return mean.evaluate(records).value

    exact = _reference(space, records, ours())
    calls = {"geodp": ours, "pyriemann": theirs, "clip": lambda: mean.ball.clip(records)}
    errors = {name: float(space.dist(exact, calls[name]())) for name in ("geodp", "pyriemann")}
    times = _in_turn(calls)
    ratio = [a / b for a, b in zip(times["geodp"], times["pyriemann"], strict=True)]
    benchmark.pedantic(ours, rounds=1)
    facts = {
        "records": RECORDS,
        "ratio": _spread(ratio),
        "processor_seconds": {name: _spread(values) for name, values in times.items()},
        "error": errors,
        "certified_error": mean.error_bound,
    }
    _write("mean", facts)
    assert errors["geodp"] <= max(errors["pyriemann"], 1e-12)
    assert statistics.median(ratio) <= 0.1


def test_peak_memory(tmp_path: Path, records: np.ndarray) -> None:
    """Most memory ever allocated, the input counted: at most 1.3 times the input."""
    path = tmp_path / "records.npy"
    np.save(path, records)
    code = (
        "import sys, tracemalloc, numpy as np, geodp as gd\n"
        "mean = gd.FrechetMean(gd.Ball(gd.SPD(3), np.eye(3), 3.0))\n"
        "mean.evaluate(np.stack([np.eye(3)] * 10_000))\n"  # imports what is imported late
        "tracemalloc.start()\n"
        "x = np.load(sys.argv[1], mmap_mode=sys.argv[2] or None)\n"
        "mean.evaluate(x)\n"
        "print(tracemalloc.get_traced_memory()[1] / x.nbytes)\n"
    )
    loaded, mapped = (float(_python(code, str(path), mode)) for mode in ("", "r"))
    facts = {"records": RECORDS, "peak_over_input": loaded, "peak_over_input_mapped": mapped}
    _write("memory", facts)
    assert loaded <= 1.3
    assert mapped <= 0.3


def test_import_time() -> None:
    """``import geodp`` above ``import numpy``, each in a fresh interpreter: at most 0.3 s."""
    code = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
    names = ("geodp", "numpy")
    pairs = [[float(_python(code.format(name))) for name in names] for _ in range(11)]
    above = [geodp - numpy for geodp, numpy in pairs]
    _write("import", {"seconds_above_numpy": _spread(above)})
    assert statistics.median(above) <= 0.3


@pytest.mark.parametrize(
    ("space", "most"),
    [(gd.Sphere(2), 1e-3), (gd.SPD(5), 5e-3), (gd.SPD(5, "log-euclidean"), 5e-3)],
    ids=lambda value: getattr(value, "spec", ""),
)
def test_exactly_rounded_release(benchmark: Any, space: gd.Space, most: float) -> None:
    """One draw of the wrapped Gaussian: S² within 1 ms, SPD(5) within 5 ms."""
    ball = gd.Ball(space, space.origin, 1.0)
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.05, gd.GaussianDP(1), ball=ball)
    value = random_points(space, 1, 0.9, np.random.default_rng(2))[0]
    stream = bit_stream()
    cal.draw(value, stream)
    benchmark.pedantic(cal.draw, (value, stream), rounds=300)
    seconds = benchmark.stats.stats.median
    _write(f"release_{space.spec.replace(':', '_')}", {"microseconds_per_draw": 1e6 * seconds})
    assert seconds <= most


def _reference(space: gd.Space, records: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The mean to 1e-12, by gradient steps over all records."""
    for _ in range(60):
        g = space.log_coords(x, records).mean(axis=0)
        x = space.exp_coords(x, g)
        if np.linalg.norm(g) < 1e-13:
            break
    assert np.linalg.norm(space.log_coords(x, records).mean(axis=0)) < 1e-12
    return x


def _in_turn(calls: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            begun = time.process_time()
            call()
            times[name].append(time.process_time() - begun)
    return times


def _spread(values: list[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(values, n=4)
    return {name: float(f"{v:.4g}") for name, v in (("median", middle), ("q1", low), ("q3", high))}


def _python(code: str, *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return run.stdout


def _write(name: str, facts: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    packages = ("geodp", "numpy", "scipy", "python-flint", "pyriemann")
    document = {
        "command": "make bench",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "versions": {package: version(package) for package in packages},
        **facts,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"\n{name}: {json.dumps(facts)}")
