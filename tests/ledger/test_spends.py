"""What other programs released about the same people is charged, chained and refused alike."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import ledger_faults as faults
import pytest
from scipy.stats import norm

import geodp as gd
from geodp.ledger import spends
from geodp.ledger.checking import check_export
from geodp.ledger.receipt import Mark

Where = tuple[str, Path]
NOTE = "Histogram of ages, by another program."


def make(where: Where, budget: Any = None) -> gd.Ledger:
    return gd.Ledger.create(where[0], budget or gd.GaussianDP(1), unit="person", key=where[1])


def enter(ledger: gd.Ledger, guarantee: Any = None, **how: Any) -> Mark:
    promise = guarantee or gd.GaussianDP("0.6")
    return ledger.spend(promise, **({"dataset": "study", "note": NOTE} | how))


def test_a_spend_counts_beside_releases(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    mark = enter(ledger)
    assert (mark.price, mark.notion, mark.dataset, mark.id) == ("0.36", "gdp", "study", ledger.id)
    entry = ledger.history()[-1]
    assert (entry["kind"], entry["number"], entry["hash"]) == ("spend", mark.entry, mark.hash)
    assert entry["body"]["note"] == NOTE
    assert entry["body"]["guarantee"] == {"notion": "gdp", "mu": "0.6"}
    faults.once(ledger)  # 0.25, and registers the records of the data set
    with pytest.raises(gd.LedgerRefusal, match=r"asked mu\^2 = 0.49, .* left 0.39"):
        enter(ledger, gd.GaussianDP("0.7"))
    faults.sound(ledger)


def test_the_last_of_the_budget(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    enter(ledger, gd.GaussianDP("0.8"))
    enter(ledger, gd.GaussianDP("0.6"), dataset="other")
    assert ledger.spent() == 1
    with pytest.raises(gd.LedgerRefusal, match="Nothing more fits"):
        enter(ledger, gd.GaussianDP("1e-6"))
    assert ledger.show()["releases"] == {"spent": 2}
    faults.sound(ledger)


def test_groups_are_charged_in_parallel(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    for site in "ABC":
        enter(ledger, gd.GaussianDP("0.8"), group=f"site={site}")
    assert ledger.spent() == Fraction(64, 100)


@pytest.mark.parametrize(
    ("budget", "promise", "least", "most"),
    [
        # the least: no promise can be paid with less than its own worst mechanism costs
        (gd.GaussianDP(9), gd.PureDP(1), 4 * norm.ppf(math.e / (1 + math.e)) ** 2, 1 + 1e-9),
        (gd.ZCDP(9), gd.GaussianDP(1), 0.5, 1 + 1e-9),
        (gd.ZCDP(9), gd.PureDP("0.1"), 0.0049, 1.03),  # at most epsilon^2 / 2 (Bun and Steinke)
        (gd.GaussianDP(9), gd.ZCDP("0.5"), 1.0, 2.5),
        (gd.PureDP(9), gd.PureDP("1/3"), 1 / 3, 1 + 1e-9),
    ],
    ids=repr,
)
def test_promises_are_converted_rounding_up(
    tmp_path: Path, budget: Any, promise: Any, least: float, most: float
) -> None:
    ledger = make((str(tmp_path / "b.db"), tmp_path / "key"), budget)
    enter(ledger, promise)
    assert least * (1 - 1e-12) <= float(ledger.spent()) <= least * most
    faults.sound(ledger)


@pytest.mark.parametrize(
    ("budget", "promise"),
    [
        (gd.GaussianDP(9), gd.ApproxDP(1, 1e-6)),
        (gd.GaussianDP(9), gd.RenyiDP(8, 1)),
        (gd.PureDP(9), gd.GaussianDP("0.1")),
        (gd.PureDP(9), gd.ZCDP("0.1")),
        (gd.ZCDP(9), gd.ApproxDP(1, 1e-6)),
    ],
    ids=repr,
)
def test_what_does_not_follow_is_refused(tmp_path: Path, budget: Any, promise: Any) -> None:
    ledger = make((str(tmp_path / "b.db"), tmp_path / "key"), budget)
    with pytest.raises(gd.LedgerRefusal, match=r"no price follows there: .*\. State what is known"):
        enter(ledger, promise)
    assert len(ledger.history()) == 1


def test_unit_and_neighbours_must_be_the_ledgers(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    enter(ledger, unit="person", neighbours=ledger.neighbours)
    with pytest.raises(gd.MismatchError, match=r"one person .* one scan"):
        enter(ledger, unit="scan")
    with pytest.raises(gd.MismatchError, match=r"add or remove.*do not add up.*doubles"):
        enter(ledger, neighbours="add or remove one record")
    assert ledger.spent() == Fraction(36, 100)


def test_a_retry_is_charged_once(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    first, second = (enter(ledger, request_id="june") for _ in range(2))
    assert first == second
    assert ledger.spent() == Fraction(36, 100)
    for other in ({"note": "Another."}, {"dataset": "d"}, {"guarantee": gd.GaussianDP("0.1")}):
        with pytest.raises(gd.MismatchError, match="another request"):
            enter(ledger, **other, request_id="june")
    with pytest.raises(gd.MismatchError, match="another request"):
        faults.once(ledger, "june")
    faults.once(ledger, "july")
    with pytest.raises(gd.MismatchError, match="another request"):
        enter(ledger, request_id="july")


def test_eight_processes_enter_one_request(place_and_key: Where) -> None:
    ledger = make(place_and_key)

    def work(_: int) -> int:
        return enter(gd.Ledger(*place_and_key), request_id="same").entry

    assert len(set(faults.forked(8, work))) == 1
    assert ledger.spent() == Fraction(36, 100)


@pytest.mark.parametrize(
    ("wrong", "about"),
    [
        ({"note": " "}, "note"),
        ({"note": None}, "note"),
        ({"note": "x" * 1001}, "1000 characters"),
        ({"note": "\ud800"}, "UTF-8"),
        ({"request_id": ""}, "request id"),
        ({"dataset": ""}, "name"),
        ({"group": "A"}, "site=A"),
        ({"guarantee": 0.5}, "gd.GaussianDP"),
    ],
)
def test_bad_input(tmp_path: Path, wrong: Any, about: str) -> None:
    ledger = make((str(tmp_path / "b.db"), tmp_path / "key"))
    with pytest.raises(gd.InputError, match=about):
        enter(ledger, **wrong)
    assert len(ledger.history()) == 1


def test_a_changed_spend_is_found(tmp_path: Path) -> None:
    ledger = make((str(tmp_path / "b.db"), tmp_path / "key"))
    enter(ledger)
    whole = json.dumps(ledger.export())
    assert all(check.passed for check in check_export(json.loads(whole)))
    for old, new in (('"0.36"', '"0.35"'), ('"mu": "0.6"', '"mu": "0.7"'), ("Histogram", "Sum")):
        changed = json.loads(whole.replace(old, new))
        assert "chain" in [check.name for check in check_export(changed) if not check.passed]


def test_a_price_below_the_promise_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the chain holds, since the program itself wrote the wrong price."""
    ledger = make((str(tmp_path / "b.db"), tmp_path / "key"))
    with monkeypatch.context() as patch:
        patch.setattr(spends, "price_in", lambda *_: Fraction(35, 100))
        enter(ledger)
    assert [check.name for check in ledger.verify() if not check.passed] == ["totals"]
