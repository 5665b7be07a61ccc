"""A small part of experiments/audit.py, and what its committed results must show."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
SPACES = {
    "sphere:2",
    "sphere:9",
    "hyperbolic:3",
    "spd:2:affine-invariant",
    "spd:3:affine-invariant",
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_part_of_the_study_finds_two_broken_mechanisms(tmp_path: Path) -> None:
    arguments = ["--share", "0.02", "--spaces", "euclidean:3", "euclidean:10"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "experiments/audit.py", "--out", str(tmp_path), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr
    found = {row["bug"]: row for row in rows(tmp_path / "audit.csv")}
    assert set(found) == {"R1SMG", "Wishart"}
    assert all("guarantee, float draws" in row["failed_checks"] for row in found.values())


def test_every_mechanism_passed_and_every_twin_failed() -> None:
    table = rows(RESULTS / "audit.csv")
    ours = [row for row in table if row["kind"] != "twin"]
    planted = [row for row in table if row["kind"] == "twin"]
    assert {row["passed"] for row in ours} == {"True"}
    assert {row["passed"] for row in planted} == {"False"}
    assert {row["space"] for row in ours} == SPACES
    assert len({row["mechanism"] for row in ours}) >= 7
    assert {row["bug"] for row in planted} >= {
        "10 % small",
        "10 % small draws",
        "naive floats",
        "R1SMG",
        "Wishart",
        "unclipped record",
        "footpoint from the data",
        "radius from the data",
        "error bound from the data",
        "reached certificate on the receipt",
    }
    document = json.loads((RESULTS / "audit.json").read_text(encoding="utf-8"))
    assert document["share"] == 1
    assert document["wrong"] == []
    assert document["false_alarm_of_all"] < 1e-5
    assert str(ROOT) not in (RESULTS / "audit.json").read_text(encoding="utf-8")


def test_digits_of_naive_releases_gave_them_away_and_ours_did_not() -> None:
    """Issue E: advantage above .15 for the planted release, within the guarantee for ours."""
    table = rows(RESULTS / "audit.csv")
    naive = [row for row in table if row["bug"] == "naive floats"]
    assert {row["space"] for row in naive} == SPACES
    assert min(float(row["digits_advantage"]) for row in naive) > 0.15
    for row in table:
        if row["kind"] == "mechanism":  # five standard errors of the estimate above what is allowed
            allowed = float(row["digits_allowed"])
            assert float(row["digits_advantage"]) < allowed + 5 * (0.5 / 900) ** 0.5
