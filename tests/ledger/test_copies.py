"""Copies of a ledger's file: used beside it, restored over it, put in its place."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.ledger.branches import check_all

MEAN = gd.FrechetMean(gd.Ball(gd.Euclidean(1), np.zeros(1), 1.0))
ONE = gd.GaussianDP("0.5")


def ask(ledger: gd.Ledger) -> gd.Release:
    noise = gd.Wrapped(gd.Gaussian())
    return gd.release(np.zeros((9, 1)), MEAN, ONE, noise, ledger=ledger, dataset="s")


def copied(old: Path, new: Path) -> gd.Ledger:
    for suffix in ("", "-wal", "-shm", ".key"):
        if Path(f"{old}{suffix}").exists():
            shutil.copy(f"{old}{suffix}", f"{new}{suffix}")
    return gd.Ledger(new)


def failed(checks: list[Any]) -> list[str]:
    return [check.name for check in checks if not check.passed]


def test_two_copies_that_were_both_used_show(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    first = ask(ledger)
    ledger.close()
    other = copied(tmp_path / "a.db", tmp_path / "b.db")
    here, there = ask(ledger), ask(other)
    assert failed(ledger.verify()) == failed(other.verify()) == []  # each alone is whole
    assert failed(ledger.verify([first.to_json(), here.to_json()])) == []
    assert failed(ledger.verify([first.to_json(), there.to_json()])) == ["against 2"]
    assert failed(other.verify([here.to_json()])) == ["against 1"]
    assert failed(ledger.verify([other.export()])) == ["against 1"]
    assert failed(ledger.verify([ledger.export()])) == []
    for edited in ("id", "entry", "hash"):
        receipt = here.to_json()
        receipt["outcome"]["ledger"][edited] = 99 if edited == "entry" else "0" * 32
        assert failed(ledger.verify([receipt])) == ["against 1"]
    assert here.ledger is not None
    for entry in (here.ledger.entry - 1, 1, -2):  # of another kind, and none before it
        receipt = here.to_json()
        receipt["outcome"]["ledger"]["entry"] = entry
        assert failed(ledger.verify([receipt])) == ["against 1"]


def test_a_restored_copy_lacks_what_a_newer_receipt_names(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    ask(ledger)
    ledger.close()
    old = copied(tmp_path / "a.db", tmp_path / "b.db")
    check = check_all(old.export(), [ask(ledger).to_json()])[-1]
    assert "missing" in check.detail
    assert not check.passed


def test_documents_that_name_no_entry_are_refused(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    noise = gd.Wrapped(gd.Gaussian())
    unpaid = gd.release(np.zeros((9, 1)), MEAN, ONE, noise).to_json()
    wrong: list[Any] = [unpaid, {}, {"schema": "geodp/ledger/v1"}, [], 3, None]
    for document in wrong:
        with pytest.raises(gd.InputError, match="held against"):
            ledger.verify([document])


def test_the_command_line_tells_copies_apart(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    ask(ledger)
    ledger.close()
    other = copied(tmp_path / "a.db", tmp_path / "b.db")
    ask(ledger).save(tmp_path / "r.json")
    ask(other)
    other.close()
    (tmp_path / "b.json").write_text(json.dumps(other.export()))

    def code(*arguments: str) -> int:
        return CliRunner().invoke(main, ["ledger", "verify", *arguments, "--json"]).exit_code

    a, b, receipt, export = (str(tmp_path / name) for name in ("a.db", "b.db", "r.json", "b.json"))
    assert code(a, "--against", receipt) == 0
    assert code(b, "--against", receipt) == code(export, "--against", receipt) == 1
    assert code(a, "--against", receipt, "--against", export) == 1
    assert code(export, "--against", export) == 0
    assert code(a, "--against", str(tmp_path / "none.json")) == 2
    assert code(a, "--against", a) == 2


def test_a_file_replaced_under_a_running_program_pays_nothing(tmp_path: Path) -> None:
    """An open connection keeps the old file alive, unseen: what it paid would be forgotten."""
    place = tmp_path / "a.db"
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    ask(ledger)
    copy = copied(place, tmp_path / "b.db")
    copy.close()
    os.replace(tmp_path / "b.db", place)
    with pytest.raises(gd.LedgerError, match="replaced"):
        ask(ledger)
    with pytest.raises(gd.LedgerError, match="replaced"):
        _ = ledger.left
    ledger.close()
    assert ledger.left is not None


def test_a_removed_file_pays_nothing(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    ask(ledger)
    place.unlink()
    with pytest.raises(gd.LedgerError, match="removed"):
        ask(ledger)


def test_another_ledger_in_its_place_brings_its_own_budget(tmp_path: Path) -> None:
    """A program that goes on after ``close`` knows the new limit, not the one that it had read."""
    place = tmp_path / "a.db"
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    assert ledger.left == gd.GaussianDP(1)
    ledger.close()
    small = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP("0.1"), unit="person")
    small.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
    os.replace(tmp_path / "b.db", place)
    os.replace(tmp_path / "b.db.key", tmp_path / "a.db.key")
    assert ledger.left == gd.GaussianDP("0.1")
    with pytest.raises(gd.LedgerRefusal):
        ask(ledger)
