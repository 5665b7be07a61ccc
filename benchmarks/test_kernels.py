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
from geodp.kernels.threads import thread_count
from geodp.spaces import parse_space
from geodp.statistics import DistanceMoment, MeanHessian, TangentCovariance, domain
from geodp.statistics.many_means import frechet_means
from geodp.testing import random_points

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

from recording import versions, write_json  # noqa: E402

RESULTS = Path(__file__).parent / "results"
FACTS: dict[str, Any] = {}
POOL = 2**16
_IDLE = 0.7  # load of a machine that does nothing else


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
        ("spd:3:log-cholesky", 1.0, 100_000, 3),
        ("spd:6:log-cholesky", 1.0, 50_000, 3),
        ("euclidean:6", 1.5, 100_000, 1.5),
        ("spd:3+sphere:2+euclidean:2", 1.2, 100_000, 3),
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
    """One pass, and a whole mean above a fixed cost of milliseconds: linear within 15 %."""
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
    slope = times["mean"][counts[-1]] / counts[-1]
    fixed = times["mean"][counts[0]] - slope * counts[0]
    above = {n: (t - fixed) / n / slope for n, t in times["mean"].items()}
    FACTS["cost by number of records, SPD(3)"] = {
        "nanoseconds_per_record_and_pass": {str(n): round(t, 2) for n, t in per_record.items()},
        "seconds_of_a_mean": {str(n): float(f"{t:.4g}") for n, t in times["mean"].items()},
        "fixed_seconds_of_a_mean": float(f"{fixed:.3g}"),
    }
    middle = median(per_record.values())
    assert all(abs(t / middle - 1) <= 0.15 for t in per_record.values())
    assert all(abs(ratio - 1) <= 0.15 for ratio in above.values())


def _repeated(spec: str, radius: float, count: int) -> np.ndarray:
    """Many records in memory, soon made: a pool of them again and again."""
    pool = _records(spec, radius, 2**18)
    return np.resize(pool, (count, *pool.shape[1:]))


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four million SPD(3) records by the clock, best of nine; and the part that threads share.

    By the clock 2 threads are 1.7 times as fast on an idle machine with 2 cores. On a busy one only
    the processor time tells: it must not grow, and what one thread does alone must be little.
    """
    idle = os.getloadavg()[0] < _IDLE
    mean, x = _mean("spd:3", 1.5), _repeated("spd:3", 1.5, 4_000_000)
    mean.evaluate(x)
    found: dict[str, Any] = {"load": os.getloadavg()[0], "idle": idle}
    for count in (1, 2):
        monkeypatch.setenv("GEODP_NUM_THREADS", str(count))
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
    assert total <= 1.2 * one["processor_seconds"]["median"]
    assert found["times_as_fast_by_what_is_shared"] >= 1.8
    assert found["times_as_fast_by_the_clock"] >= 1.7 or not idle


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


def test_voxels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certified means of all of 10^5 voxels, 10^3 people each: three minutes of two cores.

    Records are made block by block, 72 MB at a time, while the means are taken: the people of a
    pool, seen in every voxel through another congruence, so that its mean is known.
    """
    monkeypatch.setenv("GEODP_NUM_THREADS", "2")
    voxels, people, at_once = 100_000, 1000, 1000
    ball, rng = _mean("spd:3", 1.5).ball, np.random.default_rng(2)
    pool = random_points(ball.space, people, 1.0, rng)
    whole = gd.FrechetMean(ball).evaluate(pool).value
    values, frames = [], []
    made = spent = waited = 0.0
    for _ in range(0, voxels, at_once):
        begun = time.process_time()
        turn = ball.space.exp_coords(np.eye(3), rng.normal(size=(at_once, 6)) * 0.1)
        frame = np.linalg.cholesky(turn)
        x = frame[:, None] @ pool @ np.swapaxes(frame, 1, 2)[:, None]
        x = np.where(x == np.swapaxes(x, 2, 3), x, (x + np.swapaxes(x, 2, 3)) / 2)
        made += time.process_time() - begun
        begun, clock = time.process_time(), time.perf_counter()
        result = frechet_means(ball, x)
        spent += time.process_time() - begun
        waited += time.perf_counter() - clock
        values.append(result.value)
        frames.append(frame)
    found, frame = np.concatenate(values), np.concatenate(frames)
    expected = frame @ whole @ np.swapaxes(frame, 1, 2)
    worst = float(ball.space.dist(expected, found).max())
    FACTS["certified means of 100,000 SPD(3) voxels, 1,000 people each"] = {
        "load": os.getloadavg()[0],
        "processor_seconds": float(f"{spent:.4g}"),
        "seconds_by_the_clock": float(f"{waited:.4g}"),
        "processor_seconds_of_making_records": float(f"{made:.4g}"),
        "microseconds_per_voxel": float(f"{1e6 * spent / voxels:.4g}"),
        "farthest_from_the_known_mean": worst,
        "certified_error": result.error_bound,
    }
    assert len(found) == voxels
    assert worst <= 2 * result.error_bound + 1e-12
    assert spent / 2 <= 180


@pytest.mark.parametrize(
    ("spec", "radius", "count"),
    [
        ("spd:3", 1.5, 100_000),
        ("spd:6", 1.0, 20_000),
        ("sphere:2", 1.2, 100_000),
        ("hyperbolic:3", 2.0, 100_000),
        ("shapes:10", 0.6, 20_000),
    ],
)
def test_sums_behind_inference(
    spec: str, radius: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Squares, covariance and mean Hessian from a point that is no record, beside numpy's."""
    ball, x = _mean(spec, radius).ball, _records(spec, radius, count)
    at = ball.space.exp_coords(ball.center, np.full(ball.space.dim, 0.01))
    statistics = {
        "variance from a point": DistanceMoment(ball, at, 2),
        "fourth moment": DistanceMoment(ball, at, 4),
        "covariance": TangentCovariance(ball, at),
        "mean Hessian": MeanHessian(ball, at),
    }
    many, found = domain.MANY, {}
    for name, statistic in statistics.items():
        fused = ball.clip(x)
        monkeypatch.setattr(domain, "MANY", 2 * count)
        plain = ball.clip(x[:10_000])
        monkeypatch.setattr(domain, "MANY", many)
        calls = {
            "fused": lambda s=statistic, r=fused: s.evaluate(r),
            "numpy": lambda s=statistic, r=plain: s.evaluate(r),
        }
        calls["fused"]()
        times = _in_turn(calls, 5, time.process_time)
        ours, theirs = (1e9 * median(times[k]) / n for k, n in (("fused", count), ("numpy", 10**4)))
        found[name] = {
            "nanoseconds_per_record": float(f"{ours:.3g}"),
            "numpy": float(f"{theirs:.3g}"),
            "times_as_fast": float(f"{theirs / ours:.3g}"),
        }
    FACTS[f"sums behind inference on {ball.space.spec}"] = found
    assert all(one["times_as_fast"] >= 3 for one in found.values())


def test_records_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clipping where a third of SPD(3) records lie outside the ball, beside numpy's."""
    count = 100_000
    ball, x = _mean("spd:3", 1.5).ball, _records("spd:3", 2.25, count)
    many = domain.MANY

    def plain() -> object:
        monkeypatch.setattr(domain, "MANY", 2 * count)
        return ball.clip(x)

    def ours() -> object:
        monkeypatch.setattr(domain, "MANY", many)
        return ball.clip(x)

    share = ours().replaced_share  # type: ignore[attr-defined]
    times = _in_turn({"geodp": ours, "numpy": plain}, 5, time.process_time)
    ratio = [b / a for a, b in zip(times["geodp"], times["numpy"], strict=True)]
    FACTS["clipping SPD(3) records, some outside"] = {
        "share_outside": share,
        "nanoseconds_per_record": _spread([1e9 * t / count for t in times["geodp"]]),
        "times_as_fast_as_numpy": _spread(ratio),
    }
    assert share > 0.2
    assert median(ratio) >= 3


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
