"""scikit-learn's own checks, closed forms, pyriemann's tangent space, and who pays."""

from __future__ import annotations

import numpy as np
import pytest
from pyriemann.tangentspace import TangentSpace
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import geodp as gd
from geodp.sklearn import PrivateFrechetMean, PrivateTangentCovariance, TangentFeatures
from sklearn import config_context

GAUSSIAN = "wrapped-gaussian"


def matrices(n=40, size=3, spread=0.2, seed=0):
    a = np.random.default_rng(seed).normal(size=(n, size, size)) * spread
    symmetric = (a + a.swapaxes(1, 2)) / 2
    values, vectors = np.linalg.eigh(symmetric)
    return np.einsum("nij,nj,nkj->nik", vectors, np.exp(values), vectors)


@pytest.mark.parametrize(
    "estimator",
    [PrivateFrechetMean(), PrivateTangentCovariance(), TangentFeatures()],
    ids=lambda one: type(one).__name__,
)
def test_scikit_learn_checks_the_euclidean_configuration(estimator):
    """No check is expected to fail. Two do not apply: that NaN raises (the tag allow_nan, since an
    error on a record's value would be a release of its own; ``TangentFeatures`` does raise), and
    array API inputs, which scikit-learn itself skips unless SCIPY_ARRAY_API is set."""
    results = check_estimator(estimator, on_skip=None)
    skipped = {r["check_name"] for r in results if r["status"] != "passed"}
    assert len(results) >= 39  # as many as scikit-learn 1.6 has
    assert skipped <= {"check_array_api_input"}
    ran = {r["check_name"] for r in results}
    assert ("check_estimators_nan_inf" in ran) == isinstance(estimator, TangentFeatures)


def test_the_mean_is_near_the_exact_one():
    x = np.random.default_rng(1).normal(size=(4000, 2)) / 10 + 0.2
    strong = PrivateFrechetMean(guarantee=gd.GaussianDP(50), mechanism=GAUSSIAN, random_state=3)
    found = strong.fit(x)
    np.testing.assert_allclose(found.mean_, x.mean(axis=0), atol=1e-4)
    assert (found.release_.n, found.release_.private) == (4000, False)
    assert PrivateFrechetMean(mechanism=GAUSSIAN).fit(x).release_.private
    x[:100] = np.nan  # becomes the centre by the public rule, silently
    expected = np.where(np.isnan(x), 0.0, x).mean(axis=0)
    np.testing.assert_allclose(strong.fit(x).mean_, expected, atol=1e-4)


@pytest.mark.parametrize("metric", ["riemann", "logeuclid", "logchol", "affine-invariant"])
def test_metrics_by_pyriemanns_names(metric):
    x = matrices()
    mean = PrivateFrechetMean(metric=metric, radius=1.5, mechanism=GAUSSIAN).fit(x)
    assert mean.space_.spec == gd.SPD(3, metric).spec
    assert mean.mean_.shape == (3, 3)
    assert (np.linalg.eigvalsh(mean.mean_) > 0).all()
    with pytest.raises(gd.SpaceError, match="metric of SPD"):
        PrivateFrechetMean(metric="wasserstein").fit(x)


def test_covariance_around_a_released_mean():
    x = np.random.default_rng(2).multivariate_normal([0.1, 0], [[0.02, 0.01], [0.01, 0.03]], 9000)
    how = {"guarantee": gd.GaussianDP(50), "mechanism": GAUSSIAN, "random_state": 5, "radius": 2.0}
    mean = PrivateFrechetMean(**how).fit(x)
    found = PrivateTangentCovariance(mean.release_, **how).fit(x)
    centred = x - mean.mean_
    np.testing.assert_allclose(found.covariance_, centred.T @ centred / 9000, atol=2e-4)
    np.testing.assert_array_equal(found.location_, mean.mean_)
    noisy = PrivateTangentCovariance(guarantee=gd.GaussianDP(0.01), mechanism=GAUSSIAN).fit(x[:50])
    assert (np.linalg.eigvalsh(noisy.covariance_) >= -1e-9).all()
    with pytest.raises(gd.InputError, match="lies on euclidean:2, and X on euclidean:3"):
        PrivateTangentCovariance(mean.release_).fit(np.zeros((9, 3)))


def test_tangent_features_span_pyriemanns_space():
    x = matrices(seed=4)
    at = matrices(1, seed=9)[0]
    ours = TangentFeatures(at).fit(x)
    z = ours.transform(x)
    theirs = TangentSpace(metric="riemann").fit(x)
    theirs.reference_ = at
    expected = theirs.transform(x)  # another orthonormal basis: equal inner products
    np.testing.assert_allclose(z @ z.T, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(ours.inverse_transform(z), x, rtol=1e-10)
    assert list(ours.get_feature_names_out()) == [f"tangentfeatures{i}" for i in range(6)]
    x[3, 0, 0] = -1.0
    with pytest.raises(gd.InputError, match="no points of spd:3") as caught:
        ours.transform(x)
    assert "3" not in str(caught.value).replace("spd:3", "")


def test_all_records_of_a_person_count_as_one():
    x, whose = matrices(60, seed=8), np.repeat(np.arange(20), 3)
    how = {"radius": 1.5, "mechanism": GAUSSIAN, "random_state": 3}
    mean = PrivateFrechetMean(**how).fit(x, entities=whose)
    assert (mean.release_.n, mean.release_.unit) == (20, "person")
    one_each = PrivateFrechetMean(**how).fit(x[::3])
    assert mean.release_.scale == pytest.approx(one_each.release_.scale, rel=1e-3)
    strong = {**how, "guarantee": gd.GaussianDP(1e6)}
    ball = gd.Ball(gd.SPD(3), np.eye(3), 1.5)
    exact = gd.FrechetMean(ball)
    of_each = np.array([exact.evaluate(x[whose == one]).value for one in range(20)])
    found = PrivateFrechetMean(**strong).fit(x, entities=whose).mean_
    np.testing.assert_allclose(found, exact.evaluate(of_each).value, atol=1e-5)
    spread = PrivateTangentCovariance(mean.release_, **how).fit(x, entities=whose)
    assert spread.release_.n == 20
    with pytest.raises(gd.InputError, match="one id for each record"):
        PrivateFrechetMean(**how).fit(x, entities=whose[:5])


def test_entities_are_routed_by_scikit_learn():
    x, whose = matrices(60, seed=8), np.repeat(np.arange(20), 3)
    with config_context(enable_metadata_routing=True):
        mean = PrivateFrechetMean(radius=1.5, mechanism=GAUSSIAN, random_state=3)
        pipe = make_pipeline(mean.set_fit_request(entities=True))
        assert pipe.fit(x, entities=whose)[-1].release_.n == 20


def test_in_a_pipeline():
    x = np.concatenate([matrices(60, seed=5), 1.6 * matrices(60, seed=6)])
    y = np.repeat([0, 1], 60)
    released = PrivateFrechetMean(radius=1.5, mechanism=GAUSSIAN, random_state=7).fit(x).release_
    pipe = make_pipeline(TangentFeatures(released), LinearDiscriminantAnalysis())
    assert cross_val_score(pipe, x, y, cv=3).mean() > 0.9


def test_a_ledger_is_charged_once(tmp_path):
    place = str(tmp_path / "budget.db")
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    x = matrices()
    how = {"guarantee": gd.GaussianDP(0.6), "mechanism": GAUSSIAN, "radius": 1.5}
    with pytest.raises(gd.InputError, match="needs a request_id"):
        PrivateFrechetMean(ledger=place, dataset="study", **how).fit(x)
    assert ledger.show()["entries"] == 1  # the opening alone
    mean = PrivateFrechetMean(ledger=place, dataset="study", request_id="mean", **how).fit(x)
    assert mean.release_.ledger is not None
    entries = ledger.show()["entries"]
    for again in (mean, clone(mean), PrivateFrechetMean(**mean.get_params())):
        np.testing.assert_array_equal(again.fit(x).mean_, mean.mean_)
    assert ledger.show()["entries"] == entries
    folds = clone(mean)
    with pytest.raises(gd.MismatchError):  # other records under the data set's name
        folds.fit(x[:30])
    with pytest.raises(gd.MismatchError, match="belongs to another request"):
        clone(mean).set_params(radius=1.4).fit(x)
    with pytest.raises(gd.LedgerRefusal, match="seeded generator"):
        clone(mean).set_params(random_state=1, request_id="seeded").fit(x)
    with pytest.raises(gd.LedgerRefusal, match="too much"):
        clone(mean).set_params(request_id="second", guarantee=gd.GaussianDP(0.9)).fit(x)
    assert ledger.show()["entries"] == entries


@pytest.mark.parametrize(
    ("x", "how", "said"),
    [
        (np.zeros((5, 2, 3)), {}, "an array"),
        (np.zeros((5, 2)), {"space": "sphere:2"}, "is needed for sphere:2"),
        (np.zeros((5, 2)), {"space": 7}, "The space is"),
        (np.zeros((5, 2)), {"space": "torus:2"}, "names no space"),
        (np.zeros((5, 2)), {"radius": -1.0}, "finite and positive"),
        (np.zeros((5, 2)), {"center": [0.0]}, "The centre has shape"),
        (np.zeros((5, 2)), {"guarantee": 1.0}, "guarantee"),
        (np.zeros((1, 2)), {}, "minimum of 2"),
    ],
)
def test_bad_input(x, how, said):
    with pytest.raises(ValueError, match=said):
        PrivateFrechetMean(**how).fit(x)


def test_no_message_shows_a_record():
    x = np.array([["0.1", "0.2"], ["secret-value", "0.3"]], dtype=object)
    with pytest.raises(ValueError, match="text") as caught:
        PrivateFrechetMean().fit(x)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
