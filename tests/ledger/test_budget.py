"""Budgets are exact, (epsilon, delta) is kept as Gaussian DP, and refusals say what still fits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geodp as gd
from geodp.ledger.budget import DIGITS, Budget, fitting, rounded_up, shown
from geodp.ledger.totals import Part, part_of, total


def test_a_hundred_tenths_are_one() -> None:
    limit = Budget.of(gd.GaussianDP(1)).limit
    price = Budget.of(gd.GaussianDP(0.1)).limit
    assert sum([price] * 100, Fraction(0)) == limit
    assert 100 * 0.1**2 > 1  # as binary floats they are more


@pytest.mark.parametrize(
    ("stated", "limit"),
    [
        (gd.GaussianDP("1.5"), Fraction(9, 4)),
        (gd.ZCDP("1/3"), Fraction(1, 3)),
        (gd.PureDP(0.1), Fraction(1, 10)),
    ],
    ids=repr,
)
def test_each_notion_adds_its_own_number(stated: gd.GaussianDP, limit: Fraction) -> None:
    budget = Budget.of(stated)
    assert budget.limit == limit
    assert Budget.read(budget.describe()) == budget


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-9), (8.0, 1e-6), (3, 0.01)])
def test_epsilon_delta_is_the_largest_gaussian_that_implies_it(
    epsilon: float, delta: float
) -> None:
    """delta(epsilon) of mu-GDP by mpmath: within the promise at mu, beyond it a millionth above."""

    def mass(mu: float) -> float:
        with mpmath.workdps(60):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)

    mu = math.sqrt(float(Budget.of(gd.ApproxDP(epsilon, delta)).limit))
    assert mass(mu * (1 - 1e-15)) <= delta
    assert mass(mu * (1 + 1e-6)) > delta


def test_a_renyi_budget_is_refused() -> None:
    with pytest.raises(gd.GuaranteeError, match="single order"):
        Budget.of(gd.RenyiDP(2, 1))


def test_both_forms_are_shown() -> None:
    budget = Budget.of(gd.ApproxDP(1, 1e-5))
    facts = budget.to_json(budget.limit / 4)
    assert facts["notion"] == "gdp"
    assert facts["stated"] == {"notion": "approx", "epsilon": "1", "delta": "0.00001"}
    assert facts["limit_as"]["epsilon"] == pytest.approx(1, rel=1e-8)
    assert facts["limit_as"]["epsilon"] <= 1
    half = math.sqrt(float(budget.limit)) / 2
    assert float(facts["spent_as"]["mu"]) == pytest.approx(half, rel=1e-5)
    assert float(facts["spent_as"]["mu"]) >= half
    assert float(facts["left_as"]["mu"]) <= half * math.sqrt(3)


def test_a_refusal_says_asked_spent_left_difference_and_what_fits() -> None:
    refusal = str(Budget.of(gd.GaussianDP(2)).refusal(Fraction(1, 4), Fraction("3.9")))
    for part in ("asked mu^2 = 0.25", "spent 3.9 of 4", "left 0.1", "0.15 too much"):
        assert part in refusal
    assert "GaussianDP(mu=0.316227) would still fit." in refusal
    assert "Nothing more fits" in str(Budget.of(gd.PureDP(1)).refusal(Fraction(1), Fraction(1)))
    assert "ZCDP(rho=0.5)" in str(Budget.of(gd.ZCDP(1)).refusal(Fraction(1), Fraction(1, 2)))


amounts = st.fractions(min_value=Fraction(1, 10**30), max_value=10**9)


@given(amounts)
def test_prices_are_rounded_up_and_hardly(amount: Fraction) -> None:
    rounded = rounded_up(amount)
    assert amount <= rounded <= amount * (1 + Fraction(10, 10**DIGITS))
    assert rounded_up(rounded) == rounded
    digits = str(rounded.numerator * 10**60 // rounded.denominator).strip("0")
    assert len(digits) <= DIGITS


@given(amounts, st.sampled_from(["gdp", "zcdp", "pure"]))
def test_what_fits_is_paid_for_and_is_the_most(left: Fraction, notion: str) -> None:
    promise = fitting(notion, left)
    price = Budget.of(promise).limit
    assert price <= left
    assert price >= left * (1 - Fraction(3, 10**5))


@given(amounts)
def test_sentences_round_to_the_safe_side(amount: Fraction) -> None:
    assert Fraction(shown(amount)) >= amount >= Fraction(shown(amount, down=True))
    assert len(shown(amount)) <= 17


def test_data_sets_add_and_groups_of_one_partition_do_not() -> None:
    one, two, four = Fraction(1), Fraction(2), Fraction(4)
    assert total({}) == 0
    assert total({Part("a"): one, Part("b"): two}) == 3
    assert total({Part("a", "site", "x"): one, Part("a", "site", "y"): two}) == 2
    assert total({Part("a", "site", "x"): one, Part("a", "sex", "f"): two}) == 3
    assert total({Part("a", "site", "x"): one, Part("b", "site", "y"): two}) == 3
    assert total({Part("a"): four, Part("a", "site", "x"): one}) == 5


parts = st.builds(
    Part, st.sampled_from("ab"), st.sampled_from(["site", "sex"]), st.sampled_from("xy")
)


whole = st.builds(Part, st.sampled_from("ab"), st.just(""), st.just(""))


@given(st.dictionaries(parts | whole, amounts, max_size=9))
def test_the_total_covers_every_unit(spent: dict[Part, Fraction]) -> None:
    """Whatever label a unit has in each partition of each data set, it was charged no more."""
    import itertools

    keys = sorted({(p.dataset, p.partition) for p in spent if p.partition})
    worst = Fraction(0)
    for labels in itertools.product("xy", repeat=len(keys)):
        mine = {Part(*key, label) for key, label in zip(keys, labels, strict=True)}
        charged = [x for p, x in spent.items() if not p.partition or p in mine]
        worst = max(worst, sum(charged, Fraction(0)))
    assert total(spent) == worst


@pytest.mark.parametrize("dataset", [None, "", " ", 3])
def test_a_data_set_has_a_name(dataset: object) -> None:
    with pytest.raises(gd.InputError, match="name"):
        part_of(dataset)


@pytest.mark.parametrize("group", ["", "site", "=x", "site=", 3, " = "])
def test_a_group_is_a_label_of_a_partition(group: object) -> None:
    with pytest.raises(gd.InputError, match="site=A"):
        part_of("study", group)
