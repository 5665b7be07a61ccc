"""Several releases of one data set, planned before any is run."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path

import ledger_faults as faults
import numpy as np
import pytest

import geodp as gd

MEAN = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
RECORDS = np.zeros((20, 2))
GAUSSIAN = gd.Wrapped(gd.Gaussian())


@pytest.fixture
def ledger(tmp_path: Path) -> gd.Ledger:
    return gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")


def test_a_session_pays_for_each_release(ledger: gd.Ledger) -> None:
    with gd.Session(ledger, "study") as session:
        out = session.release(RECORDS, MEAN, gd.GaussianDP("0.6"), GAUSSIAN, request_id="a")
        same = session.release(RECORDS, MEAN, gd.GaussianDP("0.6"), GAUSSIAN, request_id="a")
        assert out.value.tobytes() == same.value.tobytes()
        assert session.left == gd.GaussianDP("0.8")
        with pytest.raises(gd.LedgerRefusal):
            session.release(RECORDS, MEAN, gd.GaussianDP("0.9"), GAUSSIAN)
        with pytest.raises(gd.MismatchError):
            session.release(RECORDS, MEAN, gd.GaussianDP("0.1"), GAUSSIAN, unit="scan")
        assert session.ledger is ledger
    assert repr(session).startswith("Session(Ledger(")


def test_groups_have_sessions_of_their_own(ledger: gd.Ledger) -> None:
    a, b = (gd.Session(ledger, "study", group=f"site={label}") for label in "AB")
    a.release(RECORDS, MEAN, gd.GaussianDP(1), GAUSSIAN)
    assert a.left is None
    assert b.left == gd.GaussianDP(1)
    b.release(RECORDS + 0.1, MEAN, gd.GaussianDP(1), GAUSSIAN)
    assert ledger.spent() == 1


def test_a_batch_is_planned_without_data(ledger: gd.Ledger) -> None:
    session = gd.Session(ledger, "study")
    batch = session.plan(
        [
            (MEAN, 20, gd.GaussianDP("0.6"), GAUSSIAN),
            (MEAN, 20, gd.GaussianDP("0.9"), GAUSSIAN),
            (MEAN, 20, gd.GaussianDP("0.8"), "wrapped-gaussian"),
        ]
    )
    assert [row.price for row in batch.rows] == [
        Fraction(9, 25),
        Fraction(81, 100),
        Fraction(16, 25),
    ]
    assert [row.fits for row in batch.rows] == [True, False, True]
    assert (batch.total, batch.left, batch.fits) == (Fraction(181, 100), 1, False)
    assert "3 releases cost 1.81 in mu^2; 1 is left: it does not fit" in repr(batch)
    assert "NOT PAID" in repr(batch)
    assert ledger.history()[1:] == []


def test_what_is_planned_is_what_is_paid(ledger: gd.Ledger) -> None:
    session = gd.Session(ledger, "study")
    batch = session.plan([(MEAN, 20, gd.PureDP("0.2")), (MEAN, 20, gd.ZCDP("0.05"), GAUSSIAN)])
    session.release(RECORDS, MEAN, gd.PureDP("0.2"))
    session.release(RECORDS, MEAN, gd.ZCDP("0.05"), GAUSSIAN)
    assert ledger.spent() == batch.total


@pytest.mark.parametrize("request_", [3, (), (MEAN,), (MEAN, 1, gd.PureDP(1)), (MEAN, 20, 1.0)])
def test_bad_requests(ledger: gd.Ledger, request_: object) -> None:
    with pytest.raises(gd.InputError):
        gd.Session(ledger, "study").plan([request_])


def test_a_session_without_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(gd.LedgerError, match="no ledger"):
        gd.Session(tmp_path / "none.db", "study")
    with pytest.raises(gd.InputError, match=r"gd\.Ledger"):
        gd.Session(3, "study")  # type: ignore[arg-type]


def test_threads_share_a_session(ledger: gd.Ledger) -> None:
    session = gd.Session(ledger, "study")
    granted = []

    def work() -> None:
        try:
            session.release(RECORDS, MEAN, gd.GaussianDP("0.5"), GAUSSIAN)
        except gd.LedgerRefusal:
            return
        granted.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 4
    faults.sound(ledger)


def test_a_session_enters_what_others_released_of_its_data(ledger: gd.Ledger) -> None:
    session = gd.Session(ledger, "study", group="site=A")
    first, again = (session.spend(gd.GaussianDP("0.6"), "A count.", request_id="x") for _ in "12")
    assert first == again
    assert (first.dataset, first.group, first.price) == ("study", "site=A", "0.36")
    assert session.left == gd.GaussianDP("0.8")
    with pytest.raises(gd.MismatchError, match="one scan"):
        session.spend(gd.GaussianDP("0.1"), "A count.", unit="scan")
    with pytest.raises(gd.MismatchError, match="neighbours"):
        session.spend(gd.GaussianDP("0.1"), "A count.", neighbours="add or remove one record")
