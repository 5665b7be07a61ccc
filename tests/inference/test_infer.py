"""infer: budget, refusals, receipts, ledger, groups; regions by hand."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, f, norm

import geodp as gd
from geodp.inference import (
    ConfidenceRegion,
    angle_to,
    as_csv,
    difference,
    equal_means,
    fractional_anisotropy,
    one_sample,
)
from geodp.inference.collect import without_noise
from geodp.inference.estimate import Estimate
from geodp.inference.pivot import Limited, Pivot, matched_dof
from geodp.inference.quantiles import hotelling_quantile
from geodp.inference.shares import additive, checked_shares, promises
from geodp.inference.simulated import quantile, tail

PLANE = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
TINY = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1e-40)
HALVES = {"mean": 0.5, "covariance": 0.5}
CAP = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.7)


def cloud(n=300, seed=1, shift=0.0):
    return np.random.default_rng(seed).uniform(-0.4, 0.4, (n, 2)) + shift


def directions(n=300, seed=1):
    return CAP.space.exp_coords(CAP.center, cloud(n, seed))


def test_the_parts_together_keep_the_promise():
    out = gd.infer(directions(), CAP, gd.GaussianDP(1))
    assert set(out.split) == {"mean", "covariance", "hessian", "variance", "fourth", "replaced"}
    spent = sum(part.mu**2 for part in out.split.values())
    assert Fraction(999, 1000) < spent <= 1
    for name, receipt in out.releases.items():
        assert receipt.guarantee == out.split[name]
        assert all(check.passed for check in gd.verify(receipt)), name
    assert out.private
    assert out.region.contains(out.mean.value)


def test_approximate_promises_go_through_gaussian_dp():
    mu = additive(gd.ApproxDP(1, 1e-5)).mu
    # delta of mu-GDP at epsilon = 1 in closed form (Balle and Wang 2018)
    m = float(mu)
    delta = norm.cdf(-1 / m + m / 2) - np.e * norm.cdf(-1 / m - m / 2)
    assert 0.999e-5 < delta <= 1e-5


@pytest.mark.parametrize(
    "promise", [gd.PureDP(3), gd.ApproxDP(2, 1e-6), gd.ZCDP(0.5), gd.RenyiDP(4, 2)]
)
def test_every_notion_gives_a_region(promise):
    out = gd.infer(cloud(), PLANE, promise)
    assert out.region.noise_share > 0
    assert out.interval.low <= out.interval.high
    document = json.loads(json.dumps(out.to_json(), allow_nan=False))
    again = ConfidenceRegion.from_json(document["region"])
    np.testing.assert_array_equal(again.covariance, out.region.covariance)


def test_split_of_the_user():
    shares = {"mean": 0.6, "covariance": 0.4}
    out = gd.infer(cloud(), PLANE, gd.GaussianDP(1), split=shares)
    assert out.interval is None
    assert out.replaced is None
    assert float(out.split["mean"].mu) == pytest.approx(0.6**0.5)
    assert sum(part.mu**2 for part in out.split.values()) <= 1
    parts = promises(gd.ZCDP(1), checked_shares(shares, PLANE.space))
    assert parts["mean"].rho + parts["covariance"].rho == 1
    for wrong, words in [
        ({"mean": 1}, "covariance"),
        ({"mean": 0.8, "covariance": 0.3}, "more than 1"),
        ({"mean": 0.5, "covariance": 0.1, "variance": 0.1}, "fourth"),
        ({"mean": -1, "covariance": 0.1}, "between 0 and 1"),
        ({"mean": 0.5, "covariance": 0.1, "hessian": 0.1}, "leave it out"),
        ({"median": 1}, "some of"),
    ]:
        with pytest.raises(gd.InputError, match=words):
            gd.infer(cloud(), PLANE, gd.GaussianDP(1), split=wrong)


def test_the_replaced_share_shows_a_wrong_unit():
    out = gd.infer(1000 * cloud() + 5, PLANE, gd.GaussianDP(5))
    assert out.replaced.low > 0.9
    assert any("check the physical unit" in note for note in out.notes)
    silent = gd.infer(cloud(), PLANE, gd.GaussianDP(5), replaced=0)
    assert "replaced" not in silent.split


def test_refusals_spend_nothing(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    paid = {"ledger": ledger, "dataset": "study"}
    calls = [
        (lambda: gd.infer(cloud(8), PLANE, gd.GaussianDP(0.5), **paid), "at least 12 records"),
        (lambda: gd.infer(cloud(), PLANE, gd.GaussianDP(0.5), 1.0, **paid), "between 0 and 1"),
        (lambda: gd.infer(directions(), CAP, gd.GaussianDP(5e-3), **paid), "noise alone"),
        (lambda: gd.infer(cloud(), PLANE, gd.GaussianDP(0.5), replaced=0.7, **paid), "share"),
        (lambda: gd.infer(cloud(), PLANE, gd.GaussianDP("1e-3"), **paid), "ball's diameter"),
        (lambda: gd.infer(cloud(), TINY, gd.GaussianDP(0.5), split=HALVES, **paid), "range of"),
        (
            lambda: gd.infer(
                directions(), gd.Ball(CAP.space, CAP.center, 1.55), gd.GaussianDP(0.5), **paid
            ),
            "smeary",
        ),
    ]
    for call, words in calls:
        with pytest.raises(gd.InputError, match=words):
            call()
    with pytest.raises(gd.LedgerRefusal, match="Nothing is spent"):
        gd.infer(cloud(), PLANE, gd.GaussianDP(1.2), **paid)
    assert ledger.spent() == 0
    out = gd.infer(cloud(), PLANE, gd.GaussianDP(0.6), **paid, request_id="first")
    assert ledger.spent() <= Fraction(36, 100)
    assert out.mean.ledger is not None
    again = gd.infer(cloud(), PLANE, gd.GaussianDP(0.6), **paid, request_id="first")
    np.testing.assert_array_equal(again.region.covariance, out.region.covariance)
    assert ledger.spent() <= Fraction(36, 100)


def test_what_the_ledger_cannot_pay_whole_is_refused_before_any_part(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    paid = {"ledger": ledger, "dataset": "study", "request_id": "mine"}
    with pytest.raises(gd.LedgerRefusal, match="Nothing is spent"):
        gd.infer(cloud(), PLANE, gd.GaussianDP("1.0001"), **paid)
    by = {"by": ["a"] * 150 + ["b"] * 150, "by_public": True}
    with pytest.raises(gd.LedgerRefusal, match="Nothing is spent"):
        gd.infer(cloud(), PLANE, gd.GaussianDP("1.0001"), **by, **paid)
    assert ledger.spent() == 0
    # b has spent already: a alone would fit, both together do not
    second = {"ledger": ledger, "dataset": "study", "group": "group=b"}
    gd.infer(cloud()[150:], PLANE, gd.GaussianDP(0.8), **second)
    before = ledger.spent()
    with pytest.raises(gd.LedgerRefusal, match="Nothing is spent"):
        gd.infer(cloud(), PLANE, gd.GaussianDP(0.7), **by, **paid)
    assert ledger.spent() == before
    assert ledger.left_for("study", "group=a") == 1


def test_a_retry_pays_only_for_the_parts_that_are_left(tmp_path, monkeypatch):
    from geodp.verbs import infer as module

    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    paid = {"ledger": ledger, "dataset": "study", "request_id": "mine"}
    whole, made = module.release, []

    def broken(*given, **named):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(whole(*given, **named))
        return made[-1]

    monkeypatch.setattr(module, "release", broken)
    with pytest.raises(KeyboardInterrupt):
        gd.infer(cloud(), PLANE, gd.GaussianDP(1), **paid)
    spent = ledger.spent()
    assert 0 < spent < 1
    monkeypatch.setattr(module, "release", whole)
    out = gd.infer(cloud(), PLANE, gd.GaussianDP(1), **paid)  # all of it would not fit again
    assert ledger.spent() <= 1
    np.testing.assert_array_equal(out.mean.value, made[0].value)


@pytest.mark.parametrize("spread", [-1.0, 0.0, float("nan"), "wide", 1e-300])
def test_a_wrong_spread_spends_nothing(tmp_path, spread):
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(2), unit="person")
    with pytest.raises(gd.InputError, match="spread"):
        gd.infer(directions(), CAP, gd.GaussianDP(1), spread=spread, ledger=ledger, dataset="a")
    assert ledger.left_for("a", None) == 4


def test_groups_compose_in_parallel(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    records = np.concatenate([cloud(200, 1), cloud(250, 2, 0.4)])
    by = ["a"] * 200 + ["b"] * 250
    groups = gd.infer(
        records,
        PLANE,
        gd.GaussianDP(1),
        by=by,
        by_name="site",
        by_public=True,
        ledger=ledger,
        dataset="study",
    )
    assert ledger.spent() <= 1
    assert groups["a"].mean.n == 200
    gap = groups.difference("a", "b")
    assert gap.told_apart
    assert gap.distance == pytest.approx(0.4 * 2**0.5, abs=0.2)
    assert groups.equal_means().p_value < 1e-6
    assert {row["site"] for row in groups.table()} == {"a", "b"}
    assert as_csv(groups.table()).startswith("site,what,value")
    json.dumps(groups.to_json(), allow_nan=False)
    assert "parallel" in groups.notes[0]
    groups.save(tmp_path / "groups.json")
    assert json.loads((tmp_path / "groups.json").read_text()) == groups.to_json()
    for public in (None, False):
        with pytest.raises(gd.InputError, match="private label"):
            gd.infer(records, PLANE, gd.GaussianDP(1), by=by, by_public=public)
    with pytest.raises(gd.InputError, match="one label"):
        gd.infer(records, PLANE, gd.GaussianDP(1), by=by[1:], by_public=True)


def test_labels_may_be_a_column_of_a_table():
    ask = {"by_name": "site", "by_public": True, "rng": np.random.default_rng(1)}
    column = np.array(["a"] * 100 + ["b"] * 120, dtype=object)  # as pandas gives its texts
    assert [one.mean.n for one in found_by(column, ask)] == [100, 120]
    pandas = pytest.importorskip("pandas")
    assert [one.mean.n for one in found_by(pandas.Series(column), ask)] == [100, 120]
    for hole in (None, float("nan"), 1.5):
        column[3] = hole
        with pytest.raises(gd.InputError, match="one label"):
            found_by(column, ask)


def found_by(labels, ask):
    return gd.infer(cloud(220), PLANE, gd.GaussianDP(2), by=labels, **ask).inferences.values()


def test_a_test_names_its_hypothesis_and_does_not_assert_it():
    plane = gd.Euclidean(1)
    one, two = region(plane, [0], np.eye(1)), region(plane, [1.959964 * 2**0.5], np.eye(1))
    said = "test that the 2 means are equal: statistic 3.841, p-value 0.05"
    assert repr(equal_means([one, two])) == said
    assert repr(difference(one, two)) == (
        f"Difference of two means on euclidean:1: length 2.772; {said}"
    )


def test_groups_of_persons_are_the_inferences_of_each(tmp_path):
    """By label and by person: bit for bit what each group's persons give alone, and one person's
    records, all replaced, leave the other group as it was."""
    records, ids = cloud(300, 3), np.random.default_rng(1).permutation(np.repeat(np.arange(60), 5))
    by = np.where(ids < 25, "a", "b")
    ask = {"by": by, "by_name": "site", "by_public": True, "entities": ids}
    promise = gd.GaussianDP(2)
    groups = gd.infer(records, PLANE, promise, **ask, rng=np.random.default_rng(5))
    rng = np.random.default_rng(5)
    for label, persons in (("a", 25), ("b", 35)):
        mine = by == label
        alone = gd.infer(records[mine], PLANE, promise, entities=ids[mine], rng=rng)
        np.testing.assert_array_equal(groups[label].mean.value, alone.mean.value)
        assert groups[label].mean.n == persons
        assert groups[label].region.quantile == alone.region.quantile
    assert "all records of one person" in groups.notes[0]
    other = np.where((ids == 40)[:, None], 0.9, records)
    moved = gd.infer(other, PLANE, promise, **ask, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(moved["a"].mean.value, groups["a"].mean.value)
    assert not np.array_equal(moved["b"].mean.value, groups["b"].mean.value)

    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(2), unit="person")
    paid = {"ledger": ledger, "dataset": "study"}
    mixed = ask | {"by": np.where(np.arange(300) == 0, "b", np.where(ids < 60, "a", "b"))}
    with pytest.raises(gd.InputError, match="in two groups"):
        gd.infer(records, PLANE, promise, **mixed, **paid)
    assert ledger.spent() == 0
    again = gd.infer(records, PLANE, promise, **ask, **paid)
    assert 0 < ledger.spent() <= 4
    assert all(check.passed for check in gd.verify(again))


def test_the_table_lists_the_scalars_asked_for():
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    z = np.random.default_rng(1).uniform(-0.3, 0.3, (300, 3))
    out = gd.infer(ball.space.exp_coords(np.eye(2), z), ball, gd.GaussianDP(3))
    row = out.table({"half the trace": lambda x: float(np.trace(x)) / 2})[-1]
    assert row["what"] == "half the trace"
    assert row["value"] == pytest.approx(np.trace(out.mean.value) / 2, rel=1e-12)
    assert row["low"] < row["value"] < row["high"]
    assert len(out.table()) == len(out.table({"FA": fractional_anisotropy})) - 1


@pytest.mark.parametrize("spread", [None, 0.1])
@pytest.mark.parametrize("edit", ["radius", "center", "space", "at", "spread"])
def test_a_receipt_with_another_subject_fails(edit, spread):
    out = gd.infer(directions(60), CAP, gd.GaussianDP(3), spread=spread)
    for name, release in out.releases.items():
        if name == "mean":
            continue
        text = json.dumps(release.to_json())
        assert all(check.passed for check in gd.verify(gd.Release.from_json(json.loads(text))))
        about = (document := json.loads(text))["request"]["about"]
        if edit == "radius":
            about["domain"]["radius"] = 0.70001
        elif edit == "center":
            about["domain"]["center"] = [1.0, 0.0, 0.0]
        elif edit == "space":
            about["space"] = "euclidean:3"
        elif edit == "at" and "at" in about["parameters"]:
            about["parameters"]["at"] = [0.0, 0.6, 0.8]
        elif edit == "spread" and name == "covariance":
            about["parameters"]["spread"] = 0.10001
        else:
            continue
        checks = gd.verify(gd.Release.from_json(document))
        assert not all(check.passed for check in checks), name


def test_a_spread_gives_less_noise_and_another_split():
    wide, cut = (gd.infer(cloud(), PLANE, gd.GaussianDP(2), spread=s) for s in (None, 0.2))
    assert cut.releases["covariance"].scale < wide.releases["covariance"].scale / 10
    shares = [float(out.split["mean"].mu / 2) ** 2 for out in (wide, cut)]
    assert shares[1] >= shares[0]


def test_very_weak_and_very_strict_promises_on_the_sphere():
    out = gd.infer(directions(60), CAP, gd.GaussianDP(50))
    assert all(check.passed for one in out.releases.values() for check in gd.verify(one))
    with pytest.raises(gd.ConditionError, match="noise alone"):
        gd.infer(directions(60), CAP, gd.GaussianDP("1e-9"))


def test_labels_that_no_file_can_hold_are_refused():
    for given in ({"by": ["\ud800"] * 300}, {"by": ["a"] * 300, "by_name": "\ud800"}):
        with pytest.raises(gd.InputError, match="UTF-8"):
            gd.infer(cloud(), PLANE, gd.GaussianDP(2), by_public=True, **given)


def test_the_variance_is_corrected_for_the_means_own_fluctuation():
    """On a line the n − 1 of every textbook; on S² by what a large sample says of C and Λ."""
    line = gd.Ball(gd.Euclidean(1), [0.0], 5.0)
    x = np.random.default_rng(3).normal(size=(25, 1))
    plain = Estimate(without_noise(line, x), 0.95).interval
    assert plain.value == pytest.approx(x.var(ddof=1), rel=1e-9)
    cap = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 1.4)  # Hessian across well below 1
    rng = np.random.default_rng(5)
    found = []
    for _ in range(120):
        angle = rng.uniform(0, 2 * np.pi, 12)
        z = 1.2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        records = cap.space.exp_coords(cap.center, z)
        found.append(Estimate(without_noise(cap, records), 0.95).interval.value)
    hessian = (1 + 1.2 / np.tan(1.2)) / 2  # mean of the eigenvalues along and across
    gap, error = 1.44 / hessian / 12, np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - 1.44) < gap / 2
    assert gap / 2 > 6 * error  # without the correction it would be a gap away


def test_functions_without_an_interval_are_refused():
    out = gd.infer(directions(), CAP, gd.GaussianDP(5))
    with pytest.raises(gd.InputError, match="kink"):
        out.function(angle_to(out.mean.value))
    with pytest.raises(gd.InputError, match="one number"):
        out.function(lambda x: x)
    with pytest.raises(gd.InputError, match="entries"):
        out.function(angle_to([1.0, 0.0]))
    for direction in ([0.0, 0.0, 0.0], [np.inf, 0.0, 0.0], [[1.0]]):
        with pytest.raises(gd.InputError, match="direction"):
            angle_to(direction)
    assert out.function(lambda x: 3.0).high == 3.0


def test_far_quantiles_and_tails_agree_with_hotellings_law():
    """Draws of d ν/(ν−d+1) F: 4000 say little of the .9999 quantile by themselves."""
    rng = np.random.default_rng(6)
    d, dof = 3, 30
    factor = d * dof / (dof - d + 1)
    draws = np.sort(factor * rng.f(d, dof - d + 1, 4000))
    for level in (0.999, 0.9999, 0.999999):
        exact = factor * f.ppf(level, d, dof - d + 1)
        found = quantile(level, draws, d)
        assert found == pytest.approx(exact, rel=0.3)
        assert tail(found, draws, d) == pytest.approx(1 - level, rel=1e-6)
    levels = [quantile(x, draws, d) for x in (0.9, 0.98, 0.99, 0.9901, 0.995)]
    assert levels == sorted(levels)


def region(space, center, sampling, noise=None, dof=1e9, quantile=None, level=0.95):
    d = space.dim
    noise = np.zeros((d, d)) if noise is None else noise
    q = hotelling_quantile(level, d, dof) if quantile is None else quantile
    return ConfidenceRegion(space, np.asarray(center, float), sampling, noise, level, q, dof)


def test_quantiles_and_tests_on_flat_space_against_scipy():
    assert hotelling_quantile(0.95, 3, 1e12) == pytest.approx(chi2.ppf(0.95, 3), rel=1e-6)
    assert hotelling_quantile(0.9, 3, 20) == pytest.approx(60 / 18 * f.ppf(0.9, 3, 18), rel=1e-9)
    assert matched_dof(0.9, 3, 60 / 18 * f.ppf(0.9, 3, 18)) == pytest.approx(20, rel=1e-6)
    space, s = gd.Euclidean(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    one, two = region(space, [0, 0], s), region(space, [1, 1], 3 * s)
    square = np.ones(2) @ np.linalg.solve(4 * s, np.ones(2))
    gap = difference(one, two)
    np.testing.assert_allclose(gap.vector, [1, 1], rtol=1e-6)
    for verdict in (gap.test, equal_means([one, two])):
        assert verdict.statistic == pytest.approx(square, rel=1e-6)
        assert verdict.p_value == pytest.approx(chi2.sf(square, 2), rel=1e-4)
    assert one_sample(one, [1, 1]).p_value == pytest.approx(chi2.sf(4 * square, 2), rel=1e-6)
    edge = one.boundary(50)
    np.testing.assert_allclose(one.square(edge), one.quantile, rtol=1e-9)
    assert one_sample(one, edge[0]).p_value == pytest.approx(0.05, rel=1e-6)


def test_simulated_tests_against_closed_forms():
    """Without noise T² of two samples of a known covariance is Hotelling's, here nearly χ²."""
    s = np.array([[2.0, 0.5], [0.5, 1.0]])
    pivot = Pivot(10**7, Limited(1e7 * s, 0.0, 0.0, 1e99), None, np.eye(2), np.zeros((2, 2)), None)
    plane = gd.Euclidean(2)
    groups = [
        ConfidenceRegion(plane, np.array([x, x / 2]), s, 0 * s, 0.95, 6.0, 1e9, pivot=pivot)
        for x in (0.0, 4.0, 1.0)
    ]
    v = np.array([4.0, 2.0])
    square = v @ np.linalg.solve(2 * s, v)
    two = equal_means(groups[:2])
    assert two.statistic == pytest.approx(square, rel=1e-9)
    assert two.p_value == pytest.approx(chi2.sf(square, 2), abs=6 * 0.0033)
    gap = difference(*groups[:2])
    assert gap.test.p_value == pytest.approx(two.p_value, rel=1e-9)
    assert gap.quantile == pytest.approx(chi2.ppf(0.95, 2), rel=0.08)
    centers = np.stack([one.center for one in groups])
    gaps = centers - centers.mean(axis=0)
    square = np.einsum("ki,ij,kj->", gaps, np.linalg.inv(s), gaps)
    three = equal_means(groups)
    assert three.statistic == pytest.approx(square, rel=1e-9)
    assert three.p_value == pytest.approx(chi2.sf(square, 4), abs=6 * 0.008)


def test_volume_of_a_cap_and_of_a_hyperbolic_disc():
    sphere, plane = gd.Sphere(2), gd.Hyperbolic(2)
    for space, exact in (
        (sphere, 2 * np.pi * (1 - np.cos(0.8))),
        (plane, 2 * np.pi * (np.cosh(0.8) - 1)),
    ):
        disc = region(space, space.origin, np.eye(2), quantile=0.64)
        assert disc.volume == pytest.approx(exact, rel=5e-3)
    lengths, rows = region(gd.Euclidean(2), [0, 0], np.diag([1.0, 9.0]), quantile=4.0).axes
    np.testing.assert_allclose(lengths, [6, 2])
    np.testing.assert_allclose(np.abs(rows), [[0, 1], [1, 0]], atol=1e-12)


def test_regions_on_different_spaces_are_not_compared():
    one, two = (
        region(gd.Euclidean(2), [0, 0], np.eye(2)),
        region(gd.Sphere(2), [0, 0, 1], np.eye(2)),
    )
    with pytest.raises(gd.MismatchError, match="different spaces"):
        equal_means([one, two])
    wide = gd.infer(cloud(), gd.Ball(PLANE.space, [0.0, 0.0], 2.0), gd.GaussianDP(2))
    near = gd.infer(cloud(), PLANE, gd.GaussianDP(2))
    for compared in (equal_means, lambda pair: difference(*pair)):
        with pytest.raises(gd.MismatchError, match="different balls"):
            compared([near, wide])
    again = ConfidenceRegion.from_json(near.region.to_json())
    with pytest.raises(gd.MismatchError, match="different balls"):
        equal_means([again, wide])
    with pytest.raises(gd.InputError, match="two groups"):
        equal_means([one])


def test_tests_to_pure_dp_simulate_their_noise_and_need_the_inference():
    out = gd.infer(cloud(), PLANE, gd.PureDP(2))
    far = np.add(out.mean.value, [0.3, 0.0])
    assert one_sample(out, far).p_value < 0.05 < one_sample(out, out.mean.value).p_value
    edge = out.region.boundary(20)
    for point in edge:
        assert one_sample(out, point).p_value == pytest.approx(0.05, abs=2e-3)
    other = gd.infer(cloud(seed=2, shift=0.3), PLANE, gd.PureDP(2))
    gap = difference(out, other)
    assert gap.test.p_value == pytest.approx(equal_means([out, other]).p_value, rel=1e-6)
    bare = ConfidenceRegion.from_json(out.region.to_json())
    with pytest.raises(gd.InputError, match="give the inference"):
        one_sample(bare, [0.0, 0.0])


def test_functions_of_the_mean():
    ball = gd.Ball(gd.SPD(3), np.eye(3), 1.5)
    z = np.random.default_rng(4).normal(size=(500, 6)) * 0.1 + np.array([0.6, 0, 0, 0, 0, 0])
    out = gd.infer(ball.space.exp_coords(np.eye(3), z), ball, gd.GaussianDP(5))
    anisotropy = out.function(fractional_anisotropy)
    assert anisotropy.low < fractional_anisotropy(out.mean.value) < anisotropy.high
    first = out.principal_directions()
    assert sum(one.share for one in first) == pytest.approx(1)
    assert first[0].ends.shape == (2, 3, 3)
    flat = gd.infer(cloud(), PLANE, gd.GaussianDP(5))
    linear = flat.function(lambda x: 2 * x[0] - x[1])
    slope = np.array([2.0, -1.0])
    assert linear.noise**2 == pytest.approx(slope @ flat.region.noise @ slope, rel=1e-5)
    assert angle_to([1, 0, 0])(np.array([0.0, 1.0, 0.0])) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize(
    "labels",
    [
        [float("nan")] * 50 + ["b"] * 50,
        [1] * 50 + ["b"] * 50,
        [None] * 50 + ["b"] * 50,
        np.ma.array(["a"] * 50 + ["b"] * 50, mask=[True] + 99 * [False]),
    ],
)
def test_a_missing_label_names_no_group(labels):
    with pytest.raises(gd.InputError, match="a text or an integer"):
        gd.infer(cloud(100), PLANE, gd.GaussianDP(2), by=labels, by_public=True)


def test_labels_of_bytes_are_ascii():
    labels = np.array(["é".encode()] * 50 + [b"b"] * 50)
    with pytest.raises(gd.InputError, match="ASCII"):
        gd.infer(cloud(100), PLANE, gd.GaussianDP(2), by=labels, by_public=True)


def test_labels_that_look_the_same_are_one_group_and_a_blank_one_is_none(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "l.db", gd.GaussianDP(4), unit="person")
    labels = ["é", "e\u0301", " é "] * 20 + ["b"] * 40
    paid = {"ledger": ledger, "dataset": "plane"}
    out = gd.infer(
        cloud(100), PLANE, gd.GaussianDP(2), by=labels, by_name="site ", by_public=True, **paid
    )
    assert {name: one.mean.n for name, one in out.inferences.items()} == {"b": 40, "é": 60}
    assert out["e\u0301"] is out["é"]
    assert all(check.passed for check in gd.verify(out))
    with pytest.raises(gd.InputError, match="A label is blank"):
        gd.infer(cloud(100), PLANE, gd.GaussianDP(2), by=["a"] * 50 + [" "] * 50, by_public=True)


def test_groups_that_the_ledger_knows_otherwise_are_refused_before_any_is_paid(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "l.db", gd.GaussianDP(4), unit="person")
    records, paid = cloud(100), {"by_public": True, "ledger": ledger, "dataset": "plane"}

    def ask(by, data=records):
        return gd.infer(data, PLANE, gd.GaussianDP(1), by=by, **paid)

    ask(["a"] * 50 + ["b"] * 50)
    before = ledger.left_for(), len(ledger.history())
    twins = np.concatenate([records[:50], records[:50], records[50:]])
    for by, data, why in (
        (["a"] * 50 + ["c"] * 50, records, "hold the same records"),
        (["a"] * 50 + ["b"] * 50, records + 0.01, "registered with other records"),
        (["c"] * 50 + ["d"] * 50 + ["e"] * 50, twins, "hold the same records"),
    ):
        with pytest.raises(gd.MismatchError, match=why):
            ask(by, data)
        assert (ledger.left_for(), len(ledger.history())) == before


def test_a_refusal_names_the_group():
    with pytest.raises(gd.ConditionError, match=r"The group 'b' is refused\. A region"):
        gd.infer(cloud(100), PLANE, gd.GaussianDP(2), by=["a"] * 95 + ["b"] * 5, by_public=True)
