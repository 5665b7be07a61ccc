"""Composition: closed forms where they say all, loss distributions beside them elsewhere."""

import itertools
from fractions import Fraction

import mpmath as mp
import pytest

from geodp.errors import GuaranteeError
from geodp.privacy.approx import ApproxProfile
from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from geodp.privacy.promised import promised
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import RenyiProfile, ZCDPProfile

from . import oracle


def test_a_hundred_tenths_are_exactly_one() -> None:
    whole = compose([GaussianProfile.of(0.1)] * 100)
    assert whole == GaussianProfile(square=Fraction(1))
    assert whole.mu() == 1
    assert whole.epsilon(1e-6) == pytest.approx(4.8866, abs=5e-5)
    nested = compose([compose([GaussianProfile.of(0.1)] * 50)] * 2)
    assert nested == whole
    assert compose([GaussianProfile.of(3), PureProfile.of(1), GaussianProfile.of(4)]) == compose(
        [GaussianProfile.of(5), PureProfile.of(1)]
    )


def test_composing_compositions_is_associative() -> None:
    a, b, c = PureProfile.of(0.5), GaussianProfile.of(1), ApproxProfile.of(0.3, 1e-6)
    flat = compose([a, b, a, c])
    assert compose([compose([a, b]), compose([a, c])]) == flat
    assert compose([a, compose([b, compose([a, c])])]) == flat
    assert flat.epsilon(1e-5) == compose([compose([a, b]), compose([a, c])]).epsilon(1e-5)
    assert compose([compose([a, a])] * 3) == compose([a] * 6)
    assert compose([flat]) == flat


def test_zcdp_route_of_the_same_is_looser() -> None:
    assert ZCDPProfile.of(0.5).epsilon(1e-6) == pytest.approx(5.22, abs=5e-3)
    assert compose([ZCDPProfile.of(0.25), ZCDPProfile.of("1/4")]) == ZCDPProfile.of(0.5)
    assert compose([RenyiProfile.of(3, 1), RenyiProfile.of(3, 2)]) == RenyiProfile.of(3, 3)


def _responses(epsilon0: float, k: int, epsilon: Fraction) -> mp.mpf:
    """δ of k independent randomised responses, by enumeration of the binomial."""
    with mp.workdps(60):
        p = 1 / (1 + mp.exp(-mp.mpf(str(epsilon0))))
        q, e = 1 - p, mp.exp(oracle.number(epsilon))
        return mp.fsum(
            mp.binomial(k, i) * max(p**i * q ** (k - i) - e * q**i * p ** (k - i), 0)
            for i in range(k + 1)
        )


@pytest.mark.parametrize(("epsilon0", "k"), [(0.1, 2), (0.1, 50), (1.0, 10), (0.01, 400)])
def test_pure_composition_is_the_truth_rounded_up(epsilon0: float, k: int) -> None:
    whole = compose([PureProfile.of(epsilon0)] * k)
    assert whole.charge("pure") == k * Fraction(repr(epsilon0))
    for j in range(-4, 9):
        epsilon = k * Fraction(repr(epsilon0)) * j / 8
        truth, bound = _responses(epsilon0, k, epsilon), whole.delta(epsilon)
        rounding = mp.mpf("1e-55")  # of the oracle, where the truth is exactly zero
        assert bound >= truth - rounding
        loose = mp.mpf("1e-9") if k <= 100 else mp.mpf("1e-3")  # the grid holds every loss, or not
        assert bound <= truth * (1 + loose) + rounding
    assert whole.epsilon(1e-300) <= k * epsilon0 * (1 + 1e-15)


def test_pure_beside_gaussian_takes_the_better_route() -> None:
    mixture = compose([PureProfile.of(0.5), GaussianProfile.of(1)])
    rho = PureProfile.of(0.5).charge("zcdp") + Fraction(1, 2)
    square = PureProfile.of(0.5).charge("gdp") + 1
    for delta in (1e-2, 1e-6, 1e-20):
        by_gdp = GaussianProfile(square=square).epsilon(delta)
        assert mixture.epsilon(delta) < min(by_gdp, ZCDPProfile(rho).epsilon(delta))
    assert mixture.charge("zcdp") == rho
    assert mixture.charge("gdp") == square
    for epsilon in (-1, 0, 1, 3, 6, 10):  # truth: one response, one Gaussian
        e = mp.mpf(epsilon)
        p = 1 / (1 + mp.exp(mp.mpf("-0.5")))
        shifted = [Fraction(epsilon) - Fraction(1, 2), Fraction(epsilon) + Fraction(1, 2)]
        one = Fraction(1)
        truth = p * oracle.gaussian_delta(one, shifted[0])
        truth += (1 - p) * oracle.gaussian_delta(one, shifted[1])
        assert e == epsilon
        assert truth <= mixture.delta(epsilon) <= truth * mp.mpf("1.05")


def test_mixtures_with_zcdp_and_renyi() -> None:
    mixture = compose([ZCDPProfile.of(0.1), GaussianProfile.of(1), PureProfile.of(0.2)])
    closed = ZCDPProfile(Fraction(6, 10) + PureProfile.of(0.2).charge("zcdp"))
    assert mixture.charge("zcdp") == closed.charge("zcdp")
    assert mixture.epsilon(1e-6) <= closed.epsilon(1e-6)
    by_order = compose([RenyiProfile.of(4, 1), GaussianProfile.of(1), ZCDPProfile.of(1)])
    assert by_order.renyi(4) == 1 + 2 + 4
    assert by_order.epsilon(1e-6) == RenyiProfile.of(4, 1 + 2 + 4).epsilon(1e-6)
    two = compose([RenyiProfile.of(4, 1), RenyiProfile.of(2, 1)])
    assert two.renyi(2) == 2  # the bound at order 4 holds at order 2
    for missing in ("pure", "gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match="implies no"):
            two.charge(missing)


def _pairs(epsilon0: float, delta0: float, k: int, epsilon: Fraction) -> mp.mpf:
    """δ of k independent (ε₀, δ₀) pairs: all is revealed, or k randomised responses remain."""
    kept = (1 - mp.mpf(str(delta0))) ** k
    return 1 - kept * (1 - _responses(epsilon0, k, epsilon))


@pytest.mark.parametrize(("epsilon0", "delta0", "k"), [(1, 1e-6, 3), (0.1, 1e-9, 40), (1, 0.5, 2)])
def test_pairs_compose_to_the_optimum(epsilon0: float, delta0: float, k: int) -> None:
    whole = compose([ApproxProfile.of(epsilon0, delta0)] * k)
    for j in range(9):
        epsilon = k * Fraction(str(epsilon0)) * j / 8
        truth = _pairs(float(epsilon0), delta0, k, epsilon)
        assert truth <= whole.delta(epsilon) <= truth * (1 + mp.mpf("1e-9"))
    if k * delta0 < 1:
        assert whole.pair() == (k * Fraction(str(epsilon0)), k * Fraction(repr(delta0)))
    with pytest.raises(GuaranteeError, match="so small a delta"):
        whole.epsilon(k * delta0 / 2)


@pytest.mark.parametrize(
    "other", [GaussianProfile.of(1), ZCDPProfile.of(1), RenyiProfile.of(2, 1), PureProfile.of(1)]
)
def test_pairs_compose_with_everything(other: object) -> None:
    pair = ApproxProfile.of(1, 1e-6)
    whole = compose([pair, other])  # type: ignore[list-item]
    for epsilon in (0, 1, 3, 10):
        shifted = other.delta(epsilon - 1) + 1e-6  # type: ignore[attr-defined]
        assert other.delta(epsilon) < whole.delta(epsilon) <= min(1, shifted * 1.01)  # type: ignore[attr-defined]
    for notion in ("gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match="ask for epsilon"):
            whole.charge(notion)


def test_nothing_and_one() -> None:
    with pytest.raises(GuaranteeError, match="at least one"):
        compose([])
    assert compose([PureProfile.of(1)]) == PureProfile.of(1)


GUARANTEES: list[Guarantee] = [
    PureDP(0.7),
    ApproxDP(0.7, 1e-5),
    GaussianDP(0.7),
    RenyiDP(3, 0.7),
    ZCDP(0.7),
]


@pytest.mark.parametrize(
    ("guarantee", "share"), list(itertools.product(GUARANTEES, [0.1, "1/3", 0.5, 0.999]))
)
def test_split_parts_compose_to_no_more_than_the_whole(guarantee: Guarantee, share: str) -> None:
    parts = compose([promised(part) for part in guarantee.split(share)])
    whole = promised(guarantee)
    for epsilon in (0, 0.2, 0.7, 1, 2):
        assert parts.delta_upper(Fraction(repr(float(epsilon)))) <= whole.delta_upper(
            Fraction(repr(float(epsilon)))
        ) * (1 + Fraction(1, 10**15))
