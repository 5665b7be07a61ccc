"""Loss distributions as integers: every operation raises tails, and no mass is lost."""

import itertools
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geodp.errors import GuaranteeError
from geodp.privacy.pld import Cut, Losses, coarser, connected, convolved, joined, power, trimmed
from geodp.privacy.pld_arith import ceil_shift, ceil_units, exp_floor
from geodp.privacy.pld_profile import PLDProfile

from . import oracle

BITS = 40
ONE = 1 << BITS
NONE = Cut(0, 0)


@st.composite
def losses(draw: st.DrawFn, step: Fraction = Fraction(1, 4)) -> Losses:
    weights = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=12))
    last = draw(st.integers(0, 50))
    total = sum(weights) + last
    if not total:
        weights, total = [1], 1
    tails = [ONE]
    for i in range(1, len(weights)):
        tails.append(ONE * (total - sum(weights[:i])) // total)
    infinite = min(ONE * last // total, tails[-1])
    return Losses(step, draw(st.integers(-20, 20)), tuple(tails), infinite, BITS)


def exact_masses(a: Losses) -> dict[int, Fraction]:
    return {a.low + i: Fraction(m, ONE) for i, m in enumerate(a.masses)}


def tail(masses: dict[int, Fraction], infinite: Fraction, index: int) -> Fraction:
    return infinite + sum((m for i, m in masses.items() if i >= index), Fraction(0))


def delta(a: Losses, epsilon: Fraction) -> mp.mpf:
    """δ(ε) from the masses, by its definition."""
    with mp.workdps(60):
        found = oracle.number(Fraction(a.infinite, ONE))
        for i, mass in exact_masses(a).items():
            gap = oracle.number(epsilon - i * a.step)
            if gap < 0:
                found += oracle.number(mass) * -mp.expm1(gap)
        return found


def is_sound(a: Losses) -> bool:
    falling = all(x >= y for x, y in itertools.pairwise((*a.tails, a.infinite, 0)))
    return a.tails[0] == ONE and falling


@settings(max_examples=50, deadline=None)
@given(losses(), losses())
def test_convolution_is_exact_up_to_one_unit_upwards(a: Losses, b: Losses) -> None:
    whole = convolved(a, b, NONE)
    assert is_sound(whole)
    truth: dict[int, Fraction] = {}
    for (i, x), (j, y) in itertools.product(exact_masses(a).items(), exact_masses(b).items()):
        truth[i + j] = truth.get(i + j, Fraction(0)) + x * y
    infinite = 1 - sum(truth.values())
    for i in range(a.low + b.low - 1, a.low + b.low + len(a.tails) + len(b.tails) + 1):
        position = i - whole.low
        if position < 0:
            kept = ONE
        else:
            kept = whole.tails[position] if position < len(whole.tails) else whole.infinite
        assert 0 <= Fraction(kept, ONE) - tail(truth, infinite, i) < Fraction(1, ONE)


@settings(max_examples=50, deadline=None)
@given(losses(), st.integers(0, ONE // 4), st.integers(0, ONE // 4))
def test_trimming_moves_little_mass_and_only_up(a: Losses, top: int, bottom: int) -> None:
    cut = trimmed(a, Cut(top, bottom))
    assert is_sound(cut)
    assert len(cut.tails) <= len(a.tails)
    for epsilon in (Fraction(k, 3) for k in range(-18, 19)):
        before, after = delta(a, epsilon), delta(cut, epsilon)
        assert before - mp.mpf("1e-40") <= after
        assert after <= before + mp.mpf(top + bottom) / ONE + mp.mpf("1e-40")


@settings(max_examples=50, deadline=None)
@given(losses(), st.integers(-40, 40))
def test_delta_is_the_definition_rounded_up(a: Losses, numerator: int) -> None:
    epsilon = Fraction(numerator, 7)
    bound, truth = oracle.number(a.delta(epsilon)), delta(a, epsilon)
    assert truth - mp.mpf("1e-50") <= bound <= truth + mp.mpf(len(a.tails) + 2) / ONE


@settings(max_examples=40, deadline=None)
@given(losses())
def test_a_coarser_grid_keeps_delta_on_its_points_and_raises_it_between(a: Losses) -> None:
    wide = coarser(a)
    assert is_sound(wide)
    assert wide.step == 2 * a.step
    for i in range(-24, 25):
        epsilon = i * a.step
        before, after = delta(a, epsilon), delta(wide, epsilon)
        assert after >= before - mp.mpf("1e-50")
        if i % 2 == 0:
            assert after <= before + mp.mpf(100 * len(a.tails)) / ONE


@settings(max_examples=50, deadline=None)
@given(losses(), st.integers(1, 9))
def test_powers_are_repeated_products(a: Losses, count: int) -> None:
    whole = power(a, count, NONE)
    one_by_one = a
    for _ in range(count - 1):
        one_by_one = convolved(one_by_one, a, NONE)
    assert is_sound(whole)
    for epsilon in (Fraction(k, 2) for k in range(-8, 9)):
        gap = abs(whole.delta(epsilon) - one_by_one.delta(epsilon))
        assert gap <= Fraction(40 * (len(whole.tails) + 1), ONE)


@settings(max_examples=50, deadline=None)
@given(losses(), losses(step=Fraction(1, 8)))
def test_different_grids_meet_on_the_coarser(a: Losses, b: Losses) -> None:
    whole = joined(a, b, NONE)
    assert is_sound(whole)
    assert whole.step == a.step
    with pytest.raises(ValueError, match="different grids"):
        convolved(a, b, NONE)
    for epsilon in (Fraction(k, 3) for k in range(-6, 7)):  # truth: condition on the loss of a
        truth = oracle.number(Fraction(a.infinite, ONE)) + sum(
            oracle.number(mass) * delta(b, epsilon - i * a.step)
            for i, mass in exact_masses(a).items()
        )
        assert oracle.number(whole.delta(epsilon)) >= truth - mp.mpf("1e-40")


def test_connecting_the_dots_of_one_response() -> None:
    """Between −ε₀ and ε₀ δ is the chord itself: two points suffice and give back e^{±ε₀}."""
    step, scale = Fraction(1, 2), BITS + 64
    with mp.workdps(80):
        ends = [oracle.response_delta(step, e) for e in (-step, step)]
    points = [(i, int(mp.ceil(d * 2**scale))) for i, d in zip((-1, 1), ends, strict=True)]
    found = connected(step, points, scale, BITS)
    assert found.infinite == 0
    assert [i for i, mass in enumerate(found.masses) if mass > 2] == [0, 2]
    upper = oracle.number(Fraction(found.masses[2], ONE))
    assert abs(upper - 1 / (1 + mp.exp(mp.mpf("-0.5")))) < 2 / mp.mpf(ONE)


def test_bounds_that_rise_are_made_to_fall() -> None:
    noisy = [(0, ONE // 2), (1, ONE // 2 + 7), (2, ONE // 4), (3, ONE // 4 + 9)]
    assert is_sound(connected(Fraction(1, 4), noisy, BITS, BITS))


def test_only_infinite_losses_and_no_loss() -> None:
    everything = Losses(Fraction(1), 0, (ONE,), ONE, BITS)
    nothing = Losses(Fraction(1), 0, (ONE,), 0, BITS)
    assert PLDProfile(power(everything, 5, NONE)).delta(100) == 1
    assert PLDProfile(power(nothing, 5, NONE)).delta(0) == 0
    assert PLDProfile(power(nothing, 5, NONE)).pure_upper() == 0
    assert PLDProfile(convolved(everything, nothing, NONE)).delta(3) == 1


def test_directed_integers_against_mpmath() -> None:
    for numerator in (0, -1, -7, -1000, -(10**6)):
        for bits in (8, 64, 300):
            exponent = Fraction(numerator, 97)
            with mp.workdps(200):
                truth = mp.exp(oracle.number(exponent)) * mp.mpf(2) ** bits
                assert 0 <= truth - exp_floor(exponent, bits) < 2
    with pytest.raises(ValueError, match="at most zero"):
        exp_floor(Fraction(1), 8)
    assert ceil_units(Fraction(1, 3), 4) == 6
    assert [ceil_shift(n, 3) for n in (0, 1, 8, 9)] == [0, 1, 1, 2]


def test_what_a_loss_distribution_does_not_know_is_refused() -> None:
    profile = PLDProfile(Losses(Fraction(1, 4), -2, (ONE, ONE // 2, 3), 1, BITS))
    for notion in ("gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match="down to a least one"):
            profile.charge(notion)
    with pytest.raises(GuaranteeError, match="down to a least one"):
        profile.renyi(2)
    with pytest.raises(GuaranteeError, match="infinite"):
        profile.charge("pure")
    with pytest.raises(GuaranteeError, match="not one fixed pair"):
        profile.pair()
    with pytest.raises(GuaranteeError, match="so small a delta"):
        profile.epsilon(1e-13)
