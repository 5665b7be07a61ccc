"""--entities, --per-entity, --progress and maps on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import geodp as gd
from geodp.cli import main
from geodp.io import read_grouped, read_spec, write_parquet

BALL = ["--space", "spd:2", "--center", "origin", "--radius", "1", "--gdp", "1"]
NOISE = ["--mechanism", "wrapped-gaussian"]
IDS = ["a", "b", "b", "c", "c", "c"] * 10


def _run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def records(tmp_path: Path) -> np.ndarray:
    records = gd.SPD(2).exp_coords(np.eye(2), np.random.default_rng(0).normal(size=(60, 3)) * 0.3)
    np.save(tmp_path / "records.npy", records)
    np.savez(tmp_path / "records.npz", x=records, who=np.array(IDS))
    (tmp_path / "ids.txt").write_text("\n".join(IDS) + "\n")
    np.save(tmp_path / "ids.npy", np.array(IDS))
    write_parquet(tmp_path / "records.parquet", records, gd.SPD(2), ids=IDS)
    flat = records.reshape(-1, 4).tolist()
    for place, name in enumerate(("first", "second", "last")):
        cut = (0, 2, 4)[place]
        lines = [["xx", "xy", "yx", "yy"], *([repr(x) for x in row] for row in flat)]
        lines = [
            ",".join([*line[:cut], who, *line[cut:]])
            for line, who in zip(lines, ["who", *IDS], strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return records


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("records.npy", ["ids.txt"]),
        ("records.npy", ["ids.npy"]),
        ("records.npz", ["who", "--key", "x"]),
        ("records.parquet", ["id"]),
        ("records.parquet", ["ids.txt", "--per-entity", "2"]),
        ("first.csv", ["who", "--header"]),
        ("second.csv", ["who", "--header", "--per-entity", "2"]),
        ("last.csv", ["who", "--header"]),
    ],
)
def test_ids_come_from_a_file_or_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, more: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = _run("release", file, *BALL, *NOISE, "--json", "--entities", *more)
    assert found.exit_code == 0, found.output
    request = json.loads(found.stdout)["request"]
    assert (request["n"], request["unit"]) == (3, "person")
    rule = "of 2 records per entity" if "--per-entity" in more else "of entity means"
    assert request["statistic"] == f"Fréchet mean {rule}"


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--entities", "nothing.txt"], "has no columns, and 'nothing.txt' is no file"),
        (["--per-entity", "2"], "needs entities"),
        (["--entities", "short.txt"], "one id for each record"),
        (["--entities", "."], "has no columns"),
    ],
)
def test_bad_ids_are_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("a\nb\n")
    found = _run("release", "records.npy", *BALL, *NOISE, *words)
    assert (found.exit_code, said in found.stderr) == (2, True)


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize(
    ("file", "words", "said"),
    [
        ("first.csv", ["who", "--no-header"], "say that its first line is one"),
        ("first.csv", ["who"], "say that its first line is one"),
        ("first.csv", ["whose", "--header"], "must name the column 'whose' of ids once"),
        ("first.csv", ["who", "--header", "--key", "x"], "array of a .npz file"),
        ("records.parquet", ["record"], "holds the records"),
        ("records.parquet", ["whose"], "no column 'whose'"),
        ("records.npz", ["whose", "--key", "x"], "no array 'whose'"),
        ("quoted.csv", ["who", "--header"], "in quotes that hold a comma"),
        ("missing.csv", ["who", "--header"], "no entity id"),
    ],
)
def test_columns_that_cannot_serve_get_a_sentence_and_spend_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = Path("first.csv").read_text()
    Path("quoted.csv").write_text(whole + '"Doe, Jane",1,0,0,1\n')
    Path("missing.csv").write_text(whole + ",1,0,0,1\n")
    ledger = gd.Ledger.create("budget.db", gd.GaussianDP(1), unit="person")
    pays = ["--ledger", "budget.db", "--dataset", "s"]
    found = _run("release", file, *BALL, *NOISE, *pays, "--entities", *words)
    assert (found.exit_code, said in found.stderr) == (2, True), found.stderr
    assert ledger.left_for("s", None) == 1


def test_a_malformed_line_keeps_its_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids at either end of a line: whatever a record holds, it stays its person's, and no id is
    made of it; in the middle a line of another length has no id."""
    monkeypatch.chdir(tmp_path)
    lines = ["who,x,y", "ann,1,2", "ann,1;5,2,7,8", "bob,", "bob,bob", "cid,3,4,", "cid,cid"]
    Path("a.csv").write_text("\n".join(lines))
    turned = [",".join([*line.split(",")[1:], line.split(",")[0]]) for line in lines]
    Path("b.csv").write_text("\n".join(turned))
    for file in ("a.csv", "b.csv"):
        records, ids = read_grouped(file, gd.Euclidean(2), "who", header=True)
        assert ids == ["ann", "ann", "bob", "bob", "cid", "cid"]
        assert np.isnan(records).all(axis=1).tolist() == [False, True, True, True, True, True]
    Path("c.csv").write_text("x,who,y\n1,ann,2\n1,2,bob,3\n")
    assert read_grouped("c.csv", gd.Euclidean(2), "who", header=True)[1] == ["ann", ""]


def test_inspect_shows_the_persons(records: np.ndarray, tmp_path: Path) -> None:
    file = tmp_path / "first.csv"
    found = _run("inspect", file, *BALL[:2], "--header", "--entities", "who")
    assert found.exit_code == 0, found.output
    sizes = {"least": 10.0, "median": 20.0, "most": 30.0}
    assert json.loads(found.stdout)["entities"] == {"number": 3, "records_of_each": sizes}
    assert "entities: 3; records of each: least 10, median 20, most 30" in found.stderr


@pytest.mark.parametrize("column", ["who", None])
def test_a_spec_asks_for_persons(
    records: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    first = _run("release", "first.csv", *BALL, *NOISE, "--header", "--entities", "who", "--json")
    receipt = json.loads(first.stdout)
    spec = {"schema": receipt["schema"], "request": receipt["request"] | {"entities": column}}
    Path("spec.json").write_text(json.dumps(spec))
    words = ["release", "spec.json", "first.csv", "--header", "--json"]
    found = _run(*words, *([] if column else ["--entities", "who"]))
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["request"] == receipt["request"]
    refused = _run(*words, *(["--entities", "who"] if column else []))
    assert refused.exit_code == 2
    assert ("leave out --entities" if column else "ids of the records must be") in refused.stderr
    spec["request"]["n"] = 4
    Path("spec.json").write_text(json.dumps(spec))
    refused = _run(*words, *([] if column else ["--entities", "who"]))
    assert (refused.exit_code, "another number of entities" in refused.stderr) == (2, True)
    own, ids = read_grouped("first.csv", gd.SPD(2), "who", header=True)
    spec["request"]["n"] = 3
    Path("spec.json").write_text(json.dumps(spec))
    assert read_spec("spec.json").release(own, ids).statistic == "Fréchet mean of entity means"


def test_plan_counts_persons() -> None:
    found = _run("plan", *BALL, *NOISE, "--n", 40, "--entities", "--per-entity", 5, "--json")
    assert json.loads(found.stdout)["statistic"] == "Fréchet mean of 5 records per entity"


@pytest.mark.usefixtures("records")
def test_progress_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "records.npy"
    asked = _run("release", file, *BALL, *NOISE, "--json", "--progress")
    assert "geodp: clipping" in asked.stderr
    assert "geodp: noise" in asked.stderr
    json.loads(asked.stdout)
    assert _run("release", file, *BALL, *NOISE, "--json").stderr == ""


def test_maps_go_in_and_come_out(tmp_path: Path) -> None:
    np.save(tmp_path / "maps.npy", np.tile(np.eye(2), (30, 4, 1, 1)))
    space = ["--space", "spd:2^4", "--eigenvalues", "0.3", "3", "--gdp", "1"]
    found = _run("release", tmp_path / "maps.npy", *space, "--json")
    assert found.exit_code == 0, found.output
    assert np.shape(json.loads(found.stdout)["outcome"]["value"]) == (4, 2, 2)
