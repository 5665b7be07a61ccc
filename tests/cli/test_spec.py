"""Spec files: the request of a receipt asks for the same again; errors say where they lie."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import geodp as gd
from geodp.cli import main
from geodp.io import read_spec
from geodp.io.schema import KEYWORDS, problems, release_schema
from geodp.io.spec import spec_of

SCHEMA = json.loads(files("geodp.ledger").joinpath("schema_v1.json").read_text(encoding="utf-8"))
BALL = {
    "center": [[0.5, 0.0], [0.0, 0.5]],
    "radius": 1.5,
    "physical_unit": "1e-3 mm^2/s",
    "component_order": None,
    "frame": "scanner",
}
SPEC = {
    "schema": "geodp/release/v1",
    "request": {
        "space": "spd:2:affine-invariant",
        "statistic": "Fréchet mean",
        "domain": BALL,
        "n": 30,
        "unit": "person",
        "neighbours": "replace one record, number of records public",
        "guarantee": {"notion": "gdp", "mu": "1"},
        "mechanism": "wrapped-gaussian",
    },
}
RECORDS = np.tile(np.diag([0.4, 0.7]), (30, 1, 1))


def changed(path, value):
    document = copy.deepcopy(SPEC)
    part = document
    *way, last = path
    for key in way:
        part = part[key]
    if value is KeyError:
        del part[last]
    else:
        part[last] = value
    return document


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", RECORDS)

    def call(document, *more):
        text = document if isinstance(document, str) else json.dumps(document)
        (tmp_path / "spec.json").write_text(text)
        return CliRunner().invoke(main, ["release", "spec.json", *more])

    return call


def test_a_spec_is_what_the_options_say(run):
    by_spec = run(SPEC, "x.npy", "--seed", "5", "--json")
    assert by_spec.exit_code == 0, by_spec.stderr
    said = "--space spd:2 --center 0.5,0,0,0.5 --radius 1.5 --gdp 1 --unit person --frame scanner"
    options = [*said.split(), "--physical-unit", "1e-3 mm^2/s", "--mechanism", "wrapped-gaussian"]
    line = ["release", "x.npy", *options, "--seed", "5", "--json"]
    by_options = CliRunner().invoke(main, line)
    one, other = json.loads(by_spec.stdout), json.loads(by_options.stdout)
    for document in (one, other):
        document["outcome"].pop("released_at")
    assert one == other
    assert one["request"] | {"about": None} == SPEC["request"] | {"about": None}


def test_the_request_of_a_receipt_is_a_spec(tmp_path):
    for statistic, mechanism in [
        (gd.FrechetMean, "wrapped-l2-laplace"),
        (lambda ball: gd.FrechetMean(ball, "published"), "wrapped-gaussian"),
        (gd.TangentMean, "wrapped-gaussian"),
        (gd.ExtrinsicMean, "wrapped-gaussian"),
    ]:
        ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4, "degrees", "lon lat")
        x = np.tile([0.0, 0.0, 1.0], (20, 1))
        out = gd.release(x, statistic(ball), gd.GaussianDP("0.5"), mechanism, unit="scan")
        document = {name: out.to_json()[name] for name in ("schema", "request")}
        (tmp_path / "s.json").write_text(json.dumps(document))
        again = read_spec(tmp_path / "s.json").release(x)
        assert again.to_json()["request"] == document["request"]


def test_maps(tmp_path):
    ball = gd.Ball(gd.Power(gd.SPD(2), 3), np.eye(2), 1.0)
    x = np.tile(np.eye(2), (9, 3, 1, 1))
    out = gd.release(x, gd.FrechetMean(ball), gd.GaussianDP(1), "wrapped-gaussian")
    jsonschema.Draft202012Validator(SCHEMA).validate(out.to_json())
    document = {name: out.to_json()[name] for name in ("schema", "request")}
    assert spec_of(document).release(x).value.shape == (3, 2, 2)


def test_the_ledger_pays_for_a_spec_once(run):
    gd.Ledger.create("budget.db", gd.GaussianDP(1), unit="person")
    pay = ("--ledger", "budget.db", "--dataset", "d", "--request-id", "one", "--json")
    first, second = run(SPEC, "x.npy", *pay), run(SPEC, "x.npy", *pay)
    assert first.exit_code == 0, first.stderr
    assert first.stdout == second.stdout
    third = run(SPEC, "x.npy", *pay[:-2], "two", "--json")
    assert third.exit_code == 3
    wrong = run(changed(("request", "unit"), "scan"), "x.npy", *pay[:-2], "three", "--json")
    assert wrong.exit_code == 2


REQUEST = ("request",)
BAD = [
    ((), [], "At $: a spec is a JSON object."),
    (("schema",), "geodp/release/v2", "At $.schema:"),
    (("schema",), KeyError, "At $.schema:"),
    (("outcome",), {}, "At $.outcome: this is a receipt."),
    (("notes",), "x", "At $: a spec has no field 'notes'"),
    (REQUEST, KeyError, "At $: the spec lacks 'request'."),
    (REQUEST, 3, "At $.request: it must be an object."),
    ((*REQUEST, "space"), KeyError, "At $.request: it lacks 'space'."),
    ((*REQUEST, "space"), "torus:2", "At $.request.space: The string 'torus:2' names no space."),
    ((*REQUEST, "space"), 7, "At $.request.space: it must be a string."),
    ((*REQUEST, "statistic"), "median", "At $.request.statistic: 'median' is none"),
    ((*REQUEST, "statistic"), "extrinsic mean", "At $.request.statistic:"),
    ((*REQUEST, "domain"), None, "At $.request.statistic: It is defined on a public ball"),
    ((*REQUEST, "domain", "radius"), 0, "At $.request.domain.radius: it must be greater than 0."),
    ((*REQUEST, "domain", "radius"), 90, "At $.request.domain: A ball of radius 90"),
    ((*REQUEST, "domain", "radius"), KeyError, "At $.request.domain: it lacks 'radius'."),
    ((*REQUEST, "domain", "centre"), 1, "At $.request.domain: it has an unknown field 'centre'."),
    ((*REQUEST, "domain", "center"), [1, "a"], "At $.request.domain.center[1]: it must be"),
    ((*REQUEST, "domain", "center"), [[1, 0], [0, -1]], "At $.request.domain: The centre is no"),
    ((*REQUEST, "domain", "center"), [1, 0], "At $.request.domain: The centre has shape (2,)"),
    ((*REQUEST, "domain", "frame"), 3, "At $.request.domain.frame: it must be a string or null."),
    ((*REQUEST, "about"), {}, "At $.request.about: it lacks 'space'."),
    ((*REQUEST, "n"), 1, "At $.request.n: it must be at least 2."),
    ((*REQUEST, "n"), "30", "At $.request.n: it must be an integer or null."),
    ((*REQUEST, "n"), 31, "At $.request.n: the data have another number of records"),
    ((*REQUEST, "unit"), "", "At $.request.unit: it must not be empty."),
    ((*REQUEST, "neighbours"), "add or remove", "At $.request.neighbours: it is text"),
    ((*REQUEST, "guarantee", "mu"), 1, "At $.request.guarantee.mu: it must be a string."),
    ((*REQUEST, "guarantee", "mu"), "-1", "At $.request.guarantee.mu: it is text of another"),
    ((*REQUEST, "guarantee", "mu"), "0", "At $.request.guarantee: The number mu must be greater"),
    ((*REQUEST, "guarantee", "mu"), KeyError, "At $.request.guarantee: it lacks 'mu'."),
    ((*REQUEST, "guarantee", "notion"), "dp", "At $.request.guarantee: it is none of the known"),
    ((*REQUEST, "mechanism"), "magic", "At $.request.mechanism: The mechanism is one of best,"),
]


@pytest.mark.parametrize(("path", "value", "said"), BAD, ids=[b[2][:40] for b in BAD])
def test_errors_say_where_and_spend_nothing(run, path, value, said):
    gd.Ledger.create("budget.db", gd.GaussianDP(9), unit="person")
    document = changed(path, value) if path else value
    out = run(document, "x.npy", "--ledger", "budget.db", "--dataset", "d")
    assert out.exit_code == 2, out.stderr
    assert out.stdout == ""
    (line,) = out.stderr.splitlines()
    assert line.startswith(f"Error: {said}"), line
    assert line.endswith(".")
    assert gd.Ledger("budget.db").show()["entries"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON document"),
        ("{", "no JSON document"),
        ('{"schema": NaN}', "no JSON document"),
        ("[" * 100_000, "no JSON document"),
        (json.dumps(SPEC).replace("1.5", "1e999"), "At $.request.domain"),
        (json.dumps(SPEC).replace("person", "\\ud800"), "UTF-8"),
    ],
)
def test_files_that_are_no_spec(run, text, said):
    out = run(text, "x.npy")
    assert (out.exit_code, out.stdout) == (2, "")
    assert said in out.stderr
    assert len(out.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "option", ["--space spd:2", "--gdp 1", "--unit person", "--radius 1", "--mechanism best",
               "--bound published", "--statistic frechet-mean", "--physical-unit mm"],
)  # fmt: skip
def test_options_do_not_contradict_a_spec(run, option):
    out = run(SPEC, "x.npy", *option.split())
    assert out.exit_code == 2
    assert f"leave out {option.split()[0]}" in out.stderr


def test_a_spec_without_data(run):
    out = run(SPEC)
    assert (out.exit_code, out.stdout) == (2, "")
    assert "Name the FILE of records" in out.stderr


# --- the validator against jsonschema -----------------------------------------------------------
def keywords(schema):
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for below in value.values():
                yield from keywords(below)
            yield key
        else:
            yield key
            parts = value if isinstance(value, list) else [value]
            for below in parts:
                if isinstance(below, dict) and key != "const":
                    yield from keywords(below)


def test_the_validator_knows_every_keyword_of_the_schema():
    words = {"$schema", "$id", "$defs", "$ref", "title", "description"}
    assert set(keywords(SCHEMA)) - words <= KEYWORDS


def leaves(x, at=()):
    yield at
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, value in items:
        yield from leaves(value, (*at, key))


BALL_RELEASE = gd.release(
    RECORDS, gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 1.0)), gd.ApproxDP(1, "1e-5")
).to_json()
JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        2.5,
        3.0,
        "",
        "a",
        "1",
        "1/3",
        "gdp",
        [],
        [1],
        [[1.0]],
        [[[1]]],
        {},
        ["a"],
    ]
)


@given(st.sampled_from(sorted(leaves(BALL_RELEASE), key=str)), JUNK, st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_validator_agrees_with_jsonschema(path, junk, delete):
    document = copy.deepcopy(BALL_RELEASE)
    part, holder = document, None
    for key in path:
        holder, part = part, part[key]
    if holder is None:
        document = junk
    elif delete:
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk
    ours = list(problems(document, release_schema(), release_schema()))
    assert (not ours) == jsonschema.Draft202012Validator(SCHEMA).is_valid(document), ours
    assert all(where.startswith("$") for where, _ in ours)
