"""Every field of the planner with odd texts: an answer or sentences, never a bug."""

from __future__ import annotations

import re
from html import unescape

import pytest

from geodp.web.question import START

ODD = [
    *("", "0", "-1", "2", "1/3", "1e-6", "1e6", "1e-300", "1e300", "nan", "inf", "9" * 400),
    *("\u0663", "a\0b", "1_000", "0x10", "9007199254740992", "euclidean:1", "euclidean:0"),
    *("sphere:1", "shapes:3", "hyperbolic:2:-4", "spd:100", "spd:3:log-cholesky", "approx"),
    *("sphere:2+euclidean:1", "spd:2^3", "<b>", "0.5,0.5", "10 50 20", "0.1 3"),
]


@pytest.mark.parametrize("name", START)
def test_odd_texts(browser, name):
    for text in ODD:
        page = browser.get("/", **START | {name: text})
        assert page.status_code in (200, 422), (name, text)
        if page.status_code == 422:
            said = [unescape(x) for x in re.findall(r'class="wrong"[^>]*>(.+?)</p>', page.text)]
            assert len(said) == 1, (name, text, said)
            assert said[0][0].isupper()


@pytest.mark.parametrize("notion", ["pure", "approx", "gdp", "zcdp", "renyi"])
def test_extreme_promises(browser, notion):
    for amount in ("1e-300", "1e-6", "1e6"):
        for second in ("1e-5", "1.5"):
            fields = {"notion": notion, "amount": amount, "second": second, "releases": "3"}
            assert browser.get("/", **START | fields).status_code in (200, 422), fields


def test_sentences_go_where_htmx_puts_them(browser):
    answer = browser.client.get("/", params={"n": "x"}, headers={"hx-request": "true"})
    assert answer.status_code == 422
    found = dict(re.findall(r'id="wrong-(\w+)" hx-swap-oob="true">(.*?)</p>', answer.text))
    assert set(found) == set(START)
    assert [name for name, said in found.items() if said] == ["n"]
    assert "<html" not in answer.text
