"""The page: self-contained, escaped, well-formed; everything on the receipt is on it."""

import base64
import dataclasses
import json
import re
import sys
from html.parser import HTMLParser
from statistics import NormalDist
from xml.etree import ElementTree

import numpy as np
import pytest

import geodp as gd
from geodp.report import html, report

VOID = {"meta", "img", "br", "link"}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;'


class Page(HTMLParser):
    """Tags with attributes, and the text; asserts that tags nest."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]

    def headings(self):
        return [tag for tag, _ in self.tags if tag in {"h1", "h2", "h3"}]


def uri(page, kind):
    """The decoded data URIs of one media type."""
    prefix = f"data:{kind};base64,"
    found = page.attributes("src") + page.attributes("href")
    return [base64.b64decode(x[len(prefix) :]) for x in found if x.startswith(prefix)]


def test_golden_structure(tensor):
    page = Page(html(tensor))
    assert [tag for tag, _ in page.tags][:5] == ["html", "head", "meta", "meta", "title"]
    assert page.headings() == ["h1", "h2"] + 6 * ["h3"]
    order = [
        "Value",
        "What an attacker cannot do",
        "What an attacker can do",
        "How it was made",
        "Checks of this receipt",
        "Notes",
    ]
    places = [page.text.index(title) for title in order]
    assert places == sorted(places)


def test_nothing_comes_from_elsewhere_and_nothing_runs(tensor):
    text = html([tensor, tensor])
    page = Page(text)
    assert not {tag for tag, _ in page.tags} & {
        "script",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
    }
    assert all(
        x.startswith(("data:", "#")) for x in page.attributes("src") + page.attributes("href")
    )
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    outside = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    assert "http" not in outside
    assert "url(" not in outside
    assert "@import" not in outside


def test_the_picture_is_an_image_without_scripts_or_references(tensor):
    (picture,) = uri(Page(html(tensor)), "image/svg+xml")
    root = ElementTree.fromstring(picture)
    for element in root.iter():
        assert not element.tag.endswith("script")
        for name, value in element.attrib.items():
            assert not name.endswith("href") or value.startswith("#")


@pytest.mark.parametrize("neighbours", [True, False])
def test_hostile_text_stays_text(tensor, neighbours):
    calm = "a"
    pages = []
    for word in (calm, HOSTILE):
        domain = dataclasses.replace(
            tensor.domain, physical_unit=word, component_order=f"{word}, {word}, b", frame=word
        )
        changed = dataclasses.replace(
            tensor,
            domain=domain,
            unit=word,
            statistic=word,
            mechanism=word,
            neighbours=word if neighbours else tensor.neighbours,
            released_at=word,
            versions={word: word},
        )
        pages.append(Page(html(changed, titles=[word])))
    first, second = pages
    assert [tag for tag, _ in first.tags] == [tag for tag, _ in second.tags]
    names = [sorted(attrs) for _, attrs in first.tags]
    assert names == [sorted(attrs) for _, attrs in second.tags]
    assert HOSTILE in "".join(second.words)


def test_the_receipt_is_on_the_page_in_full(tensor):
    page = Page(html(tensor))
    (receipt,) = uri(page, "application/json")
    assert json.loads(receipt) == tensor.to_json()
    again = gd.Release.from_json(json.loads(receipt))
    assert np.array_equal(again.value, tensor.value)
    shown = html(tensor).split("<pre>")[1].split("</pre>")[0]
    import html as library

    assert json.loads(library.unescape(shown)) == tensor.to_json()


def test_values_units_and_numbers(tensor):
    text = Page(html(tensor)).text
    assert "Matrix, in 1e-3 mm^2/s" in text
    assert "Eigenvalues, in 1e-3 mm^2/s 1 1.25 2 0.5 3 0.375" in text
    assert "50 records, each one person" in text
    assert f"{tensor.sensitivity.total:.7g}" in text
    assert f"{tensor.scale:.7g}" in text
    assert f"{tensor.expected_distance:.7g}" in text
    assert "replace one record, number of records public" in text
    assert all(f"{name} {number}" in text for name, number in tensor.versions.items())
    assert all(note in text for note in tensor.notes)


def test_detection_is_the_gaussian_trade_off_rounded_up(tensor):
    text = Page(html(tensor)).text
    normal = NormalDist()
    for alarm in (0.01, 0.05, 0.1):
        most = 100 * normal.cdf(1 + normal.inv_cdf(alarm))
        shown = float(re.search(rf"\b{100 * alarm:g} % ([0-9.]+) %", text).group(1))
        assert most <= shown <= most + 0.1


def test_checks_pass_or_fail_in_the_open(tensor):
    assert "FAIL" not in Page(html(tensor)).text
    stage = dict(tensor.stages[0]) | {"scale": tensor.scale / 2}
    text = Page(html(dataclasses.replace(tensor, stages=(stage,)))).text
    assert "✗ FAIL scale" in text
    assert "✓ pass value" in text


def test_seeded_noise_promises_nothing(tensor):
    page = Page(html(dataclasses.replace(tensor, private=False)))
    assert "warning" in page.attributes("class")
    assert "Nothing is promised" in page.text
    assert "recognises at most" not in page.text
    assert "warning" not in Page(html(tensor)).attributes("class")


def test_raw_records_mark_the_page(tensor):
    records = np.broadcast_to(np.eye(3), (2, 3, 3))
    page = Page(html(tensor, records=records))
    assert "NOT PRIVATE: this page shows raw records." in page.text
    with pytest.raises(gd.InputError, match="by itself"):
        html([tensor, tensor], records=records)


def test_several_releases_have_a_table_of_contents(tensor):
    page = Page(html([tensor, tensor], titles=["first", "second"]))
    anchors = [x for x in page.attributes("href") if x.startswith("#")]
    assert anchors == ["#release-1", "#release-2"]
    assert [x for x in page.attributes("id") if x.startswith("release")] == [x[1:] for x in anchors]
    assert page.headings().count("h2") == 2
    assert page.text.index("first: ") < page.text.index("second: ")
    with pytest.raises(gd.InputError, match="one title"):
        html([tensor, tensor], titles=["first"])


POINTS = [
    (gd.Sphere(2), [0.0, 0.6, 0.8], "longitude 90 latitude 53.1301"),
    (gd.Sphere(3, 4.0), [0.5, 0.0, 0.0, 0.0], "3-dimensional sphere of curvature 4"),
    (gd.Hyperbolic(2), [1.25, 0.75, 0.0], "Poincaré ball 1 0.3333333 2 0"),
    (gd.Euclidean(2), [1.5, -2.0], "Components 1 1.5 2 -2"),
    (
        gd.Product(gd.Sphere(1), gd.Euclidean(1)),
        [0.6, 0.8, 7.0],
        "Factor 2, euclidean:1: Components 1 7",
    ),
]


@pytest.mark.parametrize(("space", "value", "words"), POINTS, ids=lambda x: str(x)[:20])
def test_points_of_every_space(space, value, words):
    given = gd.GivenValue(space, np.array(value), 0.01, gd.Ball(space, np.array(value), 0.5))
    out = gd.release(None, given, gd.PureDP(1), gd.Wrapped(gd.L2Laplace()))
    page = Page(html(dataclasses.replace(out, value=np.array(value))))
    assert words in page.text


def test_no_domain_and_no_n(tensor):
    given = gd.GivenValue(gd.SPD(2), np.eye(2), 0.05)
    text = Page(html(gd.release(None, given, gd.ApproxDP(1, 1e-5)))).text
    assert "public ball none" in text
    assert "records not stated" in text


def test_a_value_that_is_no_point_is_shown_with_the_failed_check(tensor):
    for value in (np.diag([1.0, -1.0, 1.0]), np.eye(2), np.array(3.0)):
        text = Page(html(dataclasses.replace(tensor, value=value))).text
        assert "✗ FAIL value" in text
        assert "There is no picture" in text


@pytest.mark.parametrize("stages", [({},), ({"name": "x", "scale": None},)])
def test_broken_receipts_are_refused_in_a_sentence(tensor, stages):
    with pytest.raises(gd.InputError, match="wrong kind"):
        html(dataclasses.replace(tensor, stages=stages))


def test_without_matplotlib_the_page_says_what_to_install(tensor, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Page(html(tensor))
    assert "geodp[plot]" in page.text
    assert "img" not in [tag for tag, _ in page.tags]


def test_report_writes_the_page(tensor, tmp_path):
    report(tensor, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html(tensor)
    with pytest.raises(gd.InputError, match="cannot be written"):
        report(tensor, tmp_path / "missing" / "page.html")
    with pytest.raises(gd.InputError, match="one Release"):
        report([], tmp_path / "page.html")
