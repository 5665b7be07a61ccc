"""Exact numbers in, directed floats out."""

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geodp.errors import GuaranteeError
from geodp.privacy.numbers import (
    decimal,
    exact,
    exact_below_one,
    float_down,
    float_up,
    real,
    root_down,
    root_up,
)

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        "0.1",
        "1e-1",
        "1/10",
        TENTH,
        Decimal("0.1"),
        np.float64(0.1),
        np.float32(0.1),
        np.float16(0.1),
        np.longdouble("0.1"),
    ],
)
def test_a_float_means_its_shortest_decimal(value: object) -> None:
    assert exact(value) == TENTH


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), "3", 3.0, Decimal(3)])
def test_integers(value: object) -> None:
    assert exact(value) == 3


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.True_,
        None,
        [],
        np.array([1.0]),
        np.array(1.0),
        1j,
        b"1",
        "",
        "one",
        "1/0",
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "inf",
        Decimal("sNaN"),
        Decimal("Infinity"),
        np.float32("nan"),
        np.float64("inf"),
        5e-324,
        sys.float_info.min / 2,
        "1e-308",
        "1e-400",
        "1e400",
        "1e999999999",
        "1" * 6000,
        10**400,
        Fraction(1, 10**400),
        0,
        0.0,
        -0.0,
        "0e-500",
        -1,
        -0.1,
        "-1e-3",
        np.float64(-2),
    ],
)
def test_what_is_no_budget_is_refused_by_name(value: object) -> None:
    with pytest.raises(GuaranteeError, match=r"^The number rho must ") as caught:
        exact(value, "rho")
    assert str(caught.value).endswith(".")


def test_signs_and_limits() -> None:
    assert real(-0.1, "x") == -TENTH
    assert real(0, "x") == 0
    assert exact(sys.float_info.min) == Fraction("2.2250738585072014e-308")
    assert exact(sys.float_info.max) == Fraction("1.7976931348623157e308")
    with pytest.raises(GuaranteeError, match="less than one"):
        exact_below_one(1, "delta")


def test_budgets_of_a_hundred_tenths_are_exact() -> None:
    assert sum(exact(0.1) ** 2 for _ in range(100)) == 1
    assert 100 * Fraction(0.1) ** 2 > 1  # the binary reading would overspend


fractions = st.builds(
    lambda p, q, e: Fraction(p, q) * Fraction(10) ** e,
    st.integers(-(10**25), 10**25),
    st.integers(1, 10**25),
    st.integers(-330, 280),
)


@given(fractions)
def test_directed_floats_are_safe_in_both_readings_and_tight(number: Fraction) -> None:
    up, down = float_up(number), float_down(number)
    for value in (Fraction(up), Fraction(repr(up))):
        assert value >= number
    for value in (Fraction(down), Fraction(repr(down))):
        assert value <= number
    nearest = float(number)
    assert up <= math.nextafter(math.nextafter(nearest, math.inf), math.inf)
    assert down >= math.nextafter(math.nextafter(nearest, -math.inf), -math.inf)


def test_directed_floats_at_the_ends() -> None:
    assert float_up(Fraction(10) ** 400) == math.inf
    assert float_down(Fraction(10) ** 400) == sys.float_info.max
    assert float_up(-(Fraction(10) ** 400)) == -sys.float_info.max
    assert float_up(Fraction(1, 10**400)) == 5e-324
    assert float_down(Fraction(1, 10**400)) == 0.0
    assert float_up(TENTH) == 0.1  # the binary 0.1 is above one tenth, and its decimal equals it
    assert float_down(TENTH) < 0.1


@given(st.fractions(min_value=0, max_value=10**9), st.integers(-200, 200))
def test_roots_bracket_and_are_close(number: Fraction, power: int) -> None:
    number *= Fraction(10) ** power
    low, high = root_down(number), root_up(number)
    assert low**2 <= number <= high**2
    assert high - low <= Fraction(1, 10**25) * high


@given(st.fractions(min_value=0, max_value=10**9))
def test_rational_roots_are_exact(number: Fraction) -> None:
    assert root_down(number**2) == number == root_up(number**2)


@given(st.fractions())
def test_decimals_are_read_back_exactly(number: Fraction) -> None:
    assert real(decimal(number), "x") == number or number == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1), "1"),
        (Fraction(100), "100"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(2, 3), "2/3"),
        (Fraction(1, 10**5), "0.00001"),
        (Fraction(3, 10**9), "3e-9"),
        (Fraction(17 * 10**307), "1.7e+308"),
        (Fraction(10**6), "1000000"),
    ],
)
def test_decimal_text(number: Fraction, text: str) -> None:
    assert decimal(number) == text
