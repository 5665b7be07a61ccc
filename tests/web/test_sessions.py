"""What ends between a plan and its confirmation: the server, the session; and other ledgers."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import geodp as gd
from geodp.web.app import make_app
from geodp.web.desk import Desk
from geodp.web.guard import Session

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import ledger_faults

from .conftest import BASE, PORT, Browser, Never


def hidden(page):
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', page.text))
    return {name: found[name] for name in ("digest", "nonce")}


def restarted(session=None):
    """Another run of the page on the same port."""
    made = Session(PORT) if session is None else session
    return Browser(made, make_app(made, desk=Desk(Never())))


def test_a_restart_between_plan_and_confirmation_spends_nothing(browser, asked, ledger):
    fields = hidden(browser.post("/release/plan", **asked))
    again = restarted()
    # the old tab: its cookie is of another session
    old = TestClient(
        again.app, base_url=BASE, follow_redirects=False, cookies=browser.client.cookies
    )
    answer = old.post("/release/confirm", data=fields, headers={"origin": BASE})
    assert answer.status_code == 403
    assert "geodp serve printed" in answer.text
    # the new session's cookie with the old page's form: the secret in it is another one
    answer = again.client.post("/release/confirm", data=fields | {"csrf": browser.session.csrf})
    assert answer.status_code == 403
    assert "another session" in answer.text
    # and a form of the new session about a plan that is gone
    answer = again.post("/release/confirm", **fields)
    assert answer.status_code == 422
    assert "nothing was spent" in answer.text
    assert ledger.spent() == 0
    # the plan is made again and pays once
    fields = hidden(again.post("/release/plan", **asked))
    assert again.post("/release/confirm", **fields).status_code == 303
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-15)


def test_an_old_receipt_of_a_session_that_ended_is_in_the_ledger(browser, asked, ledger):
    fields = hidden(browser.post("/release/plan", **asked))
    place = browser.post("/release/confirm", **fields).headers["location"]
    again = restarted()
    assert again.get(place).status_code == 404
    page = again.get("/ledger", ledger=asked["ledger"])
    (link,) = re.findall(r'href="(/ledger/receipt[^"]+)"', page.text)
    answer = again.client.get(link.replace("&amp;", "&"))
    assert answer.headers["location"] == place


def test_only_the_latest_plans_are_held(browser, asked, ledger):
    first = hidden(browser.post("/release/plan", **asked))
    for _ in range(20):
        browser.post("/release/plan", **asked)
    answer = browser.post("/release/confirm", **first)
    assert answer.status_code == 422
    assert "Make the plan again" in answer.text
    assert ledger.spent() == 0


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("statistic", ["frechet-mean", "inference"])
def test_two_tabs_race_for_the_last_budget(browser, asked, monkeypatch, database, statistic):
    if database not in ledger_faults.databases():
        pytest.skip(f"{ledger_faults.VARIABLE} names no server; source .ci/postgres")
    with ledger_faults.place_for(database) as (place, key):
        monkeypatch.setenv("GEODP_LEDGER_KEY", str(key))
        ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person", key=key)
        fields = asked | {"ledger": place, "amount": "0.8", "statistic": statistic}
        fields |= {"mechanism": "best"} if statistic == "inference" else {}
        plans = [hidden(browser.post("/release/plan", **fields)) for _ in range(2)]
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda one: browser.post("/release/confirm", **one), plans))
        codes = sorted(answer.status_code for answer in answers)
        assert (
            codes in ([303, 409], [409, 409]) if statistic == "inference" else codes == [303, 409]
        )
        assert float(ledger.spent()) <= 1 + 1e-12
        assert browser.get("/ledger", ledger=place).status_code == 200
        ledger.close()
