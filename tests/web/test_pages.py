"""Pages as HTML: small, whole, from here alone; the ledger's and a receipt's."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

import geodp as gd

PAGES = ("/", "/release", "/ledger", "/receipt")
LIMIT = 100 * 1024
VOID = {"meta", "link", "input", "br", "img", "path", "circle"}


class Outline(HTMLParser):
    """Ids, labels, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def receipt():
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    north = np.tile([0.0, 0.0, 1.0], (20, 1))
    return gd.release(north, gd.FrechetMean(ball), gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_labelled(browser, path):
    outline = Outline(browser.get(path).text)
    assert outline.open == []
    assert outline.tags.count("h1") == outline.tags.count("main") == 1
    found = [attrs["id"] for _, attrs in outline.attributes if "id" in attrs]
    assert len(found) == len(set(found))
    labels = {attrs["for"] for tag, attrs in outline.attributes if tag == "label"}
    for tag, attrs in outline.attributes:
        if tag in ("input", "select", "textarea") and attrs.get("type") != "hidden":
            assert attrs["id"] in labels
        for name in attrs.get("aria-describedby", "").split():
            assert name in found
        assert "style" not in attrs
        assert not [name for name in attrs if name.startswith("on")]
        assert tag != "style"


@pytest.mark.parametrize("path", PAGES)
def test_a_page_with_all_it_loads_is_small_and_from_here(browser, path):
    page = browser.get(path)
    total = len(page.content)
    for tag, attrs in Outline(page.text).attributes:
        for name in ("src", "href", "action", "hx-get"):
            assert not re.match(r"(\w+:)?//", attrs.get(name) or "")
        if tag in ("script", "link"):
            total += len(browser.get(attrs.get("src") or attrs["href"]).content)
    assert total <= LIMIT


def test_our_files_name_no_other_place():
    for name in ("page.css", "page.js"):
        text = files("geodp.web").joinpath("static", name).read_text(encoding="utf-8")
        assert "//" not in re.sub(r"^\s*// .*$", "", text, flags=re.MULTILINE)
    licence = files("geodp.web").joinpath("static", "htmx.LICENSE.txt").read_text(encoding="utf-8")
    assert "Zero-Clause BSD" in licence


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/nothing.js", "/static/%2e%2e/app.py"]
)
def test_static_files_are_those_of_the_list(browser, path):
    assert browser.get(path).status_code == 404


def test_a_receipt_is_checked_from_its_text_and_its_file(browser, receipt):
    text = json.dumps(receipt.to_json())
    places = set()
    for how in ({"receipt": text}, {"files": {"receipt": ("r.json", text.encode())}}):
        answer = browser.post("/receipt/check", **how)
        assert answer.status_code == 303, answer.text
        places.add(answer.headers["location"])
    (place,) = places
    page = browser.get(place)
    assert "All 8 checks passed" in page.text
    assert Outline(page.text).open == []
    assert len(page.content) <= LIMIT
    assert json.loads(browser.get(f"{place}/json").text) == receipt.to_json()
    assert browser.get(f"{place}/picture.svg").headers["content-type"].startswith("image/svg")


def test_a_receipt_with_less_noise_fails(browser, receipt):
    document = receipt.to_json()
    document["outcome"]["stages"][0]["scale"] /= 2
    answer = browser.post("/receipt/check", receipt=json.dumps(document))
    page = browser.get(answer.headers["location"])
    assert "checks FAILED" in page.text
    assert 'class="fail"' in page.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Send a receipt"),
        ("{", "no JSON document"),
        ("[" * 100_000, "no JSON document"),
        ("[]", "no receipt of schema"),
        ('{"schema": "geodp/release/v1"}', "lacks the field"),
        ('{"a": "\\ud800"}', "no JSON document"),
    ],
)
def test_what_is_no_receipt(browser, text, said):
    answer = browser.post("/receipt/check", receipt=text)
    assert answer.status_code == 422
    assert said in unescape(re.search(r'id="wrong-receipt">(.*?)</p>', answer.text)[1])


def test_a_text_that_is_too_long(browser):
    files = {"receipt": (None, "x" * (2**20 + 1))}
    answer = browser.post("/receipt/check", files=files)
    assert answer.status_code == 400
    assert "too long" in answer.text


def test_texts_of_a_receipt_are_escaped(browser, receipt):
    document = receipt.to_json()
    document["request"]["unit"] = document["request"]["statistic"] = "<script>alert(1)</script>"
    answer = browser.post("/receipt/check", receipt=json.dumps(document))
    assert "<script>alert" not in browser.get(answer.headers["location"]).text


def test_fields_come_back_escaped(browser):
    page = browser.get("/", space='"><script>alert(1)</script>')
    assert page.status_code == 422
    assert "<script>alert" not in page.text


def test_the_ledger(browser, ledger):
    noise = gd.Wrapped(gd.Gaussian())
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    zeros = np.zeros((9, 2))
    out = gd.release(zeros, mean, gd.GaussianDP("0.6"), noise, ledger=ledger, dataset="study")
    page = browser.get("/ledger", ledger=str(ledger.store.path))
    assert page.status_code == 200
    assert Outline(page.text).open == []
    assert 'id="left">mu 0.8<' in page.text
    assert "study pays 0.36: Fréchet mean by wrapped-gaussian" in page.text
    (link,) = re.findall(r'href="(/ledger/receipt[^"]*)"', page.text)
    place = browser.client.get(unescape(link)).headers["location"]
    assert json.loads(browser.get(f"{place}/json").text) == out.to_json()
    assert (
        browser.get("/ledger/receipt", ledger=str(ledger.store.path), entry="1").status_code == 422
    )


def test_a_ledger_that_is_none(browser, tmp_path):
    page = browser.get("/ledger", ledger=str(tmp_path / "none.db"))
    assert page.status_code == 422
    assert "There is no ledger" in page.text


def test_what_is_not_held_is_not_found(browser):
    for path in ("/receipt/0", "/receipt/0/json", "/receipt/0/picture.svg", "/x"):
        assert browser.get(path).status_code == 404
