"""How fast the page answers: ``make bench``. Results go to benchmarks/results/page.json.

The command itself, asked over the loopback: the first view with all that it loads, then what a user
changes, space by space. By the clock and by the processor's time that the server spends; nothing is
asserted about either.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

RESULTS = Path(__file__).parent / "results"
WORDS = [sys.executable, "-m", "geodp", "serve", "--port", "0", "--no-browser"]
SPACES = {
    "spd:3:affine-invariant": "1.5",
    "spd:3:log-euclidean": "1.5",
    "spd:2": "1.5",
    "sphere:2": "0.6",
    "shapes:8": "0.3",
    "shapes:30": "0.3",
    "hyperbolic:5": "1",
    "euclidean:3": "1",
    "sphere:2+euclidean:1": "0.5",
}
PROMISES = {
    "gdp": {"amount": "1"},
    "approx": {"amount": "1", "second": "1e-5"},
    "pure": {"amount": "1"},
    "zcdp": {"amount": "0.5"},
    "renyi": {"amount": "1", "second": "8"},
}
WHOLE = ("gdp", "approx")  # where all rows are waited for, which takes long
CHANGES: dict[str, dict[str, str]] = {
    "n": {"n": "300"},
    "radius": {"radius": "0.25"},
    "budget": {"amount": "2"},
    "releases": {"releases": "3"},
    "target": {"target": "0.02"},
}


@pytest.fixture(autouse=True)
def _only_when_asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--benchmark-enable"):
        pytest.skip("benchmarks run with --benchmark-enable")


@dataclass
class Visitor:
    """A browser's connection to the served page, and what the server spends on it."""

    process: int
    link: HTTPConnection
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **more: str) -> bytes:
        self.link.request("GET", path, headers=self.headers | more)
        answer = self.link.getresponse()
        content = answer.read()
        if answer.status == 303:
            self.headers["cookie"] = (answer.getheader("set-cookie") or "").split(";")[0]
            return self.get("/")
        assert answer.status == 200, (path, answer.status)
        return content

    def spent(self) -> float:
        """Seconds of the processor since the server began, without its helper's."""
        words = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def update(self, fields: Mapping[str, str], *, whole: bool = False) -> dict[str, float]:
        """What htmx asks when a field has changed; ``whole`` waits for the rows that follow."""
        begun, spent = time.perf_counter(), self.spent()
        view = self.get(f"/?{urlencode(fields)}", **{"hx-request": "true"})
        facts = {"seconds": time.perf_counter() - begun, "processor": self.spent() - spent}
        if not whole:
            return facts
        while b"being computed" in view:
            view = self.get(f"/?{urlencode({**fields, 'wait': '1'})}", **{"hx-request": "true"})
        return facts | {"all_rows": time.perf_counter() - begun}


@pytest.fixture
def served() -> Iterator[tuple[Visitor, str, float]]:
    begun = time.perf_counter()
    with subprocess.Popen(WORDS, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        started = time.perf_counter() - begun
        link = HTTPConnection("127.0.0.1", address.port or 0, timeout=600)
        yield Visitor(process.pid, link), f"{address.path}?{address.query}", started
        link.close()
        process.terminate()


def test_the_page(benchmark: Any, served: tuple[Visitor, str, float]) -> None:
    """First view and its bytes; updates: median and most over spaces and promises."""
    visitor, path, started = served
    begun, spent = time.perf_counter(), visitor.spent()
    first = visitor.get(path)
    seen = time.perf_counter() - begun
    loaded = re.findall(rb'(?:src|href)="(/static/[^"]+)"', first)
    total = len(first) + sum(len(visitor.get(name.decode())) for name in loaded)
    facts: dict[str, Any] = {
        "seconds_until_the_address": _short(started),
        "first_view": {
            "seconds": _short(seen),
            "with_all_it_loads": _short(time.perf_counter() - begun),
            "processor": _short(visitor.spent() - spent),
            "bytes": total,
        },
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for space, radius in SPACES.items():
        for notion, numbers in PROMISES.items():
            base = {"space": space, "center": "origin", "radius": radius, "n": "200"}
            base |= {"notion": notion, **numbers}
            case = f"{space} {notion}"
            whole = notion in WHOLE
            found.setdefault("space or promise", {})[case] = visitor.update(base, whole=whole)
            for name, change in CHANGES.items():
                found.setdefault(name, {})[case] = visitor.update(base | change)
    facts["updates"] = {name: _summary(cases) for name, cases in found.items()}
    benchmark.pedantic(visitor.update, (base,), rounds=1)
    _write(facts)


def _summary(cases: dict[str, dict[str, float]]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for what in ("seconds", "processor", "all_rows"):
        values = {case: one[what] for case, one in cases.items() if what in one}
        if not values:
            continue
        slowest = max(values, key=values.__getitem__)
        facts[what] = {
            "median": _short(statistics.median(values.values())),
            "most": _short(values[slowest]),
            "at": slowest,
        }
    for what in ("seconds", "processor"):
        quick = sum(one[what] <= 0.3 for one in cases.values())
        facts[f"{what}_within_300_ms"] = f"{quick} of {len(cases)}"
    return facts


def _short(x: float) -> float:
    return round(x, 3)


def _write(facts: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    packages = ("geodp", "numpy", "scipy", "starlette", "jinja2", "uvicorn")
    document = {
        "command": "make bench",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "load": [round(x, 1) for x in os.getloadavg()],
        "versions": {package: version(package) for package in packages},
        **facts,
    }
    path = RESULTS / "page.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"\npage: {json.dumps(facts)}")
