"""Ball to float64, against Python's correctly rounded division of integers."""

import math
import sys
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from geodp.rounding.floats import round_dyadic, unique_float

MAX = sys.float_info.max
TINY = 5e-324


def oracle(x: Fraction) -> float:
    try:
        return x.numerator / x.denominator + 0.0
    except OverflowError:
        return MAX if x > 0 else -MAX


def dyadic(m: int, e: int) -> Fraction:
    return Fraction(m) * Fraction(2) ** e


# mantissas around 53 bits, with runs of zeros and ones so that ties and carries are common
mantissas = st.one_of(
    st.integers(0, 2**60),
    st.builds(lambda a, b, c: (a << b) + c, st.integers(0, 2**54), st.integers(0, 70),
              st.integers(-1, 1)).filter(lambda m: m >= 0),
    st.builds(lambda n: 2**n - 1, st.integers(1, 130)),
)  # fmt: skip
exponents = st.one_of(st.integers(-1200, 1100), st.integers(-1140, -1060), st.integers(880, 1030))


@settings(max_examples=700, deadline=None, derandomize=True)
@given(mantissas, exponents)
def test_round_dyadic(m, e):
    assert round_dyadic(m, e) == oracle(dyadic(m, e))


@pytest.mark.parametrize(
    ("m", "e", "expected"),
    [
        (0, 0, 0.0),
        (1, -1075, 0.0),  # half the smallest subnormal: tie to even
        (3, -1076, TINY),
        (3, -1075, 2 * TINY),  # tie to even upwards
        (2**53 + 1, 0, 2.0**53),
        (2**53 + 3, 0, 2.0**53 + 4),
        (2**54 - 1, 970, MAX),  # rounds to infinity; saturates
        (1, 10**30, MAX),
        (1, -(10**30), 0.0),
    ],
)
def test_edges(m, e, expected):
    assert round_dyadic(m, e) == expected
    with ctx.workprec(128):
        assert unique_float(arb((m, e))) == expected
        assert unique_float(arb((-m, e))) == -expected


@settings(max_examples=700, deadline=None, derandomize=True)
@given(mantissas, exponents, st.integers(0, 2**29), st.integers(-140, 20), st.booleans())
def test_balls_round_uniquely_or_not_at_all(m, e, r, re, negative):
    m = -m if negative else m
    with ctx.workprec(400):
        ball = arb((m, e), (r, e + re))
        got = unique_float(ball)
        (lm, le), (hm, he) = ball.lower().man_exp(), ball.upper().man_exp()
    low, high = (oracle(dyadic(int(a), int(b))) for a, b in ((lm, le), (hm, he)))
    assert got == (low if low == high else None)


def test_working_precision_below_a_float_never_decides_wrongly():
    exact = arb(1 + 2**-52)
    with ctx.workprec(10):
        assert unique_float(exact) in (None, 1 + 2**-52)
    assert unique_float(arb(1) / 3) is None  # 53 bits are not enough for 1/3
    with ctx.workprec(64):
        assert unique_float(arb(1) / 3) == 1 / 3


def test_no_negative_zero_and_no_nan():
    with ctx.workprec(128):
        for ball in (arb(0), arb(0, "1e-400"), arb((-1, -2000)), arb(-0.0)):
            assert math.copysign(1, unique_float(ball)) == 1
            assert unique_float(ball) == 0
        assert unique_float(arb(0, 1)) is None
        assert unique_float(arb.nan()) is None
        assert unique_float(arb.pos_inf()) == MAX
        assert unique_float(arb.neg_inf()) == -MAX
        assert unique_float(arb(0, arb.pos_inf())) is None
        assert unique_float(arb("1e400")) == MAX
        assert unique_float(-arb("1e400")) == -MAX
