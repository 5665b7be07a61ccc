"""Releases in two steps: what is planned is done, once, and what is wrong spends nothing."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import numpy as np
import pytest

import geodp as gd


def hidden(page):
    """The hidden fields of a confirmation."""
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', page.text))
    return {name: found[name] for name in ("digest", "nonce")}


def planned(browser, asked, **changed):
    page = browser.post("/release/plan", **asked | changed)
    assert page.status_code == 200, page.text
    return hidden(page)


def receipt(browser, answer):
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    return json.loads(browser.get(f"{place}/json").text)


def test_plan_confirm_receipt(browser, asked, ledger):
    declared = {"physical_unit": "mm", "component_order": "x, y", "frame": "scanner"}
    page = browser.post("/release/plan", **asked, **declared)
    assert "Nothing is spent yet" in page.text
    # radius 1, n = 50: sensitivity 2/50; 0.01 of mu^2 pays for the share of replaced records
    assert f"{0.04 / (0.6 * 0.99**0.5):.4g}" in page.text
    assert ledger.spent() == 0
    document = receipt(browser, browser.post("/release/confirm", **hidden(page)))
    assert document["request"]["n"] == 50
    assert document["request"]["unit"] == "person"
    assert {name: document["request"]["domain"][name] for name in declared} == declared
    assert document["request"]["guarantee"] == {"notion": "gdp", "mu": "0.6"}
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-15)
    assert all(check.passed for check in gd.verify(gd.Release.from_json(document)))


def test_a_second_confirmation_pays_nothing_and_gets_the_same_receipt(browser, asked, ledger):
    fields = planned(browser, asked)
    answers = [browser.post("/release/confirm", **fields) for _ in range(3)]
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-15)
    assert sum(entry["kind"] == "reserve" for entry in ledger.history()) == 1


def test_a_double_click_spends_once(browser, asked, ledger):
    fields = planned(browser, asked)
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(browser.post, "/release/confirm", **fields) for _ in range(8)]
        places = {one.result().headers["location"] for one in work}
    assert len(places) == 1
    assert sum(entry["kind"] == "reserve" for entry in ledger.history()) == 1


def test_a_double_click_without_a_ledger_draws_once(browser, asked):
    fields = planned(browser, asked, ledger="", dataset="")
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(browser.post, "/release/confirm", **fields) for _ in range(8)]
        assert len({one.result().headers["location"] for one in work}) == 1
    page = browser.post("/release/plan", **asked | {"ledger": "", "dataset": ""})
    assert "No ledger: nothing remembers this spend." in page.text


def test_two_plans_race_for_the_last_of_the_budget(browser, asked, ledger):
    plans = [planned(browser, asked, amount="0.8") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda fields: browser.post("/release/confirm", **fields), plans))
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    (refused,) = (answer for answer in answers if answer.status_code == 409)
    assert "The ledger refuses: asked mu^2 = 0.64, spent 0.64 of 1" in refused.text
    assert float(ledger.spent()) == pytest.approx(0.64, rel=1e-15)


def test_the_digest_is_of_what_is_done(browser, asked, ledger):
    one, other = planned(browser, asked), planned(browser, asked, amount="0.5")
    assert one["digest"] != other["digest"]
    again = planned(browser, asked)
    assert (again["digest"], again["nonce"] != one["nonce"]) == (one["digest"], True)
    for digest, nonce in (
        (other["digest"], one["nonce"]),
        (one["digest"], "0" * 32),
        ("", ""),
    ):
        answer = browser.post("/release/confirm", digest=digest, nonce=nonce)
        assert answer.status_code == 422
        assert "nothing was spent" in answer.text
    assert ledger.spent() == 0


def test_an_upload_is_the_file_itself(browser, asked, records, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    fields = asked | {"file": "", "ledger": "", "dataset": ""}
    files = {"upload": ("../../my points.npy", records.read_bytes())}
    page = browser.post("/release/plan", files=files, **fields)
    assert page.status_code == 200, page.text
    assert "my-points.npy" in page.text
    assert list(tmp_path.rglob("my*")) == []  # neither left behind nor written elsewhere
    assert receipt(browser, browser.post("/release/confirm", **hidden(page)))["request"]["n"] == 50


def test_a_table_says_whether_it_has_a_header(browser, asked, tmp_path):
    table = b"x,y\n" + b"0.1,0.2\n" * 20
    fields = asked | {"file": "", "ledger": "", "dataset": ""}
    files = {"upload": ("points.csv", table)}
    refused = browser.post("/release/plan", files=files, **fields)
    assert refused.status_code == 422
    assert "whether its first line is a header" in unescape(refused.text)
    assert "/tmp" not in refused.text
    page = browser.post("/release/plan", files=files, **fields | {"header": "yes"})
    assert "of 20 records" in page.text


def test_what_the_plan_chose_is_what_is_released(browser, asked):
    fields = {"mechanism": "best", "notion": "pure", "ledger": "", "dataset": ""}
    page = browser.post("/release/plan", **asked | fields)
    (best,) = re.findall(r"<dt>mechanism</dt><dd>([\w-]+)</dd>", page.text)
    document = receipt(browser, browser.post("/release/confirm", **hidden(page)))
    assert document["request"]["mechanism"] == best == document["outcome"]["stages"][0]["name"]


BAD = [
    ("space", "klein:2", "names no space"),
    ("space", "", "names no space"),
    ("center", "", "centre is missing"),
    ("center", "0,zero", "The centre must be a number"),
    ("center", "0,0,0", "2 are needed"),
    ("radius", "", "radius is missing"),
    ("radius", "wide", "The radius must be a number"),
    ("radius", "-1", "must be finite and positive"),
    ("radius", "nan", "The radius must be a number"),
    ("eigenvalues", "1 2", "SPD"),
    ("eigenvalues", "1", "2 numbers"),
    ("degrees", "1 2 3", "sphere"),
    ("degrees", "1 2", "3 numbers"),
    ("statistic", "mode", "The statistic is one of"),
    ("statistic", "extrinsic-mean", "Extrinsic means exist on spheres"),
    ("mechanism", "magic", "The mechanism is one of"),
    ("notion", "trust", "The promise is one of"),
    ("amount", "", "mu is missing"),
    ("amount", "much", "mu"),
    ("amount", "0", "greater than zero"),
    ("amount", "-1", "greater than zero"),
    ("amount", "inf", "mu"),
    ("file", "", "Name the file of records"),
    ("file", "nowhere.npy", "does not exist"),
    ("file", "/", "is a directory"),
    ("file", "-", "no standard input"),
    ("file", "a\0b", "cannot be opened"),
    ("header", "maybe", "The header is one of"),
    ("layout", "sideways", "The layout is one of"),
    ("layout", "lower", "SPD"),
    ("unit", "scan", "The ledger protects one person"),
    ("ledger", "nowhere.db", "There is no ledger"),
    ("dataset", "", "needs the data set"),
    ("group", "A", "group"),
]


@pytest.mark.parametrize(("name", "text", "said"), BAD)
def test_a_bad_field_is_one_sentence_beside_it_and_spends_nothing(
    browser, asked, ledger, name, text, said
):
    before = ledger.history()
    page = browser.post("/release/plan", **asked | {name: text})
    assert page.status_code == 422
    sentence = unescape(re.search(rf'id="wrong-{name}">(.*?)</p>', page.text)[1])
    assert len([x for x in re.findall(r'id="wrong-\w+">(.*?)</p>', page.text) if x]) == 1
    assert page.text.count('aria-invalid="true"') == 1
    assert said in sentence
    assert sentence[0].isupper()
    assert sentence.endswith((".", "?"))
    assert ledger.history() == before


def test_two_numbers_of_a_promise(browser, asked):
    fields = asked | {"notion": "approx", "ledger": "", "dataset": ""}
    for second, said in (("", "delta is missing"), ("2", "delta"), ("no", "delta")):
        page = browser.post("/release/plan", **fields | {"second": second})
        assert page.status_code == 422
        assert said in re.search(r'id="wrong-second">(.*?)</p>', page.text)[1]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'shape': (10**15,)}",
        b"PK\x03\x04x",
    ],
)
def test_damaged_files(browser, asked, ledger, content):
    fields = asked | {"file": ""}
    page = browser.post("/release/plan", files={"upload": ("points.npy", content)}, **fields)
    assert page.status_code == 422
    sentence = re.search(r'id="wrong-file">(.*?)</p>', page.text)[1]
    assert sentence.startswith("The file &#39;points.npy&#39;") or "upload" in sentence
    assert ledger.spent() == 0


def test_wrong_shapes_and_few_records(browser, asked, tmp_path):
    for shape in ((50, 3), (1, 2), (0, 2), (2,)):
        np.save(tmp_path / "odd.npy", np.full(shape, 0.12345678))
        page = browser.post("/release/plan", **asked | {"file": str(tmp_path / "odd.npy")})
        assert page.status_code == 422
        assert re.search(r'id="wrong-file">(.*?)</p>', page.text)[1]
        assert "0.1234" not in page.text


def test_a_refusal_of_the_ledger_at_the_plan(browser, asked, ledger):
    page = browser.post("/release/plan", **asked | {"amount": "1.5"})
    assert page.status_code == 422
    assert "the ledger has 1 left" in re.search(r'id="wrong-ledger">(.*?)</p>', page.text)[1]
    assert ledger.spent() == 0


def test_records_are_never_shown(browser, asked):
    page = browser.post("/release/plan", **asked)
    answer = browser.post("/release/confirm", **hidden(page))
    seen = [page.text, browser.get(answer.headers["location"]).text, browser.get("/release").text]
    seen.append(browser.get("/ledger", ledger=asked["ledger"]).text)
    assert not [text for text in seen if "1234567" in text or "8765432" in text]
