"""Maps of SPD(3): all places at once beside place by place, and the exact draw of a whole map.

``pytest benchmarks/test_maps.py --benchmark-enable``; processor time, in turns, on one thread.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.random import bit_stream

RESULT = Path(__file__).parent / "results" / "maps.json"
PEOPLE, PLACES, TURNS = 300, 1000, 5
FEW = 50  # places that are solved one by one: the ratio is for each place


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def _times(work: Callable[[], object]) -> list[float]:
    work()  # compiled, warm
    found = []
    for _ in range(TURNS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return sorted(found)


def test_maps(benchmark: Any) -> None:
    """All places at once cost less than a third of place by place; a draw takes under a second."""
    cell, space = gd.SPD(3), gd.Power(gd.SPD(3), PLACES)
    alone, ball = gd.Ball(cell, np.eye(3), 1.0), gd.Ball(space, np.eye(3), 1.0)
    z = np.random.default_rng(0).normal(size=(PEOPLE, PLACES, 6)) * 0.3
    maps = cell.exp_coords(np.eye(3), z)
    mean, one = gd.FrechetMean(ball), gd.FrechetMean(alone)
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.1, gd.GaussianDP(1), ball=ball)

    def by_place() -> None:
        for place in range(FEW):
            one.evaluate(maps[:, place])

    together, single = _times(lambda: mean.evaluate(maps)), _times(by_place)
    draw = _times(lambda: cal.draw(ball.center, bit_stream()))
    ratio = statistics.median(single) / FEW / (statistics.median(together) / PLACES)
    facts = {
        "command": "pytest benchmarks/test_maps.py --benchmark-enable",
        "people": PEOPLE,
        "places": PLACES,
        "seed": 0,
        "turns": TURNS,
        "clip and all means, seconds": together,
        "one by one over all at once, for each place": ratio,
        "exact draw of a map, seconds": draw,
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("numpy", "numba", "python-flint")},
    }
    RESULT.write_text(json.dumps(facts, indent=2) + "\n")
    benchmark.pedantic(lambda: None, rounds=1)
    assert ratio > 3
    assert statistics.median(draw) < 1
