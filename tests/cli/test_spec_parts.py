"""What a spec states beyond a receipt: footpoint, share of replaced records, an inference."""

from __future__ import annotations

import copy
import json

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.io.schema import release_schema
from geodp.io.spec import spec_of

SPEC = {
    "schema": "geodp/release/v1",
    "request": {
        "space": "spd:2:affine-invariant",
        "statistic": "frechet-mean",
        "domain": {
            "center": [[1.0, 0.0], [0.0, 1.0]],
            "radius": 1.5,
            "frame": "scanner",
            "physical_unit": None,
            "component_order": None,
        },
        "n": None,
        "unit": "person",
        "neighbours": "replace one record, number of records public",
        "guarantee": {"notion": "gdp", "mu": "2"},
        "mechanism": "wrapped-gaussian",
    },
}
RECORDS = gd.SPD(2).exp_coords(np.eye(2), np.random.default_rng(2).uniform(-0.3, 0.3, (400, 3)))


def asked(**more):
    document = copy.deepcopy(SPEC)
    document["request"] |= more
    return document


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", RECORDS)

    def call(verb, document, *more):
        (tmp_path / "spec.json").write_text(json.dumps(document))
        return CliRunner().invoke(main, [verb, "spec.json", "x.npy", *more, "--json"])

    return call


def outcome(document):
    document = json.loads(document)
    document["outcome"].pop("released_at")
    return document


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ({"footpoint": [[1.1, 0.0], [0.0, 1.0]]}, ["--footpoint", "1.1,0,0,1"]),
        ({"footpoint": {"private": "0.3"}}, ["--footpoint", "private:0.3"]),
        ({"footpoint": {"private": "1/4"}, "mechanism": "best"}, ["--footpoint", "private"]),
        ({"replaced": "0"}, ["--replaced", "0"]),
        ({"replaced": "0.2"}, ["--replaced", "0.2"]),
    ],
)
def test_a_spec_says_what_options_say(run, more, options):
    by_spec = run("release", asked(**more), "--seed", "5")
    assert by_spec.exit_code == 0, by_spec.stderr
    plain = {name: None for name in more if name != "mechanism"}
    by_option = run("release", asked(**more | plain), "--seed", "5", *options)
    assert outcome(by_spec.stdout) == outcome(by_option.stdout)
    in_python = spec_of(asked(**more)).release(RECORDS, rng=np.random.default_rng(5)).to_json()
    assert outcome(json.dumps(in_python)) == outcome(by_spec.stdout)


def test_the_footpoint_and_the_share_are_those_that_were_stated():
    out = spec_of(asked(footpoint=[[2.0, 0.0], [0.0, 1.0]], replaced="0")).release(RECORDS)
    assert out.stages[0]["footpoint"] == [[2.0, 0.0], [0.0, 1.0]]
    assert out.replaced is None
    out = spec_of(asked(footpoint={"private": "0.36"}, replaced="0")).release(RECORDS)
    # shares of mu squared: 0.36 of 4 and 0.64 of 4
    assert [stage["guarantee"]["mu"] for stage in out.stages] == ["1.2", "1.6"]


def test_an_inference_by_a_spec(run):
    split = {"mean": "0.5", "covariance": "0.3", "hessian": "0.2"}
    document = asked(infer={"confidence": 0.9, "split": split, "spread": 1.0})
    by_spec = run("infer", document, "--seed", "5")
    assert by_spec.exit_code == 0, by_spec.stderr
    found = json.loads(by_spec.stdout)
    assert found["confidence"] == 0.9
    assert set(found["releases"]) == set(split)
    assert found["split"]["mean"]["mu"].startswith("1.414213")  # sqrt(0.5 * 4)
    same = spec_of(document).infer(RECORDS, rng=np.random.default_rng(5))
    assert same.region.to_json() == found["region"]
    words = "--space spd:2 --center origin --radius 1.5 --gdp 2 --unit person --frame scanner"
    by_spec = run("infer", asked(infer={}, mechanism="best"), "--seed", "5")
    line = ["infer", "x.npy", *words.split(), "--seed", "5", "--json"]
    by_options = CliRunner().invoke(main, line)
    assert json.loads(by_spec.stdout)["region"] == json.loads(by_options.stdout)["region"]


BAD = [
    ({"footpoint": [1.0, 2.0, 3.0]}, "", "footpoint"),
    ({"footpoint": {"share": "1/4"}}, "$.request.footpoint", ""),
    ({"footpoint": {"private": 0.25}}, "$.request.footpoint.private", "string"),
    ({"footpoint": {"private": "2"}}, "$.request.footpoint", "between 0 and 1"),
    ({"footpoint": {"private": "1/4"}, "mechanism": "riemannian-laplace"}, "", "wrapped"),
    ({"replaced": 0.1}, "$.request.replaced", "string"),
    ({"replaced": "0.7"}, "$.request.replaced", "0.5"),
    ({"infer": {"level": 0.9}}, "$.request.infer", "unknown field"),
    ({"infer": {"confidence": 1}}, "$.request.infer", "strictly between"),
    ({"infer": {"confidence": "0.9"}}, "$.request.infer.confidence", "number"),
    ({"infer": {"split": {"mean": "0.5"}}}, "$.request.infer", "needs a share"),
    ({"infer": {"split": {"mean": 0.5}}}, "$.request.infer.split.mean", "string"),
    ({"infer": {"spread": -1}}, "$.request.infer.spread", "greater than 0"),
    ({"infer": {}, "statistic": "tangent-mean"}, "$.request.infer", "Fréchet mean"),
]


@pytest.mark.parametrize(("more", "path", "said"), BAD)
def test_errors_say_where(run, more, path, said):
    result = run("infer" if "infer" in more else "release", asked(**more))
    assert result.exit_code == 2, result.stdout
    assert result.stdout == ""
    assert path in result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_each_verb_has_its_specs(run):
    result = run("release", asked(infer={"confidence": 0.9}))
    assert result.exit_code == 2
    assert "geodp infer" in result.stderr
    result = run("infer", asked())
    assert result.exit_code == 2
    assert "$.request.infer" in result.stderr
    for verb, more, option in (
        ("infer", {"infer": {}}, ["--confidence", "0.9"]),
        ("release", {"replaced": "0"}, ["--replaced", "0.1"]),
        ("release", {"footpoint": {"private": "1/4"}}, ["--footpoint", "origin"]),
    ):
        result = run(verb, asked(**more), *option)
        assert result.exit_code == 2
        assert option[0] in result.stderr


def test_the_published_schema_takes_them():
    request = release_schema()["properties"]["request"]
    schema = {**request, "$defs": release_schema()["$defs"]}
    good = asked(footpoint={"private": "1/4"}, replaced="0", infer={"confidence": 0.9})
    jsonschema.Draft202012Validator(schema).validate(good["request"])
    for more, *_ in BAD[1:3]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(schema).validate(asked(**more)["request"])
