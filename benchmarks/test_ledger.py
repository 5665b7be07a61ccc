"""How many reservations a second a durable ledger takes, beside bare inserts of the same rows.

Results go to benchmarks/results/ledger.json. The ratio, in turns on one disk, is the figure that
carries over to other machines. Turns are short, so that the least disturbed one says something on a
busy machine too; its load stands beside the figures.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geodp as gd

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

import ledger_faults as faults

RESULTS = Path(__file__).parent / "results"
EACH, TURNS, MANY = 60, 25, 100_000


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


def _event() -> dict[str, Any]:
    """What a release reserves with."""
    seen: dict[str, Any] = {}
    from geodp.ledger.paid import PaidAccount

    with pytest.MonkeyPatch.context() as patch, faults.place_for("sqlite") as (place, key):
        reserve = PaidAccount.reserve

        def spy(self: PaidAccount, event: Any, price: Fraction) -> Any:
            seen.update(event)
            return reserve(self, event, price)

        patch.setattr(PaidAccount, "reserve", spy)
        faults.once(gd.Ledger.create(place, gd.GaussianDP(1), unit="person", key=key))
    return seen


def _rate(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    for _ in range(EACH):
        work()
    return EACH / (clock() - begun)


def _seconds(work: Callable[[], object]) -> float:
    """Of the processor."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _best(ledger: gd.Ledger) -> None:
    ask = (faults.RECORDS, faults.MEAN, gd.GaussianDP(1), "best")
    gd.release(*ask, ledger=ledger, dataset="study", request_id="best")


def _bare(path: Path, ledger: gd.Ledger) -> Callable[[], None]:
    """The rows of one reservation, inserted durably by sqlite3 alone."""
    source = sqlite3.connect(ledger.store.path or "")
    body = source.execute("SELECT * FROM geodp_entries WHERE kind = 'reserve'").fetchone()
    row = source.execute("SELECT * FROM geodp_releases").fetchone()
    source.close()
    bare = sqlite3.connect(path, isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, at, kind, body, hash)")
    bare.execute("CREATE TABLE releases (reservation INTEGER PRIMARY KEY, a, b, c, d)")

    def insert() -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO entries VALUES (NULL, ?, ?, ?, ?)", body[1:])
        bare.execute("INSERT INTO releases VALUES (NULL, ?, ?, ?, ?)", row[1:])
        bare.execute("COMMIT")

    return insert


def _reserve(ledger: gd.Ledger, event: dict[str, Any]) -> None:
    from geodp.ledger.paid import PaidAccount
    from geodp.ledger.totals import Part

    account = PaidAccount(ledger, Part("study"), None)
    account.replay({"request": event["request"]}, np.zeros((5, 1)), None)
    account.reserve(event, Fraction(1, 100))


def test_reservations_a_second(tmp_path: Path) -> None:
    """On SQLite with durability on: at least 300 a second of the processor; by the clock, in the
    least disturbed turn, as the disk and the other programs allow."""
    event, rates, facts = _event(), {}, {}
    for database in faults.databases():
        with faults.place_for(database) as (place, key):
            ledger = gd.Ledger.create(place, gd.GaussianDP(1000), unit="person", key=key)
            reserve = partial(_reserve, ledger, event)
            reserve()
            works: dict[str, Callable[[], None]] = {database: reserve}
            if database == "sqlite":
                works["bare inserts"] = _bare(tmp_path / "bare.db", ledger)
            turns = [{name: _rate(work) for name, work in works.items()} for _ in range(TURNS)]
            rates |= {name: max(turn[name] for turn in turns) for name in works}
            if database == "sqlite":
                ratios = [turn["sqlite"] / turn["bare inserts"] for turn in turns]
                facts["reservations_over_bare_inserts"] = round(statistics.median(ratios), 3)
            whole = max(_rate(partial(faults.once, ledger)) for _ in range(3))
            facts[f"whole_releases_a_second_{database}"] = round(whole)
            busy = max(_rate(reserve, time.process_time) for _ in range(3))
            facts[f"reservations_a_second_of_processor_{database}"] = round(busy)
            first = _seconds(partial(_best, ledger))
            facts[f"seconds_of_best_and_of_its_retry_{database}"] = [
                round(first, 4),
                round(min(_seconds(partial(_best, ledger)) for _ in range(5)), 4),
            ]
    facts["a_second"] = {name: round(rate) for name, rate in rates.items()}
    _write("reservations", facts)
    assert facts["reservations_a_second_of_processor_sqlite"] >= 300


def test_show_on_many_entries(tmp_path: Path) -> None:
    """100,000 entries: ``show`` within a second."""
    from geodp.ledger.chain import end_of, extend

    ledger = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(1000), unit="person")
    faults.once(ledger)
    body = ledger.history()[2]["body"]
    with ledger.store.writing() as connection:
        end = end_of(connection, ledger.store.locked(connection))
        extend(connection, end, [("reserve", body)] * MANY)
        connection.exec_driver_sql(
            "INSERT INTO geodp_releases SELECT number, NULL, 'x', 'committed', NULL "
            "FROM geodp_entries WHERE number > 4"
        )
    times = {}
    for name, work in (
        ("show", ledger.show),
        ("reserve", lambda: faults.once(ledger)),
        ("history of the last 20", lambda: ledger.history(20)),
        ("verify", ledger.verify),
    ):
        begun = time.perf_counter()
        work()
        times[name] = round(time.perf_counter() - begun, 4)
    _write("many_entries", {"entries": MANY, "seconds": times})
    assert times["show"] <= 1


def _write(name: str, facts: dict[str, Any]) -> None:
    path = RESULTS / "ledger.json"
    document = json.loads(path.read_text()) if path.exists() else {}
    document |= {
        "command": "make bench",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "versions": {p: version(p) for p in ("geodp", "SQLAlchemy", "cryptography")},
        name: facts,
    }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")
