"""Persons with a few records each: all of them side by side beside one by one.

``pytest benchmarks/test_entities.py --benchmark-enable``; processor time, in turns, on one thread.
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
from geodp.statistics.entities import Entities
from geodp.statistics.entity_rules import EntityMean

RESULT = Path(__file__).parent / "results" / "entities.json"
PEOPLE, MOST, TURNS, RADIUS = 100_000, 9, 5, 1.0
FEW = 200  # persons that are averaged one by one: the ratio is for each
SPECS = ("spd:2", "spd:3", "sphere:2", "hyperbolic:3")


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _measured(spec: str) -> dict[str, Any]:
    space, rng = gd.parse_space(spec), np.random.default_rng(0)
    ball = gd.Ball(space, space.origin, RADIUS)
    ids = rng.permutation(np.repeat(np.arange(PEOPLE), rng.integers(1, MOST + 1, PEOPLE)))
    records = space.exp_coords(space.origin, rng.normal(size=(len(ids), space.dim)) * 0.3)
    mean = gd.FrechetMean(ball)
    own = [records[ids == person] for person in range(FEW)]
    own = [rows if len(rows) > 1 else np.concatenate([rows, rows]) for rows in own]
    found: list[Any] = []

    def together() -> None:
        clipped = Entities(ids, len(ids), EntityMean()).clip(ball, records)
        found[:] = [np.concatenate(list(clipped.chunks()))[:FEW]]

    def one_by_one() -> None:
        found.append(np.array([mean.evaluate(rows).value for rows in own]))

    together(), one_by_one()  # compiled, warm
    gap = float(space.dist(*found).max())
    pairs = [(_seconds(together), _seconds(one_by_one)) for _ in range(TURNS)]
    ratios = sorted(single / FEW / (all_of_them / PEOPLE) for all_of_them, single in pairs)
    return {
        "records": len(ids),
        "all persons, seconds": sorted(first for first, _ in pairs),
        "one by one over side by side, for each person": ratios,
        "largest distance between the two": gap,
        "error bound": mean.error_bound,
    }


def test_entities(benchmark: Any) -> None:
    """Side by side a person costs less than a fiftieth, and the means agree within their bounds."""
    measured = {spec: _measured(spec) for spec in SPECS}
    facts = {
        "command": "pytest benchmarks/test_entities.py --benchmark-enable",
        "people": PEOPLE,
        "records of each": f"1 to {MOST}",
        "seed": 0,
        "turns": TURNS,
        "spaces": measured,
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("numpy", "numba", "python-flint")},
    }
    RESULT.write_text(json.dumps(facts, indent=2) + "\n")
    benchmark.pedantic(lambda: None, rounds=1)
    for one in measured.values():
        ratios = one["one by one over side by side, for each person"]
        assert statistics.median(ratios) > 50
        assert one["largest distance between the two"] <= 2 * one["error bound"]
