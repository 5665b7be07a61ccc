"""A ledger moves between databases with its chain; the old one closes; no budget exists twice."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ledger_faults as faults
import pytest

import geodp as gd
from geodp.ledger import chain, moving
from geodp.ledger.store import Store

Where = tuple[str, Path]
PAIRS = list(itertools.product(faults.databases(), faults.databases()))
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(params=PAIRS, ids="-to-".join)
def places(request: pytest.FixtureRequest) -> Iterator[tuple[Where, Where]]:
    with faults.place_for(request.param[0]) as one, faults.place_for(request.param[1]) as other:
        yield one, other


def make(where: Where) -> gd.Ledger:
    return gd.Ledger.create(where[0], gd.GaussianDP(1), unit="person", key=where[1])


def test_the_chain_goes_on(places: tuple[Where, Where]) -> None:
    old = make(places[0])
    first = faults.once(old, "june")
    before = old.export()
    new = old.move(*places[1])
    assert new.export()["entries"][: len(before["entries"])] == before["entries"]
    kinds = [entry["kind"] for entry in new.history(2)]
    assert kinds == ["move", "arrive"]
    assert (new.id, new.unit, new.public_key) == (old.id, old.unit, old.public_key)
    assert new.spent() == faults.PRICE
    again = faults.once(gd.Ledger(*places[1]), "june")  # a retry knows the old requests
    assert again.to_json() == first.to_json()
    for _ in range(3):
        assert all(check.passed for check in gd.verify(faults.once(new)))
    with pytest.raises(gd.LedgerRefusal, match="Nothing more fits"):
        faults.once(new)
    faults.sound(new)
    faults.sound(old)


def test_the_old_one_is_closed_and_says_where_it_went(places: tuple[Where, Where]) -> None:
    old = make(places[0])
    first = faults.once(old, "june")
    new = old.move(*places[1])
    place = new.store.shown
    for ledger in (old, gd.Ledger(*places[0])):
        for ask in (
            lambda one=ledger: faults.once(one),
            lambda one=ledger: one.spend(gd.GaussianDP("0.1"), dataset="d", note="Another."),
        ):
            with pytest.raises(gd.LedgerRefusal, match="moved to") as caught:
                ask()
            assert place in str(caught.value)
        assert ledger.show()["moved_to"] == place
        assert faults.once(ledger, "june").to_json() == first.to_json()  # costs nothing
    assert new.show()["moved_to"] is None
    assert old.spent() == new.spent() == faults.PRICE
    assert place in next(c.detail for c in old.verify() if c.name == "place")
    with pytest.raises(gd.LedgerRefusal, match="moved to"):
        old.move(str(places[1][1]) + "-third.db", places[1][1])


def test_there_and_back_to_another_file(tmp_path: Path) -> None:
    """Keys lie beside a file; the request ids and the budget survive two moves."""
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    faults.once(ledger)
    ledger = ledger.move(tmp_path / "b.db").move(tmp_path / "c.db")
    assert ledger.key_path == tmp_path / "c.db.key"
    assert ledger.key_path.stat().st_mode & 0o777 == 0o600
    faults.once(ledger)
    assert ledger.spent() == 2 * faults.PRICE
    assert "Moved 2 times" in next(c.detail for c in ledger.verify() if c.name == "place")


def test_what_does_not_verify_does_not_move(tmp_path: Path) -> None:
    import sqlite3

    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    faults.once(ledger)
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("UPDATE geodp_datasets SET spent = '0/1'")
    with pytest.raises(gd.LedgerError, match=r"does not verify.*totals"):
        ledger.move(tmp_path / "b.db")
    assert sorted(one.name for one in tmp_path.iterdir() if "b.db" in one.name) == []
    assert ledger.show()["moved_to"] is None


def test_where_something_is_already(tmp_path: Path) -> None:
    one, two = (
        gd.Ledger.create(tmp_path / name, gd.GaussianDP(1), unit="person") for name in ("a", "b")
    )
    for place, about in ((tmp_path / "b", "key"), (tmp_path / "a", "where it is")):
        with pytest.raises(gd.GeodpError, match=about):
            one.move(place)
    with pytest.raises(gd.LedgerError, match="exists"):
        one.move(tmp_path / "b", key=tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()
    for ledger in (one, two):
        faults.once(ledger)
        faults.sound(ledger)


STEPS = {  # where a program dies, and whether the old ledger is closed then
    "after the key": ((moving, "_copy", True), False),
    "after the copy": ((moving, "_copy", False), False),
    "before the opening": ((moving, "_open", True), True),
    "after the opening": ((moving, "_open", False), True),
}


@pytest.mark.parametrize("step", STEPS)
def test_killed_while_moving_no_budget_exists_twice(places: tuple[Where, Where], step: str) -> None:
    """Whatever is left, at most one of the two ledgers pays, and asking again ends the move."""
    old = make(places[0])
    faults.once(old)
    (owner, name, before), closed = STEPS[step]

    def work(_: int) -> None:
        faults._around(owner, name, before)()
        gd.Ledger(*places[0]).move(*places[1])

    assert faults.forked(1, work) == [None]
    assert sum(map(pays, places)) <= 1
    assert pays(places[0]) == (not closed)
    if step == "before the opening":
        old.move(*places[1])
    elif not closed:
        old.close()
        with contextlib.suppress(gd.LedgerError):  # the copy that was left is in the way
            old.move(*places[1])
        assert sum(map(pays, places)) <= 1
    assert max(gd.Ledger(*where).spent() for where in places if there(where)) <= 1


def there(where: Where) -> bool:
    try:
        gd.Ledger(*where).show()
    except gd.LedgerError:
        return False
    return True


def pays(where: Where) -> bool:
    try:
        gd.Ledger(*where).spend(gd.GaussianDP("0.001"), dataset="probe", note="A probe.")
    except gd.GeodpError:
        return False
    return True


def test_a_ledger_that_does_not_close_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks above have power: a closing entry that nobody heeds leaves two that pay."""
    one, other = ((str(tmp_path / name), tmp_path / f"{name}.key") for name in ("a.db", "b.db"))
    make(one).move(*other)
    assert [pays(one), pays(other)] == [False, True]
    monkeypatch.setattr(chain, "moved_to", lambda _: None)
    assert [pays(one), pays(other)] == [True, True]
    failed = [check.name for check in gd.Ledger(*one).verify() if not check.passed]
    assert failed == ["place"]


def test_a_release_under_way_while_the_ledger_moves(
    places: tuple[Where, Where], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for at both places, is not returned, and is not stored where it closed."""
    old = make(places[0])
    evaluate = faults.releasing._evaluate

    moved: list[gd.Ledger] = []

    def meanwhile(*given: Any) -> Any:
        if not moved:  # a release evaluates its share of moved records too
            moved.append(gd.Ledger(*places[0]).move(*places[1]))
        return evaluate(*given)

    with monkeypatch.context() as patch:
        patch.setattr(faults.releasing, "_evaluate", meanwhile)
        with pytest.raises(gd.LedgerRefusal, match="moved to"):
            faults.once(old, "june")
    new = gd.Ledger(*places[1])
    assert old.spent() == new.spent() == faults.PRICE
    monkeypatch.setattr("geodp.ledger.paid._PATIENCE", 0.0)
    with pytest.raises(gd.LedgerRefusal, match="broke off"):
        faults.once(new, "june")
    faults.sound(old)
    faults.sound(new)


def test_eight_processes_spend_while_it_moves(places: tuple[Where, Where]) -> None:
    """Whoever was paid at the old place is in the new chain; together they get the budget once."""
    old = make(places[0])
    reader = os.urandom(4).hex()

    def work(index: int) -> str:
        try:
            if index == 0:
                gd.Ledger(*places[0]).move(*places[1])
                return "moved"
            faults.once(gd.Ledger(*places[0]), f"{reader}-{index}")
        except gd.LedgerRefusal as refusal:
            return "closed" if "moved to" in str(refusal) else "refused"
        return "paid"

    said = faults.forked(8, work)
    new = gd.Ledger(*places[1])
    assert said.count("moved") == 1
    assert said.count("paid") <= 4
    assert new.spent() >= faults.PRICE * said.count("paid")
    assert new.spent() <= 1
    assert new.spent() == old.spent()
    faults.sound(new)
    faults.sound(old)


def test_the_store_of_a_moved_ledger_shows_no_password(tmp_path: Path) -> None:
    secret = Store("postgresql://geodp:hunter2@localhost/none?host=/run&password=hunter3")
    assert secret.shown == "postgresql://geodp:***@localhost/none?host=%2Frun"
