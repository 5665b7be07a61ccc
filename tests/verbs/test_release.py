"""The release path end to end: receipts, neighbours, refusals, and what it gives away."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import geodp as gd
from geodp.testing import random_points
from geodp.verbs.replaced import divided

SPACES = [
    gd.Euclidean(2),
    gd.SPD(2),
    gd.SPD(3, "log-euclidean"),
    gd.SPD(2, "log-cholesky"),
    gd.Hyperbolic(3),
    gd.Sphere(2),
    gd.Sphere(1),
    gd.Product(gd.Sphere(2), gd.SPD(2)),
]


def mean_on(space: gd.Space, radius: float = 0.5) -> gd.FrechetMean:
    return gd.FrechetMean(gd.Ball(space, space.origin, radius))


def records(space: gd.Space, n: int = 20, seed: int = 0) -> np.ndarray:
    return random_points(space, n, 0.5, np.random.default_rng(seed))


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_release_is_a_point_with_a_receipt_that_verifies(space: gd.Space, tmp_path: Path) -> None:
    out = gd.release(records(space), mean_on(space), gd.GaussianDP(1), unit="person")
    assert space.contains(out.value)
    assert out.private
    assert all(check.passed for check in gd.verify(out))
    path = tmp_path / "receipt.json"
    out.save(path)
    again = gd.Release.load(path)
    assert again.to_json() == out.to_json()
    np.testing.assert_array_equal(again.value, out.value)
    assert all(check.passed for check in gd.verify(again))
    assert "20 persons" in repr(out)
    assert "nothing remembers" in repr(out)


@pytest.mark.parametrize(
    ("guarantee", "mechanism"),
    [
        (gd.PureDP(1), "wrapped-l2-laplace"),
        (gd.ApproxDP(1, "1e-6"), "wrapped-gaussian"),
        (gd.ApproxDP(1, "1e-6"), "wrapped-l2-laplace"),
        (gd.GaussianDP(1), "wrapped-gaussian"),
        (gd.GaussianDP(1), "wrapped-l2-laplace"),
        (gd.RenyiDP(4, 1), "wrapped-gaussian"),
        (gd.RenyiDP(4, 1), "wrapped-l2-laplace"),
        (gd.ZCDP("0.5"), "wrapped-gaussian"),
        (gd.ZCDP("0.5"), "wrapped-l2-laplace"),
        (gd.PureDP(1), "best"),
    ],
    ids=str,
)
def test_every_guarantee_is_met_by_the_profile(guarantee: gd.Profile, mechanism: str) -> None:
    out = gd.release(records(gd.SPD(2)), mean_on(gd.SPD(2)), guarantee, mechanism)
    assert all(check.passed for check in gd.verify(out))
    promise, guarantee = guarantee, divided(mean_on(gd.SPD(2)), guarantee).value
    assert out.guarantee == promise
    strategy = gd.Wrapped(gd.Gaussian() if out.mechanism == "wrapped-gaussian" else gd.L2Laplace())
    cal = gd.calibrate(strategy, gd.SPD(2), out.sensitivity.total, guarantee)
    assert cal.scale == out.scale
    profile = cal.profile
    promised = {
        "pure": lambda: profile.delta(guarantee.epsilon) == 0,
        "approx": lambda: profile.delta(guarantee.epsilon) <= guarantee.delta,
        # mu is a root rounded down, and the profile's float is rounded up
        "gdp": lambda: profile.mu() <= math.nextafter(float(guarantee.mu), 2),
        "renyi": lambda: profile.renyi(guarantee.alpha) <= guarantee.epsilon,
        "zcdp": lambda: profile.rho() <= guarantee.rho,
    }
    assert promised[guarantee.notion]()


def test_sensitivity_on_the_receipt_is_public_and_has_its_parts() -> None:
    space = gd.Sphere(2)
    a = gd.release(records(space, seed=1), mean_on(space), gd.GaussianDP(1))
    b = gd.release(records(space, seed=2), mean_on(space), gd.GaussianDP(1))
    assert a.sensitivity == b.sensitivity
    assert a.scale == b.scale
    assert a.expected_distance == b.expected_distance
    exact = 2 * math.tan(0.5) / 20
    assert exact <= a.sensitivity.statistic <= exact * (1 + 1e-8)
    assert a.sensitivity.total >= a.sensitivity.statistic + 2 * a.sensitivity.error_bound
    assert 0 < a.sensitivity.error_bound < 1e-8


def test_nothing_but_the_value_depends_on_the_records() -> None:
    """Receipts of two data sets under the same randomness differ in the drawn numbers alone."""
    space = gd.SPD(2)
    malformed = records(space, seed=2)
    malformed[3] = np.nan
    malformed[5] = -np.eye(2)
    documents = []
    for x in (records(space, seed=1), malformed):
        rng = np.random.default_rng(9)
        document = gd.release(x, mean_on(space), gd.GaussianDP(1), rng=rng).to_json()
        document["outcome"].pop("value")
        document["outcome"]["replaced"].pop("share")
        document["outcome"].pop("released_at")
        documents.append(json.dumps(document))
    assert documents[0] == documents[1]


def _calls(action: Callable[[], object]) -> list[str]:
    """Every function of geodp entered outside the geometry, in order; solver passes once."""
    seen: list[str] = []
    once = {
        "gradient",
        "_secant",
        "_newton_step",
        "pull_in",
        "_mean_hessian",
        "_fast",
        "_safe",
        "_subsample_mean",
        "chunks",
        "raw_chunks",
        "split",
        "mean_log",
        "merge",
        "_value",
        "<listcomp>",
        "count",
    }

    def watch(frame: object, event: str, _: object) -> None:
        code = frame.f_code
        name = code.co_filename.replace("\\", "/")
        if event != "call" or "/geodp/" not in name or "/spaces/" in name:
            return
        if code.co_name not in once:
            seen.append(f"{name.rsplit('/geodp/')[-1]}:{code.co_name}")

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return seen


def test_neighbours_take_the_same_control_flow() -> None:
    space = gd.SPD(2)
    clean = records(space, seed=1)
    hostile = clean.copy()
    hostile[7] = np.inf
    far = clean.copy()
    far[7] = np.diag([1e6, 1e-6])
    traces = [
        _calls(
            lambda x=x: gd.release(
                x,
                mean_on(space),
                gd.GaussianDP(1),
                "wrapped-gaussian",
                rng=np.random.default_rng(3),
            )
        )
        for x in (clean, clean, hostile, far)
    ]
    assert traces[0] == traces[1]  # the trace itself is repeatable
    assert traces[0] == traces[2] == traces[3]
    assert len(traces[0]) > 50


def test_malformed_records_make_no_sound(capfd: pytest.CaptureFixture[str]) -> None:
    for space in SPACES:
        x = records(space)
        x[0] = np.nan
        x[1] = np.inf
        x[2] = 1e308
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = gd.release(x, mean_on(space), gd.GaussianDP(1))
        assert space.contains(out.value)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_antipodal_and_identical_records() -> None:
    space = gd.Sphere(2)
    x = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, -1.0]])
    x[:] = -space.origin
    assert space.contains(gd.release(x, mean_on(space), gd.GaussianDP(1)).value)
    same = np.broadcast_to(space.origin, (30, 3))
    assert space.contains(gd.release(same, mean_on(space), gd.GaussianDP(1)).value)


def test_a_seeded_generator_marks_the_release() -> None:
    space = gd.SPD(2)
    first, second = (
        gd.release(records(space), mean_on(space), gd.GaussianDP(1), rng=np.random.default_rng(4))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.value, second.value)
    assert not first.private
    assert "NOT PRIVATE" in repr(first)
    noise = gd.verify(first)[0]
    assert (noise.name, noise.passed) == ("noise", False)


def test_fresh_releases_differ() -> None:
    space = gd.SPD(2)
    a, b = (gd.release(records(space), mean_on(space), gd.GaussianDP(1)).value for _ in range(2))
    assert not np.array_equal(a, b)


@pytest.mark.parametrize("guarantee", [gd.GaussianDP(1), gd.ApproxDP(1, "1e-5"), gd.ZCDP("0.1")])
@pytest.mark.parametrize("space", [gd.SPD(2), gd.Sphere(2)], ids=str)
def test_a_private_footpoint_is_a_composition_of_two_releases(
    space: gd.Space, guarantee: gd.Profile
) -> None:
    two_step = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("0.3"))
    out = gd.release(records(space), mean_on(space), guarantee, two_step)
    assert len(out.stages) == 2
    assert all(check.passed for check in gd.verify(out))
    footpoint = np.array(out.stages[1]["footpoint"])
    assert space.dist(space.origin, footpoint) <= 0.5 * (1 + 1e-8)
    parts = [
        gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 1, _guarantee(stage)).profile
        for stage in out.stages
    ]
    whole = gd.compose(parts)
    if guarantee.notion == "gdp":
        assert whole.mu() <= 1
    if guarantee.notion == "zcdp":
        assert whole.rho() <= Fraction("0.1")
    if guarantee.notion == "approx":
        assert whole.delta(1) <= 1e-5


def _guarantee(stage: dict[str, object]) -> object:
    from geodp.privacy.guarantees import Guarantee

    return Guarantee.from_json(stage["guarantee"])


def test_a_private_footpoint_helps_where_the_centre_is_far() -> None:
    """On H^2, with the mean 3 from the centre and little noise, wrapping there stretches it."""
    space = gd.Hyperbolic(2)
    statistic = mean_on(space, 3.0)
    plain, two_step = (
        gd.plan(statistic, 2000, gd.GaussianDP(1), [mechanism]).rows[0]
        for mechanism in (
            gd.Wrapped(gd.Gaussian()),
            gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("0.2")),
        )
    )
    assert two_step.edge < 0.6 * plain.edge


@dataclass(frozen=True)
class Median:
    """A user's own statistic on the line: the sample median of records in [-1, 1]."""

    ball: gd.Ball
    name: str = "median"
    error_bound: float = 0.0

    @property
    def space(self) -> gd.Space:
        return self.ball.space

    def sensitivity(self, n: int) -> float:
        return 2 * self.ball.reach

    def evaluate(self, data: object) -> gd.Certified:
        return gd.Certified(np.median(np.concatenate(list(data.chunks())), axis=0), 0.0)


def test_a_statistic_of_ones_own() -> None:
    ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    out = gd.release(np.linspace(-3, 3, 9)[:, None], Median(ball), gd.PureDP(5))
    assert out.statistic == "median"
    assert all(check.passed for check in gd.verify(out))
    assert "author" in gd.verify(out)[3].detail
    assert out.sensitivity.statistic == 2 * ball.reach


def test_a_statistic_that_breaks_its_word_is_refused() -> None:
    @dataclass(frozen=True)
    class Loose(Median):
        def evaluate(self, data: object) -> gd.Certified:
            return gd.Certified(np.zeros(1), 1.0)

    ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    with pytest.raises(gd.MismatchError, match="error bound"):
        gd.release(np.zeros((3, 1)), Loose(ball), gd.PureDP(5))


@pytest.mark.parametrize(
    "value",
    [[0.0, 0.0, -1.0], [math.nan, 0.0, 1.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]],
    ids=["antipode", "nan", "off the sphere", "outside"],
)
def test_a_value_outside_its_ball_is_moved_by_the_public_rule(value: list[float]) -> None:
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)

    @dataclass(frozen=True)
    class Stray(Median):
        def evaluate(self, data: object) -> gd.Certified:
            return gd.Certified(np.array(value), 0.0)

    north = np.broadcast_to(ball.center, (5, 3))
    out = gd.release(north, Stray(ball), gd.GaussianDP("1e6"), "wrapped-gaussian")
    assert ball.space.dist(ball.center, out.value) <= 0.5 + 1e-4
    assert all(check.passed for check in gd.verify(out))


def test_a_value_of_another_shape_is_refused() -> None:
    @dataclass(frozen=True)
    class Flat(Median):
        def evaluate(self, data: object) -> gd.Certified:
            return gd.Certified(np.zeros(2), 0.0)

    ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    with pytest.raises(gd.MismatchError, match="shape"):
        gd.release(np.zeros((3, 1)), Flat(ball), gd.PureDP(5))


def test_a_given_value() -> None:
    given = gd.GivenValue(gd.SPD(2), np.eye(2), 0.05)
    out = gd.release(None, given, gd.GaussianDP("0.5"))
    assert out.n is None
    assert out.scale == 0.1
    assert all(check.passed for check in gd.verify(out))
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    on_sphere = gd.GivenValue(gd.Sphere(2), [0.0, 0.6, 0.8], 0.05, ball)
    assert gd.Sphere(2).contains(gd.release(None, on_sphere, gd.GaussianDP(1)).value)
    with pytest.raises(gd.SpaceError, match="no point"):
        gd.GivenValue(gd.SPD(2), np.zeros((2, 2)), 0.05)
    with pytest.raises(gd.InputError, match="positive"):
        gd.GivenValue(gd.SPD(2), np.eye(2), 0.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"statistic": "mean"}, "statistic"),
        ({"guarantee": 1.0}, "guarantee"),
        ({"mechanism": "laplace"}, "wrapped-gaussian"),
        ({"mechanism": 3}, "strategy"),
        ({"rng": 3}, "Generator"),
        ({"entities": [1, 2]}, "one id for each record"),
        ({"ledger": "budget.db"}, "data set's name"),
        ({"ledger": 3, "dataset": "study"}, "gd.Ledger"),
        ({"dataset": "study"}, "belongs to a ledger"),
        ({"group": "site=A"}, "belongs to a ledger"),
        ({"request_id": "1"}, "belongs to a ledger"),
        ({"records": None}, "No records"),
        ({"unit": 3}, "unit must be text"),
        ({"unit": "  "}, "unit is blank"),
        ({"unit": "\ud800"}, "cannot be encoded"),
        ({"records": np.zeros((5, 3))}, "shape"),
        ({"records": np.eye(2)[None]}, "two records"),
        ({"mechanism": gd.Wrapped(gd.Gaussian()), "guarantee": gd.PureDP(1)}, "L2Laplace"),
    ],
    ids=str,
)
def test_bad_requests_get_a_sentence(change: dict[str, object], match: str) -> None:
    request = {
        "records": records(gd.SPD(2)),
        "statistic": mean_on(gd.SPD(2)),
        "guarantee": gd.GaussianDP(1),
    } | change
    with pytest.raises(gd.InputError, match=match):
        gd.release(
            request.pop("records"), request.pop("statistic"), request.pop("guarantee"), **request
        )
