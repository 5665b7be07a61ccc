"""An inference holds its whole price first: races, kills, stops and retries waste no budget."""

from __future__ import annotations

import contextlib
import copy
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import ledger_faults as faults
import numpy as np
import pytest

import geodp as gd
from geodp.cli.ledgers import entry_lines
from geodp.ledger import holding, paid
from geodp.ledger.canonical import GENESIS, canonical, entry_hash
from geodp.ledger.checking import check_export
from geodp.ledger.holds import Hold
from geodp.ledger.store import Store
from geodp.ledger.totals import Part
from geodp.verbs import infer as inferring
from geodp.web.ledgers import ledger_facts

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

Where = tuple[str, Path]
BALL = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
RECORDS = np.random.default_rng(3).uniform(-0.5, 0.5, (200, 1))
HALVES = {"mean": Fraction(1, 2), "covariance": Fraction(1, 2)}
WHOLE = Fraction(16, 25)  # the square of 0.8
HALF = WHOLE / 2
LABELS = ["a"] * 100 + ["b"] * 100


def make(where: Where, budget: gd.Guarantee | None = None) -> gd.Ledger:
    return gd.Ledger.create(where[0], budget or gd.GaussianDP(1), unit="person", key=where[1])


def infer(ledger: Any, request_id: str | None = None, **more: Any) -> Any:
    """Two numbers of 0.32 each, so that a budget of 1 pays for one inference and a half."""
    given = {"split": HALVES, "request_id": request_id, "dataset": "study"} | more
    records, promise = given.pop("records", RECORDS), given.pop("promise", gd.GaussianDP("0.8"))
    return gd.infer(records, BALL, promise, ledger=ledger, **given)


def granted(ledger: gd.Ledger) -> bool:
    try:
        infer(ledger)
    except gd.LedgerRefusal as refusal:
        if "Nothing is spent." not in str(refusal):
            raise
        return False
    return True


def kinds(ledger: gd.Ledger) -> list[str]:
    return [entry["kind"] for entry in ledger.history()]


def near(amount: Fraction, expected: Fraction) -> bool:
    """A share of a promise is a float's root, rounded down."""
    return expected * (1 - Fraction(1, 10**12)) <= amount <= expected


@pytest.fixture
def place(tmp_path: Path) -> Where:
    return str(tmp_path / "budget.db"), tmp_path / "budget.db.key"


# ---- races ---------------------------------------------------------------------------------------


def one_was_granted(ledger: gd.Ledger, results: list[bool]) -> None:
    assert sorted(results) == [False] * (len(results) - 1) + [True]
    assert near(ledger.spent(), WHOLE)
    done = ["hold", *["reserve", "commit"] * 2, "unhold"]
    assert kinds(ledger) == ["open", "register", *done]  # the others left nothing behind
    faults.sound(ledger)


def test_processes_race_for_one_budget_and_one_gets_it_whole(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    results = faults.forked(4, lambda _: granted(gd.Ledger(*place_and_key)))
    one_was_granted(ledger, results)


def test_threads_race_for_one_budget_and_one_gets_it_whole(place_and_key: Where) -> None:
    ledger, results = make(place_and_key), []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        results.append(granted(ledger))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one_was_granted(ledger, results)


def test_a_rival_between_two_numbers_gets_only_what_is_not_held(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rival's 0.4 would fit beside the first number, and does not fit beside both."""
    ledger, whole, refused = make(place_and_key), inferring.release, []

    def with_rival(*given: Any, **named: Any) -> Any:
        out = whole(*given, **named)
        if not refused:
            rival = {"ledger": ledger, "dataset": "study", "mechanism": faults.MECHANISM}
            with pytest.raises(gd.LedgerRefusal, match=r"left 0\.36"):
                gd.release(RECORDS, gd.FrechetMean(BALL), gd.GaussianDP("0.64"), **rival)
            refused.append(True)
        return out

    monkeypatch.setattr(inferring, "release", with_rival)
    infer(ledger)
    assert near(ledger.spent(), WHOLE)
    faults.sound(ledger)


def test_one_request_in_four_processes_is_one_inference(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paid, "_PATIENCE", 120.0)
    ledger = make(place_and_key)

    def work(_: int) -> list[float]:
        out = infer(gd.Ledger(*place_and_key), "same").releases
        return [float(out[name].value.ravel()[0]) for name in HALVES]

    values = faults.forked(4, work)
    assert values[0] is not None
    assert values == [values[0]] * 4
    assert near(ledger.spent(), WHOLE)
    assert kinds(ledger).count("reserve") == 2
    faults.sound(ledger)


# ---- kills and retries ---------------------------------------------------------------------------

# the transactions of an inference: hold, then reserve, store, commit of each number, then unhold
_KILLS = [(1, False), *[(number, True) for number in range(1, 9)]]


@pytest.mark.parametrize(("number", "committed"), _KILLS)
def test_killed_at_each_transaction(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch, number: int, committed: bool
) -> None:
    ledger = make(place_and_key)

    def work(_: int) -> str:
        faults._in_transaction(number, committed)()
        infer(gd.Ledger(*place_and_key), "first")
        return "returned"

    assert faults.forked(1, work) == [None]
    held = committed and number < 8
    assert near(ledger.spent(), WHOLE) if committed else ledger.spent() == 0
    assert ledger.show()["holds"] == ({} if not committed else {"held" if held else "freed": 1})
    faults.sound(ledger)

    monkeypatch.setattr(paid, "_PATIENCE", 0.0)
    if number in (2, 5) and committed:  # a number was being drawn: it is never drawn again
        with pytest.raises(gd.LedgerRefusal, match="broke off"):
            infer(ledger, "first")
        assert near(ledger.spent(), HALF if number == 2 else WHOLE)
    else:
        out = infer(ledger, "first")
        assert near(ledger.spent(), WHOLE)
        assert all(check.passed for check in gd.verify(out))
        assert kinds(ledger).count("reserve") == 2
    assert kinds(ledger).count("hold") == 1
    assert ledger.show()["holds"] == {"freed": 1}
    faults.sound(ledger)


def killed_after_the_hold(where: Where) -> None:
    def work(_: int) -> None:
        faults._in_transaction(1, True)()
        infer(gd.Ledger(*where), "first")

    assert faults.forked(1, work) == [None]


def test_a_hold_is_taken_up_by_the_same_request_only(place: Where) -> None:
    ledger = make(place)
    killed_after_the_hold(place)
    for other in (
        {"promise": gd.GaussianDP("0.7")},
        {"records": -RECORDS},
        {"spread": 0.5},
        {"split": {"mean": Fraction(1, 4), "covariance": Fraction(3, 4)}},
        {"entities": np.repeat(np.arange(100), 2)},
    ):
        with pytest.raises(gd.MismatchError):
            infer(ledger, "first", **other)
    with pytest.raises(gd.LedgerRefusal):
        infer(ledger, "second")
    assert kinds(ledger) == ["open", "register", "hold"]
    infer(ledger, "first", confidence=0.9)  # which no number depends on
    assert near(ledger.spent(), WHOLE)
    faults.sound(ledger)


def test_a_hold_moves_with_its_ledger(place_and_key: Where, tmp_path: Path) -> None:
    ledger = make(place_and_key)
    killed_after_the_hold(place_and_key)
    moved = ledger.move(tmp_path / "new.db", place_and_key[1])
    assert near(moved.spent(), WHOLE)
    with pytest.raises(gd.LedgerRefusal, match="moved"):
        infer(ledger, "first")
    infer(moved, "first")
    assert near(moved.spent(), WHOLE)
    assert moved.show()["holds"] == {"freed": 1}
    faults.sound(moved)


# ---- ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), gd.LedgerRefusal("no")])
def test_what_was_not_reserved_goes_back(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    ledger, whole, made = make(place_and_key), inferring.release, []

    def broken(*given: Any, **named: Any) -> Any:
        if made:
            raise error
        made.append(whole(*given, **named))
        return made[-1]

    with monkeypatch.context() as patch:
        patch.setattr(inferring, "release", broken)
        with pytest.raises(type(error)):
            infer(ledger, "first")
    assert near(ledger.spent(), HALF)
    faults.sound(ledger)
    infer(ledger, "first")
    assert near(ledger.spent(), WHOLE)
    assert kinds(ledger).count("reserve") == 2
    faults.sound(ledger)


def test_a_stop_before_the_first_number_spends_nothing(place_and_key: Where) -> None:
    ledger = make(place_and_key)

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        infer(ledger, "first", progress=stop)
    assert ledger.spent() == 0
    assert kinds(ledger)[2:] == ["hold", "reserve", "cancel", "unhold"]
    faults.sound(ledger)
    infer(ledger, "first")
    faults.sound(ledger)


def test_a_number_goes_on_where_another_program_gave_the_hold_back(
    place_and_key: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second program with the same request gives up: the first is paid from the budget."""
    ledger, whole = make(place_and_key), inferring.release

    def rivalled(*given: Any, **named: Any) -> Any:
        holding.free(ledger, [named["ledger"]])
        return whole(*given, **named)

    monkeypatch.setattr(inferring, "release", rivalled)
    infer(ledger, "first")
    assert near(ledger.spent(), WHOLE)
    assert kinds(ledger)[2:4] == ["hold", "unhold"]
    faults.sound(ledger)


def test_a_number_that_is_stopped_after_its_hold_went_back(place_and_key: Where) -> None:
    ledger = make(place_and_key)

    def stop(_: object) -> None:
        with ledger.store.reading() as connection:
            rows = connection.exec_driver_sql(
                "SELECT reservation FROM geodp_releases WHERE state = 'held'"
            ).scalars()
            numbers = list(rows)
        holding.free(ledger, [Hold(ledger, Part("study"), number) for number in numbers])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        infer(ledger, progress=stop)
    assert kinds(ledger)[2:] == ["hold", "reserve", "unhold", "cancel"]
    assert ledger.spent() == 0
    faults.sound(ledger)


def test_a_hold_goes_back_once(place_and_key: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs of one request end at the same moment; without the lock both see it held."""
    ledger, meeting, look = make(place_and_key), threading.Barrier(2), holding.left_in
    killed_after_the_hold(place_and_key)

    def together(*given: Any) -> Any:
        left = look(*given)
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(0.3)
        return left

    monkeypatch.setattr(holding, "left_in", together)
    held = [Hold(ledger, Part("study"), 3)]
    threads = [threading.Thread(target=holding.free, args=(ledger, held)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kinds(ledger) == ["open", "register", "hold", "unhold"]
    assert ledger.spent() == 0
    faults.sound(ledger)


def test_groups_are_held_together_or_not_at_all(place_and_key: Where) -> None:
    ledger = make(place_and_key)
    by = {"by": LABELS, "by_name": "site", "by_public": True}
    infer(ledger, records=RECORDS[100:], group="site=b")
    before = ledger.export()
    with pytest.raises(gd.LedgerRefusal, match=r"Nothing is spent\.$"):
        infer(ledger, "all", **by)  # a would fit
    assert ledger.export() == before
    infer(ledger, "all", promise=gd.GaussianDP("0.6"), **by)
    assert near(ledger.spent(), Fraction(1))  # 0.64 and 0.36 of b
    assert kinds(ledger)[-6:].count("unhold") == 2
    faults.sound(ledger)


@pytest.mark.parametrize(
    ("budget", "promise"),
    [
        (gd.ZCDP("0.32"), gd.GaussianDP("0.8")),
        (gd.GaussianDP("0.8"), gd.ZCDP("0.1")),
        (gd.GaussianDP("0.8"), gd.PureDP("0.5")),
        (gd.PureDP("0.5"), gd.PureDP("0.5")),
        (gd.ApproxDP(4, "1e-5"), gd.ApproxDP(4, "1e-5")),
    ],
    ids=repr,
)
def test_other_notions_are_held_with_the_room_that_rounding_needs(
    place: Where, budget: gd.Guarantee, promise: gd.Guarantee
) -> None:
    """What a budget pays for to the last digit is held too."""
    ledger = make(place, budget)
    infer(ledger, promise=promise)
    entries = ledger.history()
    parts = [Fraction(e["body"]["price"]) for e in entries if e["kind"] == "reserve"]
    (held,) = [Fraction(e["body"]["price"]) for e in entries if e["kind"] == "hold"]
    assert sum(parts) == ledger.spent() <= held <= sum(parts) * (1 + Fraction(1, 10**8))
    faults.sound(ledger)


def test_a_seeded_inference_holds_nothing(place: Where) -> None:
    ledger = make(place)
    with pytest.raises(gd.LedgerRefusal, match="seeded"):
        infer(ledger, rng=np.random.default_rng(1))
    with pytest.raises(gd.MismatchError, match="unit"):
        infer(ledger, unit="scan")
    assert kinds(ledger) == ["open"]


# ---- looking, and changes by hand ----------------------------------------------------------------


def test_holds_are_shown(place: Where) -> None:
    ledger = make(place)
    killed_after_the_hold(place)
    infer(ledger, "first")
    said = {kind: text for _, _, kind, text in entry_lines(ledger.history())}
    assert said["hold"].startswith("study holds")
    assert said["hold"].endswith("0.8-Gaussian DP for covariance, mean")
    assert "of entry 3" in said["reserve"]
    assert said["unhold"] == "entry 3 gives back 0"
    facts = ledger_facts(place[0])
    assert facts is not None
    assert "unreadable" not in str(facts.entries)
    assert len(facts.receipts) == 2
    assert ledger.show()["releases"] == {"committed": 2}


def chained(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its chain made anew, as someone with the database can."""
    head = GENESIS
    for number, entry in enumerate(document["entries"], 1):
        entry["number"] = number
        head = entry_hash(head, number, entry["at"], entry["kind"], canonical(entry["body"]))
        entry["hash"] = head
    document["ledger"] |= {"entries": len(document["entries"]), "head": head}
    return document


def of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(entry for entry in document["entries"] if entry["kind"] == kind)


def cheaper(document: dict[str, Any]) -> None:
    of(document, "hold")["body"]["price"] = "0.1"


def drawn_from_nothing(document: dict[str, Any]) -> None:
    of(document, "reserve")["body"]["hold"] = 1


def drawn_after_the_end(document: dict[str, Any]) -> None:
    entries = document["entries"]
    back = entries.pop()
    entries.insert(3, back)


def of_other_data(document: dict[str, Any]) -> None:
    of(document, "reserve")["body"]["dataset"] = "other"


def gives_back_too_much(document: dict[str, Any]) -> None:
    of(document, "unhold")["body"]["price"] = "0.32"


def given_back_twice(document: dict[str, Any]) -> None:
    document["entries"].append(copy.deepcopy(of(document, "unhold")))


def never_given_back(document: dict[str, Any]) -> None:
    document["entries"].pop()


def still_held(document: dict[str, Any]) -> None:
    document["releases"][0] |= {"state": "held", "request_id": "first/hold"}


def a_release_as_hold(document: dict[str, Any]) -> None:
    document["releases"][-1]["state"] = "held"
    commits = [entry for entry in document["entries"] if entry["kind"] == "commit"]
    document["entries"].remove(commits[-1])


def hold_without_row(document: dict[str, Any]) -> None:
    del document["releases"][0]


def hold_of_another_request(document: dict[str, Any]) -> None:
    document["releases"][0]["fingerprint"] = "x"


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (cheaper, "totals"),
        (drawn_from_nothing, "totals"),
        (drawn_after_the_end, "totals"),
        (of_other_data, "totals"),
        (gives_back_too_much, "totals"),
        (given_back_twice, "totals"),
        (given_back_twice, "releases"),
        (never_given_back, "releases"),
        (still_held, "releases"),
        (a_release_as_hold, "releases"),
        (hold_without_row, "releases"),
        (hold_of_another_request, "releases"),
    ],
)
def test_changes_by_hand_are_found(
    place: Where, spoil: Callable[[dict[str, Any]], None], check: str
) -> None:
    ledger = make(place)
    infer(ledger, "first")
    document = ledger.export()
    spoil(document)
    found = failed(chained(document))
    assert check in found
    assert "chain" not in found
    details = {one.name: one.detail for one in check_export(document)}
    assert details[check] != "A part of the ledger is of the wrong kind."


def failed(document: dict[str, Any]) -> set[str]:
    return {check.name for check in check_export(document) if not check.passed}


def test_more_than_is_held_is_not_drawn(place: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price that came out too low when it was held: refused by the ledger, and nothing drawn."""
    ledger = make(place, gd.GaussianDP(10))
    monkeypatch.setattr("geodp.verbs.holding.price_to_hold", lambda *_: Fraction(1, 5))
    with pytest.raises(gd.LedgerError, match="more than is left"):
        infer(ledger)
    faults.sound(ledger)
    assert near(ledger.spent(), HALF)  # of 0.4 that were held; the second number was not drawn


def test_a_hold_is_one_transaction(place: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, count, original = make(place), [], Store.writing

    def counted(self: Store) -> Any:
        count.append(1)
        return original(self)

    monkeypatch.setattr(Store, "writing", counted)
    infer(ledger, by=LABELS, by_public=True)
    assert len(count) == 1 + 2 * 2 * 3 + 1
