"""Composition of a hundred releases, certified, beside dp-accounting's, in one run.

Results go to benchmarks/results/compose.json: ratios of times, and how far each ε is off.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.pld_grid import asked
from geodp.privacy.pld_profile import PLDProfile, _composed
from geodp.privacy.pure import PureProfile

RESULTS = Path(__file__).parent / "results"
PARTS = [(GaussianProfile.of("0.1"), 100)]


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def cold() -> None:
    asked.cache_clear()
    _composed.cache_clear()


def mine() -> float:
    cold()
    return PLDProfile.composed(PARTS, 88).epsilon(1e-6)


def peer(interval: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    single = pld.from_gaussian_mechanism(10.0, value_discretization_interval=interval)
    return float(single.self_compose(100).get_epsilon_for_delta(1e-6))


def seconds(run: Callable[[], float], repeats: int = 5) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.benchmark(group="100 Gaussians")
def test_certified_losses(benchmark) -> None:  # type: ignore[no-untyped-def]
    assert benchmark(mine) == pytest.approx(4.8866, rel=5e-4)


def test_a_hundred_in_less_than_a_second_and_a_half() -> None:
    assert seconds(mine, 2) < 1.5


def test_beside_dp_accounting() -> None:
    """At its default interval, 1e-4, and at the one that is as accurate."""
    pytest.importorskip("dp_accounting")
    truth = GaussianProfile.of(1).epsilon(1e-6)
    own = seconds(mine)
    facts: dict[str, object] = {"epsilon_off": mine() / truth - 1, "seconds": own}
    for interval in (1e-2, 1e-3, 1e-4):
        theirs = seconds(lambda interval=interval: peer(interval))
        off = peer(interval) / truth - 1
        facts[f"dp_accounting_at_{interval:g}"] = {
            "time_over_ours": theirs / own,
            "epsilon_off": off,
        }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "compose.json").write_text(json.dumps(facts, indent=2) + "\n")


@pytest.mark.benchmark(group="mixture")
def test_mixture_of_gaussians_and_responses(benchmark) -> None:  # type: ignore[no-untyped-def]
    def run() -> float:
        cold()
        parts = [GaussianProfile.of("0.2")] * 50 + [PureProfile.of("0.1")] * 50
        return compose(parts).epsilon(1e-6)

    assert 5 < benchmark(run) < 10
