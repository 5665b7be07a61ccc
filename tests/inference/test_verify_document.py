"""verify of everything that infer prints: parts, their sum, their records, what follows."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import geodp as gd
from geodp.inference import Inference
from geodp.verbs.verify_document import verify_document

CAP = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.7)


def cap(n=100):
    z = np.random.default_rng(1).uniform(-0.4, 0.4, (n, 2))
    return CAP.space.exp_coords(CAP.center, z)


@pytest.fixture(scope="module")
def whole():
    return json.loads(json.dumps(gd.infer(cap(), CAP, gd.GaussianDP(2), spread=0.3).to_json()))


def failed(document):
    return {check.name for check in verify_document(document) if not check.passed}


@pytest.mark.parametrize(
    "promise", [gd.PureDP(5), gd.ApproxDP(2, 1e-6), gd.ZCDP(1), gd.RenyiDP(4, 2)]
)
def test_every_part_and_the_whole_pass(promise):
    out = gd.infer(cap(), CAP, promise)
    checks = gd.verify(out)
    assert all(check.passed for check in checks)
    names = {check.name for check in checks}
    assert {f"{part}, scale" for part in out.releases} | {"sum", "records", "results"} <= names


def test_an_inference_is_read_back(whole):
    out = Inference.from_json(whole)
    assert out.to_json() == whole
    assert out.region.pivot is not None  # tests need it


def without(whole, *path):
    document = copy.deepcopy(whole)
    place = document
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return document


def edited(whole, value, *path):
    document = copy.deepcopy(whole)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def test_edits_outside_the_receipts_are_found(whole):
    region = whole["region"]
    for value, *path in (
        (region["quantile"] * 1.001, "region", "quantile"),
        (0.9, "confidence"),
        ([[1e-5, 0.0], [0.0, 1e-5]], "region", "sampling"),
        (whole["variance_interval"]["high"] / 2, "variance_interval", "high"),
        (None, "replaced_share"),
        (["All is well."], "notes"),
        (False, "private"),
        ("extra", "extra"),
    ):
        assert "results" in failed(edited(whole, value, *path)), path


def test_a_promise_that_the_parts_exceed_fails(whole):
    assert "sum" in failed(edited(whole, gd.GaussianDP("1.99").to_json(), "guarantee"))
    assert "sum" in failed(edited(whole, gd.ZCDP(9).to_json(), "guarantee"))
    assert "sum" in failed(edited(whole, {}, "split"))
    # a part left out is another inference, of which the rest may hold; its split says so
    assert "sum" in failed(without(whole, "releases", "replaced"))


def test_a_part_of_other_records_or_seen_from_elsewhere_fails(whole):
    other = gd.infer(cap(), CAP, gd.GaussianDP(2), spread=0.3).to_json()
    part = other["releases"]["covariance"]  # its own checks pass: the point is another mean
    assert {"records", "results"} <= failed(edited(whole, part, "releases", "covariance"))
    fewer = gd.infer(cap(80), CAP, gd.GaussianDP(2)).to_json()["releases"]["replaced"]
    assert "records" in failed(edited(whole, fewer, "releases", "replaced"))
    fourth = whole["releases"]["fourth"]
    assert "records" in failed(edited(whole, fourth, "releases", "variance"))


def test_a_spoilt_receipt_inside_fails_by_its_part(whole):
    scale = whole["releases"]["covariance"]["outcome"]["stages"][0]["scale"]
    path = ("releases", "covariance", "outcome", "stages", 0, "scale")
    assert "covariance, scale" in failed(edited(whole, scale / 2, *path))


def test_groups(whole):
    by = np.repeat(["a", "b"], 50)
    groups = gd.infer(cap(), CAP, gd.GaussianDP(2), by=by, by_public=True)
    document = json.loads(json.dumps(groups.to_json()))
    assert failed(document) == set()
    assert "groups" in failed(edited(document, gd.GaussianDP(1).to_json(), "guarantee"))
    narrow = gd.infer(cap(50), gd.Ball(CAP.space, CAP.center, 0.6), gd.GaussianDP(2)).to_json()
    assert failed(edited(document, narrow, "groups", "b")) == {"groups"}
    assert "b: results" in failed(edited(document, 0.5, "groups", "b", "confidence"))


@pytest.mark.parametrize(
    "path", [("releases",), ("releases", "mean"), ("confidence",), ("guarantee", "mu")]
)
@pytest.mark.parametrize("value", [None, [], {}, "x", -1])
def test_a_spoilt_document_is_refused(whole, path, value):
    with pytest.raises(gd.GeodpError, match=r"\.$"):
        verify_document(edited(whole, value, *path))


def test_another_schema_is_refused():
    for document in ({"schema": "geodp/other/v1"}, {"schema": []}, [], None):
        with pytest.raises(gd.InputError, match="neither a receipt"):
            verify_document(document)


def test_noise_that_infer_does_not_add_is_found(whole):
    path = ("releases", "hessian", "outcome", "stages", 0, "footpoint")
    assert "records" in failed(edited(whole, [0.0, 0.0, 1.0], *path))
    drawn = ("releases", "fourth", "outcome", "stages", 0, "drawn")
    value = whole["releases"]["fourth"]["outcome"]["value"]
    assert "fourth, value" in failed(edited(whole, [value], *drawn))


@pytest.mark.parametrize(
    ("value", "path"),
    [(10**400, ("stages", 0, "scale")), ([10**400], ("stages", 0, "footpoint"))],
    ids=["scale", "footpoint"],
)
def test_numbers_that_no_float_holds_are_refused(whole, value, path):
    with pytest.raises(gd.InputError, match=r"^The document has a field of the wrong kind\.$"):
        verify_document(edited(whole, value, "releases", "fourth", "outcome", *path))


@pytest.mark.parametrize("part", ["mean", "fourth"])
@pytest.mark.parametrize(
    "value", [[], 0.5, np.zeros((1,) * 60).tolist()], ids=["[]", "0.5", "deep"]
)
def test_a_value_of_another_shape_is_refused(whole, part, value):
    with pytest.raises(gd.InputError, match="another shape"):
        verify_document(edited(whole, value, "releases", part, "outcome", "value"))


def test_an_infinite_footpoint_is_found_without_a_warning():
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    z = np.random.default_rng(1).uniform(-0.3, 0.3, (100, 3))
    document = gd.infer(gd.SPD(2).exp_coords(np.eye(2), z), ball, gd.GaussianDP(3)).to_json()
    path = ("releases", "mean", "outcome", "stages", 0, "footpoint", 1, 1)
    assert "mean, scale" in failed(edited(document, np.inf, *path))


@pytest.fixture(scope="module")
def two():
    by = np.repeat(["a", "b"], 50)
    groups = gd.infer(cap(), CAP, gd.GaussianDP(2), by=by, by_public=True)
    return json.loads(json.dumps(groups.to_json()))


def test_what_is_said_of_the_whole_follows_from_the_groups(two):
    assert "groups" in failed(edited(two, ["All is well."], "notes"))
    assert "groups" in failed(edited(two, 1, "extra"))
    assert "groups" in failed(without(two, "notes"))
    for name in ("by", "guarantee"):
        with pytest.raises(gd.InputError, match=f"^The document lacks the field '{name}'\\.$"):
            verify_document(without(two, name))
    for by in ("", "a=b"):
        with pytest.raises(gd.InputError, match="by_name"):
            verify_document(edited(two, by, "by"))


def test_a_group_that_stands_twice_or_is_of_another_unit_is_found(two):
    assert failed(edited(two, two["groups"]["a"], "groups", "b")) == {"groups"}
    ids = np.repeat(np.arange(50), 2)
    persons = gd.infer(cap(), CAP, gd.GaussianDP(2), entities=ids).to_json()
    assert failed(edited(two, persons, "groups", "b")) == {"groups"}


def test_groups_that_a_ledger_paid_for_keep_their_labels(tmp_path):
    ledger = gd.Ledger.create(tmp_path / "l.db", gd.GaussianDP(4), unit="person")
    by = np.repeat(["a", "b"], 50)
    paid = {"ledger": ledger, "dataset": "cap"}
    groups = gd.infer(cap(), CAP, gd.GaussianDP(2), by=by, by_public=True, **paid)
    document = json.loads(json.dumps(groups.to_json()))
    assert failed(document) == set()
    a, b = document["groups"].values()
    assert failed({**document, "groups": {"a": b, "b": a}}) == {"groups"}
    assert "groups" in failed(edited(document, "site", "by"))
