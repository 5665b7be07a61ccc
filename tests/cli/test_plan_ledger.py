"""plan --ledger: whether the budget would pay; it reads no data and spends nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main

ASK = "plan --space euclidean:2 --center origin --radius 1 --n 50 --mechanism wrapped-gaussian"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = gd.Ledger.create("budget.db", gd.GaussianDP(1), unit="person")
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), "origin", 1.0))
    noise = gd.Wrapped(gd.Gaussian())
    how = {"ledger": ledger, "dataset": "study"}
    gd.release(np.zeros((50, 2)), mean, gd.GaussianDP("0.8"), noise, **how, group="site=A")
    history = ledger.history()

    def call(*more):
        outcome = CliRunner().invoke(main, [*ASK.split(), *more])
        assert ledger.history() == history  # nothing is spent
        return outcome

    return call


@pytest.mark.parametrize(
    ("mu", "more", "pays"),
    [
        ("0.6", (), True),  # 0.8² + 0.6² = 1
        ("0.61", (), False),
        ("0.61", ("--dataset", "study", "--group", "site=A"), False),
        ("0.9", ("--dataset", "study", "--group", "site=B"), True),  # in parallel with site A
        ("1", ("--dataset", "study", "--group", "site=B"), True),
        ("1.01", ("--dataset", "study", "--group", "site=B"), False),
        ("0.61", ("--dataset", "other"), False),
    ],
)
def test_whether_the_budget_pays(run, mu, more, pays):
    outcome = run("--gdp", mu, "--ledger", "budget.db", *more)
    assert outcome.exit_code == (0 if pays else 3), outcome.stderr
    document = json.loads(outcome.stdout)
    assert document["budget"]["pays"] is pays
    (row,) = document["mechanisms"]
    assert ("why_not" in row) is not pays
    if pays:
        assert row["price"] == str(round(float(mu) ** 2, 4)).removesuffix(".0")
    assert ("it pays for none" in outcome.stderr) is not pays


@pytest.mark.parametrize(
    "more",
    [
        ("--dataset", "study"),
        ("--group", "site=A"),
        ("--ledger", "nowhere.db"),
        ("--ledger", "budget.db", "--group", "site=A"),
        ("--ledger", "budget.db", "--dataset", "study", "--group", "A"),
    ],
)
def test_what_cannot_be_looked_up_is_one_sentence(run, more):
    outcome = run("--gdp", "0.5", *more)
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.stderr


def test_the_origin_by_its_name():
    named, spelled = (gd.Ball(gd.SPD(2), at, 1.0) for at in ("origin", np.eye(2)))
    np.testing.assert_array_equal(named.center, spelled.center)
    maps = gd.Ball(gd.Power(gd.Sphere(2), 3), "origin", 0.5)
    assert maps.center.shape == (3, 3)
    with pytest.raises(gd.InputError, match='the text "origin"'):
        gd.Ball(gd.SPD(2), "centre", 1.0)
    with pytest.raises(gd.InputError, match="ledger"):
        gd.plan(gd.FrechetMean(named), 9, gd.GaussianDP(1), dataset="study")
