"""Anything may be typed or read: a sentence comes back, or a thing that is what it says.

Hypothesis, derandomised: the same few hundred inputs in every run.
"""

from __future__ import annotations

import math
import unicodedata
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geodp as gd
from geodp.errors import GeodpError
from geodp.io import read_records
from geodp.ledger.store import Store
from geodp.ledger.totals import Part, part_of
from geodp.privacy.guarantees import Guarantee, from_json
from geodp.privacy.numbers import exact

SECRET = "73102469"  # a record's number; it must be in no message
quick = settings(derandomize=True, max_examples=200, deadline=None, database=None)
few = settings(quick, max_examples=60)
texts = st.text(max_size=12) | st.text("0123456789.eE+-/_ naif", max_size=12)
numbers = (
    st.integers(-(10**400), 10**400)
    | st.floats()
    | st.fractions()
    | st.decimals()
    | st.floats(width=32).map(np.float32)
    | st.booleans()
    | st.none()
    | texts
)


def is_sentence(error: GeodpError) -> None:
    """Plain, ended, and without a record."""
    text = str(error)
    assert text == text.strip()
    assert text[-1] in ".?" or "\n" in text
    assert SECRET not in text


@quick
@given(numbers)
@example("1e-400")
@example("١٢")
@example("1_0")
@example(Decimal("1E+999999999"))
@example("9" * 5001)
@example(5e-324)
def test_a_number_is_read_exactly_or_refused(value: Any) -> None:
    try:
        number = exact(value, "mu")
    except gd.GuaranteeError as error:
        is_sentence(error)
        assert not (type(value) is int and 0 < value < 10**300)
        return
    assert type(number) is Fraction
    assert 0 < number < Fraction(10) ** 309
    if isinstance(value, float):
        assert number == Fraction(Decimal(repr(value)))
    elif isinstance(value, (int, Fraction, Decimal)):
        assert number == value
    elif isinstance(value, str) and "/" not in value:
        assert number == Decimal(value)


@quick
@given(st.sampled_from(["pure", "approx", "gdp", "renyi", "zcdp"]), numbers, numbers)
def test_a_guarantee_survives_its_document(kind: str, one: Any, other: Any) -> None:
    makers: dict[str, Any] = {
        "pure": lambda: gd.PureDP(one),
        "approx": lambda: gd.ApproxDP(one, other),
        "gdp": lambda: gd.GaussianDP(one),
        "renyi": lambda: gd.RenyiDP(one, other),
        "zcdp": lambda: gd.ZCDP(one),
    }
    try:
        promise: Guarantee = makers[kind]()
    except gd.GuaranteeError as error:
        is_sentence(error)
        return
    assert from_json(promise.to_json()) == promise
    assert 0 <= promise.detection(0.01) <= 1
    assert promise.text[-1] == "."


documents = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=6) | st.sampled_from(["gdp", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["notion", "mu", "epsilon", "delta", "x"]), inner)
    ),
    max_leaves=6,
)


@quick
@given(st.dictionaries(st.sampled_from(["notion", "mu", "epsilon", "delta"]), documents))
def test_a_document_is_a_guarantee_or_refused(document: Any) -> None:
    try:
        assert from_json(document).notion == document["notion"]
    except gd.GuaranteeError as error:
        is_sentence(error)


words = st.sampled_from(
    ["euclidean", "spd", "sphere", "hyperbolic", "shapes", "spher", "", "log-euclidean", "SPD"]
)
sizes = st.sampled_from(["0", "1", "2", "3", "-1", "1e2", "999", "", "nan", "0.5", "inf", "-0.5"])
specs = st.lists(st.lists(words | sizes, min_size=1, max_size=3).map(":".join), max_size=3)


@quick
@given(specs.map("+".join) | st.text(max_size=20))
@example("sphere:999999999")
@example("spd:999999999")
@example("euclidean:1000000000")
@example("sphere:2:1e-320")
@example("hyperbolic:2:-inf")
@example("+")
@example("sphere:2+" * 40 + "sphere:2")
def test_a_space_string_names_a_space_or_is_refused(text: str) -> None:
    try:
        space = gd.parse_space(text)
    except GeodpError as error:
        is_sentence(error)
        return
    assert gd.parse_space(space.spec).spec == space.spec
    assert space.dim >= 1


entries = st.floats() | st.sampled_from([0.0, 1.0, -1.0, 1e-308, 1e300])
arrays = st.lists(st.lists(entries, min_size=0, max_size=4), max_size=4)
things = arrays | st.none() | texts | entries | st.lists(texts, max_size=3)


@few
@given(
    st.sampled_from(["sphere:2", "spd:2", "hyperbolic:2", "euclidean:2", "shapes:4"]),
    st.just("origin") | things,
    numbers,
)
@example("sphere:2", "origin", 10**400)  # was an OverflowError
@example("spd:2", [[1.0, 0.0], [0.0, 1e-300]], 1.0)
def test_a_ball_is_a_ball_or_refused(spec: str, center: Any, radius: Any) -> None:
    space = gd.parse_space(spec)
    point = space.origin if isinstance(center, str) and center == "origin" else center
    try:
        ball = gd.Ball(space, point, radius)
    except GeodpError as error:
        is_sentence(error)
        return
    assert bool(space.contains(ball.center))
    assert 0 < ball.radius < math.inf
    assert ball.clip(np.broadcast_to(ball.center, (2, *space.point_shape))) is not None


def table(rows: list[list[str]]) -> bytes:
    return "\n".join(",".join(row) for row in rows).encode("utf-8", "surrogatepass")


cells = st.sampled_from(["1", "-0.5", "nan", "inf", "", " ", "x", '"', "1e999", SECRET, "1;2", "é"])
csv = st.lists(st.lists(cells, max_size=5), max_size=5).map(table)


@few
@given(csv | st.binary(max_size=60), st.booleans(), st.sampled_from(["sphere:2", "spd:2"]))
def test_a_table_is_records_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, header: bool, spec: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "records.csv"
    path.write_bytes(content)
    refused_or_records(path, spec, header)


def saved(tmp: Path) -> bytes:
    np.save(tmp / "x.npy", np.full((4, 3), float(SECRET)))
    return (tmp / "x.npy").read_bytes()


@few
@given(
    st.lists(st.tuples(st.integers(0, 223), st.integers(0, 255)), max_size=4), st.integers(0, 224)
)
@example([], 224)
@example([(6, 9)], 224)
def test_a_spoilt_array_is_records_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], length: int
) -> None:
    tmp = tmp_path_factory.mktemp("fuzz")
    content = bytearray(saved(tmp))
    for place, byte in changes:
        content[place] = byte
    (tmp / "x.npy").write_bytes(bytes(content[:length]))
    refused_or_records(tmp / "x.npy", "sphere:2", False)


def refused_or_records(path: Path, spec: str, header: bool) -> None:
    space = gd.parse_space(spec)
    ball = gd.Ball(space, space.origin, 0.5)
    try:
        records = read_records(path, space, header=header)
        clipped = ball.clip(records)
    except GeodpError as error:
        is_sentence(error)
        return
    assert np.isfinite(gd.FrechetMean(ball).evaluate(clipped).value).all()


pieces = ["postgresql://", "sqlite:///", "mysql://", "u", ":", "p@ss", "@", "/", "?", "=", "host"]
places = st.text(max_size=20) | st.lists(st.sampled_from(pieces), max_size=8).map("".join)


@quick
@given(places)
@example("postgresql://u:p@h/d?password=x")
@example("sqlite:///")
@example("a\x00b")
@example("://")
@example("postgresql://[::1")
@example("postgresql://h:notaport/d")
@example("\ud800")
def test_a_ledger_is_named_or_refused(tmp_path_factory: pytest.TempPathFactory, place: str) -> None:
    """Nothing is made, nothing is connected to, and no password is shown."""
    here = tmp_path_factory.getbasetemp() / "nothing-here"
    here.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        try:
            store = Store(place)
            if store.is_file:
                gd.Ledger(place).show()
            else:
                assert "password=" not in store.shown
        except GeodpError as error:
            is_sentence(error)
    assert list(here.iterdir()) == []


@quick
@given(st.text(max_size=8), st.none() | st.text("ab= ", max_size=6) | st.integers())
def test_a_part_is_named_or_refused(dataset: str, group: Any) -> None:
    try:
        part = part_of(dataset, group)
    except gd.InputError as error:
        is_sentence(error)
        return
    assert part.dataset == unicodedata.normalize("NFC", dataset).strip()
    assert part_of(dataset, part.group) == part == Part(*part)
