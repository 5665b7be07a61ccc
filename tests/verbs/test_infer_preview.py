"""The plan of an inference: what it will release, its region's radius, and its price."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.verbs.infer_preview import inference_plan

PLANE = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
CAP = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.6)
LINE = ("--space", "euclidean:2", "--center", "origin", "--radius", "1")


def run(*words):
    return CliRunner().invoke(main, ["plan", "--infer", *(str(word) for word in words)])


def records(ball, n):
    """Uniform on the square whose root mean square distance is half the radius."""
    side = ball.radius * (3 / 8) ** 0.5  # variance side^2/3 = (r/2)^2/2 along each axis
    z = np.random.default_rng(1).uniform(-side, side, (n, 2))
    return ball.space.exp_coords(ball.center, z)


@pytest.mark.parametrize("ball", [PLANE, CAP])
def test_what_was_planned_is_released(ball):
    plan = inference_plan(ball, 2000, gd.GaussianDP(4), 0.9)
    out = gd.infer(records(ball, 2000), ball, gd.GaussianDP(4), 0.9, rng=np.random.default_rng(2))
    assert {part.name: part.promise for part in plan.parts} == dict(out.split)
    assert [p.mechanism for p in plan.parts] == [r.mechanism for r in out.releases.values()]
    lengths, _ = out.region.axes
    assert plan.radius == pytest.approx(float(np.prod(lengths)) ** 0.5, rel=0.15)
    assert plan.pays is None


def test_the_radius_of_the_noise_alone():
    """A Gaussian of deviation 2 r/(n mu) in the plane: its 95 % circle has -2 log .05 squared."""
    split = {"mean": "0.25", "covariance": "0.75"}
    plan = inference_plan(PLANE, 1000, gd.GaussianDP(2), how={"split": split})
    deviation = 2 / (1000 * 2 * 0.25**0.5)
    assert plan.noise_radius == pytest.approx(deviation * (-2 * np.log(0.05)) ** 0.5, rel=1e-5)
    assert plan.expected == pytest.approx(deviation * (np.pi / 2) ** 0.5, rel=0.1)  # Rayleigh
    huge = inference_plan(PLANE, 10**9, gd.GaussianDP(2), 0.99)
    scatter = (1 / 8 / 10**9) ** 0.5  # no noise is left but the sample's
    assert huge.radius == pytest.approx(scatter * (-2 * np.log(0.01)) ** 0.5, rel=1e-2)


def test_on_the_command_line():
    result = run(*LINE, "--n", 500, "--gdp", 1, "--confidence", 0.9, "--replaced", 0)
    assert result.exit_code == 0, result.stderr
    plan = json.loads(result.stdout)
    assert [part["name"] for part in plan["parts"]] == ["mean", "covariance", "variance", "fourth"]
    squares = [Fraction(part["guarantee"]["mu"]) ** 2 for part in plan["parts"]]
    assert float(sum(squares)) == pytest.approx(1, rel=1e-9)
    assert (plan["confidence"], plan["price"], plan["pays"]) == (0.9, None, None)
    assert "region at 90 %" in result.stderr


def test_with_a_ledger(tmp_path):
    ledger = tmp_path / "budget.db"
    paying = gd.Ledger.create(ledger, gd.GaussianDP(1), unit="person")
    result = run(*LINE, "--n", 500, "--gdp", "0.5", "--ledger", ledger, "--json")
    plan = json.loads(result.stdout)
    assert float(plan["price"]) == pytest.approx(0.25, rel=1e-4)
    assert plan["pays"] is True
    result = run(*LINE, "--n", 500, "--gdp", 2, "--ledger", ledger)
    assert result.exit_code == 3
    assert json.loads(result.stdout)["pays"] is False
    assert "cost 4 together, and the ledger has 1 left" in result.stderr
    assert paying.left_for() == 1  # nothing is spent


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (("--statistic", "tangent-mean"), "has no --statistic"),
        (("--mechanism", "wrapped-gaussian"), "has no --mechanism"),
        (("--releases", 2), "has no --releases"),
        (("--entities", "--per-entity", 2), "leave out --per-entity"),
        (("--confidence", 1), "strictly between"),
        (("--spread", -1), "spread"),
        (("--n", 5), "needs at least 12 records"),
    ],
)
def test_what_is_refused(words, about):
    result = run(*LINE, "--n", 500, "--gdp", 1, *words)
    assert result.exit_code == 2
    assert about in result.stderr
    assert result.stdout == ""


def test_its_options_belong_to_it():
    words = ["plan", *LINE, "--n", "500", "--gdp", "1", "--spread", "1"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "say --infer too" in result.stderr
