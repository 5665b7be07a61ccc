"""Receipts of many spaces, guarantees and mechanisms against the published JSON schema."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import geodp as gd

SCHEMA = json.loads(files("geodp.ledger").joinpath("schema_v1.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SPACES = (
    "euclidean:1",
    "euclidean:3",
    "spd:1",
    "spd:2:affine-invariant",
    "spd:3:log-euclidean",
    "spd:2:log-cholesky",
    "hyperbolic:3",
    "hyperbolic:2:-2.5",
    "sphere:1",
    "sphere:2",
    "sphere:3:0.5",
    "sphere:2+euclidean:2",
)
GUARANTEES = (
    gd.PureDP(0.5),
    gd.ApproxDP("1/3", 1e-6),
    gd.GaussianDP(1),
    gd.RenyiDP(2, 0.25),
    gd.ZCDP(1e-3),
)


def receipt(spec, guarantee, mechanism="best", **how):
    space = gd.parse_space(spec)
    ball = gd.Ball(space, space.origin, 0.5, how.pop("physical_unit", None))
    records = np.broadcast_to(space.origin, (50, *space.point_shape))
    return gd.release(records, gd.FrechetMean(ball), guarantee, mechanism, **how).to_json()


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "geodp/release/v1"


@pytest.mark.parametrize("spec", SPACES)
def test_spaces(spec):
    VALIDATOR.validate(json.loads(json.dumps(receipt(spec, gd.GaussianDP(1)))))


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_guarantees(guarantee):
    VALIDATOR.validate(receipt("euclidean:2", guarantee, unit="person", physical_unit="mm"))


def test_two_stages_seeds_and_given_values():
    private = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("1/3"))
    rng = np.random.default_rng(1)
    VALIDATOR.validate(receipt("spd:2", gd.ZCDP("1/7"), private, rng=rng))
    given = gd.GivenValue(gd.SPD(2), np.eye(2), 0.1)
    VALIDATOR.validate(gd.release(None, given, gd.GaussianDP(1)).to_json())


def paths(document, at=()):
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*at, key)
            yield from paths(value, (*at, key))


def test_every_field_is_required_and_no_other_is_allowed():
    whole = receipt("spd:2", gd.ApproxDP(1, 1e-5))
    open_ended = {("outcome", "versions")}
    stage = ("outcome", "replaced", "stage")  # as other mechanisms' stages
    optional = {(*stage, "footpoint"), (*stage, "tangent_sensitivity")}
    optional |= {("request", "about"), ("outcome", "replaced")}  # receipts of before lack them
    for path in list(paths(whole)):
        spoilt = copy.deepcopy(whole)
        part = spoilt
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]
        assert VALIDATOR.is_valid(spoilt) == (path in optional), path
        part[path[-1]] = object  # of no JSON type
        assert not VALIDATOR.is_valid(spoilt), path
    for path in [(), *(p for p in paths(whole) if p not in open_ended)]:
        spoilt = copy.deepcopy(whole)
        part = spoilt
        for key in path:
            part = part[key]
        if isinstance(part, dict):
            part["iterations"] = 3
            assert not VALIDATOR.is_valid(spoilt), path


@pytest.mark.parametrize("number", ["-1", "", "1e", "nan", "0.1/3", " 1", ".5", "1.", "Infinity"])
def test_budgets_are_decimals_or_fractions(number):
    spoilt = receipt("euclidean:1", gd.GaussianDP(1))
    spoilt["request"]["guarantee"]["mu"] = number
    assert not VALIDATOR.is_valid(spoilt)
