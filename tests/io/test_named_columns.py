"""Points from named columns of a CSV file that has others: in Python, by options and by a spec."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import geodp as gd
from geodp.cli import main
from geodp.io import read_grouped, read_records, read_spec

TABLE = '''id,note,yy,xx,age,xy
ann,"tall, thin",2,1,40,0.5
bob,,3,1,NA,0
cid,"never
dan,x,4,1,9
eve,x,oops,1,9,0
fay,"said ""no""",5,1,7,"0.25"
ann,x,1,1,1,0
'''
# columns xx, xy, yy; a quote that does not close, a lost cell and a word are records of NaN
ROWS = [(1, 0.5, 2), (1, 0, 3), None, None, None, (1, 0.25, 5), (1, 0, 1)]
NAMES = ["xx", "xy", "yy"]
BALL = ["--center", "origin", "--radius", "0.5", "--gdp", "1", "--mechanism", "wrapped-gaussian"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TABLE)
    np.save("a.npy", np.zeros((3, 3)))
    Path("a.tps").write_text("LM=3\n0 0\n1 1\n0 1\n")
    return Path("a.csv")


def _run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("header", [True, None])
def test_named_columns_spell_the_points(table: Path, header: bool | None) -> None:
    expected = [[[np.nan] * 2] * 2 if r is None else [r[:2], r[1:]] for r in ROWS]
    how = {"layout": "lower", "columns": NAMES, "header": header}
    found = read_records(table, gd.SPD(2), **how)
    np.testing.assert_array_equal(found, np.array(expected, dtype=float))
    grouped, ids = read_grouped(table, gd.SPD(2), "id", **how)
    np.testing.assert_array_equal(grouped, found)
    assert ids == ["ann", "bob", "cid", "dan", "eve", "fay", "ann"]
    swapped = read_records(table, gd.Euclidean(2), columns=("yy", "xx"))
    np.testing.assert_array_equal(swapped[[0, 1, 5, 6]], [[2, 1], [3, 1], [5, 1], [1, 1]])


@pytest.mark.parametrize(
    ("file", "words", "said"),
    [
        ("a.csv", ["euclidean:2", "--columns", "xx,zz"], "must have the column 'zz' once"),
        ("twice.csv", ["euclidean:2", "--columns", "y,x"], "must have the column 'x' once"),
        ("a.csv", ["euclidean:2", "--columns", "xx,xx"], "named twice"),
        ("a.csv", ["euclidean:2", "--columns", "xx"], "named (--columns) are 1; 2 are needed"),
        ("a.csv", ["euclidean:2", "--columns", "xx,"], "named by a text"),
        ("a.csv", ["euclidean:2", "--columns", "xx,yy", "--no-header"], "say that its first line"),
        ("a.csv", ["spd:2", "--columns", "xx,xy,yy"], "are 3; 4 are needed"),
        ("a.npy", ["euclidean:3", "--columns", "a,b,c"], "the names out"),
        ("a.tps", ["shapes:3", "--columns", "a,b,c,d,e,f"], "the names out"),
        ("a.csv", ["shapes:4", "--columns", "a,b", "--layout", "long"], "has several lines"),
        ("a.csv", ["euclidean:2", "--header"], "--columns NAME,NAME"),
    ],
)
def test_what_cannot_be_chosen_is_one_sentence(
    table: Path, file: str, words: list[str], said: str
) -> None:
    Path("twice.csv").write_text("x,y,x\n1,2,3\n")
    for command in ("release", "infer", "inspect"):
        ball = BALL[: {"inspect": 4, "infer": 6, "release": 8}[command]]
        found = _run(command, file, "--space", *words, *ball)
        assert (found.exit_code, said in found.stderr) == (2, True), (command, found.stderr)
        assert "oops" not in found.stderr


def test_every_command_takes_them(table: Path) -> None:
    points = np.random.default_rng(3).normal(0, 0.1, (60, 2)).tolist()
    lines = [f'"a, b",{y!r},p{i // 2},{x!r}' for i, (x, y) in enumerate(points)]
    table.write_text("\n".join(["note,north,who,east", *lines]) + "\n")
    words = ["a.csv", "--space", "euclidean:2", "--columns", "east, north"]
    seen = _run("inspect", *words)
    facts = json.loads(seen.stdout)
    assert facts["points"] == 60
    assert facts["columns"].endswith("in the columns east, north")
    assert _run("inspect", *words, "--reference", "0,1").exit_code == 0
    persons = ["--entities", "who", "--json"]
    released = json.loads(_run("release", *words, *BALL, *persons).stdout)
    assert released["request"]["n"] == 30
    inferred = _run("infer", *words, *BALL[:6], *persons)
    assert json.loads(inferred.stdout)["releases"]["mean"]["request"]["n"] == 30
    request = released["request"] | {"columns": ["east", "north"], "entities": "who"}
    Path("spec.json").write_text(json.dumps({"schema": released["schema"], "request": request}))
    by_spec = _run("release", "spec.json", "a.csv", "--json")
    assert by_spec.exit_code == 0, by_spec.output
    assert json.loads(by_spec.stdout)["request"] == released["request"]
    assert read_spec("spec.json").columns == ("east", "north")
    refused = _run("release", "spec.json", "a.csv", "--columns", "east,north")
    assert (refused.exit_code, "leave out --columns" in refused.stderr) == (2, True)
    request["columns"] = []
    Path("spec.json").write_text(json.dumps({"schema": released["schema"], "request": request}))
    assert "$.request.columns" in _run("release", "spec.json", "a.csv").stderr
