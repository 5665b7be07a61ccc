"""What the metadata of a Parquet file declare: taken over, shown, and never contradicted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import geodp as gd
from geodp.cli import main
from geodp.io import ParquetRecords, write_parquet

pytest.importorskip("pyarrow", reason="the extra parquet is not installed")

BALL = ["--space", "spd:2", "--center", "origin", "--radius", "1"]
SAID = {"physical_unit": "1e-3 mm^2/s", "component_order": "xx xy yy", "frame": "scanner"}
NOISE = ["--gdp", "1", "--json"]


def _run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "records.parquet"
    write_parquet(place, np.tile(np.eye(2), (300, 1, 1)), gd.SPD(2), **SAID)
    return place


def _domain(found: Result) -> dict[str, str | None]:
    assert found.exit_code == 0, found.output
    domain = json.loads(found.stdout)["request"]["domain"]
    return {name: domain[name] for name in SAID}


def test_release_takes_over_what_is_not_declared(path: Path) -> None:
    assert _domain(_run("release", path, *BALL, *NOISE)) == SAID
    same = ["--physical-unit", "1e-3  mm^2/s"]
    assert _domain(_run("release", path, *BALL, *NOISE, *same))["frame"] == "scanner"


def test_a_spec_that_is_silent_takes_it_over_too(path: Path, tmp_path: Path) -> None:
    receipt = json.loads(_run("release", path, *BALL, *NOISE).stdout)
    spec = {name: receipt[name] for name in ("schema", "request")}
    spec["request"]["domain"] |= dict.fromkeys(SAID)
    place = tmp_path / "spec.json"
    place.write_text(json.dumps(spec))
    assert _domain(_run("release", place, path, "--json")) == SAID
    spec["request"]["domain"]["frame"] = "voxel"
    place.write_text(json.dumps(spec))
    refused = _run("release", place, path)
    assert (refused.exit_code, "$.request.domain" in refused.stderr) == (2, True)


def test_infer_takes_it_over(path: Path) -> None:
    found = _run("infer", path, *BALL, *NOISE)
    assert found.exit_code == 0, found.output
    means = json.loads(found.stdout)["releases"]["mean"]["request"]["domain"]
    assert {name: means[name] for name in SAID} == SAID


def test_inspect_shows_what_the_file_says(path: Path) -> None:
    found = _run("inspect", path, *BALL, "--frame", "scanner")
    facts = json.loads(found.stdout)
    assert {name: facts[name] for name in SAID} == SAID
    assert facts["from_metadata"] == ["physical_unit", "component_order"]
    assert "unit: 1e-3 mm^2/s, as the file says" in found.stderr
    assert "frame: scanner\n" in found.stderr


def test_plan_counts_by_metadata_and_reads_no_record(path: Path) -> None:
    found = _run("plan", path, *BALL, *NOISE)
    assert json.loads(found.stdout)["n"] == 300
    raw = bytearray(path.read_bytes())
    raw[4:60] = bytes(56)  # the records
    path.write_bytes(raw)
    assert json.loads(_run("plan", path, *BALL, *NOISE).stdout)["n"] == 300
    assert _run("release", path, *BALL, *NOISE).exit_code == 2
    for words, said in (
        (["--n", "299"], "another number of records"),
        (["--entities"], "say the number of persons"),
        (["--frame", "voxel"], "the records' file says 'scanner'"),
    ):
        refused = _run("plan", path, *BALL, *NOISE, *words)
        assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr
    assert json.loads(_run("plan", path, *BALL, *NOISE, "--entities", "--n", 40).stdout)["n"] == 40
    assert "--n" in _run("plan", *BALL, *NOISE).stderr
    assert "metadata suffice" in _run("plan", path.with_suffix(".npy"), *BALL, *NOISE).stderr


@pytest.mark.parametrize("command", ["release", "infer", "inspect", "plan"])
@pytest.mark.parametrize("name", SAID)
def test_a_contradiction_is_refused(path: Path, command: str, name: str) -> None:
    noise = [] if command == "inspect" else NOISE
    found = _run(command, path, *BALL, *noise, f"--{name.replace('_', '-')}", "other")
    assert found.exit_code == 2
    assert f"was declared as 'other', and the records' file says {SAID[name]!r}" in found.stderr


def test_the_library_refuses_it_too(path: Path) -> None:
    """Before anything is spent: by the ball, which declares for the records."""
    found = ParquetRecords(path, gd.SPD(2))
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0, physical_unit="mm^2/s")
    with pytest.raises(gd.MismatchError, match="physical unit"):
        gd.release(found, gd.FrechetMean(ball), gd.GaussianDP(1))
    assert len(gd.Ball(gd.SPD(2), np.eye(2), 1.0).clip(found)) == 300


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    found = _run("release", tmp_path / "none.parquet", *BALL, *NOISE)
    assert (found.exit_code, "does not exist" in found.stderr) == (2, True)
