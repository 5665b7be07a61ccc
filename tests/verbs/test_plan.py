"""plan ranks by expected distance, touches no data, and says why not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodp as gd


def mean(radius: float = 1.5, space: gd.Space | None = None) -> gd.FrechetMean:
    space = space or gd.SPD(2)
    return gd.FrechetMean(gd.Ball(space, space.origin, radius))


def test_figures_on_flat_space_against_closed_forms() -> None:
    gaussian = [gd.Wrapped(gd.Gaussian())]
    table = gd.plan(mean(1.0, gd.Euclidean(3)), 50, gd.GaussianDP(1), gaussian, replaced=0)
    row = table.rows[0]
    sigma = 2 / 50
    exact = sigma * math.sqrt(8 / math.pi)
    assert row.scale == pytest.approx(sigma, rel=1e-6)
    assert row.bound == pytest.approx(exact, rel=1e-6)
    for figure, error in ((row.center, row.center_error), (row.edge, row.edge_error)):
        assert abs(figure - exact) < 5 * error
        assert error < 0.03 * exact


def test_the_better_mechanism_comes_first_and_the_impossible_last() -> None:
    table = gd.plan(mean(), 100, gd.PureDP(1))
    assert table.best.name == "riemannian-laplace"  # level at the centre, nearer at the edge
    assert table.rows[-1].why_not is not None
    assert "Gaussian" in table.rows[-1].why_not
    names = [row.mechanism.name for row in gd.plan(mean(), 100, gd.GaussianDP(1)).rows]
    assert names[:2] == ["riemannian-gaussian", "wrapped-gaussian"]  # for the same reason


def test_it_is_deterministic() -> None:
    first, second = (gd.plan(mean(), 100, gd.ApproxDP(1, "1e-5")) for _ in range(2))
    assert repr(first) == repr(second)
    assert first.to_json() == second.to_json()


def test_edge_is_worse_than_centre_where_space_is_curved() -> None:
    row = gd.plan(mean(4.0, gd.Hyperbolic(3)), 10, gd.GaussianDP(1)).rows[0]
    assert row.edge > row.center
    assert row.bound >= row.edge - 5 * row.edge_error


def test_absurd_budgets_give_figures_not_warnings() -> None:
    row = gd.plan(mean(), 2, gd.GaussianDP("0.001")).rows[0]
    assert np.isfinite([row.center, row.edge, row.bound]).all()


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"n": 1}, "at least two"),
        ({"n": 2.5}, "integer"),
        ({"n": True}, "integer"),
        ({"n": 10**400}, "at most"),
        ({"releases": 0}, "number of releases"),
        ({"releases": True}, "number of releases"),
        ({"releases": 2.0}, "number of releases"),
        ({"ledger": 3}, "gd.Ledger"),
        ({"mechanisms": []}, "At least one"),
        ({"mechanisms": ["wrapped-gaussian"]}, "strategy"),
        ({"guarantee": "1"}, "guarantee"),
        ({"statistic": 3}, "statistic"),
    ],
)
def test_bad_arguments(kwargs: dict[str, object], match: str) -> None:
    given = {"statistic": mean(), "n": 10, "guarantee": gd.GaussianDP(1)} | kwargs
    with pytest.raises(gd.InputError, match=match):
        gd.plan(**given)


def test_several_releases_share_a_guarantee() -> None:
    """ℓ2-Laplace over Gaussian, E R: exact scales; the share of the Gaussian is mu/sqrt(k)."""
    table = gd.plan(mean(), 100, gd.ApproxDP(1, "1e-5"), releases=4, replaced=0)
    row = {row.mechanism.name: row for row in table.rows}
    gaussian = [gd.Wrapped(gd.Gaussian())]
    one = gd.plan(mean(), 100, gd.ApproxDP(1, "1e-5"), gaussian, replaced=0).rows[0]
    assert row["wrapped-gaussian"].scale == pytest.approx(2 * one.scale, rel=1e-5)
    assert row["wrapped-gaussian"].share.notion == "gdp"
    squares = row["wrapped-l2-laplace"].scale ** 2 * 12 / (row["wrapped-gaussian"].scale ** 2 * 3)
    assert squares == pytest.approx(0.87, abs=0.006)
    best = table.rows[0]
    assert best.exact <= min(row["wrapped-l2-laplace"].exact, row["wrapped-gaussian"].exact)
    again = gd.calibrate(best.mechanism, gd.SPD(2), table.sensitivity, best.share)
    assert again.scale == best.scale
    assert "4 releases together" in repr(table)
    assert table.to_json()["mechanisms"][0]["share"] == best.share.to_json()
    pure = gd.plan(mean(), 100, gd.PureDP(1), releases=4)
    assert {row.share for row in pure.rows} == {gd.PureDP("0.25")}


def test_a_law_with_parameters_wins_where_it_is_clearly_better() -> None:
    table = gd.plan(mean(), 100, gd.ApproxDP(0.1, 0.1))
    best, *others = (row for row in table.rows if row.exact is not None)
    assert best.mechanism.name == "wrapped-spherical-gamma"
    assert best.exact < 0.96 * min(row.exact for row in others)
    assert f"power {best.parameters['power']:g}" in repr(table)
    names = [row.mechanism.name for row in gd.plan(mean(), 100, gd.GaussianDP(1)).rows]
    assert "wrapped-spherical-gamma" not in names  # there it is the Gaussian


def test_no_mechanism_at_all() -> None:
    table = gd.plan(mean(), 10, gd.PureDP(1), [gd.Wrapped(gd.Gaussian())])
    with pytest.raises(gd.InputError, match="No mechanism"):
        _ = table.best


@pytest.mark.parametrize(
    ("spec", "n", "mu"),
    [
        ("spd:3", 2, "0.001"),
        ("spd:3:log-euclidean", 2, "0.001"),
        ("spd:3", 500, "1"),
        ("hyperbolic:3", 50, "1"),
        ("euclidean:3", 2, "1e-9"),  # however wide: every array of floats is a point
        ("sphere:2", 5, "0.001"),
    ],
)
def test_a_plan_warns_of_noise_that_floats_cannot_hold(spec, n, mu):
    """The judge: float draws of the same noise, of which some are no points of the space."""
    space = gd.parse_space(spec)
    ball = gd.Ball(space, space.origin, 0.5)
    mechanism, promise = gd.Wrapped(gd.Gaussian()), gd.GaussianDP(mu)
    found = gd.plan(gd.FrechetMean(ball), n, promise, [mechanism])
    cal = gd.calibrate(mechanism, space, found.sensitivity, promise, ball=ball)
    with np.errstate(all="ignore"):
        draws = cal.sample(space.origin, 300, rng=np.random.default_rng(1))
    assert bool(found.warning) == (not space.contains(draws).all())
    assert ("WARNING: The noise is so wide" in repr(found)) == bool(found.warning)
    assert found.to_json().get("warning", "") == found.warning


def test_long_names_keep_their_distance_from_what_follows() -> None:
    table = gd.plan(
        mean(),
        100,
        gd.PureDP(1),
        [gd.Wrapped(gd.SphericalGamma(2.0, 2.0)), gd.Wrapped(gd.Gaussian())],
    )
    assert "wrapped-spherical-gamma " in repr(table)


def test_the_relatives_are_shown_as_other_estimands() -> None:
    north = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.6)
    table = gd.plan(gd.FrechetMean(north), 100, gd.GaussianDP(1), replaced=0)
    tangent, extrinsic = table.relatives
    assert tangent.sensitivity == pytest.approx(2 * 0.6 / 100, rel=1e-6)
    assert extrinsic.sensitivity == pytest.approx(2 * math.sin(0.6) / 100, rel=1e-6)
    assert tangent.statistic == "tangent mean"
    assert "other estimand: extrinsic mean (mean direction)" in repr(table)
    assert [one["statistic"] for one in table.to_json()["relatives"]] == [
        "tangent mean",
        "extrinsic mean (mean direction)",
    ]
    assert gd.plan(mean(1.0, gd.Euclidean(3)), 50, gd.GaussianDP(1)).relatives == ()
