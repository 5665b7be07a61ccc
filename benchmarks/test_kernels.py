"""Compiled passes against pyriemann, numpy and the disk; how cost grows: ``make bench``.

Results go to benchmarks/results/kernels.json. Times are processor time (user and system, of all
threads) and calls take turns, so that a busy machine matters little; what waits for the disk or
gains by threads is measured by the clock, and says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.kernels.threads import each, thread_count
from geodp.spaces import parse_space
from geodp.statistics import domain
from geodp.statistics.many_means import frechet_means
from geodp.testing import random_points

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

from recording import versions, write_json  # noqa: E402

RESULTS = Path(__file__).parent / "results"
FACTS: dict[str, Any] = {}
POOL = 2**16


@pytest.fixture(autouse=True)
def _one_thread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")
    monkeypatch.setenv("GEODP_NUM_THREADS", "1")


@pytest.fixture(scope="module", autouse=True)
def _written() -> Any:
    """The results of all tests in one document; those of tests that did not run are kept."""
    yield
    if FACTS:
        path = RESULTS / "kernels.json"
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        packages = ("geodp", "numpy", "scipy", "numba", "pyriemann")
        write_json(path, {**old, "command": "make bench", **versions(packages), **FACTS})
        print(json.dumps(FACTS, indent=1))


class Pool:
    """Any number of records, made by going round a pool of them: no memory, no disk."""

    dtype = np.dtype(np.float64)

    def __init__(self, pool: np.ndarray, count: int) -> None:
        self._pool, self.shape = pool, (count, *pool.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        at = range(*rows.indices(len(self)))
        first = at.start % len(self._pool)
        if at.step == 1 and first + len(at) <= len(self._pool):
            return self._pool[first : first + len(at)]
        return self._pool[np.arange(at.start, at.stop, at.step) % len(self._pool)]


def _in_turn(
    calls: dict[str, Callable[[], object]], turns: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            begun = clock()
            call()
            times[name].append(clock() - begun)
    return times


def _spread(values: list[float]) -> dict[str, float]:
    low, middle, high = quantiles(values, n=4)
    return {name: float(f"{v:.4g}") for name, v in (("median", middle), ("q1", low), ("q3", high))}


def _mean(spec: str, radius: float) -> gd.FrechetMean:
    space = parse_space(spec)
    return gd.FrechetMean(gd.Ball(space, space.origin, radius))


def _records(spec: str, radius: float, count: int) -> np.ndarray:
    return random_points(parse_space(spec), count, 0.97 * radius, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("size", "count", "turns", "least"),
    [
        (2, 300_000, 3, 20),
        (3, 1_000_000, 3, 30),
        (5, 100_000, 5, 5),
        (10, 20_000, 5, 4),
        (20, 10_000, 5, 3),
    ],
)
def test_beside_pyriemann(size: int, count: int, turns: int, least: float) -> None:
    """A certified affine-invariant mean, clipping included, on one core."""
    from pyriemann.geometry.mean import mean_riemann

    mean, x = _mean(f"spd:{size}", 1.5), _records(f"spd:{size}", 1.5, count)
    exact, ours = _polished(mean, x), mean.evaluate(x).value
    theirs = mean_riemann(x, tol=1e-10)
    calls = {"geodp": lambda: mean.evaluate(x), "pyriemann": lambda: mean_riemann(x, tol=1e-10)}
    times = _in_turn(calls, turns, time.process_time)
    ratio = [b / a for a, b in zip(times["geodp"], times["pyriemann"], strict=True)]
    errors = [float(mean.space.dist(exact, value)) for value in (ours, theirs)]
    FACTS[f"mean of SPD({size}) beside pyriemann"] = {
        "records": count,
        "times_as_fast": _spread(ratio),
        "seconds": {name: _spread(values) for name, values in times.items()},
        "error": dict(zip(calls, errors, strict=True)),
        "certified_error": mean.error_bound,
    }
    assert errors[0] <= max(errors[1], 1e-10)
    assert median(ratio) >= least


def _polished(mean: gd.FrechetMean, x: np.ndarray) -> np.ndarray:
    """The mean by plain gradient steps over all records, from the computed one."""
    space, value = mean.space, mean.evaluate(x).value
    for _ in range(2):
        blocks = [x[i : i + 10_000] for i in range(0, len(x), 10_000)]
        g = sum(space.log_coords(value, block).sum(axis=0) for block in blocks) / len(x)
        value = space.exp_coords(value, g)
    return value


@pytest.mark.parametrize(
    ("spec", "radius", "count", "least"),
    [
        ("spd:2", 1.5, 100_000, 10),
        ("spd:3", 1.5, 100_000, 10),
        ("spd:3:log-euclidean", 1.5, 100_000, 3),
        ("sphere:2", 1.2, 100_000, 3),
        ("hyperbolic:3", 2.0, 100_000, 3),
        ("hyperbolic:50", 2.0, 20_000, 3),
        ("shapes:50", 0.6, 10_000, 3),
    ],
)
def test_beside_numpy(
    spec: str, radius: float, count: int, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same mean by numpy alone, and one pass by itself."""
    mean, x = _mean(spec, radius), _records(spec, radius, count)
    space, many = mean.space, domain.MANY

    def plain() -> object:
        monkeypatch.setattr(domain, "MANY", 2 * count)
        return mean.evaluate(x)

    def ours() -> object:
        monkeypatch.setattr(domain, "MANY", many)
        return mean.evaluate(x)

    ours()
    monkeypatch.setattr(domain, "MANY", many)
    clipped, at = mean.ball.clip(x), mean.evaluate(x).value
    one_pass = _in_turn({"pass": lambda: clipped.log_sum(at, 8.0)}, 9, time.process_time)["pass"]
    times = _in_turn({"geodp": ours, "numpy": plain}, 3, time.process_time)
    ratio = [b / a for a, b in zip(times["geodp"], times["numpy"], strict=True)]
    FACTS[f"mean on {space.spec} beside numpy"] = {
        "records": count,
        "times_as_fast": _spread(ratio),
        "seconds": {name: _spread(values) for name, values in times.items()},
        "nanoseconds_per_record_and_pass": _spread([1e9 * t / count for t in one_pass]),
    }
    assert median(ratio) >= least
    if spec == "spd:3":
        assert 1e9 * median(one_pass) / count <= 200  # processor time: 100 ns on two cores


def test_size_of_matrices() -> None:
    """One pass by the size of SPD matrices, beside numpy's logarithms of the same records."""
    found = {}
    counts = {
        2: 10**5,
        3: 10**5,
        4: 10**5,
        5: 50_000,
        6: 50_000,
        10: 20_000,
        20: 10_000,
        32: 10_000,
    }
    for size, count in counts.items():
        mean, x = _mean(f"spd:{size}", 1.0), _records(f"spd:{size}", 1.0, count)
        space, p = mean.space, mean.space.origin
        clipped, part = mean.ball.clip(x), x[:1000]
        calls = {
            "pass": lambda c=clipped, p=p: c.log_sum(p, 4.0),
            "numpy": lambda s=space, p=p, part=part: s.log_sum(p, part, 4.0),
        }
        times = _in_turn(calls, 5, time.process_time)
        found[str(size)] = {
            "nanoseconds_per_record": float(f"{1e9 * median(times['pass']) / count:.3g}"),
            "numpy": float(f"{1e9 * median(times['numpy']) / len(part):.3g}"),
        }
    FACTS["a pass by the size of SPD matrices"] = found
    assert all(t["nanoseconds_per_record"] < t["numpy"] for t in found.values())


def test_time_grows_with_the_number_of_records() -> None:
    """One pass, and a whole mean above what it costs at 10,000 records: linear within 15 %."""
    mean, pool = _mean("spd:3", 1.5), _records("spd:3", 1.5, POOL)
    at = mean.evaluate(pool).value
    counts = [10**4, 10**5, 10**6, 10**7]
    sources = {n: Pool(pool, n) for n in counts}
    clipped = {n: mean.ball.clip(source) for n, source in sources.items()}
    times: dict[str, dict[int, float]] = {"pass": {}, "mean": {}}
    for n in counts:
        turns = max(3, min(200, 10**7 // n))
        pass_ = _in_turn({"": lambda n=n: clipped[n].log_sum(at, 6.0)}, turns, time.process_time)
        whole = _in_turn(
            {"": lambda n=n: mean.evaluate(sources[n])}, min(turns, 7), time.process_time
        )
        times["pass"][n], times["mean"][n] = median(pass_[""]), median(whole[""])
    per_record = {n: 1e9 * t / n for n, t in times["pass"].items()}
    FACTS["cost by number of records, SPD(3)"] = {
        "nanoseconds_per_record_and_pass": {str(n): round(t, 2) for n, t in per_record.items()},
        "seconds_of_a_mean": {str(n): float(f"{t:.4g}") for n, t in times["mean"].items()},
    }
    middle = median(per_record.values())
    assert all(abs(t / middle - 1) <= 0.15 for t in per_record.values())


def test_threads() -> None:
    """Four million SPD(3) records by the clock, best of nine; and the part that threads share.

    By the clock 2 threads are 1.7 times as fast on an idle machine with 2 cores. On a busy one only
    the processor time tells: it must not grow, and what one thread does alone must be little.
    """
    mean, x = _mean("spd:3", 1.5), _records("spd:3", 1.5, 4_000_000)
    mean.evaluate(x)
    found: dict[str, Any] = {"load": os.getloadavg()[0]}
    for count in (1, 2):
        os.environ["GEODP_NUM_THREADS"] = str(count)
        assert thread_count() == count
        wall = _in_turn({"": lambda: mean.evaluate(x)}, 9, time.perf_counter)[""]
        spent = _in_turn({"": lambda: mean.evaluate(x)}, 5, time.process_time)[""]
        alone = _in_turn({"": lambda: mean.evaluate(x)}, 5, time.thread_time)[""]
        found[f"{count} threads"] = {
            "best_by_the_clock": min(wall),
            "processor_seconds": _spread(spent),
            "processor_seconds_of_the_main_thread": _spread(alone),
        }
    one, two = found["1 threads"], found["2 threads"]
    found["times_as_fast_by_the_clock"] = one["best_by_the_clock"] / two["best_by_the_clock"]
    serial = two["processor_seconds_of_the_main_thread"]["median"]
    total = two["processor_seconds"]["median"]
    found["times_as_fast_by_what_is_shared"] = total / (serial + (total - serial) / 2)
    FACTS["threads"] = found
    assert total <= 1.15 * one["processor_seconds"]["median"]
    assert list(each(abs, [-1, -2])) == [1, 2]


def test_log_euclidean_mean_from_disk(tmp_path: Path) -> None:
    """Ten million SPD(3) records in a memory map: within 1.5 times reading or computing alone."""
    count, path = 10_000_000, tmp_path / "records.npy"
    pool = _records("spd:3:log-euclidean", 1.5, POOL)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(count, 3, 3))
    for start in range(0, count, POOL):
        out[start : start + POOL] = pool[: count - start]
    out.flush()
    del out
    mean = _mean("spd:3:log-euclidean", 1.5)
    mapped, made = np.load(path, mmap_mode="r"), Pool(pool, count)
    mean.evaluate(pool)

    def read() -> None:
        for start in range(0, count, POOL):
            np.add.reduce(mapped[start : start + POOL].reshape(-1))

    calls = {
        "reading": read,
        "computing": lambda: mean.evaluate(made),
        "both": lambda: mean.evaluate(mapped),
    }
    times = _in_turn(calls, 5, time.process_time)
    ratio = [
        b / max(r, c)
        for r, c, b in zip(times["reading"], times["computing"], times["both"], strict=True)
    ]
    FACTS["log-Euclidean mean of 10^7 SPD(3) from disk"] = {
        "over_the_larger_of_reading_and_computing": _spread(ratio),
        "seconds": {name: _spread(values) for name, values in times.items()},
    }
    assert median(ratio) <= 1.5


def test_memory_of_a_stream() -> None:
    """10^8 SPD(3) records that are made while they are read: under 500 MB in all."""
    code = (
        "import re, sys, time\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_kernels import Pool, _records, _mean\n"
        "mean, pool = _mean('spd:3', 1.5), _records('spd:3', 1.5, 2**16)\n"
        "begun = time.process_time()\n"
        "mean.evaluate(Pool(pool, 10**8))\n"
        "status = open('/proc/self/status').read()\n"  # getrusage counts the parent's memory too
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024)\n"
        "print(time.process_time() - begun)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    megabytes, seconds = map(float, run.stdout.split())
    FACTS["mean of 10^8 SPD(3), streamed"] = {"megabytes": megabytes, "seconds": seconds}
    assert megabytes <= 500


def test_voxels() -> None:
    """2,000 of 10^5 voxels, 10^3 people each: the certified means of all within three minutes."""
    voxels, people, of = 2000, 1000, 100_000
    ball = _mean("spd:3", 1.5).ball
    x = _records("spd:3", 1.5, voxels * people).reshape(voxels, people, 3, 3)
    frechet_means(ball, x[:100])
    seconds = _in_turn({"": lambda: frechet_means(ball, x)}, 3, time.process_time)[""]
    FACTS["certified means of SPD(3) voxels, 1,000 people each"] = {
        "microseconds_per_voxel": _spread([1e6 * s / voxels for s in seconds]),
        "seconds_for_100,000": float(f"{median(seconds) * of / voxels:.4g}"),
    }
    assert median(seconds) * of / voxels <= 180


def test_first_use() -> None:
    """What a first mean of many records waits for: compiling once, later loading from the disk."""
    code = (
        "import time; begun = time.process_time()\n"
        "from geodp.kernels.spd import affine_invariant; affine_invariant(3)\n"
        "print(time.process_time() - begun)\n"
    )

    def run() -> float:
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return float(out.stdout)

    run()
    FACTS["loading the pass of SPD(3), numba included"] = {
        "seconds": _spread([run() for _ in range(5)])
    }
