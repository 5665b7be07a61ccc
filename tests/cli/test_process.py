"""The program as a process: exit codes, streams, signals, import cost."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

GEODP = [sys.executable, "-W", "error", "-m", "geodp"]
SPD = ["--space", "spd:2", "--center", "origin", "--radius", "2", "--gdp", "1"]


def run(*words, **how):
    return subprocess.run([*GEODP, *map(str, words)], capture_output=True, timeout=60, **how)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def twins(folder, kind):
    """A clean file and one of the same shape with every kind of malformed record."""
    clean = np.broadcast_to(np.diag([1.5, 0.7]), (8, 2, 2)).copy()
    spoilt = clean.copy()
    spoilt[0] = np.nan
    spoilt[1] = np.inf
    spoilt[2] = [[1, 2], [2, 1]]
    spoilt[3] = [[1, 1], [1, 1]]
    spoilt[4] = [[1, 0.5], [0, 1]]
    spoilt[5] = 1e300 * np.eye(2)
    spoilt[6] = 0
    paths = []
    for name, records in (("clean", clean), ("spoilt", spoilt)):
        path = folder / f"{name}.{kind}"
        if kind == "npy":
            np.save(path, records)
        else:
            lines = [",".join(map(repr, map(float, x.ravel()))) for x in records]
            if name == "spoilt":
                lines[6], lines[7] = "oops,NA,\x00,", "1,2,3,4,5"
            path.write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
        paths.append(path)
    return paths


def prose(result):
    """All but the noisy share of moved records, which is released and differs at each run."""
    lines = result.stderr.splitlines()
    return [line for line in lines if not line.startswith(b"  moved: ")]


@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_malformed_records_leave_no_trace_on_stderr(folder, kind):
    clean, spoilt = (run("release", path, "--header", *SPD) for path in twins(folder, kind))
    assert clean.returncode == spoilt.returncode == 0
    assert prose(clean) == prose(spoilt)
    assert b"note: No ledger" in clean.stderr
    one, two = (json.loads(result.stdout) for result in (clean, spoilt))
    for document in (one, two):
        del document["outcome"]["value"], document["outcome"]["released_at"]
        del document["outcome"]["replaced"]["share"]
    assert one == two


def test_malformed_directions_leave_no_trace_on_stderr(folder):
    good, bad = folder / "good.csv", folder / "bad.csv"
    good.write_text("0,80\n" * 5)
    bad.write_text("0,80\n0,-90\n0,91\nx,y\n,\n")
    words = [
        "--no-header",
        "--lonlat",
        "--space",
        "sphere:2",
        "--center",
        "0,90",
        "--radius",
        "1",
        "--gdp",
        "1",
    ]
    clean, spoilt = (run("release", path, *words) for path in (good, bad))
    assert clean.returncode == spoilt.returncode == 0
    assert prose(clean) == prose(spoilt)


def test_bad_input_ends_with_2():
    result = run("release", "nowhere.npy", *SPD)
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr == b"Error: The file 'nowhere.npy' does not exist.\n"


def test_a_failed_check_ends_with_1(folder):
    path, _ = twins(folder, "npy")
    seeded = run("release", path, *SPD, "--seed", "1", "--json")
    assert seeded.returncode == 0
    assert run("verify", "-", input=seeded.stdout).returncode == 1


def test_an_interrupt_ends_with_130():
    process = subprocess.Popen(
        [*GEODP, "release", "-", *SPD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not _waits_for_input(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err.strip() == b"Error: Interrupted."


def _waits_for_input(pid):
    try:
        with open(f"/proc/{pid}/wchan") as file:
            return "pipe" in file.read()
    except OSError:  # no such information here: wait long enough instead
        time.sleep(5)
        return True


def test_a_closed_pipe_makes_no_traceback():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [*GEODP, "plan", *SPD, "--n", "10", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_makes_no_traceback():
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [*GEODP, "plan", *SPD, "--n", "10", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert b"writing failed" in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["verify", "nofile"], ["plan", *SPD, "--n", "10"]])
def test_a_stderr_that_cannot_be_written_ends_with_2(words):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([*GEODP, *words], stdout=subprocess.PIPE, stderr=full, timeout=60)
    assert result.returncode == 2


def test_an_unexpected_error_shows_no_message():
    program = (
        "from geodp.cli import main, planning\n"
        "def broken(*_, **__): raise RuntimeError('secret')\n"
        "planning.gd.plan = broken\n"
        "main()"
    )
    words = [sys.executable, "-c", program, "plan", *SPD, "--n", "10"]
    result = subprocess.run(words, capture_output=True, timeout=60)
    assert result.returncode == 70
    assert b"RuntimeError" in result.stderr
    assert b"secret" not in result.stderr
    shown = {**os.environ, "GEODP_TRACEBACK": "1"}
    assert b"secret" in subprocess.run(words, capture_output=True, timeout=60, env=shown).stderr


def test_help_imports_click_and_numpy_and_nothing_else():
    program = (
        "import sys, numpy\nbefore = set(sys.modules)\nfrom geodp.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before}, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    loaded = set(result.stderr.decode().split()) - sys.stdlib_module_names
    assert loaded - {"numpy"} == {"geodp", "click"}


def test_progress_is_for_terminals_only(folder):
    path, _ = twins(folder, "npy")
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    words = [*GEODP, "release", str(path), *SPD]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 4096):  # read as it comes: a full terminal would block
            shown += part
    except OSError:  # the end of a pseudo-terminal
        pass
    os.close(master)
    assert process.wait(60) == 0
    assert b"planning" in shown
    assert b"pass" not in shown  # how many there are depends on the records
    forced = run("release", path, *SPD, env={**os.environ, "FORCE_COLOR": "1"})
    assert b"evaluating" not in forced.stderr
    assert b"\x1b" not in forced.stderr


@pytest.mark.parametrize("words", [["--help"], ["release", "--help"], ["plan", *SPD, "--n", "9"]])
def test_an_ascii_terminal_is_enough(words):
    result = run(*words, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (result.returncode, b"Traceback" in result.stderr) == (0, False)
    if "plan" in words:
        assert json.loads(result.stdout)["statistic"] == "Fréchet mean"
