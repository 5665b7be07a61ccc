"""The person as the unit: many records of one person count as one."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import jsonschema
import numpy as np
import pytest

import geodp as gd
from geodp.io.schema import release_schema
from geodp.report import words as report_words
from geodp.statistics import entities, many_means
from geodp.statistics.entities import Entities, PerEntity
from geodp.statistics.entity_rules import EntityMean, FirstRecords
from geodp.statistics.gradient import gradient_of

BALL = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
MEAN = gd.FrechetMean(BALL)
NOISE = gd.Wrapped(gd.Gaussian())
COUNTS = [1, 2, 5, 3, 1, 7, 2, 4]


def _records(seed: int = 0, spread: float = 0.3) -> tuple[np.ndarray, list[str]]:
    """Records of eight people in mixed order."""
    rng = np.random.default_rng(seed)
    ids = [f"p{i}" for i, count in enumerate(COUNTS) for _ in range(count)]
    order = rng.permutation(len(ids))
    z = rng.normal(size=(len(ids), 3)) * spread
    return gd.SPD(2).exp_coords(np.eye(2), z), [ids[i] for i in order]


def _of(records: np.ndarray, ids: list[str], name: str) -> np.ndarray:
    return records[[one == name for one in ids]]


def test_contributions_are_the_means_of_each_persons_records() -> None:
    records, ids = _records()
    clipped = Entities(ids, len(ids), EntityMean()).clip(BALL, records)
    found = np.concatenate(list(clipped.chunks()))
    for name in set(ids):
        mine = _of(records, ids, name)
        mine = np.concatenate([mine, mine])  # a mean needs two records
        expected = MEAN.evaluate(mine).value
        gaps = gd.SPD(2).dist(expected, found)
        assert gaps.min() <= 2 * MEAN.error_bound
    assert len(found) == len(COUNTS)


def test_the_first_records_of_each_are_repeated_in_turn() -> None:
    line = gd.Ball(gd.Euclidean(1), [0.0], 10.0)
    records, ids = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]), [7, 7, 7, 7, 9, 9]
    clipped = Entities(ids, 6, FirstRecords(3)).clip(line, records)
    assert np.concatenate(list(clipped.chunks())).ravel().tolist() == [1, 2, 3, 5, 6, 5]


SPACES = ["spd:2", "spd:3", "sphere:2", "hyperbolic:3", "shapes:4", "sphere:2+spd:2", "spd:2^3"]
PEOPLE = 60
MANY = {"numpy": 10**9, "compiled": 1}  # records from which on a kernel serves


@pytest.fixture(params=MANY.values(), ids=MANY)
def passes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_means, "MANY", request.param)


def _of_people(spec: str) -> tuple[gd.Ball, np.ndarray, np.ndarray]:
    """One to four records of each in mixed order, some outside the ball and some no points."""
    space, rng = gd.parse_space(spec), np.random.default_rng(5)
    ball = gd.Ball(space, space.origin, 0.7)
    ids = rng.permutation(np.repeat(np.arange(PEOPLE), rng.integers(1, 5, PEOPLE)))
    z = rng.normal(size=(len(ids), space.dim)) * 0.5 / math.sqrt(space.cell.dim)
    records = space.exp_coords(space.origin, z)
    records[::50] = np.nan
    records[1::50] *= 1.5
    return ball, records, ids


def _contributions(ball: gd.Ball, records: np.ndarray, ids: object, rule: object) -> np.ndarray:
    clipped = Entities(ids, len(records), rule).clip(ball, records)
    return np.concatenate(list(clipped.chunks()))


@pytest.mark.parametrize("spec", SPACES)
@pytest.mark.usefixtures("passes")
def test_every_person_gets_its_own_certified_mean(spec: str) -> None:
    """Beside the solver of one mean, which has other passes, subsamples and Hessians."""
    ball, records, ids = _of_people(spec)
    found, mean = _contributions(ball, records, ids, EntityMean()), gd.FrechetMean(ball)
    assert len(found) == PEOPLE
    for person in range(0, PEOPLE, 8):
        mine = records[ids == person]
        expected = mean.evaluate(np.concatenate([mine, mine])).value
        assert ball.space.dist(found[person], expected) <= 2 * mean.error_bound


@pytest.mark.parametrize("spec", SPACES)
@pytest.mark.usefixtures("passes")
def test_a_person_is_averaged_as_if_it_were_alone_bit_by_bit(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the sensitivity rests on: whoever else is there, in whatever blocks and threads."""
    ball, records, ids = _of_people(spec)
    whole = _contributions(ball, records, ids, EntityMean())
    rng = np.random.default_rng(6)
    other, taken = records.copy(), rng.random(PEOPLE) < 0.5
    gone = taken[ids]
    other[gone] = rng.permutation(records[gone]) * 1.1
    more, also = np.concatenate([other, records[gone]]), np.concatenate([ids, ids[gone]])
    order = np.argsort(rng.permutation(PEOPLE)[also], kind="stable")  # persons change places
    monkeypatch.setattr(entities, "BLOCK_FLOATS", 300)
    monkeypatch.setenv("GEODP_NUM_THREADS", "3")
    mixed = _contributions(ball, more[order], also[order], EntityMean())
    names = np.unique(also[order])
    kept = ~taken[names]
    assert 0.3 * PEOPLE < kept.sum() < 0.7 * PEOPLE
    assert np.array_equal(mixed[kept], whole[names[kept]])


@pytest.mark.parametrize("rule", [EntityMean(), FirstRecords(1), FirstRecords(4)])
def test_one_persons_records_leave_the_others_alone_bit_by_bit(rule: object) -> None:
    """Contributions depend on the person's own records alone, and are as many as the rule says."""
    records, ids = _records()
    other, also = [*ids, "p3", "p3"], np.concatenate([records, records[:2] * 3])
    also[[i for i, one in enumerate(other) if one == "p3"]] *= 40.0
    one, two = _contributions(BALL, records, ids, rule), _contributions(BALL, also, other, rule)
    moved = {tuple(x.ravel()) for x in one} ^ {tuple(x.ravel()) for x in two}
    assert len(one) == len(two) == len(COUNTS) * rule.rows  # type: ignore[attr-defined]
    assert 0 < len(moved) <= 2 * rule.rows  # type: ignore[attr-defined]


def test_sensitivity_is_that_of_persons() -> None:
    assert math.isclose(PerEntity(MEAN, EntityMean()).sensitivity(50), 2 / 50, rel_tol=1e-6)
    several = PerEntity(MEAN, FirstRecords(5))
    assert math.isclose(several.sensitivity(50), 5 * MEAN.sensitivity(250), rel_tol=1e-9)
    assert several.sensitivity(50) >= 5 * MEAN.sensitivity(250)


@pytest.mark.parametrize("per_entity", [None, 1, 3])
def test_one_person_moves_the_value_by_no_more_than_the_sensitivity(per_entity: int | None) -> None:
    ids = np.repeat(np.arange(10), 6)
    z = np.zeros((60, 3))
    z[:, 0] = 0.999 * (-1.0) ** ids
    other = z.copy()
    other[ids == 0] *= -1
    rule = EntityMean() if per_entity is None else FirstRecords(per_entity)
    statistic = PerEntity(MEAN, rule)
    values = []
    for coords in (z, other):
        groups = Entities(ids, 60, rule)
        clipped = groups.clip(BALL, gd.SPD(2).exp_coords(np.eye(2), coords))
        values.append(statistic.evaluate(clipped).value)
    moved = float(gd.SPD(2).dist(*values))
    bound = statistic.sensitivity(10) + 2 * statistic.error_bound
    assert 0.95 * bound < moved <= bound


@pytest.mark.parametrize("per_entity", [None, 1, 3])
@pytest.mark.parametrize("statistic", [MEAN, gd.FrechetMedian(BALL)], ids=lambda one: one.name)
def test_one_person_moves_the_gradient_by_no_more_than_its_sensitivity(
    statistic: gd.Statistic, per_entity: int | None
) -> None:
    ids = np.repeat(np.arange(10), 5)
    z = np.zeros((50, 3))
    z[:, 0] = np.where(ids < 6, 1.0, -1.0)
    other = z.copy()
    other[ids == 0] *= -1  # from six against four to five against five
    rule = EntityMean() if per_entity is None else FirstRecords(per_entity)
    of_persons = PerEntity(statistic, rule)
    norms = []
    for coords in (z, other):
        clipped = Entities(ids, 50, rule).clip(BALL, gd.SPD(2).exp_coords(np.eye(2), coords))
        norms.append(gradient_of(of_persons).norm(clipped, BALL.reach)(np.eye(2)))
    parts = gd.KNormGradient().sensitivity(of_persons, 10)
    assert parts is not None
    bound = parts[0] + 2 * parts[1]
    assert 0.99 * bound < abs(norms[0] - norms[1]) <= bound


@pytest.mark.parametrize("per_entity", [None, 2])
def test_the_median_of_persons_leaves_one_strange_person_out(per_entity: int | None) -> None:
    ids = np.repeat(np.arange(400), 3)
    z = np.random.default_rng(0).normal(size=(1200, 3)) * 0.05
    z[ids < 40] = [1.0, 0.0, 0.0]
    out = gd.release(
        gd.SPD(2).exp_coords(np.eye(2), z),
        gd.FrechetMedian(BALL),
        gd.PureDP(4),
        "k-norm-gradient",
        entities=ids,
        per_entity=per_entity,
        rng=np.random.default_rng(1),
    )
    assert out.n == 400
    assert out.statistic.startswith("Fréchet median of")
    assert gd.SPD(2).dist(np.eye(2), out.value) < 0.07  # the mean is 0.1 away
    again = gd.Release.from_json(out.to_json())
    failed = {check.name for check in gd.verify(again) if not check.passed}
    assert failed <= {"noise"}  # seeded


@pytest.mark.parametrize("per_entity", [None, 2])
def test_the_receipt_says_person_and_rule_and_verifies(per_entity: int | None) -> None:
    records, ids = _records()
    out = gd.release(records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, per_entity=per_entity)
    assert (out.n, out.unit) == (len(COUNTS), "person")
    assert any("All records of one person count as one" in note for note in out.notes)
    document = out.to_json()
    again = gd.Release.from_json(document)
    assert all(check.passed for check in gd.verify(again))
    relation = "replace all records of one person, number of persons public"
    assert document["request"]["neighbours"] == relation
    assert "without a given person can recognise" in document["outcome"]["guarantee_in_words"]
    assert f"guarantee: 1-Gaussian DP, {relation}" in repr(out)
    said = " ".join([repr(out), *report_words.cannot(out), *report_words.can(out)])
    assert "replace one record" not in said
    assert not re.search(r"(given|all the other|number of) records?", said)
    assert (out.registry_entry()["persons"], out.registry_entry()["neighbouring data sets"]) == (
        len(COUNTS),
        relation,
    )
    jsonschema.validate(document, release_schema())
    document["request"]["neighbours"] = "replace one record, number of records public"
    wrong = {check.name: check.passed for check in gd.verify(gd.Release.from_json(document))}
    assert not wrong["neighbours"]
    assert math.isclose(out.sensitivity.statistic, 2 / len(COUNTS), rel_tol=1e-6)


def test_a_receipt_that_claims_records_as_persons_fails() -> None:
    records, ids = _records()
    out = gd.release(records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, per_entity=3)
    document = out.to_json()
    document["request"]["n"] = 3 * len(COUNTS)
    checks = {check.name: check.passed for check in gd.verify(gd.Release.from_json(document))}
    assert checks["sensitivity"]  # a smaller n was noised for: more noise than needed
    document["request"]["n"] = len(COUNTS) // 2
    checks = {check.name: check.passed for check in gd.verify(gd.Release.from_json(document))}
    assert not checks["sensitivity"]


def test_the_share_of_moved_records_counts_each_person_once() -> None:
    records, ids = _records(spread=0.01)
    records = records.copy()
    records[[one == "p5" for one in ids]] = np.nan
    first = next(i for i, one in enumerate(ids) if one == "p1")
    records[first] *= 1e6
    clipped = Entities(ids, len(ids), EntityMean()).clip(BALL, records)
    assert clipped.replaced_share == float(Fraction(3, 2) / 8)


def test_plan_and_infer_know_persons() -> None:
    rng = np.random.default_rng(3)
    ids = np.repeat(np.arange(300), 2)
    records = gd.SPD(2).exp_coords(np.eye(2), rng.normal(size=(600, 3)) * 0.2)
    planned = gd.plan(MEAN, 300, gd.GaussianDP(2), [NOISE], entities=ids)
    assert "entity means" in planned.statistic
    assert "of 300 entities on" in repr(planned)
    assert math.isclose(planned.sensitivity or 0, 2 / 300, rel_tol=1e-5)
    with pytest.raises(gd.InputError, match="number, which is public"):
        gd.plan(MEAN, 600, gd.GaussianDP(2), [NOISE], entities=ids)
    out = gd.infer(records, BALL, gd.GaussianDP(2), entities=ids)
    assert out.mean.n == 300
    assert all(one.unit == "person" for one in out.releases.values())
    assert all(check.passed for one in out.releases.values() for check in gd.verify(one))


def test_a_ledger_pays_once_for_a_person(tmp_path) -> None:
    records, ids = _records()
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    out = gd.release(
        records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, ledger=ledger, dataset="study"
    )
    assert out.unit == "person"
    assert all(check.passed for check in gd.verify(out))
    with pytest.raises(gd.LedgerRefusal):
        gd.release(
            records, MEAN, gd.GaussianDP(0.1), NOISE, entities=ids, ledger=ledger, dataset="study"
        )


def test_a_request_id_belongs_to_one_grouping(tmp_path) -> None:
    records, ids = _records()
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")

    def ask(entities: list[str]) -> gd.Release:
        return gd.release(
            records,
            MEAN,
            gd.GaussianDP("0.5"),
            NOISE,
            entities=entities,
            ledger=ledger,
            dataset="study",
            request_id="june",
        )

    first, again = ask(ids), ask([f"other name of {one}" for one in ids])
    assert np.array_equal(first.value, again.value)  # the same people under other names
    with pytest.raises(gd.MismatchError, match="belongs to another request"):
        ask([*ids[1:], ids[0]])


BAD = [
    (["a", None, "b"], "no entity id"),
    (["a", float("nan"), "b"], "no entity id"),
    (["a", " ", "b"], "no entity id"),
    (np.ma.MaskedArray([1, 2, 3], [0, 1, 0]), "no entity id"),
    (np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"), "no entity id"),
    (["a", "b"], "one id for each record"),
    ([["a"], ["b"], ["c"]], "hashable"),
    (np.ones((3, 2)), "one id for each record"),
    (5, "one id for each record"),
    (["a", "a", "a"], "At least two entities"),
    # spellings that would make two persons of one
    (["1", 1, "2"], "several kinds"),
    ([b"ann", "ann", "bob"], "several kinds"),
    ([("a", 1), ("a", "1"), ("b", 2)], "several kinds"),
    ([np.float32(0.1), 0.1, 2], "one type of number"),
    ([Decimal("0.1"), 0.1, 2], "one type of number"),
    ([Decimal("sNaN"), 1, 2], "hashable"),
    ([object(), object(), object()], "hashable"),
    ([(1, math.nan), (1, math.nan), (2, 1)], "no entity id"),
    ([("a", None), ("a", None), ("b", 1)], "no entity id"),
    # and those that would make one of two
    ([2.0**53, 2.0**53 + 1, 1.0], "too large"),
    (np.array([1, 2**24, 2**24 + 1], dtype=np.float32), "too large"),
    ([1.0, math.inf, 2], "too large"),
    # what is no list of ids, but has as many parts
    ("who", "one id for each record"),
    (b"who", "one id for each record"),
    ({"a", "b", "c"}, "one id for each record"),
    ({"a": 1, "b": 2, "c": 3}, "one id for each record"),
]


@pytest.mark.parametrize(("ids", "words"), BAD)
def test_bad_ids_are_refused_before_anything_is_spent(tmp_path, ids: object, words: str) -> None:
    ledger = gd.Ledger.create(tmp_path / "budget.db", gd.GaussianDP(1), unit="person")
    records = np.tile(np.eye(2), (3, 1, 1))
    with pytest.raises(gd.InputError, match=words) as refusal:
        gd.release(
            records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, ledger=ledger, dataset="study"
        )
    assert not any(character.isdigit() for character in str(refusal.value))
    assert ledger.left_for("study", None) == 1


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 2],
        np.array([1.5, 2, 2]),
        np.array(["x", "y", "y"]),
        [(1, "a"), (2, "b"), (2, "b")],
        [True, False, False],
        [2**63, 2**63 + 1, 2**63 + 1],
        [1, 1.0, 2],
        [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 2)],
        [UUID(int=1), UUID(int=2), UUID(int=2)],
        ["ann ", "\tann", "bob"],
        ["Zoe\u0308", "Zo\xeb", "bob"],
        [("ann ", 1), ("ann", 1), ("bob", 1)],
    ],
)
def test_ids_of_any_kind(ids: object) -> None:
    assert len(Entities(ids, 3, EntityMean())) == 2


def test_nulls_of_arrow_are_no_person() -> None:
    arrow = pytest.importorskip("pyarrow")
    with pytest.raises(gd.InputError, match="no entity id"):
        Entities(arrow.array(["a", None, "b", None]), 4, EntityMean())
    assert len(Entities(arrow.array(["a", "b", "a"]), 3, EntityMean())) == 2


def test_units_and_options_that_do_not_fit() -> None:
    records, ids = _records()
    with pytest.raises(gd.InputError, match="unit is what an entity is"):
        gd.release(records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, unit="record")
    with pytest.raises(gd.InputError, match="needs entities"):
        gd.release(records, MEAN, gd.GaussianDP(1), NOISE, per_entity=2)
    for wrong in (0, True, 2.5):
        with pytest.raises(gd.InputError, match="per_entity is a number"):
            gd.release(records, MEAN, gd.GaussianDP(1), NOISE, entities=ids, per_entity=wrong)
