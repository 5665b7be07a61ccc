"""Every field of every form with bad input: a sentence beside it or an escaped text, never a bug;
nothing is spent."""

from __future__ import annotations

import io
import json
import re
import zipfile
from html import unescape

import numpy as np
import pytest

from geodp.web.question import START

HTML = "<script>alert('x')</script>"
BAD = {
    "empty": "",
    "not a number": "nan",
    "too large": "1e400",
    "negative": "-1",
    "html": HTML,
    "very long": "7" * 20_000,
    "long text": "x" * 20_000,
    "other digits": "\u0663",
    "zero byte": "1\x00",
    "quotes": "\"'`",
    "template": "{{ 7 * 7 }}",
    "path": "../../etc/passwd",
}
# what may be any text, or is not looked at by the promise that the form asks for
FREE = {
    *("unit", "dataset", "physical_unit", "component_order", "frame", "second"),
}
MAY_BE_EMPTY = {"eigenvalues", "degrees", "header", "layout", "group", "confidence", "ledger"}
DECLARED = dict.fromkeys(("physical_unit", "component_order", "frame"), "")
RELEASE = (
    *("space", "center", "radius", "eigenvalues", "degrees", "statistic", "mechanism"),
    *("confidence", "notion", "amount", "second", "file", "header", "layout", "unit", "ledger"),
    *("dataset", "group", "physical_unit", "component_order", "frame"),
)


def sentences(text):
    """Those beside fields, by field."""
    found = re.findall(r'id="wrong-(\w+)"[^>]*>(.*?)</p>', text, re.DOTALL)
    return {name: unescape(said).strip() for name, said in found if said.strip()}


def check(answer, name, how):
    """One sentence beside the field, nothing else of the input, no traceback."""
    said = sentences(answer.text)
    assert said, (name, how)
    for one in said.values():
        assert one[0].isupper(), (name, how, one)
        assert one.endswith((".", "?")), (name, how, one)
        assert len(one) < 700, (name, how)
    assert "Traceback" not in answer.text
    assert HTML not in answer.text
    assert "49" not in "".join(said.values()) or "{{" not in BAD.get(how, "")
    return said


@pytest.mark.parametrize("name", RELEASE)
def test_release(browser, asked, ledger, name):
    before = ledger.history()
    base = asked | DECLARED | {"confidence": "0.95"}
    base |= {"ledger": "", "dataset": ""} if name in ("unit", "second") else {}
    for how, text in BAD.items():
        answer = browser.client.post(
            "/release/plan", data={"csrf": browser.session.csrf} | base | {name: text}
        )
        if answer.status_code == 303:
            assert name in FREE or (name in MAY_BE_EMPTY and text == ""), (name, how)
            answer = browser.get(answer.headers["location"])
            assert answer.status_code == 200, (name, how)
            assert HTML not in answer.text
            continue
        assert answer.status_code == 422, (name, how, answer.text[-300:])
        said = check(answer, name, how)
        # a missing data set or ledger is said beside the other one
        assert set(said) <= {name, "dataset", "group", "ledger"}, (name, how, said)
    assert ledger.history() == before


@pytest.mark.parametrize("name", list(START))
def test_planner(browser, name):
    for how, text in BAD.items():
        answer = browser.get("/", **START | {name: text})
        assert answer.status_code in (200, 422), (name, how)
        assert HTML not in answer.text
        if answer.status_code == 422:
            assert set(check(answer, name, how)) == {name}, how


@pytest.mark.parametrize("name", ["ledger", "entry"])
def test_ledger(browser, ledger, name):
    fields = {"ledger": str(ledger.store.path), "entry": "1"}
    for how, text in BAD.items():
        answer = browser.get("/ledger/receipt", **fields | {name: text})
        assert answer.status_code == 422, (name, how)
        assert HTML not in answer.text
        assert "Traceback" not in answer.text
        if name == "ledger" and text:
            answer = browser.get("/ledger", ledger=text)
            assert answer.status_code == 422
            assert set(check(answer, name, how)) == {"ledger"}


RECEIPTS = {
    **BAD,
    "number": "1",
    "list": "[]",
    "deep": "[" * 100_000,
    "another schema": '{"schema": "x"}',
    "no outcome": '{"schema": "geodp/release/v1", "request": {}}',
    "surrogate": json.dumps({"schema": "geodp/release/v1", "request": "\ud800"}),
}


@pytest.mark.parametrize("how", RECEIPTS)
def test_receipt(browser, how):
    answer = browser.post("/receipt/check", receipt=RECEIPTS[how])
    assert answer.status_code == 422
    assert set(check(answer, "receipt", how)) == {"receipt"}


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def saved(array, **how):
    buffer = io.BytesIO()
    np.save(buffer, array, **how)
    return buffer.getvalue()


WHOLE = saved(np.zeros((50, 2)))
HUGE = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10**15, 2), }"
FILES = {
    "empty": ("x.npy", b""),
    "truncated": ("x.npy", WHOLE[:-9]),
    "half a header": ("x.npy", WHOLE[:20]),
    "a huge header": ("x.npy", HUGE.ljust(127) + b"\n"),
    "a picture": ("x.npy", b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "pickled": ("x.npy", saved(np.array([{}, 1], dtype=object), allow_pickle=True)),
    "texts": ("x.npy", saved(np.array([["a", "b"]] * 9))),
    "complex": ("x.npy", saved(np.zeros((9, 2), complex))),
    "another shape": ("x.npy", saved(np.zeros((9, 3)))),
    "no archive": ("x.npz", b"PK\x03\x04 and no more"),
    "two arrays": ("x.npz", zipped(a=WHOLE, b=WHOLE)),
    "a broken member": ("x.npz", zipped(a=WHOLE[:90])),
    "a table of words": ("x.csv", b"a,b\nc,d\n"),
    "latin": ("x.csv", "a,b\n\xe9,1\n".encode("latin-1")),
    "no landmarks": ("x.tps", b"LM=3\n1 2\n"),
    "html": ("x.csv", HTML.encode()),
    "a name of html": (HTML, b""),
    "no ending": ("x", b"\x00\x01"),
}


@pytest.mark.parametrize("how", FILES)
def test_files(browser, asked, ledger, how):
    fields = asked | {"file": "", "header": "yes" if FILES[how][0].endswith("csv") else ""}
    answer = browser.post("/release/plan", files={"upload": FILES[how]}, **fields)
    assert answer.status_code == 422
    said = check(answer, "file", how)
    assert set(said) == {"file"}
    assert "/tmp" not in said["file"]
    assert ledger.spent() == 0


def test_many_fields_of_one_name(browser, asked, ledger):
    lines = b"n=1&" * 600_000
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/release/plan", "/release/confirm", "/receipt/check"):
        for content, status in ((lines, 400), (lines * 3, 413)):
            answer = browser.client.post(path, content=content, headers=headers)
            assert answer.status_code == status, path
        answer = browser.client.post(path, files=[("upload", ("x", b"y"))] * 1500)
        assert answer.status_code == 400, path
        many = {f"n{i}": "1" for i in range(1500)}
        answer = browser.client.post(path, data=many, files={"a": b""})
        assert answer.status_code == 400, path
    assert browser.client.get("/?" + "n=7&" * 10_000).status_code == 200
    assert ledger.spent() == 0


def test_a_field_that_is_a_file_and_a_file_that_is_a_field(browser, asked, ledger):
    answer = browser.post("/release/plan", files={"space": ("x", b"euclidean:2")}, **asked)
    assert answer.status_code in (303, 422, 200)
    fields = {name: text for name, text in asked.items() if name != "file"}
    answer = browser.post("/release/plan", **fields, upload="points.npy")
    assert answer.status_code == 422
    assert set(sentences(answer.text)) == {"file"}
    assert ledger.spent() == 0
