"""The five promises: exact numbers, refusals, words, JSON and splitting."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geodp.errors import GuaranteeError
from geodp.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    from_json,
)

ALL = [PureDP(1), ApproxDP(1, 1e-5), GaussianDP(1), RenyiDP(8, "1/3"), ZCDP(0.5)]
BAD = [True, None, "x", float("nan"), float("inf"), 5e-324, 0, -1]


@pytest.mark.parametrize("bad", BAD)
def test_ill_formed_numbers_are_refused_by_name(bad: object) -> None:
    for make, name in [
        (PureDP, "epsilon"),
        (GaussianDP, "mu"),
        (ZCDP, "rho"),
        (lambda x: ApproxDP(x, 0.1), "epsilon"),
        (lambda x: ApproxDP(1, x), "delta"),
        (lambda x: RenyiDP(x, 1), "alpha"),
        (lambda x: RenyiDP(2, x), "epsilon"),
    ]:
        with pytest.raises(GuaranteeError, match=rf"^The (number|order) {name} must "):
            make(bad)  # type: ignore[no-untyped-call]


def test_ranges() -> None:
    with pytest.raises(GuaranteeError, match=r"^The number delta must be less than one"):
        ApproxDP(1, 1.0)
    with pytest.raises(GuaranteeError, match="greater than one"):
        RenyiDP(1, 1)
    with pytest.raises(GuaranteeError, match="greater than one"):
        RenyiDP(0.5, 1)


def test_numbers_are_exact_and_facts_are_frozen() -> None:
    assert GaussianDP(0.1).mu == Fraction(1, 10)
    assert GaussianDP(0.1) == GaussianDP("0.1")
    assert hash(GaussianDP(0.1)) == hash(GaussianDP(Fraction(1, 10)))
    assert PureDP(1) != ZCDP(1)
    with pytest.raises(AttributeError):
        GaussianDP(1).mu = Fraction(2)  # type: ignore[misc]


@pytest.mark.parametrize("guarantee", ALL)
def test_json_round_trip(guarantee: Guarantee) -> None:
    document = guarantee.to_json()
    assert all(isinstance(value, str) for value in document.values())
    assert from_json(document) == guarantee
    assert Guarantee.from_json(document) == guarantee


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"notion": "none"},
        {"notion": 3},
        {"notion": []},
        {"notion": "gdp"},
        {"notion": "gdp", "mu": "1", "rho": "1"},
        {"notion": "gdp", "mu": "-1"},
        {"notion": "gdp", "mu": None},
        {"notion": "gdp", "mu": True},
        {"notion": "approx", "epsilon": "1"},
    ],
)
def test_other_documents_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(GuaranteeError):
        from_json(document)


def test_reprs() -> None:
    assert [repr(g) for g in ALL] == [
        "PureDP(epsilon=1)",
        "ApproxDP(epsilon=1, delta=0.00001)",
        "GaussianDP(mu=1)",
        "RenyiDP(alpha=8, epsilon=1/3)",
        "ZCDP(rho=0.5)",
    ]


@pytest.mark.parametrize(
    ("guarantee", "percent"),
    [  # true-positive rates at one false positive in a hundred, by hand, rounded up to 0.1
        (PureDP(1), "2.8"),  # .01 e = .0271829
        (PureDP(5), "99.4"),  # 1 − .99 e^{−5} = .993329
        (ApproxDP(1, 0.01), "3.8"),  # .0371829
        (GaussianDP(1), "9.3"),  # Φ(1 − 2.3263479) = .092383
        (RenyiDP(2, 1), "16.5"),  # √(.01 e) = .164872
        (ZCDP(0.5), "12.7"),  # exp(−(√log 100 − √½)²) = .1264
    ],
)
def test_words(guarantee: Guarantee, percent: str) -> None:
    assert f"more than {percent} %" in guarantee.text
    assert guarantee.text.startswith(guarantee.label)


positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000)
shares = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000))


@given(positive, shares)
def test_the_parts_never_exceed_the_whole_and_waste_nothing(x: Fraction, share: Fraction) -> None:
    a, b = PureDP(x).split(share)
    assert a.epsilon + b.epsilon == x
    assert a.epsilon == share * x
    c, d = ZCDP(x).split(share)
    assert c.rho + d.rho == x
    e, f = RenyiDP(x + 1, x).split(share)
    assert (e.epsilon + f.epsilon, e.alpha, f.alpha) == (x, x + 1, x + 1)
    g, h = ApproxDP(x, share).split(share)
    assert (g.epsilon + h.epsilon, g.delta + h.delta) == (x, share)
    i, j = GaussianDP(x).split(share)
    assert x**2 * (1 - Fraction(1, 10**20)) <= i.mu**2 + j.mu**2 <= x**2
    assert abs(i.mu**2 - share * x**2) <= x**2 / 10**20


def test_a_split_with_rational_roots_is_exact() -> None:
    assert GaussianDP(1).split(0.36) == (GaussianDP(0.6), GaussianDP(0.8))


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, float("nan"), True])
def test_shares_lie_strictly_inside(share: float) -> None:
    for guarantee in ALL:
        with pytest.raises(GuaranteeError, match="share"):
            guarantee.split(share)
