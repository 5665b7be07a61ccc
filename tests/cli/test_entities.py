"""--entities, --per-entity, --progress and maps on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import geodp as gd
from geodp.cli import main
from geodp.io import write_parquet

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
        (["--entities", "nothing.txt"], "neither a file of ids nor a column"),
        (["--per-entity", "2"], "needs entities"),
        (["--entities", "short.txt"], "one id for each record"),
    ],
)
def test_bad_ids_are_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("a\nb\n")
    found = _run("release", "records.npy", *BALL, *NOISE, *words)
    assert (found.exit_code, said in found.stderr) == (2, True)


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
