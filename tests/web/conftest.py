"""The page without a server: its application, a browser's cookie, and a ledger to spend from."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import geodp as gd
from geodp.web.app import make_app
from geodp.web.desk import Desk
from geodp.web.guard import Session

PORT = 8617
BASE = f"http://127.0.0.1:{PORT}"


class Never(Executor):
    """Leaves what takes long undone, so that a test is not kept by it."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return Future()


class Browser:
    """A client with the session's cookie and origin, as a browser would be."""

    def __init__(self, session: Session, app: Any) -> None:
        self.session, self.app = session, app
        self.client = TestClient(app, base_url=BASE, follow_redirects=False)
        self.client.headers["origin"] = BASE
        assert self.client.get("/", params={"token": session.token}).status_code == 303

    def get(self, path: str, **params: str) -> Any:
        return self.client.get(path, params=params)

    def post(self, path: str, files: Any = None, **fields: str) -> Any:
        answer = self.client.post(path, data={"csrf": self.session.csrf} | fields, files=files)
        if path == "/release/plan" and answer.status_code == 303:
            return self.client.get(answer.headers["location"])
        return answer


@pytest.fixture
def session() -> Session:
    return Session(PORT)


@pytest.fixture
def browser(session: Session) -> Browser:
    return Browser(session, make_app(session, desk=Desk(Never())))


@pytest.fixture
def ledger(tmp_path: Path) -> gd.Ledger:
    return gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Fifty points in the unit square, one of them with digits that a message would give away."""
    points = np.random.default_rng(5).uniform(-0.5, 0.5, (50, 2))
    points[7] = (0.12345678, 0.87654321)
    np.save(tmp_path / "points.npy", points)
    return tmp_path / "points.npy"


@pytest.fixture
def asked(ledger: gd.Ledger, records: Path) -> dict[str, str]:
    """The form of a release that can be paid."""
    return {
        "space": "euclidean:2",
        "center": "origin",
        "radius": "1",
        "eigenvalues": "",
        "degrees": "",
        "statistic": "frechet-mean",
        "mechanism": "wrapped-gaussian",
        "notion": "gdp",
        "amount": "0.6",
        "second": "",
        "file": str(records),
        "header": "",
        "layout": "",
        "unit": "",
        "ledger": str(ledger.store.path),
        "dataset": "study",
        "group": "",
    }
