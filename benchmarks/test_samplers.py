"""Exact samplers of radial laws, the published chain, the wrapped Gaussian: ``make bench``.

Results go to benchmarks/results/samplers.json: processor time, and ratios of times taken in turn in
the same run, so that a busy machine matters little.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.noise.radial_laws import radial_law
from geodp.random import GeneratorBits, bit_stream
from geodp.rounding.release import round_point

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "experiments"))

from chains import BURN_IN, Chain, radial, usual_step  # noqa: E402
from recording import versions, write_json  # noqa: E402

RESULTS = Path(__file__).parent / "results"
TURNS = 5
DELTA = 0.05
FACTS: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


@pytest.fixture(scope="module", autouse=True)
def _written() -> Any:
    """The results of all tests in one document."""
    yield
    if FACTS:
        write_json(RESULTS / "samplers.json", {"command": "make bench", **versions(), **FACTS})
        print(json.dumps(FACTS, indent=1))


def _seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def _calibrated(space: gd.Space, mechanism: Any, guarantee: Any) -> Any:
    ball = gd.Ball(space, space.origin, 1.0)
    return gd.calibrate(mechanism, space, DELTA, guarantee, ball=ball)


@pytest.mark.parametrize("space", [gd.Sphere(2), gd.SPD(2), gd.SPD(3)], ids=lambda s: s.spec)
@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_beside_the_published_chain(space: gd.Space, kernel: str) -> None:
    """300 draws: exact floats, against 300 chains side by side, the fastest way to run them.

    The chains take 60 of their 10,000 steps here, and the time is scaled. More than 100 times.
    """
    count, part = 300, 60
    scale = 0.1 if kernel == "laplace" else 0.3
    rng, center = np.random.default_rng(1), space.origin
    law = radial_law(space, kernel, scale)
    law.sample(rng, 10)
    step = usual_step(space.dim, law.mean_radius())
    chain = Chain(space, radial(space, center, kernel, scale), center, step, count, rng).run(5)
    ratios, own = [], []
    for _ in range(TURNS):
        own.append(_seconds(lambda: [exact(space, law, rng, count) for _ in range(20)]) / 20)
        ratios.append(_seconds(lambda: chain.run(part)) * BURN_IN / part / own[-1])
    facts = {"draws": count, "ratio": median(ratios), "exact_seconds": median(own)}
    FACTS.setdefault("exact_over_chain", {})[f"{space.spec} {kernel}"] = facts
    assert median(ratios) > 100


def exact(space: gd.Space, law: Any, rng: np.random.Generator, count: int) -> Any:
    """Points around the origin."""
    return space.exp_coords(space.origin, law.sample(rng, count))


@pytest.mark.parametrize(
    ("space", "count"), [(gd.Sphere(2), 10**6), (gd.SPD(3), 10**5)], ids=lambda v: str(v)
)
def test_many_draws_beside_the_wrapped_gaussian(space: gd.Space, count: int) -> None:
    """Float draws of the Riemannian Laplace: at most three times the wrapped Gaussian's time."""
    rng = np.random.default_rng(1)
    laplace = _calibrated(space, gd.RiemannianLaplace(), gd.PureDP(1))
    wrapped = _calibrated(space, gd.Wrapped(gd.Gaussian()), gd.GaussianDP(1))
    own, ratios = [], []
    for cal in (laplace, wrapped):
        cal.sample(space.origin, 100, rng)
    for _ in range(TURNS):
        own.append(_seconds(lambda: laplace.sample(space.origin, count, rng)))
        ratios.append(own[-1] / _seconds(lambda: wrapped.sample(space.origin, count, rng)))
    facts = {"draws": count, "seconds": median(own), "over_wrapped_gaussian": median(ratios)}
    FACTS.setdefault("riemannian_laplace_floats", {})[space.spec] = facts
    assert median(ratios) <= 3


@pytest.mark.parametrize(
    ("space", "most"),
    [(gd.Sphere(2), 1e-3), (gd.SPD(2), 1e-3), (gd.SPD(5), 1e-2), (gd.Hyperbolic(10), 1e-2)],
    ids=lambda v: getattr(v, "spec", ""),
)
@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_exactly_rounded_draws(space: gd.Space, kernel: str, most: float) -> None:
    """One exactly rounded draw: S² and SPD(2) within 1 ms, SPD(5) and H^10 within 10 ms."""
    law, stream = radial_law(space, kernel, DELTA), bit_stream()
    value = space.exp_coords(space.origin, np.full(space.dim, 0.2))

    def draw() -> object:
        return round_point(space, value, law.exact(stream).balls)

    draw()
    times = sorted(_seconds(draw) for _ in range(500))
    facts = {
        "median_milliseconds": 1e3 * median(times),
        "99_percent_milliseconds": 1e3 * times[494],
    }
    FACTS.setdefault("exactly_rounded", {})[f"{space.spec} {kernel}"] = facts
    assert median(times) <= most


def test_a_knorm_gradient_release(benchmark: Any) -> None:
    """One K-norm gradient draw of 25 records on S², records' gradients included."""
    from ambient import ball_and_records

    from geodp.mechanisms.base import Evaluated
    from geodp.verbs.stages import calibrated

    rng = np.random.default_rng(1)
    ball, records = ball_and_records(gd.Sphere(2), np.pi / 8)
    mean = gd.FrechetMean(ball)
    clipped = ball.clip(records(25, ball.radius, rng))
    cal, _ = calibrated(gd.KNormGradient(), mean, 25, gd.PureDP(1))
    evaluated = Evaluated(mean.evaluate(clipped).value, mean, clipped)
    stream = GeneratorBits(rng)
    benchmark.pedantic(cal.release, (evaluated, stream), rounds=200, warmup_rounds=1)
    milliseconds = 1e3 * benchmark.stats.stats.median
    FACTS["k_norm_gradient_sphere_2_milliseconds"] = milliseconds
    assert milliseconds <= 5
