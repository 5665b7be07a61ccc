"""A small part of the audit: our mechanisms pass, planted twins fail by the check that is theirs.

The whole of it is experiments/audit.py. Seeds are fixed; under other seeds a report of ours would
fail with probability below its stated false_alarm, at most 1e-7 each.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.testing.audit import Finding, Report, audit, audit_release, twins
from geodp.testing.audit.floats import digits_test, strong_subject
from geodp.testing.audit.neighbours import default_ball, values_apart
from geodp.testing.audit.replay import Tape, replay_test
from geodp.testing.audit.subject import on_values
from geodp.testing.audit.twin_releases import Planted

GAUSSIAN, LAPLACE = gd.Wrapped(gd.Gaussian()), gd.Wrapped(gd.L2Laplace())
RIEMANNIAN, GRADIENT = gd.RiemannianLaplace(), gd.KNormGradient()


@pytest.mark.parametrize(
    ("mechanism", "spec", "guarantee"),
    [
        (GAUSSIAN, "sphere:2", gd.GaussianDP(1)),
        (RIEMANNIAN, "spd:2", gd.PureDP(1)),
        (GRADIENT, "hyperbolic:2", gd.PureDP(1)),
        (LAPLACE, "sphere:2+euclidean:1", gd.ApproxDP(1, 1e-5)),
        (LAPLACE, "euclidean:1", gd.PureDP(1)),  # atoms of the log-ratio at either end
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_ours_pass(mechanism: gd.Wrapped, spec: str, guarantee: gd.PureDP) -> None:
    report = audit(mechanism, gd.parse_space(spec), 0.1, guarantee, minutes=0.007)
    assert report.passed, report
    assert len(report.findings) >= 9
    assert 0 < report.false_alarm < 1e-6
    names = [one.name for one in report.findings if one.outcome == "skipped"]
    timed = ["control flow of a draw", "control flow of a release"]
    assert names == (["float draws", *timed] if mechanism is GRADIENT else [])


FLAT = gd.Euclidean(2)


@pytest.mark.parametrize(
    ("twin", "space", "guarantee", "minutes", "check"),
    [
        (twins.small_noise(GAUSSIAN), FLAT, gd.GaussianDP(1), 0.25, "guarantee, float draws"),
        (twins.small_draws(LAPLACE), FLAT, gd.PureDP(1), 0.05, "law of float draws"),
        (twins.r1smg(), gd.Euclidean(10), gd.ApproxDP(1, 1e-5), 0.05, "guarantee, float draws"),
        (twins.wishart(), gd.Euclidean(3), gd.PureDP(1), 0.05, "guarantee, float draws"),
    ],
    ids=lambda x: getattr(x, "label", None),
)
def test_twins_fail(
    twin: twins.Twin, space: gd.Space, guarantee: gd.PureDP, minutes: float, check: str
) -> None:
    report = audit(twin, space, 0.1, guarantee, minutes=minutes)
    assert check in report.failed, report


@pytest.mark.parametrize("spec", ["sphere:2", "sphere:9", "hyperbolic:3", "spd:2", "spd:3"])
def test_digits_of_a_naive_release_leak_and_ours_do_not(spec: str) -> None:
    """Advantage above .15 for the planted one, on every space of the threat model; ours is allowed
    0.04 under a promise of 0.1."""
    space = gd.parse_space(spec)
    ball = default_ball(space, 0.1)
    ours, planted = (
        strong_subject(mechanism, ball, 0.1) for mechanism in (GAUSSIAN, twins.naive(GAUSSIAN))
    )
    assert ours is not None
    assert planted is not None
    assert digits_test(ours, 500, 1).outcome == "passed"
    found = digits_test(planted, 1500, 1)
    assert found.outcome == "FAILED"
    assert found.figures["at_least"] > 0.15 > 0.045 > found.figures["allowed"]


def test_a_draw_that_looks_at_the_value_is_caught() -> None:
    ball = gd.Ball(FLAT, FLAT.origin, 1.0)
    cal = gd.calibrate(GAUSSIAN, FLAT, 0.5, gd.GaussianDP(1), ball=ball)
    subject = on_values(cal, ball, 0.5)
    assert replay_test(subject, 1).outcome == "passed"

    def another(exact: Callable[..., np.ndarray]) -> object:
        return type(subject)(cal, subject.points, exact, None, None, None)

    greedy = another(lambda i, stream: np.array([stream.bits(8 + i), 0.0]))
    angry = another(lambda i, stream: [stream.bits(8)][i])
    for broken in (greedy, angry):
        assert replay_test(broken, 1).outcome == "FAILED"  # type: ignore[arg-type]


def test_a_tape_remembers_what_was_asked() -> None:
    tape, again = Tape(3), Tape(3)
    assert [tape.bits(k) for k in (5, 64, 1)] == [again.bits(k) for k in (5, 64, 1)]
    assert tape.asked == [5, 64, 1]
    assert not tape.private


def test_neighbours_are_a_sensitivity_apart() -> None:
    for spec in ("sphere:2", "spd:3", "shapes:5", "euclidean:1"):
        ball = default_ball(gd.parse_space(spec), 0.1)
        assert float(ball.space.dist(*values_apart(ball, 0.1))) == pytest.approx(0.1, rel=1e-9)


# --- whole releases -----------------------------------------------------------------------------


def planted() -> Planted:
    space = gd.SPD(2)
    return Planted(gd.Ball(space, space.origin, 1.0), gd.GaussianDP("0.6"))


def test_a_sound_release_passes() -> None:
    release = planted()
    report = audit_release(release.sound, release.ball, release.guarantee, releases=20)
    assert report.passed, report
    assert [one.name for one in report.findings] == [
        "receipt",
        "control flow of a release",
        "guarantee, whole release draws",
    ]


@pytest.mark.parametrize(
    ("name", "check", "field"),
    [
        ("footpoint from the data", "receipt", "outcome.stages.footpoint"),
        ("radius from the data", "receipt", "request.domain.radius"),
        ("error bound from the data", "receipt", "outcome.sensitivity.error_bound"),
        ("reached certificate on the receipt", "receipt", "outcome.gradient_norm"),
        ("unclipped record", "guarantee, whole release draws", None),
    ],
)
def test_broken_releases_fail(name: str, check: str, field: str | None) -> None:
    release = planted()
    report = audit_release(
        release.twins()[name],
        release.ball,
        release.guarantee,
        releases=64 if field is None else 5,
    )
    assert check in report.failed, report
    receipt = report.findings[0]
    assert field is None or field in receipt.figures["fields"]
    assert "infinity" not in repr(report)


# --- reports and the command line ---------------------------------------------------------------


def test_a_report_reads_well_and_survives_json() -> None:
    found = (
        Finding.of("digits", True, "Nothing.", {"advantage": 0.0}, comparisons=2),
        Finding.of("receipt", False, "Something."),
        Finding.skipped("law", "No density."),
    )
    report = Report("a thing", found)
    assert (report.passed, report.failed, report.false_alarm) == (False, ("receipt",), 2e-9)
    assert json.loads(json.dumps(report.to_json(), allow_nan=False))["passed"] is False
    lines = repr(report).splitlines()
    assert lines[0] == "audit of a thing"
    assert lines[1] == "   passed  digits: Nothing."
    assert lines[2] == "   FAILED  receipt: Something."
    assert "FAILED: receipt" in lines[-1]


def run(*arguments: str) -> object:
    return CliRunner().invoke(main, ["audit", *arguments])


def test_the_command_reports_and_ends_with_zero() -> None:
    done = run(
        "--mechanism", "wrapped-gaussian", "--space", "euclidean:2", "--gdp", "1",
        "--minutes", "0.005", "--seed", "3",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    assert page["passed"] is True
    assert {"subject", "findings", "false_alarm"} <= set(page)
    assert "no check failed" in done.stderr


def test_the_command_ends_with_one_if_a_check_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Report("a twin", (Finding.of("digits", False, "A leak."),))
    monkeypatch.setattr("geodp.testing.audit.audit", lambda *_, **__: bad)
    done = run("--mechanism", "wrapped-gaussian", "--space", "euclidean:2", "--gdp", "1", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["passed"] is False
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pure", "1"], "Gaussian noise cannot promise pure epsilon"),
        (["--gdp", "1", "--sensitivity", "-1"], "sensitivity"),
        (["--gdp", "1", "--minutes", "0"], "minutes"),
        ([], "exactly one guarantee"),
    ],
)
def test_the_command_refuses_in_a_sentence(arguments: list[str], words: str) -> None:
    done = run("--mechanism", "wrapped-gaussian", "--space", "euclidean:2", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
