"""What a ledger pays for, what it refuses, and what it keeps; on both databases."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import ledger_faults as faults
import numpy as np
import pytest
from scipy.stats import norm

import geodp as gd
from geodp.ledger.digest import keyed_digest

Where = tuple[str, Path]
MEAN = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
SECRET = 0.123456789012345  # a record's number; it must be nowhere


def make(where: Where, budget: Any = None, unit: str = "person", **how: Any) -> gd.Ledger:
    return gd.Ledger.create(where[0], budget or gd.GaussianDP(1), unit=unit, key=where[1], **how)


def data(shift: float = 0.0, n: int = 12) -> np.ndarray:
    rows = np.random.default_rng(5).uniform(-0.4, 0.4, (n, 2)) + shift
    rows[0, 0] = SECRET
    return rows


def pay(ledger: gd.Ledger, guarantee: Any = None, records: Any = None, **how: Any) -> gd.Release:
    promise = guarantee or gd.GaussianDP("0.5")
    noise = gd.L2Laplace() if promise.notion == "pure" else gd.Gaussian()  # named: no ranking
    how = {"dataset": "study", "mechanism": gd.Wrapped(noise)} | how
    records = data() if records is None else records
    return gd.release(records, MEAN, promise, ledger=ledger, **how)


def test_exactly_the_budget_is_spent(place_and_key: Where) -> None:
    """A hundred releases at mu = 0.1 cost exactly one; the next least thing is refused."""
    ledger = make(place_and_key)
    for _ in range(20):
        pay(ledger, gd.GaussianDP(0.1))
    assert ledger.spent() == Fraction(1, 5)
    for _ in range(3):
        pay(ledger, gd.GaussianDP("0.5"))
    pay(ledger, gd.GaussianDP("0.2"))
    pay(ledger, gd.GaussianDP("0.1"))
    assert ledger.spent() == 1
    assert ledger.left is None
    with pytest.raises(gd.LedgerRefusal, match=r"asked mu\^2 = .*Nothing more fits"):
        pay(ledger, gd.GaussianDP("1e-9"))
    assert ledger.spent() == 1
    faults.sound(ledger)


def test_a_price_in_another_notion_is_the_laws_certified_one(place_and_key: Where) -> None:
    """The l2-Laplace at epsilon is no worse than randomised response: mu = 2 Phi^-1(e/(1+e))."""
    ledger = make(place_and_key)
    pay(ledger, gd.PureDP(0.5))
    mu = 2 * norm.ppf(np.exp(0.5) / (1 + np.exp(0.5)))
    assert float(ledger.spent()) <= mu**2 * (1 + 1e-12)
    assert float(ledger.spent()) >= 0.5**2 / 4  # no less than a Gaussian can be told apart
    with pytest.raises(gd.LedgerRefusal, match="would still fit"):
        pay(ledger, gd.PureDP(3))


def test_an_approximate_release_by_a_gaussian_is_charged_its_mu(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    noise = gd.Wrapped(gd.Gaussian())
    out = pay(ledger, gd.ApproxDP(1, 1e-5), mechanism=noise, replaced=0)
    assert out.strength is not None
    assert out.ledger is not None
    mu = 1 / 3.7307  # the scale at (1, 1e-5) for sensitivity one, Balle and Wang
    assert float(ledger.spent()) == pytest.approx(mu**2, rel=1e-3)
    assert out.strength.mu == pytest.approx(mu, rel=1e-3)
    assert Fraction(out.ledger.price) == ledger.spent()


def test_two_stages_are_charged_together(place_and_key: Where) -> None:
    two = gd.Wrapped(gd.L2Laplace(), gd.PrivateFootpoint("1/2"))
    ledger = make(place_and_key)
    pay(ledger, gd.PureDP(0.5), mechanism=two)
    mu = 2 * norm.ppf(np.exp(0.25) / (1 + np.exp(0.25)))
    assert float(ledger.spent()) <= 2 * mu**2 * (1 + 1e-8)
    assert float(ledger.spent()) >= 2 * (0.25 / 2) ** 2
    with faults.place_for("sqlite") as other:
        exact = make(other, gd.PureDP(1))
        pay(exact, gd.PureDP(0.5), mechanism=two)
        assert exact.spent() == Fraction(1, 2)


@pytest.mark.parametrize(
    ("budget", "guarantee", "mechanism"),
    [
        (gd.PureDP(5), gd.GaussianDP(0.1), gd.Wrapped(gd.Gaussian())),
        (gd.PureDP(5), gd.ApproxDP(1, 1e-5), gd.Wrapped(gd.Gaussian())),
    ],
    ids=["gaussian", "approximate"],
)
def test_what_has_no_price_is_refused(
    place_and_key: Where, budget: Any, guarantee: Any, mechanism: Any
) -> None:
    ledger = make(place_and_key, budget)
    with pytest.raises(gd.LedgerRefusal, match=r"counts in pure.*has no price there"):
        pay(ledger, guarantee, mechanism=mechanism)
    assert ledger.spent() == 0
    assert [entry["kind"] for entry in ledger.history()] == ["open"]


def test_a_statistic_with_a_space_of_its_own_for_the_noise(place_and_key: Where) -> None:
    """Tangent and extrinsic means pay for the noise where it is drawn."""
    ledger = make(place_and_key)
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    north = np.tile([0.0, 0.0, 1.0], (30, 1))
    for statistic in (gd.TangentMean(ball), gd.ExtrinsicMean(ball)):
        how = {"ledger": ledger, "dataset": "north"}
        out = gd.release(north, statistic, gd.PureDP(0.5), "wrapped-l2-laplace", **how)
        assert all(check.passed for check in gd.verify(out))
    mu = 2 * norm.ppf(np.exp(0.5) / (1 + np.exp(0.5)))
    assert 2 * 0.25**2 <= float(ledger.spent()) <= 2 * mu**2 * (1 + 1e-12)


def test_best_is_the_best_that_can_be_paid(place_and_key: Where) -> None:
    out = pay(make(place_and_key, gd.PureDP(5)), gd.ApproxDP(1, 1e-5), mechanism="best")
    assert out.mechanism == "wrapped-l2-laplace"


def test_seeded_releases_are_refused(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    with pytest.raises(gd.LedgerRefusal, match="NOT PRIVATE"):
        pay(ledger, rng=np.random.default_rng(1))
    assert ledger.history()[1:] == []


def test_unit_and_neighbours_must_be_the_ledgers(place_and_key: Where) -> None:
    ledger = make(place_and_key, unit="scan")
    assert pay(ledger).unit == "scan"
    assert pay(ledger, unit="scan").unit == "scan"
    with pytest.raises(gd.MismatchError, match=r"one scan .* one person"):
        pay(ledger, unit="person")
    assert ledger.spent() == Fraction(1, 2)
    with faults.place_for("sqlite") as where:
        other = make(where, neighbours="add or remove one record")
        with pytest.raises(gd.MismatchError, match="neighbours"):
            pay(other)
        assert other.spent() == 0


def test_other_records_under_a_name_are_refused(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    pay(ledger)
    for changed in (data(0.1), data()[::-1].copy(), data(n=13)):
        with pytest.raises(gd.MismatchError, match="registered with other records"):
            pay(ledger, records=changed)
    pay(ledger, records=np.array(data(), order="F"))
    pay(ledger, records=MEAN.ball.clip(data()))
    assert ledger.spent() == Fraction(3, 4)


def test_registering_is_part_of_the_first_charge(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    with pytest.raises(gd.LedgerRefusal):
        pay(ledger, gd.GaussianDP(2))
    assert ledger.show()["datasets"] == []
    pay(ledger, records=data(0.1))  # the name is free still


def test_data_sets_are_charged_in_sequence_and_groups_in_parallel(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    pay(ledger, dataset="first")
    pay(ledger, dataset="second")
    assert ledger.spent() == Fraction(1, 2)
    for label in "ABC":
        pay(ledger, records=data(ord(label) / 1000), dataset="third", group=f"site={label}")
    assert ledger.spent() == Fraction(3, 4)
    pay(ledger, records=data(0.065), dataset="third", group="site=A")
    assert ledger.spent() == 1
    pay(ledger, records=data(0.066), dataset="third", group="site=B")  # A is dearer
    assert ledger.spent() == 1
    assert ledger.left_for("third", "site=C") == Fraction(1, 4)
    assert ledger.left_for("third", "site=D") == Fraction(1, 2)
    assert ledger.left_for("third") == 0
    with pytest.raises(gd.LedgerRefusal, match=r"asked mu\^2 = 0.36, .*left 0.25, .*0.11 too much"):
        pay(ledger, gd.GaussianDP("0.6"), data(0.067), dataset="third", group="site=C")
    with pytest.raises(gd.LedgerRefusal):
        pay(ledger, records=data(0.2), dataset="third", group="sex=f")
    faults.sound(ledger)


def test_groups_with_the_same_records_are_not_disjoint(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    pay(ledger, group="site=A")
    with pytest.raises(gd.MismatchError, match="disjoint"):
        pay(ledger, group="site=B")
    pay(ledger, group="sex=f")  # another partition adds
    assert ledger.spent() == Fraction(1, 2)


def test_a_retry_returns_the_stored_release(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    first = pay(ledger, request_id="june")
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults.releasing, "run", lambda *_: drawn.append(1))
        again = pay(gd.Ledger(*place_and_key), request_id="june")
    assert not drawn
    assert first.to_json() == again.to_json()
    assert first.value.tobytes() == again.value.tobytes()
    assert ledger.spent() == Fraction(1, 4)


def test_a_retry_is_paid_even_when_nothing_is_left(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    first = pay(ledger, gd.GaussianDP(1), request_id="all")
    assert pay(ledger, gd.GaussianDP(1), request_id="all").value.tobytes() == first.value.tobytes()


@pytest.mark.parametrize(
    "changed",
    [
        {"guarantee": gd.GaussianDP("0.4")},
        {"records": data(0.1, 12)},
        {"dataset": "other"},
        {"group": "site=A"},
        {"mechanism": gd.Wrapped(gd.Gaussian(), [0.5, 0.5])},
        {"mechanism": gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint())},
    ],
    ids=repr,
)
def test_a_request_id_belongs_to_one_request(place_and_key: Where, changed: Any) -> None:
    ledger = make(place_and_key)
    pay(ledger, request_id="june")
    with pytest.raises(gd.MismatchError, match="another request"):
        pay(ledger, request_id="june", **changed)
    assert ledger.spent() == Fraction(1, 4)


def test_a_given_value_is_paid_and_its_data_registered_later(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    given = gd.GivenValue(gd.Euclidean(2), [0.1, 0.2], 0.05)
    how = {"ledger": ledger, "dataset": "study"}
    gd.release(None, given, gd.GaussianDP("0.5"), "wrapped-gaussian", **how)
    pay(ledger)
    gd.release(None, given, gd.GaussianDP("0.5"), "wrapped-gaussian", **how)
    with pytest.raises(gd.MismatchError, match="other records"):
        pay(ledger, records=data(0.1))
    assert ledger.spent() == Fraction(3, 4)
    faults.sound(ledger)


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"request_id": ""}, "request id"),
        ({"request_id": 3}, "request id"),
        ({"dataset": ""}, "name"),
        ({"group": "A"}, "site=A"),
        ({"records": [[0.1]]}, "shape"),
        ({"unit": "scan"}, "unit"),
        ({"mechanism": "laplace"}, "wrapped"),
    ],
    ids=str,
)
def test_bad_requests_cost_nothing(place_and_key: Where, how: Any, match: str) -> None:
    ledger = make(place_and_key)
    with pytest.raises(gd.InputError, match=match):
        pay(ledger, **how)
    assert ledger.history()[1:] == []


def test_no_records_number_is_anywhere(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    out = pay(ledger, request_id="june")
    with pytest.raises(gd.LedgerRefusal) as refused:
        pay(ledger, gd.GaussianDP(5))
    with pytest.raises(gd.MismatchError) as mismatch:
        pay(ledger, records=data(0.1))
    texts = [
        json.dumps([ledger.export(), ledger.show(), ledger.history(), out.to_json()]),
        f"{ledger!r} {out!r} {ledger.verify()!r} {refused.value} {mismatch.value}",
    ]
    raw = np.float64(SECRET).tobytes()
    if ledger.store.path is not None:
        folder = ledger.store.path.parent
        for path in folder.iterdir():
            assert raw not in path.read_bytes()
            texts.append(path.read_bytes().decode("latin-1"))
    digits = repr(SECRET)[:8]
    assert not [text for text in texts if digits in text]


def test_the_event_is_kept_and_not_only_its_cost(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    pay(ledger, gd.PureDP(0.25), request_id="june")
    kinds = [entry["kind"] for entry in ledger.history()]
    assert kinds == ["open", "register", "reserve", "commit"]
    body = ledger.history()[2]["body"]
    assert body["dataset"] == "study"
    assert body["request_id"] == "june"
    request = body["event"]["request"]
    assert request["guarantee"] == {"notion": "pure", "epsilon": "0.25"}
    assert request["mechanism"] == "wrapped-l2-laplace"
    assert request["n"] == 12
    assert request["domain"]["radius"] == 1.0
    assert body["event"]["first_stage"]["footpoint"] == [0.0, 0.0]


def test_show_and_history(place_and_key: Where) -> None:
    ledger = make(place_and_key, gd.ApproxDP(2, 1e-6))
    pay(ledger, gd.GaussianDP("0.2"))
    facts = json.loads(json.dumps(ledger.show()))
    assert facts["unit"] == "person"
    assert facts["releases"] == {"committed": 1}
    assert facts["budget"]["spent"] == "0.04"
    assert facts["budget"]["limit_as"]["epsilon"] == pytest.approx(2, rel=1e-8)
    assert facts["datasets"] == [{"dataset": "study", "group": None, "spent": "0.04"}]
    assert [entry["number"] for entry in ledger.history(2)] == [3, 4]


def test_a_plan_knows_prices_and_what_is_left(place_and_key: Where) -> None:
    ledger = make(place_and_key, gd.PureDP(1))
    plan = gd.plan(MEAN, 12, gd.PureDP(0.5), ledger=ledger)
    assert plan.rows[0].price == "0.5"
    assert plan.budget is not None
    assert plan.budget["left"] == "1"
    assert "prices: wrapped-l2-laplace 0.5" in repr(plan)
    assert plan.to_json()["mechanisms"][0]["price"] == "0.5"
    pay(ledger, gd.PureDP("0.123456789012"))
    assert "left: 0.876543 of 1; prices: wrapped-l2-laplace 0.333334" in repr(
        gd.plan(MEAN, 12, gd.PureDP("1/3"), ledger=ledger)
    )
    pay(ledger, gd.PureDP("0.476543210988"))
    poor = gd.plan(MEAN, 12, gd.PureDP(0.5), ledger=place_and_key[0])
    reasons = {row.mechanism.name: row.why_not for row in poor.rows}
    assert "0.4 left" in str(reasons["wrapped-l2-laplace"])
    with pytest.raises(gd.InputError, match="No mechanism"):
        _ = poor.best


def test_a_ledger_exists_once(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    pay(ledger)
    with pytest.raises(gd.LedgerError, match="already"):
        make(place_and_key)
    with pytest.raises(gd.LedgerError, match=r"exists|already"):
        gd.Ledger.create(place_and_key[0], gd.PureDP(1), unit="x", key=f"{place_and_key[1]}2")
    assert not Path(f"{place_and_key[1]}2").exists()
    assert gd.Ledger(*place_and_key).spent() == Fraction(1, 4)


def test_where_there_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(gd.LedgerError, match="geodp ledger init"):
        gd.Ledger(tmp_path / "none.db").show()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(gd.LedgerError, match="cannot be made"):
        gd.Ledger.create(tmp_path / "no" / "b.db", gd.PureDP(1), unit="x", key=tmp_path / "k")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(gd.LedgerError, match="SQLite file or in PostgreSQL"):
        gd.Ledger("mysql://here/there")
    for nothing in ("", 3, None):
        with pytest.raises(gd.InputError, match="file"):
            gd.Ledger(nothing)  # type: ignore[arg-type]
    with pytest.raises(gd.InputError, match="unit"):
        gd.Ledger.create(tmp_path / "b.db", gd.PureDP(1), unit=" ")
    with pytest.raises(gd.InputError, match="guarantee"):
        gd.Ledger.create(tmp_path / "b.db", 1.0, unit="x")  # type: ignore[arg-type]
    with pytest.raises(gd.GuaranteeError):
        gd.Ledger.create(tmp_path / "b.db", gd.RenyiDP(2, 1), unit="x")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_keeps_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    url = f"postgresql://geodp:hunter2@/nowhere?host={tmp_path}"
    ledger = gd.Ledger(url, tmp_path / "key")
    with pytest.raises(gd.LedgerError, match="cannot be read") as caught:
        ledger.show()
    assert "hunter2" not in f"{caught.value} {ledger!r}"
    with pytest.raises(TypeError, match="password"):
        pickle.dumps(ledger)


def test_a_ledger_of_a_file_is_pickled_and_its_keys_are_not(tmp_path: Path) -> None:
    ledger = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(1), unit="person")
    assert pickle.loads(pickle.dumps(ledger)).id == ledger.id
    assert repr(ledger.keys) == "<Keys>"
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(ledger.keys)


def test_the_key_of_another_ledger_is_refused(tmp_path: Path) -> None:
    mine = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="person")
    other = gd.Ledger.create(tmp_path / "b.db", gd.GaussianDP(1), unit="person")
    wrong = gd.Ledger(tmp_path / "a.db", other.key_path)
    with pytest.raises(gd.LedgerError, match="another ledger"):
        pay(wrong)
    mine.key_path.write_text("{}")
    with pytest.raises(gd.LedgerError, match="no key"):
        pay(gd.Ledger(tmp_path / "a.db"))
    mine.key_path.unlink()
    with pytest.raises(gd.LedgerError, match="GEODP_LEDGER_KEY"):
        pay(gd.Ledger(tmp_path / "a.db"))
    assert mine.spent() == 0


def test_the_key_may_be_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = gd.Ledger.create(tmp_path / "a.db", gd.GaussianDP(1), unit="p", key=tmp_path / "k")
    with pytest.raises(gd.LedgerError, match="cannot be read"):
        pay(gd.Ledger(tmp_path / "a.db"))
    monkeypatch.setenv("GEODP_LEDGER_KEY", str(tmp_path / "k"))
    pay(gd.Ledger(tmp_path / "a.db"))
    assert ledger.spent() == Fraction(1, 4)


def test_the_digest_is_keyed_and_streamed() -> None:
    import hashlib
    import hmac

    rows = np.arange(20000.0).reshape(10000, 2)
    expected = hmac.new(b"k", b"(10000, 2)" + rows.astype("<f8").tobytes(), hashlib.sha256)
    assert keyed_digest(b"k", rows) == expected.hexdigest()
    assert keyed_digest(b"k", rows.astype(np.float32)) == expected.hexdigest()
    assert keyed_digest(b"l", rows) != expected.hexdigest()
    with pytest.raises(gd.InputError, match="array"):
        keyed_digest(b"k", [[1.0]])


def test_a_retry_is_replayed_before_anything_is_ranked(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where "best", or the best parameters of a noise, would come out otherwise by now."""
    ledger = make(place_and_key, gd.GaussianDP(2))
    asked = {"best": "best", "open": gd.Wrapped(gd.SphericalGamma())}
    first = {name: pay(ledger, mechanism=one, request_id=name) for name, one in asked.items()}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A retry ranks, calibrates and draws nothing.")

    for name in ("ranked", "price_of", "expected_distance", "run"):
        monkeypatch.setattr(faults.releasing, name, refuse)
    spent = ledger.spent()
    for name, one in asked.items():
        again = pay(ledger, mechanism=one, request_id=name)
        assert again.to_json() == first[name].to_json()
    assert ledger.spent() == spent
    for other in (first["best"].mechanism, gd.Wrapped(gd.Gaussian(), [0.1, 0.0])):
        with pytest.raises(gd.MismatchError, match="another request"):
            pay(ledger, mechanism=other, request_id="best")
    with pytest.raises(gd.MismatchError, match="another request"):
        pay(ledger, mechanism=gd.Wrapped(gd.SphericalGamma(2.0, 2.0)), request_id="open")


def test_strategies_are_the_same_request_when_all_their_numbers_are() -> None:
    from geodp.ledger.described import described

    half = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("1/2"))
    same = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint(0.5))
    assert described(half) == described(same)
    others = [
        half,
        gd.Wrapped(gd.Gaussian()),
        gd.Wrapped(gd.Gaussian(), [0.5, 0.0]),
        gd.Wrapped(gd.Gaussian(), [np.nextafter(0.5, 1), 0.0]),
        gd.Wrapped(gd.L2Laplace()),
        gd.RiemannianLaplace(),
        gd.RiemannianLaplace(truncated=True),
    ]
    assert len({json.dumps(described(one)) for one in others}) == len(others)


def test_another_given_value_is_another_request(place_and_key: Where) -> None:
    ledger = make(place_and_key)

    def ask(value: float) -> gd.Release:
        one = gd.GivenValue(gd.Euclidean(1), [value], 1.0)
        how = {"ledger": ledger, "dataset": "study", "request_id": "june", "mechanism": "best"}
        return gd.release(None, one, gd.GaussianDP("0.5"), **how)

    assert ask(SECRET).to_json() == ask(SECRET).to_json()
    with pytest.raises(gd.MismatchError, match="another request"):
        ask(SECRET + 1)
    assert ledger.spent() == Fraction(1, 4)
    assert str(SECRET)[:10] not in json.dumps(ledger.export()["entries"])


def test_a_request_id_belongs_to_the_sensitivity_that_was_declared(place_and_key: Where) -> None:
    """The stored noise was made for one bound; another bound is another request."""
    ledger = make(place_and_key)

    def given(bound: float) -> gd.Release:
        one = gd.GivenValue(gd.Euclidean(1), np.zeros(1), bound)
        noise = gd.Wrapped(gd.Gaussian())
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "study", "request_id": "a"}
        return gd.release(None, one, gd.GaussianDP("0.5"), noise, **paid)

    out = given(1.0)
    assert given(1.0).to_json() == out.to_json()
    with pytest.raises(gd.MismatchError, match="another request"):
        given(5.0)
    assert ledger.spent() == Fraction(1, 4)


def test_names_that_look_the_same_are_the_same(place_and_key: Where) -> None:
    """Else one site under two spellings would be charged in parallel with itself."""
    ledger = make(place_and_key)
    composed, apart = "Zürich", "Zu\u0308rich"
    for group in (f"site={composed}", f"site={apart}", f" site = {composed} "):
        ledger.spend(gd.GaussianDP("0.5"), dataset=composed, group=group, note="A count.")
    ledger.spend(gd.GaussianDP("0.5"), dataset=f" {apart} ", group=f"site={apart}", note="Another.")
    assert ledger.spent() == 1
    (row,) = ledger.show()["datasets"]
    assert (row["dataset"], row["group"]) == (composed, f"site={composed}")
    faults.sound(ledger)
