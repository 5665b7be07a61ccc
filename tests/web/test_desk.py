"""Rows that another process works out; how fast an answer is; and the command that serves it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from geodp.web.desk import Desk, work
from geodp.web.estimates import Estimate, estimate, mechanisms
from geodp.web.fields import Fields
from geodp.web.question import START, question_of

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
        "wrapped-l2-laplace",
        "wrapped-spherical-gamma",
    }
    missing = [row for row in first if not isinstance(row, Estimate)]
    quick = {"wrapped-gaussian", "wrapped-l2-laplace", "wrapped-spherical-gamma"}
    assert {row[2] for row in missing} == set(mechanisms()) - quick
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


def test_a_law_that_must_be_searched_for_comes_in_later_and_a_tabulated_one_at_once():
    for epsilon, waits in (("2", False), ("1.234", True)):
        texts = START | {"notion": "approx", "amount": epsilon, "second": "1e-6"}
        asked = question_of(Fields(texts))
        waiting = [row[1:] for row in Desk(Later()).rows(texts, asked) if isinstance(row, tuple)]
        assert (("frechet-mean", "wrapped-spherical-gamma") in waiting) is waits


def test_a_second_request_waits_for_the_next_row():
    later = Later()
    desk = Desk(later)
    first = desk.rows(FLAT, question())
    timer = threading.Timer(0.2, later.do)
    timer.start()
    rows = desk.rows(FLAT, question(), patience=60.0)
    timer.join()
    assert len([row for row in rows if isinstance(row, tuple)]) < len(
        [row for row in first if isinstance(row, tuple)]
    )


def test_nothing_is_left_when_the_page_is_ended():
    words = [sys.executable, "-m", "geodp", "serve", "--port", "0", "--no-browser"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as process:
        first = process.stdout.readline()
        assert first.startswith("http://127.0.0.1:")
        assert "/?token=" in first
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.terminate()
            pytest.skip("no list of processes here")
        made = [int(one) for one in children.read_text().split()]
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
    assert said == ""  # no semaphore is left behind
    assert process.returncode == 128 + signal.SIGTERM
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
