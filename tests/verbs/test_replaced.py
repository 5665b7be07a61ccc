"""The noisy share of moved records beside every value: promise, law, receipt, price, plan."""

from __future__ import annotations

import copy
import dataclasses
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import geodp as gd
from geodp.statistics import DistanceMoment, MeanHessian, TangentCovariance
from geodp.verbs.replaced import divided

PLANE = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
CAP = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.7)
MEAN = gd.FrechetMean(PLANE)
NOISE = gd.Wrapped(gd.Gaussian())
INSIDE = np.zeros((400, 2))
COUNT = 800
PROMISES = [
    gd.PureDP(1),
    gd.ApproxDP(1, "1e-5"),
    gd.GaussianDP(1),
    gd.RenyiDP(4, 1),
    gd.ZCDP("0.5"),
]


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
def test_both_parts_together_keep_the_promise(promise: Any) -> None:
    out = gd.release(INSIDE, MEAN, promise)
    assert [check for check in gd.verify(out) if not check.passed] == []
    assert out.replaced is not None
    (main,) = (stage["guarantee"] for stage in out.stages)
    count, whole = out.replaced.stage["guarantee"], promise.to_json()
    added = {
        "gdp": lambda g: Fraction(g["mu"]) ** 2,
        "zcdp": lambda g: Fraction(g["rho"]),
    }.get(promise.notion, lambda g: Fraction(g["epsilon"]))
    assert Fraction(99, 10000) < added(count) / added(whole) <= Fraction(1, 100)
    assert added(main) + added(count) <= added(whole)
    if promise.notion == "approx":  # basic composition with a pure part
        assert (count["notion"], main["delta"]) == ("pure", whole["delta"])


def test_the_share_is_the_drawn_law_around_the_truth() -> None:
    """Mean and variance of 800 seeded draws within six standard errors (false alarms below 1e-8);
    a scale 30 % off is 8.6 beyond."""
    records = np.concatenate([INSIDE, np.full((100, 2), 7.0)])
    rng = np.random.default_rng(3)
    outs = [gd.release(records, MEAN, gd.GaussianDP(2), NOISE, rng=rng) for _ in range(COUNT)]
    z = np.array([(o.replaced.share - 0.2) / (1 / 500 / 0.2) for o in outs])
    assert outs[0].replaced.deviation == pytest.approx(1 / 500 / 0.2, rel=1e-9)
    assert abs(z.mean()) < 6 / COUNT**0.5
    assert abs((z**2).mean() - 1) < 6 * (2 / COUNT) ** 0.5
    values = np.array([o.value for o in outs])
    assert abs(np.corrcoef(z, values[:, 0])[0, 1]) < 6 / COUNT**0.5


def test_a_wrong_unit_shows_at_once() -> None:
    out = gd.release(INSIDE + 1000.0, MEAN, gd.GaussianDP(2), NOISE)
    assert "check the physical unit" in repr(out)
    assert not any("moved" in note for note in out.notes)
    assert "check the physical unit" not in repr(gd.release(INSIDE, MEAN, gd.GaussianDP(2), NOISE))


def test_a_share_that_noise_drowns_is_not_told_as_a_number() -> None:
    few = gd.release(INSIDE[:4] + 1000.0, MEAN, gd.PureDP(1), gd.Wrapped(gd.L2Laplace()))
    assert few.replaced is not None
    assert few.replaced.deviation > 0.5
    (said,) = few.replaced.notes
    assert "cannot be told" in said
    assert "About" not in said
    assert "check the physical unit" not in repr(few)


def test_it_can_be_switched_off_and_is_where_nothing_is_moved() -> None:
    off = gd.release(INSIDE, MEAN, gd.GaussianDP(1), NOISE, replaced=0)
    assert off.replaced is None
    assert off.scale == pytest.approx(2 / 400, rel=1e-6)
    assert gd.release(INSIDE, MEAN, gd.GaussianDP(1), NOISE).scale == pytest.approx(
        2 / 400 / 0.99**0.5, rel=1e-6
    )
    given = gd.GivenValue(gd.Euclidean(2), np.zeros(2), 0.1)
    assert gd.release(None, given, gd.GaussianDP(1), NOISE).scale == pytest.approx(0.1)
    assert divided(gd.ReplacedShare(PLANE), gd.GaussianDP(1)).count is None
    for wrong in (-0.1, 0.6, "half", float("nan")):
        with pytest.raises(gd.InputError, match="from 0"):
            gd.release(INSIDE, MEAN, gd.GaussianDP(1), NOISE, replaced=wrong)


def test_the_ledger_charges_the_whole_once(tmp_path: Any) -> None:
    ledger = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(1), unit="person")
    paid = {"ledger": ledger, "dataset": "study"}
    gd.release(INSIDE, MEAN, gd.GaussianDP("0.5"), NOISE, **paid)
    assert ledger.spent() == Fraction(1, 4)
    before = ledger.spent()
    gd.release(INSIDE, MEAN, gd.PureDP("0.5"), gd.Wrapped(gd.L2Laplace()), **paid)
    both = float(ledger.spent() - before)
    parts = [
        gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.Euclidean(d), 1.0, gd.PureDP(e)).profile.mu()
        for d, e in ((2, "0.495"), (1, "0.005"))
    ]
    assert both == pytest.approx(sum(mu**2 for mu in parts), rel=1e-6)
    session = gd.Session(ledger, "study")
    row = session.plan([(MEAN, 400, gd.PureDP("0.5"), gd.Wrapped(gd.L2Laplace()))]).rows[0]
    assert float(row.price) == pytest.approx(both, rel=1e-9)


def test_the_plan_shows_its_cost() -> None:
    table = gd.plan(MEAN, 400, gd.GaussianDP(1), [NOISE])
    assert table.rows[0].scale == pytest.approx(2 / 400 / 0.99**0.5, rel=1e-6)
    assert table.deviation == pytest.approx(10 / 400, rel=1e-6)
    assert table.to_json()["replaced"]["guarantee"] == gd.GaussianDP("0.1").to_json()
    assert "share of replaced records" in repr(table)
    off = gd.plan(MEAN, 400, gd.GaussianDP(1), [NOISE], replaced=0)
    assert off.replaced is None
    assert "replaced" not in off.to_json()


def test_shares_that_stand_for_a_composed_law_leave_no_room(monkeypatch: Any) -> None:
    for share in (gd.ApproxDP("0.4", "1e-6"), gd.GaussianDP("0.1"), gd.PureDP("0.2")):
        monkeypatch.setattr(gd.Wrapped, "shares", lambda *_, share=share: (share,))
        (row,) = gd.plan(MEAN, 400, gd.ApproxDP(1, "1e-5"), [NOISE], releases=2).rows
        if row.share is not None:  # the Gaussian has no pure share
            assert row.counted == (share.notion != "approx")
            assert row.counted or "with replaced=0" in row.words


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda r: r.update(deviation=1e-9), "scale"),
        (lambda r: r["stage"].update(scale=1e-9), "scale"),
        (lambda r: r["stage"]["guarantee"].update(mu="0.2"), "guarantee"),
        (lambda r: r["sensitivity"].update(statistic=1e-9), "sensitivity"),
        (lambda r: r.pop("stage"), None),
    ],
)
def test_verify_finds_a_changed_share(change: Any, caught: str | None) -> None:
    document = copy.deepcopy(gd.release(INSIDE, MEAN, gd.GaussianDP(1), NOISE).to_json())
    change(document["outcome"]["replaced"])
    if caught is None:
        with pytest.raises(gd.InputError):
            gd.Release.from_json(document)
        return
    failed = [c.name for c in gd.verify(gd.Release.from_json(document)) if not c.passed]
    assert caught in failed


@pytest.mark.parametrize(
    "statistic",
    [
        TangentCovariance(CAP, [0.6, 0.0, 0.8]),
        TangentCovariance(CAP, [0.0, 0.0, 1.0], 0.3),
        MeanHessian(CAP, [0.0, 0.6, 0.8]),
        DistanceMoment(CAP, [0.0, 0.6, 0.8], 4),
        DistanceMoment(CAP, [0.0, 0.6, 0.8], 2),
        gd.FrechetVariance(CAP),
        gd.ReplacedShare(CAP),
    ],
    ids=lambda s: s.name,
)
def test_the_sensitivity_of_a_number_follows_from_its_receipt(statistic: Any) -> None:
    north = np.broadcast_to([0.0, 0.0, 1.0], (50, 3))
    document = gd.release(north, statistic, gd.GaussianDP(1), NOISE).to_json()
    document = json.loads(json.dumps(document))
    read = gd.Release.from_json(document)
    assert read.to_json() == document
    checks = {check.name: check for check in gd.verify(read)}
    assert all(check.passed for check in checks.values())
    assert "follows" in checks["sensitivity"].detail

    def failed(change: Any) -> list[str]:
        changed = copy.deepcopy(document)
        change(changed)
        again = gd.Release.from_json(changed)
        return [check.name for check in gd.verify(again) if not check.passed]

    smaller = statistic.sensitivity(50) / 2
    assert "sensitivity" in failed(lambda d: d["outcome"]["sensitivity"].update(statistic=smaller))
    if statistic.name != "share of replaced records":
        wider = {"radius": 0.8}
        parameters = document["request"]["about"]["parameters"]
        if "spread" not in parameters:
            assert "sensitivity" in failed(lambda d: d["request"]["about"]["domain"].update(wider))
        else:
            assert "sensitivity" in failed(
                lambda d: d["request"]["about"]["parameters"].update(spread=0.5)
            )
    assert "sensitivity" in failed(lambda d: d["request"].update(about=None))


def test_a_receipt_of_before_is_read_and_verifies() -> None:
    document = gd.release(INSIDE, MEAN, gd.GaussianDP(1), NOISE, replaced=0).to_json()
    del document["request"]["about"], document["outcome"]["replaced"]
    read = gd.Release.from_json(document)
    assert all(check.passed for check in gd.verify(read))


def test_the_share_is_said_in_plain_decimals() -> None:
    records = np.zeros((2, 1)) + 9.0  # all outside
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    said = gd.release(records, mean, gd.GaussianDP("0.1"), "wrapped-gaussian").replaced
    assert said is not None
    assert said.deviation == pytest.approx(50, rel=1e-6)  # 1/2 over 0.01
    assert "deviation of 5000 %" in said.notes[0]
    note = dataclasses.replace(said, share=1.0, deviation=0.1).notes[0]
    assert "About 100 %" in note
    assert "deviation 10 %" in note
