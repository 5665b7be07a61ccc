"""geodp ledger and geodp release --ledger: documents on stdout, sentences, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import ledger_faults as faults
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import geodp as gd
from geodp.cli import main
from geodp.ledger.checking import check_export

SPACE = ("--space", "euclidean:2", "--center", "origin", "--radius", "1")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def document(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.zeros((20, 2)))
    return tmp_path


def release(*words: object) -> Result:
    noise = "wrapped-gaussian" if "--gdp" in words else "wrapped-l2-laplace"  # no ranking
    given = ("--ledger", "budget.db", "--dataset", "d", "--mechanism", noise)
    return run("release", "data.npy", *SPACE, *given, *words)


def test_from_init_to_refusal(here: Path) -> None:
    made = document(run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person"))
    assert made["budget"]["limit"] == "1"
    assert made["key_file"] == str(here / "budget.db.key")
    receipt = document(release("--gdp", "0.6", "--json"))
    assert receipt["request"]["unit"] == "person"
    assert receipt["outcome"]["ledger"]["price"] == "0.36"
    Path("receipt.json").write_text(json.dumps(receipt))
    assert document(run("verify", "receipt.json"))["passed"]
    refused = release("--gdp", "0.9")
    assert refused.exit_code == 3
    assert refused.stdout == ""
    assert "asked mu^2 = 0.81, spent 0.36 of 1, left 0.64" in refused.stderr
    assert "GaussianDP(mu=0.8) would still fit." in refused.stderr
    document(release("--gdp", "0.8"))
    assert release("--gdp", "0.001").exit_code == 3
    assert document(run("ledger", "show", "budget.db"))["budget"]["left"] == "0"


def test_a_request_id_replays(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    one, two = (release("--gdp", "1", "--request-id", "june", "--json") for _ in range(2))
    assert document(one) == document(two)
    assert release("--gdp", "0.5", "--request-id", "june").exit_code == 2


def test_a_group(here: Path) -> None:
    run("ledger", "init", "budget.db", "--pure", "1", "--unit", "person")
    document(release("--pure", "1", "--group", "site=A"))
    np.save("data.npy", np.ones((20, 2)) / 8)
    document(release("--pure", "1", "--group", "site=B"))
    shown = document(run("ledger", "show", "budget.db"))
    assert [row["group"] for row in shown["datasets"]] == ["site=A", "site=B"]
    assert shown["budget"]["spent"] == "1"


@pytest.mark.parametrize(
    ("words", "code", "about"),
    [
        (("--gdp", "0.1", "--unit", "scan"), 2, "one person"),
        (("--gdp", "0.1", "--seed", "1"), 3, "NOT PRIVATE"),
        (("--gdp", "0.1", "--group", "A"), 2, "site=A"),
        (("--gdp", "0.1", "--ledger-key", "none"), 2, "cannot be read"),
        (("--gdp", "0.1", "--ledger", "none.db"), 2, "geodp ledger init"),
    ],
)
def test_refusals(here: Path, words: tuple[str, ...], code: int, about: str) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    result = release(*words)
    assert result.exit_code == code
    assert result.stdout == ""
    assert about in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert document(run("ledger", "show", "budget.db"))["entries"] == 1


@pytest.mark.parametrize(
    "budget", [("--zcdp", "1/3"), ("--pure", "0.1"), ("--approx", "1", "1e-5")]
)
def test_budgets_of_every_notion(here: Path, budget: tuple[str, ...]) -> None:
    facts = document(run("ledger", "init", "b.db", *budget, "--unit", "scan"))
    assert facts["budget"]["stated"]["notion"] == budget[0].strip("-")
    prose = run("ledger", "show", "b.db").stderr
    assert "limit:" in prose
    assert ("at delta 0.00001" in prose) == (budget[0] == "--approx")


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (("init", "b.db", "--unit", "person"), "exactly one guarantee"),
        (("init", "b.db", "--gdp", "1"), "--unit"),
        (("init", "b.db", "--gdp", "-1", "--unit", "person"), "greater than zero"),
        (("init", "b.db", "--renyi", "2", "1", "--unit", "person"), "single order"),
        (("init", "no/b.db", "--gdp", "1", "--unit", "person"), "no/b.db"),
        (("init", "data.npy", "--gdp", "1", "--unit", "person"), "exists"),
        (("init", "mysql://x/y", "--gdp", "1", "--unit", "person"), "PostgreSQL"),
        (("init", "postgresql://@/y?host=/nowhere", "--gdp", "1", "--unit", "x"), "--key"),
        (("show", "none.db"), "geodp ledger init"),
        (("show", "data.npy"), "no database"),
        (("history", "none.db"), "geodp ledger init"),
        (("verify", "none.json"), "does not exist"),
        (("export", "none.db", "--out", "no/place"), "--out"),
    ],
)
def test_bad_input(here: Path, words: tuple[str, ...], about: str) -> None:
    result = run("ledger", *words)
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert about in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in here.iterdir()) == ["data.npy"]


def test_export_and_verify(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    release("--gdp", "0.5")
    document(run("ledger", "export", "budget.db", "--out", "export.json"))
    exported = json.loads(Path("export.json").read_text())
    assert document(run("ledger", "export", "budget.db")) == exported
    assert document(run("ledger", "verify", "export.json"))["passed"]
    assert document(run("ledger", "verify", "budget.db"))["passed"]
    exported["entries"][2]["body"]["price"] = "0.01"
    Path("export.json").write_text(json.dumps(exported))
    checks = document(run("ledger", "verify", "export.json"), code=1)["checks"]
    assert {check["name"] for check in checks if not check["passed"]} == {"chain", "totals"}
    for text in ("{}", "[1]", "not json"):
        Path("export.json").write_text(text)
        assert run("ledger", "verify", "export.json").exit_code == 2


def test_history(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    release("--gdp", "0.5")
    result = run("ledger", "history", "budget.db", "--last", "2")
    assert [entry["kind"] for entry in document(result)["entries"]] == ["reserve", "commit"]
    assert "d pays 0.25: Fréchet mean by wrapped-gaussian" in result.stderr
    assert "1-Gaussian DP for each person" in run("ledger", "history", "budget.db").stderr


def test_a_receipt_of_a_ledger_follows_the_schema(here: Path) -> None:
    from importlib.resources import files

    schema = json.loads(files("geodp.ledger").joinpath("schema_v1.json").read_text("utf-8"))
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    jsonschema.validate(document(release("--gdp", "0.5")), schema)


@pytest.mark.skipif("postgresql" not in faults.databases(), reason="no PostgreSQL server named")
def test_on_postgresql(here: Path) -> None:
    with faults.place_for("postgresql") as (place, key):
        words = ("--gdp", "1", "--unit", "person", "--key", key)
        made = document(run("ledger", "init", place, *words))
        assert made["key_file"] == str(key)
        asked = ("--ledger", place, "--dataset", "d", "--gdp", "1")
        asked += ("--mechanism", "wrapped-gaussian")
        document(run("release", "data.npy", *SPACE, *asked))
        assert run("release", "data.npy", *SPACE, *asked).exit_code == 3
        assert document(run("ledger", "verify", place))["passed"]
        for command in ("show", "history", "verify", "export"):
            secret = place.replace("://geodp@", "://geodp:hunter2@")
            result = run("ledger", command, secret)
            assert result.exit_code == 0
            assert "hunter2" not in result.output


def test_a_spend_of_another_program(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    words = ("ledger", "spend", "budget.db", "--dataset", "d", "--note", "Histogram.")
    said = document(run(*words, "--gdp", "0.6", "--request-id", "june"))
    assert said["entry"]["price"] == "0.36"
    assert document(run(*words, "--gdp", "0.6", "--request-id", "june"))["entry"] == said["entry"]
    assert (
        "d pays 0.36: 0.6-Gaussian DP elsewhere: Histogram."
        in run("ledger", "history", "budget.db").stderr
    )
    for more, code, about in (
        (("--gdp", "0.9"), 3, "GaussianDP(mu=0.8) would still fit"),
        (("--approx", "1", "1e-6"), 3, "no price follows"),
        (("--gdp", "0.1", "--unit", "scan"), 2, "one scan"),
        (("--gdp", "0.1", "--neighbours", "add or remove one record"), 2, "do not add up"),
        ((), 2, "exactly one guarantee"),
    ):
        result = run(*words, *more)
        assert (result.exit_code, result.stdout) == (code, ""), result.stderr
        assert about in " ".join(result.stderr.split())
    assert document(run("ledger", "show", "budget.db"))["budget"]["spent"] == "0.36"


def test_prose_shortens_long_amounts_and_the_document_does_not(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    words = (
        "ledger",
        "spend",
        "budget.db",
        "--dataset",
        "d",
        "--note",
        "A count.",
        "--pure",
        "0.2",
    )
    said = run(*words)
    assert "d pays about 0.0627" in said.stderr
    shown = run("ledger", "show", "budget.db")
    (row,) = document(shown)["datasets"]
    assert len(row["spent"]) > 15
    assert f"d: mu^2 about {float(row['spent']):.6g}" in shown.stderr
    assert "d pays about 0.0627" in run("ledger", "history", "budget.db").stderr


def test_moving(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    receipt = document(release("--gdp", "0.6", "--request-id", "june"))
    moved = document(run("ledger", "move", "budget.db", "new.db"))
    assert moved["ledger"] == str(here / "new.db")
    assert moved["key_file"] == str(here / "new.db.key")
    refused = release("--gdp", "0.1")
    assert refused.exit_code == 3
    assert f"moved to '{here / 'new.db'}'" in refused.stderr
    assert "CLOSED" in run("ledger", "show", "budget.db").stderr
    for place in ("budget.db", "new.db"):
        assert document(run("ledger", "verify", place))["passed"]
    asked = ("--gdp", "0.6", "--request-id", "june", "--ledger", "new.db")
    assert document(release(*asked)) == receipt
    lines = run("ledger", "history", "new.db").stderr
    assert "closed; moved to" in lines
    assert f"from {here / 'budget.db'}" in lines
    assert run("ledger", "move", "budget.db", "third.db").exit_code == 3
    assert run("ledger", "move", "none.db", "third.db").exit_code == 2


def test_an_absurd_number_does_not_keep_a_program_busy(here: Path) -> None:
    run("ledger", "init", "budget.db", "--gdp", "1", "--unit", "person")
    release("--gdp", "0.5")
    run("ledger", "export", "budget.db", "--out", "export.json")
    text = Path("export.json").read_text()
    Path("export.json").write_text(text.replace('"0.25"', '"1e999999999"'))
    checks = document(run("ledger", "verify", "export.json"), code=1)["checks"]
    assert "no number" in {check["name"]: check["detail"] for check in checks}["totals"]


junk = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([]) | st.just({})


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("ledger") / "budget.db"
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    faults.once(ledger)
    return json.dumps(ledger.export())


@given(st.integers(0, 10**6), junk)
@settings(max_examples=300, deadline=None)
def test_a_spoilt_export_fails_a_check_or_is_refused(exported: str, place: int, other: Any) -> None:
    whole = json.loads(exported)
    spots = list(_spots(whole))
    part, key = spots[place % len(spots)]
    before, part[key] = part[key], other
    try:
        checks = check_export(whole)
    except gd.InputError:
        return
    assert before == other or not all(check.passed for check in checks)


def _spots(document: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        yield document, key
        if isinstance(value, (dict, list)):
            yield from _spots(value)


def test_four_programs_race(here: Path) -> None:
    """The real program, started four times: two units for four."""
    run("ledger", "init", "budget.db", "--pure", "2", "--unit", "person")
    words = [sys.executable, "-m", "geodp", "release", "data.npy", *SPACE, "--ledger", "budget.db"]
    words += ["--dataset", "d", "--pure", "1", "--mechanism", "wrapped-l2-laplace", "--json"]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    programs = [subprocess.Popen(words, env=os.environ, **quiet) for _ in range(4)]
    outputs = [program.communicate() for program in programs]
    codes = sorted(program.returncode for program in programs)
    assert codes == [0] * 2 + [3] * 2, outputs
    assert document(run("ledger", "verify", "budget.db"))["passed"]
