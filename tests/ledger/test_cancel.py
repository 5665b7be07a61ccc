"""A person stops a release: before the noise nothing is spent, and never is anything released."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.ledger.checking import check_export
from geodp.progress import Step, reporting, tick, unreported
from geodp.statistics.entity_rules import FirstRecords

BALL = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
MEAN = gd.FrechetMean(BALL)
NOISE = gd.Wrapped(gd.Gaussian())
RECORDS = gd.SPD(2).exp_coords(np.eye(2), np.random.default_rng(0).normal(size=(3000, 3)) * 0.4)


class Stop(Exception):
    pass


@pytest.fixture
def ledger(tmp_path: Path) -> gd.Ledger:
    return gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")


def _release(ledger: gd.Ledger, progress: Callable[[Step], object] | None = None, **more: Any):
    return gd.release(
        RECORDS,
        more.pop("statistic", MEAN),
        gd.GaussianDP(1),
        NOISE,
        ledger=ledger,
        dataset="study",
        progress=progress,
        **more,
    )


def _checks(ledger: gd.Ledger) -> bool:
    return all(check.passed for check in check_export(ledger.export()))


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
@pytest.mark.parametrize("stage", ["clipping", "evaluating", "noise"])
def test_stopped_before_the_noise_nothing_is_spent(
    ledger: gd.Ledger, stage: str, error: type[BaseException]
) -> None:
    def hook(step: Step) -> None:
        if step.stage == stage:
            raise error

    with pytest.raises(error):
        _release(ledger, hook, request_id="june")
    assert ledger.left_for("study", None) == 1
    assert _checks(ledger)
    assert ledger.history()[-1]["kind"] == "cancel"
    out = _release(ledger, request_id="june")  # the same request can be made after all
    assert out.ledger is not None
    assert ledger.left_for("study", None) == 0
    assert _checks(ledger)


def test_what_was_drawn_for_stays_paid(ledger: gd.Ledger, monkeypatch) -> None:
    import geodp.mechanisms.wrapped as wrapped

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wrapped, "round_release", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _release(ledger)
    assert ledger.left_for("study", None) == 0
    assert ledger.history()[-1]["kind"] == "fail"
    assert _checks(ledger)


def test_an_error_that_may_depend_on_records_stays_paid(ledger: gd.Ledger) -> None:
    """Only a person's stop is free: whether a computation fails can tell something."""

    class Failing:
        name, space, ball, error_bound = "custom", BALL.space, BALL, 1e-9

        def sensitivity(self, n: int) -> float:
            return 0.1

        def evaluate(self, records: object) -> Any:
            raise Stop

    with pytest.raises(Stop):
        _release(ledger, lambda step: None, statistic=Failing())
    assert ledger.left_for("study", None) == 0


def test_a_cancelled_entry_that_was_committed_is_found_out(ledger: gd.Ledger) -> None:
    _release(ledger)
    document = ledger.export()
    document["entries"].append(
        {**document["entries"][-1], "kind": "cancel", "number": len(document["entries"]) + 1}
    )
    assert not all(check.passed for check in check_export(document))


def test_steps_hold_public_numbers_only() -> None:
    """Two neighbours, one of which needs more passes, show the same steps but for time."""
    seen: list[list[Step]] = []
    other = RECORDS.copy()
    other[0] = np.diag([1e9, 1e-9])
    for records in (RECORDS, other):
        steps: list[Step] = []
        gd.release(records, MEAN, gd.GaussianDP(1), NOISE, progress=steps.append)
        seen.append(steps)
    for steps in seen:
        assert {step.total for step in steps} <= {0, len(RECORDS)}
        assert list(dict.fromkeys(step.stage for step in steps)) == [
            "clipping",
            "evaluating",
            "noise",
        ]
        assert all(step.done == 0 for step in steps if step.stage != "clipping")


def test_persons_are_counted_and_their_records_are_not() -> None:
    ids = np.r_[np.zeros(2000, dtype=int), np.arange(1, 1001)]
    steps: list[Step] = []
    gd.release(
        RECORDS, MEAN, gd.GaussianDP(1), NOISE, entities=ids, per_entity=2, progress=steps.append
    )
    assert {step.total for step in steps} <= {0, 1001, 2 * 1001}
    assert FirstRecords(2).rows == 2


def test_places_of_maps_are_counted() -> None:
    ball = gd.Ball(gd.Power(gd.Euclidean(1), 50), [0.0], 1.0)
    steps: list[Step] = []
    with reporting(steps.append):
        gd.FrechetMean(ball).evaluate(np.zeros((20, 50, 1)))
    assert steps[-1] == Step("places", 50, 50)


def test_hooks_nest_and_end() -> None:
    steps: list[str] = []
    with reporting(lambda step: steps.append(step.stage)):
        tick("a")
        with unreported():
            tick("b")
        with reporting(None):
            tick("c")
    tick("d")
    assert steps == ["a", "c"]


def test_infer_spends_no_more_than_what_is_drawn(ledger: gd.Ledger) -> None:
    drawn: list[Step] = []

    def hook(step: Step) -> None:
        drawn.append(step)
        if [one.stage for one in drawn].count("noise") == 2:
            raise Stop

    with pytest.raises(Stop):
        gd.infer(RECORDS, BALL, gd.GaussianDP(1), ledger=ledger, dataset="study", progress=hook)
    kinds = [entry["kind"] for entry in ledger.history()]
    assert kinds.count("commit") == 1
    assert kinds[-2:] == ["cancel", "unhold"]
    mean = next(entry for entry in ledger.history() if entry["kind"] == "reserve")
    assert ledger.spent() == Fraction(mean["body"]["price"])
    assert _checks(ledger)
