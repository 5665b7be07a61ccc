"""All of an inference on 10⁵ SPD(3) matrices beside one public mean of the same matrices.

Processor time, both in turn in one run, so that the ratio carries over to other machines. Results
go to benchmarks/results/infer.json.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import geodp as gd

RESULTS = Path(__file__).parent / "results"
COUNT, TURNS = 100_000, 5


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def test_an_inference_on_many_tensors() -> None:
    """Mean, covariance, Hessian, variance, fourth moment and share: at most 10 s of two cores."""
    mean_riemann = pytest.importorskip("pyriemann.utils.mean").mean_riemann
    space = gd.SPD(3)
    ball = gd.Ball(space, np.eye(3), 1.5)
    z = np.random.default_rng(1).normal(size=(COUNT, space.dim)) * 0.3
    records = space.exp_coords(np.eye(3), z)
    calls: dict[str, Callable[[], object]] = {
        "infer": lambda: gd.infer(records, ball, gd.GaussianDP(1)),
        "pyriemann_mean": lambda: mean_riemann(records, tol=1e-9),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            begun = time.process_time()
            call()
            times[name].append(time.process_time() - begun)
    middle = {name: statistics.median(values) for name, values in times.items()}
    document = {
        "command": "make bench",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "load": round(os.getloadavg()[0], 1),
        "versions": {p: version(p) for p in ("geodp", "numpy", "scipy", "pyriemann")},
        "records": COUNT,
        "seconds": {name: float(f"{value:.4g}") for name, value in middle.items()},
        "slowest": {name: float(f"{max(values):.4g}") for name, values in times.items()},
        "infer_over_pyriemann_mean": float(f"{middle['infer'] / middle['pyriemann_mean']:.3g}"),
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(document, indent=2) + "\n"
    (RESULTS / "infer.json").write_text(text, encoding="utf-8")
    print(f"\ninfer: {text}")
    assert middle["infer"] <= 10
