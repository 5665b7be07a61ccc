"""Rows that another process works out; how fast an answer is; and the command that serves it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from geodp.web.desk import Desk, work
from geodp.web.estimates import Estimate, estimate, mechanisms
from geodp.web.fields import Fields
from geodp.web.question import START, question_of
from geodp.web.view import view_of

FLAT = START | {"space": "euclidean:2", "notion": "pure"}


class Later(Executor):
    """Keeps work until a test does it."""

    def __init__(self):
        self.waiting = []

    def submit(self, work, key):
        future = Future()
        self.waiting.append((future, work, key))
        return future

    def do(self):
        for future, task, key in self.waiting:
            if future.set_running_or_notify_cancel():
                future.set_result(task(key))
        self.waiting = []


def question(**changed):
    return question_of(Fields(FLAT | changed))


def test_rows_come_in():
    later = Later()
    desk = Desk(later)
    first = desk.rows(FLAT, question())
    assert {row.mechanism for row in first if isinstance(row, Estimate) and row.distance} == {
        "wrapped-l2-laplace"
    }
    missing = [row for row in first if not isinstance(row, Estimate)]
    assert {row[2] for row in missing} == set(mechanisms()) - {"wrapped-l2-laplace"}
    assert desk.rows(FLAT, question()) == first
    assert len(later.waiting) == len(missing)  # asked for once
    later.do()
    rows = desk.rows(FLAT, question())
    assert all(isinstance(row, Estimate) for row in rows)
    (row,) = (
        r for r in rows if (r.statistic, r.mechanism) == ("frechet-mean", "riemannian-laplace")
    )
    assert row == estimate(question(), "frechet-mean", mechanisms()["riemannian-laplace"])


def test_what_an_earlier_question_waits_for_is_dropped():
    later = Later()
    desk = Desk(later)
    desk.rows(FLAT, question())
    old = [future for future, _, _ in later.waiting]
    desk.rows(FLAT | {"n": "300"}, question(n="300"))
    assert all(future.cancelled() for future in old)


def test_a_row_that_breaks_shows_no_message():
    later = Later()
    desk = Desk(later)
    desk.rows(FLAT, question())
    for future, _, _ in later.waiting:
        future.set_exception(RuntimeError("0.12345678"))
    said = {row.why_not for row in desk.rows(FLAT, question()) if isinstance(row, Estimate)}
    assert "This row could not be computed." in said
    assert not any("0.1234" in text for text in said)


def test_work_is_the_row():
    asked = tuple(FLAT.items())
    row = work((asked, "frechet-mean", "wrapped-l2-laplace"))
    # sensitivity 2 r/n = 0.015, pure 0.99; mean radius 2 scale in the plane
    assert row.distance == pytest.approx(2 * 0.015 / 0.99, rel=1e-6)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"space": "sphere:2", "center": "0,0,1", "radius": "0.6"},
        {"space": "shapes:8", "radius": "0.3"},
        {"space": "hyperbolic:5", "notion": "approx", "second": "1e-5"},
        {"target": "0.02"},
    ],
)
def test_an_answer_is_quick(changed):
    """Processor time, the least of three: 300 ms are allowed, 30 to 90 were measured."""
    desk, times = Desk(Later()), []
    for n in ("150", "151", "152"):
        start = time.process_time()
        assert view_of(Fields(START | changed | {"n": n}), desk) is not None
        times.append(time.process_time() - start)
    assert min(times) < 0.3


def test_nothing_is_left_when_the_page_is_ended():
    words = [sys.executable, "-m", "geodp", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        assert first.startswith("http://127.0.0.1:")
        assert "/?token=" in first
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.terminate()
            pytest.skip("no list of processes here")
        made = [int(one) for one in children.read_text().split()]
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    limit = time.monotonic() + 20
    while any(_runs(one) for one in made) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not any(_runs(one) for one in made)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
