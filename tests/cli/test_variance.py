"""A Fréchet variance alone, by options and by a spec."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main

RECORDS = np.tile([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.5], [0.0, -0.5]], (25, 1))
BALL = ("--space", "euclidean:2", "--center", "origin", "--radius", "1", "--replaced", "0")
VARIANCE = ("--statistic", "frechet-variance")
EXACT = 1e9  # a budget whose noise is nothing


@pytest.fixture
def run(tmp_path):
    np.save(tmp_path / "x.npy", RECORDS)

    def run(*words):
        return CliRunner().invoke(main, [str(word) for word in words])

    return run


def test_its_value_its_sensitivity_and_its_receipt(run, tmp_path):
    out = tmp_path / "receipt.json"
    words = ("release", tmp_path / "x.npy", *BALL, *VARIANCE, "--out", out)
    result = run(*words, "--gdp", EXACT)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["outcome"]
    assert found["value"] == pytest.approx([0.25], rel=1e-6)  # (1/n) sum of squared lengths
    assert found["sensitivity"]["statistic"] == pytest.approx(4 / 100, rel=1e-8)  # 4 r^2/n
    assert run("verify", out).exit_code == 0
    document = json.loads(out.read_text())
    assert document["request"]["about"]["space"] == "euclidean:2"
    moved = run(*words[:-2], "--gdp", EXACT, "--physical-unit", "mm")
    assert json.loads(moved.stdout)["request"]["about"]["domain"]["physical_unit"] == "mm"


def test_a_plan_of_it(run):
    result = run("plan", *BALL, *VARIANCE, "--n", 100, "--gdp", 1)
    assert result.exit_code == 0, result.stderr
    plan = json.loads(result.stdout)
    assert (plan["statistic"], plan["space"]) == ("Fréchet variance", "euclidean:1")
    assert plan["sensitivity"] == pytest.approx(0.04, rel=1e-6)
    # the mean of |N(0, s^2)| is s sqrt(2/pi)
    assert plan["mechanisms"][0]["bound"] == pytest.approx(0.04 * (2 / np.pi) ** 0.5, rel=1e-3)


def test_a_spec_of_it_and_of_persons(run, tmp_path):
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    request = gd.release(RECORDS, mean, gd.GaussianDP(EXACT), replaced=0).to_json()["request"]
    request |= {"statistic": "frechet-variance", "n": None, "replaced": "0", "unit": "person"}
    document = {"schema": "geodp/release/v1", "request": request}
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(document))
    by_spec = run("release", spec, tmp_path / "x.npy")
    assert by_spec.exit_code == 0, by_spec.stderr
    assert json.loads(by_spec.stdout)["outcome"]["value"] == pytest.approx([0.25], rel=1e-6)
    ids = tmp_path / "ids.txt"  # of two records each, whose means are (0, 0) and (0, 0)
    ids.write_text("".join(f"p{i // 2}\n" for i in range(100)))
    result = run("release", spec, tmp_path / "x.npy", "--entities", ids)
    assert json.loads(result.stdout)["outcome"]["value"] == pytest.approx([0.0], abs=1e-6)
    request["about"] = {"space": "euclidean:2"}
    spec.write_text(json.dumps(document))
    assert run("release", spec, tmp_path / "x.npy").exit_code == 2


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (BALL[:4], "radius is missing"),
        ((*BALL, "--bound", "published"), "--bound belongs to the Fréchet mean"),
        ((*BALL, "--footpoint", "0.1,0"), "is not added on euclidean:1"),
        ((*BALL, "--value", "0,0", "--sensitivity", "1"), "Give records or a --value"),
    ],
)
def test_what_is_refused(run, tmp_path, words, about):
    result = run("release", tmp_path / "x.npy", *words, *VARIANCE, "--gdp", "1")
    assert result.exit_code == 2
    assert about in result.stderr
    assert result.stdout == ""
