"""Kills, races, forks, full disks and damaged files: no spend is lost, nothing leaves unpaid."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import sys
import threading
from pathlib import Path

import ledger_faults as faults
import pytest

import geodp as gd
from geodp.ledger import chain, charging, paid
from geodp.ledger.paid import PaidAccount
from geodp.ledger.store import Store

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

Where = tuple[str, Path]


def make(where: Where, budget: gd.GaussianDP | None = None) -> gd.Ledger:
    return gd.Ledger.create(where[0], budget or gd.GaussianDP(1), unit="person", key=where[1])


@pytest.mark.parametrize("step", faults.STEPS)
def test_killed_at_any_step_no_spend_is_lost(place_and_key: Where, step: str) -> None:
    faults.killed_at(step, *place_and_key)


def test_a_ledger_that_forgets_is_noticed(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check above has power: a reservation that is written last loses the spend."""
    monkeypatch.setattr(PaidAccount, "_pay", lambda *_: None)
    with pytest.raises(AssertionError):
        faults.killed_at("after draw", *place_and_key)


def test_killed_at_a_random_moment(place_and_key: Where) -> None:
    faults.killed_at_random(*place_and_key, delay=0.2)


def test_eight_processes_race_for_the_last_unit(place_and_key: Where) -> None:
    assert faults.race(*place_and_key) == 1


def test_a_race_that_overspends_is_noticed(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race above has power: a ledger that does not add up is caught."""
    monkeypatch.setattr(charging, "total", lambda _: 0)
    with pytest.raises(AssertionError):
        faults.race(*place_and_key)


def test_without_its_lock_the_ledger_still_does_not_overspend(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second line of defence: two writers cannot both write the next entry."""
    monkeypatch.setattr(Store, "locked", Store.row)
    ledger = make(place_and_key)

    def work(_: int) -> bool:
        try:
            faults.once(gd.Ledger(*place_and_key))
        except (gd.LedgerRefusal, gd.LedgerError):
            return False
        return True

    assert faults.forked(8, work).count(True) <= 4
    assert ledger.spent() <= 1


def test_one_request_in_eight_processes_is_one_release(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paid, "_PATIENCE", 120.0)  # a busy machine may be slow
    ledger = make(place_and_key)

    def work(_: int) -> float:
        return float(faults.once(gd.Ledger(*place_and_key), "same").value[0])

    values = faults.forked(8, work)
    assert len(set(values)) == 1
    assert values[0] is not None
    assert ledger.spent() == faults.PRICE


def test_threads_share_a_ledger(place_and_key: Where) -> None:
    ledger, granted = make(place_and_key), []

    def work() -> None:
        try:
            faults.once(ledger)
        except gd.LedgerRefusal:
            return
        granted.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 4
    assert ledger.spent() == 1
    faults.sound(ledger)


def test_a_fork_may_use_its_parents_ledger(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    faults.once(ledger)  # with open connections
    entries = faults.forked(2, lambda _: faults.once(ledger).ledger.entry)
    faults.once(ledger)
    assert None not in entries
    assert ledger.spent() == 1
    faults.sound(ledger)


def test_a_fork_while_another_thread_holds_the_lock(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    with ledger.store._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                faults.once(ledger)
                os._exit(0)
            finally:
                os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert ledger.spent() == faults.PRICE


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(), MemoryError()])
def test_the_charge_stays_on_an_exception(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    ledger = make(place_and_key)

    def broken(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(faults.releasing, "_evaluate", broken)
        with pytest.raises(type(error)):
            faults.once(ledger, "first")
    assert ledger.spent() == faults.PRICE
    with pytest.raises(gd.LedgerRefusal, match="another request id"):
        faults.once(ledger, "first")
    faults.once(ledger, "second")
    assert ledger.spent() == 2 * faults.PRICE
    assert [entry["kind"] for entry in ledger.history(4)] == [
        "reserve",
        "fail",
        "reserve",
        "commit",
    ]
    faults.sound(ledger)


def test_a_retry_waits_for_the_program_that_makes_the_release(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = make(place_and_key)
    going, values = threading.Event(), []
    evaluate = faults.releasing._evaluate

    def slow(*given: object) -> object:
        going.set()
        threading.Event().wait(0.3)
        return evaluate(*given)

    monkeypatch.setattr(paid, "_PATIENCE", 120.0)
    monkeypatch.setattr(faults.releasing, "_evaluate", slow)
    first = threading.Thread(target=lambda: values.append(faults.once(ledger, "same").value))
    first.start()
    assert going.wait(20)
    values.append(faults.once(ledger, "same").value)
    first.join()
    assert values[0] == values[1]
    assert ledger.spent() == faults.PRICE


def test_clocks_do_not_order_entries(place_and_key: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines whose clocks differ by years: numbers order, times are for reading."""
    ledger = make(place_and_key)

    class Late:
        @staticmethod
        def now(_: object) -> object:
            from datetime import UTC, datetime

            return datetime(1999, 1, 1, tzinfo=UTC)

    faults.once(ledger)
    with monkeypatch.context() as patch:
        patch.setattr(chain, "datetime", Late)
        faults.once(ledger)
    faults.once(ledger)
    entries = ledger.history()
    assert [entry["number"] for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry["at"][:4] == "1999" for entry in entries].count(True) == 2
    faults.sound(ledger)


# ---- what happens to files; SQLite --------------------------------------------------------------


@pytest.fixture
def where(tmp_path: Path) -> Where:
    return str(tmp_path / "budget.db"), tmp_path / "budget.db.key"


def in_a_child(work: object) -> str:
    """What a release in a fork ends with; ``work`` first takes something away from the child."""

    def attempt(_: int) -> str:
        try:
            work()
        except gd.GeodpError as error:
            return f"{type(error).__name__}: {error}"
        return "returned"

    return str(faults.forked(1, attempt)[0])


@pytest.mark.parametrize("room", [0, 2000, 9000, 20000])
def test_a_full_disk(where: Where, room: int) -> None:
    """At whatever point the disk is full: one sentence, and nothing is returned unpaid."""
    ledger = make(where, gd.GaussianDP(100))
    faults.once(ledger)
    ledger.close()
    size = max(Path(where[0] + end).stat().st_size for end in ("", "-wal") if _is(where[0] + end))

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
        for _ in range(30):
            faults.once(gd.Ledger(*where))

    said = in_a_child(work)
    assert said.startswith("LedgerError: The ledger")
    assert "disk" in said
    faults.sound(ledger)
    document = ledger.export()
    reserved = [entry for entry in document["entries"] if entry["kind"] == "reserve"]
    assert ledger.spent() == faults.PRICE * len(reserved)
    faults.once(ledger)


def _is(path: str) -> bool:
    return Path(path).exists()


def _as_nobody(directory: Path) -> None:
    """Root may write everything: go on as the user nobody."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    assert directory.exists()


def test_a_read_only_file(where: Where, tmp_path: Path) -> None:
    make(where).close()
    for path in (where[0], where[0] + "-wal", where[0] + "-shm", str(tmp_path)):
        if _is(path):
            os.chmod(path, 0o444 if path != str(tmp_path) else 0o555)
    where[1].chmod(0o400)
    if os.geteuid() == 0:
        os.chown(where[1], 65534, 65534)
        for above in tmp_path.parents:
            if above.stat().st_uid == 0 and str(above).startswith("/tmp/"):
                above.chmod(0o755)

    def work() -> None:
        _as_nobody(tmp_path)
        faults.once(gd.Ledger(*where))

    said = in_a_child(work)
    tmp_path.chmod(0o755)
    assert said.startswith("LedgerError: The ledger")
    assert "read-only" in said or "opened" in said


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: os.truncate(path, 5000),
        lambda path: os.truncate(path, 100),
        lambda path: os.truncate(path, 0),
        lambda path: path.write_bytes(b"x" * 30000),
        lambda path: path.write_bytes(path.read_bytes()[:8192] + os.urandom(24000)),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["cut", "stub", "empty", "overwritten", "half overwritten", "gone", "a directory"],
)
def test_a_damaged_file(where: Where, spoil: object) -> None:
    ledger = make(where)
    faults.once(ledger)
    ledger.close()
    spoil(Path(where[0]))
    fresh = gd.Ledger(*where)
    with pytest.raises(gd.LedgerError, match=r"\.$") as caught:
        faults.once(fresh)
    assert "sqlalche" not in str(caught.value)
    with pytest.raises(gd.LedgerError):
        fresh.show()


def by_hand(path: str, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DROP TRIGGER IF EXISTS geodp_no_update")
        connection.execute("DROP TRIGGER IF EXISTS geodp_no_delete")
        for statement in statements:
            connection.execute(statement)
    connection.close()


LAST = "(SELECT max(number) FROM geodp_entries)"


@pytest.mark.parametrize(
    ("statement", "check", "still_pays"),
    [
        (f"DELETE FROM geodp_entries WHERE number = {LAST}", "chain", False),
        (f"UPDATE geodp_entries SET body = '{{}}' WHERE number = {LAST}", "chain", False),
        ("UPDATE geodp_ledger SET entries = 2", "chain", False),
        ("UPDATE geodp_entries SET at = 'x' WHERE number = 3", "chain", True),
        ("UPDATE geodp_entries SET body = replace(body, '0.25', '0.01')", "chain", True),
        ("UPDATE geodp_datasets SET spent = '0/1'", "totals", True),
        ("UPDATE geodp_datasets SET spent = 'none'", "totals", False),
        ("UPDATE geodp_datasets SET spent = '-1/1'", "totals", False),
        ("UPDATE geodp_ledger SET unit = 'scan'", "opening", True),
        ("UPDATE geodp_ledger SET public_key = 'x'", "opening", False),
        ("UPDATE geodp_releases SET state = 'reserved'", "releases", True),
        ("UPDATE geodp_releases SET receipt = replace(receipt, '0.5', '0.4')", "releases", True),
        ("UPDATE geodp_releases SET request_id = 'june'", "releases", True),
        ("UPDATE geodp_releases SET fingerprint = 'x'", "releases", True),
        ("UPDATE geodp_datasets SET digest = NULL", "totals", True),
        ("DELETE FROM geodp_releases", "releases", True),
    ],
)
def test_changes_by_hand_are_found(
    where: Where, statement: str, check: str, still_pays: bool
) -> None:
    ledger = make(where)
    faults.once(ledger)
    by_hand(where[0], statement)
    assert check in [one.name for one in ledger.verify() if not one.passed]
    if not still_pays:
        with pytest.raises(gd.LedgerError, match=r"damaged|not the one"):
            faults.once(gd.Ledger(*where))


def test_a_budget_widened_by_hand_is_found(where: Where) -> None:
    ledger = make(where)
    by_hand(where[0], """UPDATE geodp_ledger SET budget = replace(budget, '1/1', '99/1')""")
    assert [one.name for one in ledger.verify() if not one.passed] == ["opening"]


def test_entries_are_append_only(where: Where) -> None:
    make(where)
    connection = sqlite3.connect(where[0])
    for statement in ("DELETE FROM geodp_entries", "UPDATE geodp_entries SET at = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


@pytest.mark.skipif("postgresql" not in faults.databases(), reason="no PostgreSQL server named")
def test_entries_are_append_only_on_postgresql() -> None:
    import sqlalchemy as sa

    with faults.place_for("postgresql") as where:
        ledger = make(where)
        for statement in ("DELETE FROM geodp_entries", "UPDATE geodp_entries SET at = 'x'"):
            with (
                pytest.raises(gd.LedgerError, match="append-only"),
                ledger.store.writing() as connection,
            ):
                connection.execute(sa.text(statement))


def test_another_layout_is_refused(where: Where) -> None:
    ledger = make(where)
    faults.once(ledger)
    by_hand(where[0], "UPDATE geodp_ledger SET version = 0")
    ledger.close()
    before = Path(where[0]).read_bytes()
    fresh = gd.Ledger(*where)
    for look in (lambda: faults.once(fresh), fresh.show, fresh.history, fresh.export):
        with pytest.raises(gd.LedgerError, match=r"version 0, .* version 1.*Nothing was changed"):
            look()
    assert Path(where[0]).read_bytes() == before


def test_a_file_that_was_no_ledger(where: Where) -> None:
    Path(where[0]).touch()
    with pytest.raises(gd.LedgerError, match="no ledger of geodp"):
        gd.Ledger(where[0]).show()
    with pytest.raises(gd.LedgerError, match="exists"):
        make(where)
    assert Path(where[0]).stat().st_size == 0
    assert not where[1].exists()


def test_durability_is_on(where: Where) -> None:
    store = Store(where[0])
    make(where)
    with store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        other = sqlite3.connect(where[0], timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
def test_the_key_is_its_owners_alone(where: Where) -> None:
    ledger = make(where)
    assert stat.S_IMODE(where[1].stat().st_mode) == 0o600
    where[1].chmod(0o640)
    with pytest.raises(gd.LedgerError, match="chmod 600"):
        faults.once(ledger)
    assert ledger.spent() == 0


def test_a_full_disk_stops_spends_and_moves(where: Where, tmp_path: Path) -> None:
    """One sentence; the ledger stays where it is, open, and without what was refused."""
    ledger = make(where, gd.GaussianDP(100))
    for _ in range(20):
        faults.once(ledger)
    ledger.close()
    new = str(tmp_path / "new.db")

    def work(act: object) -> object:
        def limited() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
            for _ in range(30):
                act()

        return limited

    def spend() -> None:
        gd.Ledger(*where).spend(gd.GaussianDP("0.1"), dataset="d", note="x" * 900)

    for act in (lambda: gd.Ledger(*where).move(new, where[1]), spend):
        said = in_a_child(work(act))
        assert said.startswith("LedgerError: The ledger"), said
        assert "disk" in said
    assert sorted(path.name for path in tmp_path.glob("new*")) == []
    faults.sound(ledger)
    assert ledger.show()["moved_to"] is None
    charged = [e["body"]["price"] for e in ledger.history() if e["kind"] in ("reserve", "spend")]
    assert ledger.spent() == sum(map(faults.Fraction, charged))
    ledger.move(new, where[1])


def test_an_older_layout_without_a_table_or_a_column(where: Where) -> None:
    """A ledger as an earlier geodp might have left it: a sentence, and nothing is changed."""
    for statement in (
        "DROP TABLE geodp_releases",
        "ALTER TABLE geodp_entries RENAME COLUMN hash TO digest",
        "ALTER TABLE geodp_ledger DROP COLUMN key_path",
    ):
        for end in ("", "-wal", "-shm", ".key"):
            Path(where[0] + end).unlink(missing_ok=True)
        make(where).close()
        by_hand(where[0], statement)
        before = Path(where[0]).read_bytes()
        fresh = gd.Ledger(*where)
        for look in (lambda one=fresh: faults.once(one), fresh.export):
            with pytest.raises(gd.LedgerError, match=r"cannot be .*\.$") as caught:
                look()
            assert "SELECT" not in str(caught.value)
        fresh.close()
        assert Path(where[0]).read_bytes() == before


def test_clocks_that_go_back_while_a_spend_is_entered(
    where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spend of a machine whose clock is years behind is after the release before it."""
    ledger = make(where)
    faults.once(ledger)

    class Late:
        @staticmethod
        def now(_: object) -> object:
            from datetime import UTC, datetime

            return datetime(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(chain, "datetime", Late)
    mark = ledger.spend(gd.GaussianDP("0.1"), dataset="study", note="Late.")
    moved = ledger.move(where[0] + "-moved", where[1])
    assert mark.entry == 5
    assert [entry["at"][:4] for entry in moved.history(2)] == ["1999", "1999"]
    assert moved.spent() == faults.PRICE + faults.Fraction(1, 100)
    faults.sound(moved)
