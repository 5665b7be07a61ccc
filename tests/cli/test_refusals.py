"""Bad input: one sentence, exit code 2, no traceback, before data is read or anything drawn."""

from __future__ import annotations

import io
import json
import os
import socket
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geodp.cli import main

NO_DATA = "no-such-file.npy"  # a refusal that names anything else came before opening it


def run(*words, stdin=None):
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin)


def options(**changed):
    standing = {"space": "spd:2", "center": "origin", "radius": "2", "gdp": "1"} | changed
    words = []
    for name, value in standing.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *str(value).split()]
    return words


def assert_refused(result, *, about=""):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "Error: " in result.stderr
    assert about in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("changed", "about"),
    [
        ({"gdp": "-1"}, "greater than zero"),
        ({"gdp": "0"}, "greater than zero"),
        ({"gdp": "nan"}, "finite"),
        ({"gdp": "inf"}, "finite"),
        ({"gdp": "1e999999999"}, "finite"),
        ({"gdp": "one"}, "number"),
        ({"gdp": None}, "exactly one guarantee"),
        ({"pure": "1"}, "exactly one guarantee"),
        ({"gdp": None, "epsilon": "1"}, "say --pure EPS, --approx EPS DELTA"),
        ({"gdp": None, "eps": "1", "delta": "1e-6"}, "say --pure EPS, --approx EPS DELTA"),
        ({"gdp": None, "rho": "1"}, "or --zcdp RHO"),
        ({"gdp": None, "approx": "1 2"}, "less than one"),
        ({"gdp": None, "renyi": "1 1"}, "greater than one"),
        ({"gdp": None, "pure": "1", "mechanism": "wrapped-gaussian"}, "pure"),
        ({"space": "torus:2"}, "names no space"),
        ({"space": "spd:0"}, "at least 1"),
        ({"space": "spd:2:euclidean"}, "metric"),
        ({"space": "shapes:2"}, "three landmarks"),
        ({"space": None}, "--space"),
        ({"radius": None}, "How to choose"),
        ({"center": None}, "How to choose"),
        ({"center": None, "radius": None}, "How to choose"),
        ({"radius": "-1"}, "positive"),
        ({"radius": "0"}, "positive"),
        ({"radius": "nan"}, "positive"),
        ({"radius": "wide"}, "float"),
        ({"space": "sphere:2", "radius": "1.6"}, "radi"),
        ({"space": "sphere:2", "radius": "1.0", "bound": "published"}, "published"),
        ({"eigenvalues": "1 2"}, "one way"),
        ({"center": None, "radius": None, "eigenvalues": "2 1"}, "below"),
        ({"center": None, "radius": None, "degrees": "0 0 10"}, "sphere"),
        ({"center": "1,0,0"}, "numbers"),
        ({"center": "1,0,0,-1"}, "no point"),
        ({"center": "nowhere.npy"}, "nowhere.npy"),
        ({"mechanism": "laplace"}, "--mechanism"),
        ({"mechanism": "knorm-gradient"}, "--mechanism"),
        ({"footpoint": "private:2"}, "share"),
        ({"mechanism": "riemannian-laplace", "footpoint": "origin"}, "--footpoint"),
        ({"statistic": "median"}, "--statistic"),
        ({"statistic": "extrinsic-mean"}, "Extrinsic means exist on spheres"),
        ({"statistic": "tangent-mean", "bound": "published"}, "--bound"),
        ({"statistic": "tangent-mean", "footpoint": "2,0,0,1"}, "--footpoint"),
        ({"statistic": "tangent-mean", "radius": None}, "How to choose"),
        ({"physical-unit": "\ud800"}, "--physical-unit"),
        ({"component-order": "\udcff"}, "--component-order"),
        ({"frame": "a\ud800"}, "--frame"),
        ({"unit": "\ud800"}, "--unit"),
        ({"footpoint": "private:x"}, "share"),
        ({"footpoint": "0,0,0,0"}, "no point"),
        ({"ledger": "budget.db"}, "--dataset"),
        ({"dataset": "study"}, "--ledger"),
        ({"group": "site=A"}, "--ledger"),
        ({"request-id": "1"}, "--ledger"),
        ({"sensitivity": "1"}, "--value"),
        ({"seed": "-1"}, "--seed"),
        ({"columns": "by-column"}, "--columns"),
        ({"out": "no/such/place.json"}, "--out"),
        ({"out": "."}, "--out"),
    ],
)
def test_arguments_are_refused_before_the_file_is_opened(changed, about):
    result = run("release", NO_DATA, *options(**changed))
    assert_refused(result, about=about)
    assert NO_DATA not in result.stderr


def test_the_unit_must_say_something():
    assert_refused(run("release", NO_DATA, *options(), "--unit", " "), about="--unit")


def test_a_good_request_gets_as_far_as_the_file():
    assert_refused(run("release", NO_DATA, *options()), about=f"'{NO_DATA}' does not exist")


def test_release_needs_records_or_a_value():
    assert_refused(run("release", *options()), about="FILE")
    both = run("release", NO_DATA, *options(), "--value", NO_DATA, "--sensitivity", "1")
    assert_refused(both, about="not both")


def test_an_input_is_not_overwritten(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((5, 2, 2)))
    before = path.read_bytes()
    result = run("release", path, *options(), "--out", tmp_path / "." / "x.npy")
    assert_refused(result, about="is an input")
    assert_refused(run("report", path, "--out", path), about="is an input")
    assert path.read_bytes() == before


@pytest.mark.parametrize("n", ["1", "0", "-5", "x", "2.5", "1" + "0" * 400])
def test_plan_needs_two_records(n):
    assert_refused(run("plan", *options(), "--n", n))


@pytest.mark.parametrize("sensitivity", ["0", "-1", "nan", "inf", "x"])
def test_calibrate_needs_a_sensitivity(sensitivity):
    words = ("--mechanism", "wrapped-gaussian", "--sensitivity", sensitivity)
    assert_refused(run("calibrate", *options(), *words))


def test_calibrate_with_a_private_footpoint_is_refused():
    words = ("--mechanism", "wrapped-gaussian", "--sensitivity", "1", "--footpoint", "private")
    assert_refused(run("calibrate", *options(), *words), about="private footpoint")


def bad_files(folder):
    np.save(folder / "one.npy", np.eye(2)[None])
    np.save(folder / "wide.npy", np.zeros((5, 3, 3)))
    np.save(folder / "text.npy", np.full((5, 2, 2), "a"))
    np.save(folder / "object.npy", np.full((5, 2, 2), None), allow_pickle=True)
    np.savez(folder / "two.npz", a=np.zeros((5, 2, 2)), b=np.zeros((5, 2, 2)))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "header.csv").write_bytes(b"a,b,c\n1,2,3\n")
    (folder / "garbage.npy").write_bytes(bytes(range(256)))
    return [*folder.iterdir(), folder]


def test_bad_files_are_refused_by_every_command_that_reads(tmp_path):
    for path in bad_files(tmp_path):
        result = run("release", path, *options())
        assert_refused(result)
        assert_refused(run("verify", path))
        assert_refused(run("report", path, "--out", tmp_path / "page.html"))
        if path.name != "one.npy":  # inspect looks at a single record too
            assert_refused(run("inspect", path, "--space", "spd:2"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((3, 2, 2)))
    path.chmod(0)
    assert_refused(run("release", path, *options()), about="permission")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", '{"schema": "geodp/release/v1"}', "[" * 100_000, '"\ud800"']
)
def test_what_is_no_receipt_is_refused(text):
    assert_refused(run("verify", "-", stdin=text.encode("utf-8", "surrogatepass")))


def test_a_receipt_with_text_that_no_page_can_hold_is_refused(receipt, tmp_path):
    document = json.loads(receipt)
    document["request"]["domain"]["physical_unit"] = "\ud800"
    text, page = json.dumps(document), tmp_path / "page.html"  # escaped, so itself good UTF-8
    for words in (("verify", "-"), ("report", "-", "--out", page)):
        assert_refused(run(*words, stdin=text), about="cannot be encoded in UTF-8")
    assert not page.exists()


words = st.one_of(
    st.sampled_from(
        [
            "",
            "-1",
            "0",
            "1",
            "nan",
            "inf",
            "1e400",
            "1e-400",
            "1/0",
            "1/3",
            "-",
            "--",
            "origin",
            "1,1",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.floats().map(repr),
)
FUZZED = (
    *("space", "center", "radius", "gdp", "pure", "zcdp", "footpoint", "mechanism", "bound"),
    *("seed", "columns", "sensitivity", "unit", "key", "physical-unit", "eigenvalues"),
)
names = st.sampled_from(FUZZED)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(names, words, min_size=1, max_size=4))
def test_no_option_value_makes_a_traceback(changed):
    standing = {"space": "spd:2", "center": "origin", "radius": "2", "gdp": "1"} | changed
    flags = [word for name, value in standing.items() for word in (f"--{name}", value)]
    result = CliRunner().invoke(main, ["release", NO_DATA, *flags])
    assert_refused(result)


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"a,b,c,d\n", b"1,0,0,1\n"]),
    st.binary(max_size=200),
    st.sampled_from(["x.npy", "x.npz", "x.csv"]),
)
def test_no_file_makes_a_traceback(tmp_path, head, tail, name):
    path = Path(tmp_path, name)
    path.write_bytes(head + tail)
    result = run("release", path, *options(), "--no-header", "--json")
    assert result.exit_code in (0, 2)  # random lines after a good one are records of NaN
    assert "Traceback" not in result.stderr
    assert (result.stdout == "") == (result.exit_code == 2)
    assert run("inspect", path, "--space", "spd:2").exit_code in (0, 2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(10, 200), st.binary(min_size=1, max_size=3))
def test_no_damaged_array_makes_a_traceback(place, damage):
    out = io.BytesIO()
    np.save(out, np.broadcast_to(np.eye(2), (4, 2, 2)))
    content = out.getvalue()
    content = content[:place] + damage + content[place + len(damage) :]
    result = CliRunner().invoke(main, ["release", "-", *options(), "--json"], input=content)
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.stderr


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([1e400, -1.0, 0.0, 1e-320, 10**400, float("nan")]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.lists(st.floats(allow_nan=False), max_size=3),
    st.just({}),
    st.sampled_from(
        ["spd:3", "sphere:2", "spd:999999999", "wrapped-l2-laplace", "1/0", "1e999999"]
    ),
)


@pytest.fixture(scope="module")
def receipt(tmp_path_factory):
    path = tmp_path_factory.mktemp("receipt") / "x.npy"
    np.save(path, np.broadcast_to(np.eye(2), (4, 2, 2)))
    return run("release", path, *options(), "--json").stdout


def places(document, at=()):
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in pairs:
        yield (*at, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*at, key))


@settings(max_examples=250, deadline=None, derandomize=True)
@given(st.data())
def test_no_tampered_receipt_makes_a_traceback(receipt, data):
    document = json.loads(receipt)
    *above, last = data.draw(st.sampled_from(list(places(document))))
    part = document
    for key in above:
        part = part[key]
    part[last] = data.draw(junk)
    result = run("verify", "-", stdin=json.dumps(document))
    assert result.exit_code in (0, 1, 2), result.stderr
    assert "Traceback" not in result.stderr
    assert (result.stdout == "") == (result.exit_code == 2)


def test_the_page_refuses_a_ledger_that_is_none_and_a_port_that_is_taken() -> None:
    assert_refused(
        run("serve", "--port", "0", "--no-browser", "--ledger", "none.db"), about="ledger"
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_refused(run("serve", "--port", port, "--no-browser"), about="taken")
