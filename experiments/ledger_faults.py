"""Programs killed with SIGKILL between any two steps of a release, and races for the last unit.

    python experiments/ledger_faults.py [--share 0.1] [--out DIR]

Writes ledger_faults.json: for each database, kills at every step, kills at random moments, and
races of eight processes. Each trial checks that no spend is lost, that no release was returned
without its entry, and that the ledger verifies. PostgreSQL takes part when GEODP_TEST_POSTGRES_URL
names a server (source .ci/postgres). Forks; Linux and macOS.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import geodp as gd
from geodp.ledger import paid
from geodp.ledger.paid import PaidAccount
from geodp.ledger.store import Store
from geodp.verbs import release as releasing

sys.path.insert(0, str(Path(__file__).parent))

RECORDS = np.zeros((5, 1))
MEAN = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
MECHANISM = gd.Wrapped(gd.Gaussian())
PRICE = Fraction(1, 4)
VARIABLE = "GEODP_TEST_POSTGRES_URL"


@contextlib.contextmanager
def place_for(database: str) -> Iterator[tuple[str, Path]]:
    """A place for a new ledger and its keys: a file, or a schema of its own on the server."""
    with tempfile.TemporaryDirectory() as directory:
        key = Path(directory) / "ledger.key"
        if database == "sqlite":
            yield str(Path(directory) / "budget.db"), key
            return
        import psycopg

        server, schema = os.environ[VARIABLE], f"ledger_{uuid.uuid4().hex}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        end = "&" if "?" in server else "?"
        try:
            yield f"{server}{end}options={quote(f'-csearch_path={schema}')}", key
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"DROP SCHEMA {schema} CASCADE")


def databases() -> list[str]:
    """sqlite, and postgresql where a server is named."""
    return ["sqlite", *(["postgresql"] if os.environ.get(VARIABLE) else [])]


def forked(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What ``work(0), …`` return in so many processes at once; None for one that was killed."""
    pipes = []
    start, go = os.pipe()
    for index in range(count):
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(go)
                os.read(start, 1)  # ends when the parent lets go, for all at once
                os.write(into, json.dumps(work(index)).encode())
                code = 0
            finally:
                os._exit(code)
        os.close(into)
        pipes.append((child, out))
    os.close(start)
    os.close(go)
    results = []
    for child, out in pipes:
        with os.fdopen(out, "rb") as file:
            said = file.read()
        os.waitpid(child, 0)
        results.append(json.loads(said) if said else None)
    return results


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _around(owner: Any, name: str, before: bool) -> Callable[[], None]:
    """Die before or after a call."""

    def plant() -> None:
        original = getattr(owner, name)

        def deadly(*args: Any, **kwargs: Any) -> Any:
            if before:
                _die()
            result = original(*args, **kwargs)
            _die()
            return result

        setattr(owner, name, deadly)

    return plant


def _in_transaction(number: int, committed: bool) -> Callable[[], None]:
    """Die when the ``number``-th transaction has written everything, before or after it commits."""

    def plant() -> None:
        original, count = Store.writing, 0

        @contextlib.contextmanager
        def deadly(self: Store) -> Iterator[Any]:
            nonlocal count
            count += 1
            with original(self) as connection:
                yield connection
                if count == number and not committed:
                    _die()
            if count == number:
                _die()

        Store.writing = deadly  # type: ignore[method-assign]

    return plant


STEPS: dict[str, tuple[Callable[[], None], bool, bool]] = {
    # name: (how to die there, is the spend in the ledger?, is the release stored?)
    "before reserve": (_around(PaidAccount, "reserve", True), False, False),
    "in reserve": (_in_transaction(1, False), False, False),
    "after reserve": (_in_transaction(1, True), True, False),
    "before evaluate": (_around(releasing, "_evaluate", True), True, False),
    "after evaluate": (_around(releasing, "_evaluate", False), True, False),
    "before draw": (_around(releasing, "run", True), True, False),
    "after draw": (_around(releasing, "run", False), True, False),
    "before store": (_around(PaidAccount, "store", True), True, False),
    "in store": (_in_transaction(2, False), True, False),
    "after store": (_in_transaction(2, True), True, True),
    "before commit": (_around(PaidAccount, "commit", True), True, True),
    "in commit": (_in_transaction(3, False), True, True),
    "after commit": (_in_transaction(3, True), True, True),
    "before return": (_around(PaidAccount, "commit", False), True, True),
}


def once(ledger: gd.Ledger, request_id: str | None = None, mu: str = "0.5") -> gd.Release:
    """One release, of price mu squared."""
    promise = gd.GaussianDP(mu)
    return gd.release(
        RECORDS, MEAN, promise, MECHANISM, ledger=ledger, dataset="study", request_id=request_id
    )


def killed_at(step: str, place: str, key: Path) -> None:
    """A release that dies at a step, and then everything that must hold; AssertionError if not."""
    plant, spent, stored = STEPS[step]
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person", key=key)

    def work(_: int) -> str:
        plant()
        once(gd.Ledger(place, key), "first")
        return "returned"

    assert forked(1, work) == [None]
    assert ledger.spent() == (PRICE if spent else 0)
    sound(ledger)
    patience, paid._PATIENCE = paid._PATIENCE, 0.0
    try:
        if spent and not stored:
            assert "broke off" in refused(ledger, "first")
        else:
            first, second = once(ledger, "first"), once(ledger, "first")
            assert first.to_json() == second.to_json()
            assert all(check.passed for check in gd.verify(first))
    finally:
        paid._PATIENCE = patience
    assert ledger.spent() == PRICE
    sound(ledger)


def refused(ledger: gd.Ledger, request_id: str) -> str:
    """The sentence with which the ledger refuses a request, empty if it does not."""
    try:
        once(ledger, request_id)
    except gd.LedgerRefusal as refusal:
        return str(refusal)
    return ""


def sound(ledger: gd.Ledger) -> None:
    """The ledger verifies."""
    failed = [check for check in ledger.verify() if not check.passed]
    assert not failed, failed


def killed_at_random(place: str, key: Path, delay: float) -> int:
    """A program that releases one after another, killed after ``delay`` seconds.

    Returns how many releases it had returned; each must be in the ledger, paid and committed.
    """
    ledger = gd.Ledger.create(place, gd.GaussianDP(10), unit="person", key=key)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            mine = gd.Ledger(place, key)
            while True:
                release = once(mine)
                assert release.ledger is not None
                os.write(into, f"{release.ledger.entry}\n".encode())
        finally:
            os._exit(1)
    os.close(into)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(out) as file:
        returned = [int(line) for line in file.read().split("\n")[:-1]]
    document = ledger.export()
    states = {row["reservation"]: row["state"] for row in document["releases"]}
    assert all(states[entry] == "committed" for entry in returned)
    reserved = sum(entry["kind"] == "reserve" for entry in document["entries"])
    assert ledger.spent() == PRICE * reserved
    assert len(returned) <= reserved <= len(returned) + 1
    sound(ledger)
    return len(returned)


def race(place: str, key: Path, processes: int = 8) -> int:
    """So many processes want the last unit; returns how many get it, and checks the ledger."""
    ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person", key=key)
    for _ in range(3):
        once(ledger)

    def work(_: int) -> bool:
        try:
            once(gd.Ledger(place, key))
        except gd.LedgerRefusal:
            return False
        return True

    granted = forked(processes, work)
    assert None not in granted
    assert ledger.spent() == 1
    sound(ledger)
    return sum(granted)


def main() -> None:
    from recording import Run

    run = Run.parse("ledger_faults", __doc__ or "")
    chance = random.Random(run.seed)
    results: dict[str, Any] = {}
    for database in databases():
        facts: dict[str, Any] = {"kills at each step": 0, "kills at random moments": 0}
        for step in STEPS:
            for _ in range(run.count(15)):
                with place_for(database) as (place, key):
                    killed_at(step, place, key)
                facts["kills at each step"] += 1
        returned = 0
        for _ in range(run.count(200)):
            with place_for(database) as (place, key):
                returned += killed_at_random(place, key, chance.uniform(0.0, 0.3))
            facts["kills at random moments"] += 1
        facts["releases returned before the kills at random moments"] = returned
        granted = []
        for _ in range(run.count(20)):
            with place_for(database) as (place, key):
                granted.append(race(place, key))
        facts["races of 8 for the last unit"] = len(granted)
        facts["granted in each race"] = sorted(set(granted))
        facts["lost spends, releases without an entry, ledgers that fail verify"] = 0  # else raised
        results[database] = facts
        print(database, json.dumps(facts, indent=2))
    run.document("ledger_faults", {"results": results})


if __name__ == "__main__":
    main()
