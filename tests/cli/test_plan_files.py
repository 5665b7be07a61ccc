"""The number of records of a plan: as a number is written, and as files are counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from geodp.cli import main
from geodp.io import Grid, write_tensors

BALL = ["--space", "spd:3", "--center", "origin", "--radius", "1", "--gdp", "1"]
NOISE = ["--mechanism", "wrapped-gaussian", "--json"]


def _plan(*words: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, words), *BALL, *NOISE])


@pytest.mark.parametrize(
    ("text", "n"), [("1e6", 10**6), ("1000000.0", 10**6), ("2", 2), ("9007199254740992", 2**53)]
)
def test_a_whole_number_may_have_an_exponent(text: str, n: int) -> None:
    found = _plan("--n", text)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["n"] == n


@pytest.mark.parametrize(
    "text", ["1", "-5", "1.5", "1e-3", "ten", "nan", "inf", "1e999999999", "9007199254740993", ""]
)
def test_another_number_is_refused_in_one_sentence(text: str) -> None:
    found = _plan("--n", text)
    assert found.exit_code == 2
    assert "N is a whole number of at least 2 and at most 2^53, such as 1000 or 1e6." in (
        " ".join(found.stderr.split())
    )


@pytest.fixture
def subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    names = [f"sub-{i}.nii.gz" for i in range(7)]
    for name in names:
        write_tensors(name, np.tile(np.eye(3), (8, 1, 1)), Grid((2, 2, 2), np.eye(4)))
    return names


def test_files_of_persons_are_counted(subjects: list[str]) -> None:
    assert json.loads(_plan(*subjects, "--subjects").stdout)["n"] == 7
    assert json.loads(_plan(*subjects, "--subjects", "--n", 7).stdout)["n"] == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "b"], "with --subjects"),
        (["a"], "with --subjects"),
        (["a", "b", "--subjects", "--n", "3"], "another number of records"),
        (["a", "--subjects"], "At least two records"),
        (["a", "nowhere.nii.gz", "--subjects"], "does not exist"),
        (["a", "x.csv", "--subjects"], "belongs to NIfTI files"),
        (["--subjects", "--n", "3"], "belongs to NIfTI files"),
        (["x.csv", "y.csv"], "Name one FILE"),
        (["x.csv"], "reads no data"),
        ([], "Say how many records"),
    ],
)
def test_other_files_get_one_sentence(subjects: list[str], words: list[str], said: str) -> None:
    known = {"a": subjects[0], "b": subjects[1]}
    found = _plan(*(known.get(word, word) for word in words))
    assert (found.exit_code, said in found.stderr) == (2, True), found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_a_mask_and_an_atlas_are_multiplied(subjects: list[str]) -> None:
    both = ["--mask", "m.nii.gz", "--atlas", "a.nii.gz", "--physical-unit", "mm^2/s"]
    words = ["release", *subjects, "--subjects", *both, *BALL]
    found = CliRunner().invoke(main, words)
    assert (found.exit_code, "multiply the two" in found.stderr) == (2, True), found.stderr
