"""The wheel without an extra: everything that needs none, and one sentence where one is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from environment import BALL, Environment

URL = "postgresql://geodp@/none?host=/nowhere"
MAP = ("--subjects", "--mask", "m.nii", "--space", "spd:3^2", "--eigenvalues", "0.1", "3")
UNIT = ("--physical-unit", "mm^2/s", "--layout", "lower")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "plot": (("inspect", "tensors.npy", *BALL, "--picture", "p.png"),),
    "web": (("serve", "--port", "0", "--no-browser"),),
    "imaging": (
        ("inspect", "x.nii", *BALL, *UNIT),
        ("release", "x.nii.gz", *MAP, *UNIT, "--gdp", "1", "--ledger", "b.db", "--dataset", "x"),
        ("convert", "x.nii", "--space", "spd:3", *UNIT, "--out", "x.csv"),
    ),
    "parquet": (
        ("inspect", "x.parquet", *BALL),
        ("release", "x.parquet", *BALL, "--gdp", "1", "--ledger", "b.db", "--dataset", "x"),
    ),
    "postgres": (
        ("ledger", "show", URL),
        ("release", "tensors.npy", *BALL, "--gdp", "1", "--ledger", URL, "--dataset", "x"),
    ),
}
PROFILE = "gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.Euclidean(1), 1, gd.GaussianDP(1)).profile"
CALLS = {
    "sklearn": "import geodp.sklearn",
    "dask": "from geodp.io import DaskRecords; DaskRecords([[0.0, 0.0]])",
    "parquet": "import numpy as np; from geodp.io import write_parquet;"
    "write_parquet('x.parquet', np.zeros((2, 2)), gd.Euclidean(2))",
    "imaging": "import numpy as np; from geodp.io import *;"
    "write_tensors('y.nii', np.eye(3), Grid((1, 1, 1), np.eye(4)))",
    "plot": "from geodp.plots import plot; plot(gd.SPD(2).origin, gd.SPD(2))",
    "accounting": f"{PROFILE}.to_dp_accounting()",
    "accounting ": f"{PROFILE}.to_opendp()",
}


@pytest.fixture(scope="module")
def plain(fresh: Callable[..., Environment], wheel: Path) -> Environment:
    made = fresh(str(wheel))
    made.receipt()
    assert made.geodp("ledger", "init", "b.db", "--gdp", "1", "--unit", "person").returncode == 0
    for name in ("x.nii", "x.nii.gz", "x.parquet"):
        (made.folder / name).write_bytes(b"anything")
    return made


def test_it_is_the_wheel_that_is_imported(plain: Environment) -> None:
    assert plain.code("import geodp; print(geodp.__file__)").startswith(str(plain.home))


def test_the_program_says_its_version(plain: Environment) -> None:
    version = plain.code("from importlib.metadata import version; print(version('geodp'))")
    assert plain.geodp("--version").stdout == f"geodp, version {version}\n"
    assert plain.python(plain.home / "bin" / "geodp", "--version").stdout.split()[-1] == version


def test_a_report_has_its_words_without_pictures(plain: Environment) -> None:
    assert plain.done("report", "receipt.json", "--out", "page.html")["receipts"] == 1
    assert "geodp[plot]" in (plain.folder / "page.html").read_text(encoding="utf-8")


def test_calibrate_and_audit_need_no_extra(plain: Environment) -> None:
    law = ("--mechanism", "riemannian-gaussian", "--space", "sphere:2", "--gdp", "1")
    assert plain.done("calibrate", *law, "--sensitivity", "0.1")["scale"] > 0
    assert plain.done("audit", *law, "--minutes", "0.01")["passed"]


@pytest.mark.parametrize(
    ("extra", "words"), [(extra, words) for extra in COMMANDS for words in COMMANDS[extra]]
)
def test_a_command_says_which_extra_it_needs(
    plain: Environment, extra: str, words: tuple[str, ...]
) -> None:
    result = plain.geodp(*words)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert line.endswith(f"pip install 'geodp[{extra}]'.")
    assert plain.done("ledger", "show", "b.db")["budget"]["spent"] == "0"


@pytest.mark.parametrize("extra", CALLS)
def test_a_call_says_which_extra_it_needs(plain: Environment, extra: str) -> None:
    result = plain.python("-c", f"import geodp as gd; {CALLS[extra]}")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith(("geodp.errors.InputError: ", "ImportError: "))
    assert last.endswith(f"pip install 'geodp[{extra.strip()}]'.")
