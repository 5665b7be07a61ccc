"""Who may speak to the page, and what every answer carries."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from geodp.web.guard import Session

BASE = "http://127.0.0.1:8617"
PATHS = ("/", "/release", "/ledger", "/receipt", "/receipt/x", "/receipt/x/json", "/nowhere")


def stranger(browser):
    return TestClient(browser.app, base_url=BASE, follow_redirects=False)


@pytest.mark.parametrize("path", PATHS)
def test_no_token_no_page(browser, path):
    answer = stranger(browser).get(path)
    assert answer.status_code == 403
    assert "geodp serve printed" in answer.text


@pytest.mark.parametrize("token", ["", "x", "\u00e9", "x" * 43])
def test_a_wrong_token_opens_nothing(browser, token):
    client = stranger(browser)
    assert client.get("/", params={"token": token}).status_code == 403
    client.cookies.set(browser.session.cookie, "x" * 43)
    assert client.get("/").status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(browser, session):
    answer = stranger(browser).get("/", params={"token": session.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"geodp-8617={session.token};")
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
    assert len(session.token) >= 43
    assert session.token != Session(8617).token
    assert session.token not in repr(session)


def test_a_token_leads_to_no_other_host(browser, session):
    answer = stranger(browser).get("//evil.example", params={"token": session.token})
    assert answer.headers.get("location", "/") == "/"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8617", "127.0.0.1", "127.0.0.1:80", "localhost.evil:8617", ""],
)
def test_another_host_is_refused_with_the_right_token(browser, session, host):
    answer = browser.client.get("/", headers={"host": host})
    assert answer.status_code == 421
    answer = browser.client.get("/static/page.css", headers={"host": host})
    assert answer.status_code == 421


def test_localhost_is_this_machine(browser):
    assert browser.client.get("/", headers={"host": "localhost:8617"}).status_code == 200


@pytest.mark.parametrize("path", ["/release/plan", "/release/confirm", "/receipt/check"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:80", "https://127.0.0.1:8617", None]
)
def test_a_form_from_elsewhere_is_refused(browser, asked, ledger, path, origin):
    client = browser.client
    client.headers.pop("origin")
    headers = {} if origin is None else {"origin": origin}
    answer = client.post(path, data={"csrf": browser.session.csrf} | asked, headers=headers)
    assert answer.status_code == 403
    assert "nothing was done" in answer.text.lower()
    assert ledger.spent() == 0


@pytest.mark.parametrize("csrf", ["", "0" * 64])
@pytest.mark.parametrize("path", ["/release/plan", "/release/confirm", "/receipt/check"])
def test_a_form_without_the_secret_is_refused(browser, asked, csrf, path):
    answer = browser.post(path, **asked | {"csrf": csrf})
    assert answer.status_code == 403


def test_an_upload_has_a_limit(browser):
    headers = {"content-length": str(2**30 + 1)}
    answer = browser.client.post("/release/plan", content=b"", headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(browser, method):
    assert browser.client.request(method, "/").status_code == 405


def test_spending_is_no_get(browser):
    for path in ("/release/confirm", "/release/plan", "/receipt/check"):
        assert browser.get(path).status_code in (404, 405)


def test_headers_of_every_answer(browser):
    answers = [stranger(browser).get("/"), browser.get("/"), browser.get("/static/page.js")]
    answers.append(browser.client.get("/", headers={"host": "evil"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_a_bug_shows_no_message(browser, monkeypatch):
    def broken(_):
        raise RuntimeError("0.12345678")

    monkeypatch.setattr("geodp.web.app.ledger_facts", broken)
    answer = browser.get("/ledger", ledger="x")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    assert "0.1234" not in answer.text
