"""An inference in two steps: plan, confirmation with its digest, region and receipts, paid once."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest

import geodp as gd


@pytest.fixture
def asked(asked):
    return asked | {"statistic": "inference", "mechanism": "best", "confidence": "0.9"}


def hidden(page):
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', page.text))
    return {name: found[name] for name in ("digest", "nonce")}


def test_plan_confirm_region_and_receipts(browser, asked, ledger, records):
    page = browser.post("/release/plan", **asked)
    assert page.status_code == 200, page.text
    assert "Nothing is spent yet" in page.text
    assert "90 % confidence region" in unescape(page.text)
    prices = re.findall(r'<td class="num">([\d.e-]+)</td></tr>', page.text)
    *parts, total = map(float, prices)
    assert total == pytest.approx(0.36, rel=1e-9)  # mu squared of all of it
    assert sum(parts) == pytest.approx(total, rel=1e-3)
    assert ledger.spent() == 0
    answers = [browser.post("/release/confirm", **hidden(page)) for _ in range(2)]
    assert len({answer.headers["location"] for answer in answers}) == 1
    place = answers[0].headers["location"]
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-9)
    document = json.loads(browser.get(f"{place}/json").text)
    assert document["confidence"] == 0.9
    assert set(document["releases"]) == {"mean", "covariance", "variance", "fourth", "replaced"}
    for one in document["releases"].values():
        assert all(check.passed for check in gd.verify(gd.Release.from_json(one)))
    shown = browser.get(place)
    assert shown.status_code == 200
    assert "90 % confidence region of the mean" in shown.text
    assert f"From {len(np.load(records))} persons." in shown.text
    account = browser.get("/ledger", ledger=asked["ledger"]).text
    (row,) = re.findall(r'<td class="num">([^<]*)</td></tr>', account)
    assert row in ("0.36", "about 0.36")  # its exact amount has sixty digits
    links = re.findall(r'href="(/receipt/\w+)"', shown.text)
    assert len(links) == len(document["releases"])
    assert "checks passed" in browser.get(links[0]).text
    assert browser.get(f"{place}/picture.svg").text.startswith("<?xml")
    assert place in browser.get("/release").text
    assert "1234567" not in shown.text + page.text
    mean = np.array(document["releases"]["mean"]["outcome"]["value"])
    # noise of scale 0.04/0.6 or a little more in each coordinate, from a mean near 0.02
    assert np.linalg.norm(mean) < 1


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("confidence", {"confidence": "2"}, "confidence"),
        ("confidence", {"confidence": "nan"}, "must be a number"),
        ("ledger", {"amount": "1.5"}, "has 1 left"),
        ("radius", {"amount": "0.001"}, "the privacy noise alone"),
        ("mechanism", {"mechanism": "k-norm-gradient", "ledger": "", "dataset": ""}, ""),
    ],
)
def test_what_cannot_be_inferred_is_said_at_the_plan(browser, asked, ledger, name, changed, said):
    page = browser.post("/release/plan", **asked | changed)
    assert page.status_code == 422
    sentence = unescape(re.search(rf'id="wrong-{name}">(.*?)</p>', page.text)[1])
    assert said in sentence
    assert sentence
    assert ledger.spent() == 0


def test_a_median_by_the_mechanism_that_can(browser, asked, ledger):
    fields = asked | {"statistic": "frechet-median"}
    page = browser.post("/release/plan", **fields)
    assert page.status_code == 422
    assert "k-norm-gradient" in page.text
    page = browser.post("/release/plan", **fields | {"mechanism": "k-norm-gradient"})
    assert page.status_code == 200, page.text
    place = browser.post("/release/confirm", **hidden(page)).headers["location"]
    document = json.loads(browser.get(f"{place}/json").text)
    assert document["request"]["statistic"] == "Fréchet median"
    assert document["request"]["mechanism"] == "k-norm-gradient"
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-15)
