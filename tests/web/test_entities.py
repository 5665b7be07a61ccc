"""Persons with several records: a column of ids makes the person the unit, from plan to receipt."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest

import geodp as gd
from geodp.io import write_parquet

IDS = [f"person-{i // 2}" for i in range(50)]


@pytest.fixture
def asked(asked, records, tmp_path):
    """Fifty records of twenty-five persons, in every format that has columns."""
    points = np.load(records)
    lines = ["x,who,y"] + [
        f"{x!r},{i},{y!r}" for (x, y), i in zip(points.tolist(), IDS, strict=True)
    ]
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    np.savez(tmp_path / "points.npz", x=points, who=np.array(IDS))
    write_parquet(tmp_path / "points.parquet", points, gd.Euclidean(2), ids=IDS)
    return asked | {"file": str(tmp_path / "points.csv"), "header": "yes", "entities": "who"}


def hidden(page):
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', page.text))
    return {name: found[name] for name in ("digest", "nonce")}


def done(browser, page):
    assert page.status_code == 200, page.text
    answer = browser.post("/release/confirm", **hidden(page))
    assert answer.status_code == 303, answer.text
    return json.loads(browser.get(f"{answer.headers['location']}/json").text)


KINDS = [
    ("points.csv", {}),
    ("points.npz", {"header": "", "key": "x"}),
    ("points.parquet", {"header": "", "entities": "id"}),
]


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize(("name", "more"), KINDS)
def test_a_person_is_the_unit(browser, asked, ledger, tmp_path, name, more, sent):
    file = tmp_path / name
    fields = asked | more | {"file": "" if sent else str(file)}
    files = {"upload": (name, file.read_bytes())} if sent else None
    page = browser.post("/release/plan", files=files, **fields)
    assert "Fréchet mean of entity means of 25 persons on" in unescape(page.text)
    assert f"{fields['entities']}: all records of one id count as one person" in page.text
    assert "holds if none has two records" not in page.text
    # radius 1, 25 persons: sensitivity 2/25, not the 2/50 of as many records
    assert f"{0.08 / (0.6 * 0.99**0.5):.4g}" in page.text
    receipt = done(browser, page)
    assert (receipt["request"]["n"], receipt["request"]["unit"]) == (25, "person")
    assert receipt["request"]["statistic"] == "Fréchet mean of entity means"
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-15)
    assert all(check.passed for check in gd.verify(gd.Release.from_json(receipt)))
    assert "person-1" not in page.text


def test_without_a_ledger_and_a_word_a_person_is_meant(browser, asked):
    page = browser.post("/release/plan", **asked | {"ledger": "", "dataset": ""})
    assert done(browser, page)["request"]["unit"] == "person"


def test_an_inference_counts_persons(browser, asked, ledger):
    changed = {"statistic": "inference", "mechanism": "best", "confidence": "0.9"}
    page = browser.post("/release/plan", **asked | changed)
    assert "Fréchet mean of 25 persons on" in unescape(page.text)
    document = done(browser, page)
    for one in document["releases"].values():
        assert (one["request"]["n"], one["request"]["unit"]) == (25, "person")
    assert float(ledger.spent()) == pytest.approx(0.36, rel=1e-9)


def test_the_digest_covers_the_column(browser, asked, records, tmp_path):
    points = np.load(records)
    np.savez(tmp_path / "points.npz", x=points, who=np.array(IDS), whose=np.array(IDS))
    fields = asked | {"file": str(tmp_path / "points.npz"), "header": "", "key": "x"}
    digests = [
        hidden(browser.post("/release/plan", **fields | {"entities": column}))["digest"]
        for column in ("who", "whose", "")
    ]
    assert len(set(digests)) == 3


def test_without_a_column_the_page_says_what_the_promise_needs(browser, asked, records):
    page = browser.post("/release/plan", **asked | {"file": str(records), "entities": ""} | BARE)
    assert "This promise to each person holds if none has two records" in page.text
    form = browser.get("/release").text
    assert "One record must be all of one unit, unless a column of ids is named" in form
    nobody = asked | BARE | {"file": str(records), "entities": "", "ledger": "", "dataset": ""}
    assert "holds if none has" not in browser.post("/release/plan", **nobody).text


BARE = {"header": ""}
BAD = [
    ("entities", {"entities": "whose"}, "must name the column 'whose' of ids once"),
    ("entities", {"header": "no"}, "first line is one"),
    ("entities", {"file": "points.npy", "header": ""}, "has no columns"),
    ("entities", {"file": "points.parquet", "header": "", "entities": "record"}, "the records"),
    ("entities", {"file": "points.npz", "header": "", "entities": "whose"}, "no array 'whose'"),
    ("entities", {"file": "points.npz", "header": ""}, "name one of its keys"),
    ("entities", {"file": "gap.csv"}, "no entity id"),
    ("entities", {"file": "one.csv"}, "At least two entities"),
    ("file", {"file": "nowhere.csv"}, "does not exist"),
    ("unit", {"unit": "record", "ledger": "", "dataset": ""}, "what an id names"),
]


@pytest.mark.parametrize(("name", "changed", "said"), BAD)
def test_a_bad_column_is_one_sentence_and_spends_nothing(
    browser, asked, ledger, tmp_path, name, changed, said
):
    (tmp_path / "gap.csv").write_text("x,y,who\n0,0,ann\n0,0,\n0,1,bob\n")
    (tmp_path / "one.csv").write_text("x,y,who\n0.1234567,0,ann\n0,0,ann\n")
    if "file" in changed:
        changed = changed | {"file": str(tmp_path / changed["file"])}
    page = browser.post("/release/plan", **asked | changed)
    assert page.status_code == 422
    said_beside = dict(re.findall(r'id="wrong-(\w+)">(.*?)</p>', page.text))
    assert [one for one, text in said_beside.items() if text] == [name]
    assert said in unescape(said_beside[name])
    assert "1234567" not in page.text
    assert ledger.spent() == 0
