"""Composition by the routes that have a closed form."""

import itertools
from fractions import Fraction

import mpmath as mp
import pytest

from geodp.errors import GuaranteeError, NotYetError
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
def test_pure_composition_is_never_below_the_truth(epsilon0: float, k: int) -> None:
    whole = compose([PureProfile.of(epsilon0)] * k)
    assert whole.charge("pure") == k * Fraction(repr(epsilon0))
    for j in range(-4, 9):
        epsilon = k * Fraction(repr(epsilon0)) * j / 8
        rounding = mp.mpf("1e-55")  # of the oracle, where the truth is exactly zero
        assert whole.delta(epsilon) >= _responses(epsilon0, k, epsilon) - rounding
    total = k * epsilon0
    assert whole.epsilon(1e-9) <= total
    if k >= 50:
        assert whole.epsilon(1e-6) < 0.8 * total  # GDP or zCDP beat the sum


def test_pure_beside_gaussian_takes_the_better_route() -> None:
    mixture = compose([PureProfile.of(0.5), GaussianProfile.of(1)])
    rho = PureProfile.of(0.5).charge("zcdp") + Fraction(1, 2)
    square = PureProfile.of(0.5).charge("gdp") + 1
    for delta in (1e-2, 1e-6, 1e-30):
        by_gdp = GaussianProfile(square=square).epsilon(delta)
        assert mixture.epsilon(delta) == min(by_gdp, ZCDPProfile(rho).epsilon(delta))
    assert mixture.charge("zcdp") == rho
    assert mixture.charge("gdp") == square
    for epsilon in (-1, 0, 1, 3):  # truth by integration: one response, one Gaussian
        e = mp.mpf(epsilon)
        p = 1 / (1 + mp.exp(mp.mpf("-0.5")))
        shifted = [Fraction(epsilon) - Fraction(1, 2), Fraction(epsilon) + Fraction(1, 2)]
        one = Fraction(1)
        truth = p * oracle.gaussian_delta(one, shifted[0])
        truth += (1 - p) * oracle.gaussian_delta(one, shifted[1])
        assert e == epsilon
        assert truth <= mixture.delta(epsilon)


def test_mixtures_with_zcdp_and_renyi() -> None:
    mixture = compose([ZCDPProfile.of(0.1), GaussianProfile.of(1), PureProfile.of(0.2)])
    assert mixture == ZCDPProfile(Fraction(6, 10) + PureProfile.of(0.2).charge("zcdp"))
    by_order = compose([RenyiProfile.of(4, 1), GaussianProfile.of(1), ZCDPProfile.of(1)])
    assert by_order == RenyiProfile.of(4, 1 + 2 + 4)
    two = compose([RenyiProfile.of(4, 1), RenyiProfile.of(2, 1)])
    assert two == RenyiProfile.of(2, 2)  # the bound at order 4 holds at order 2


def test_pairs_add() -> None:
    assert compose([ApproxProfile.of(1, 1e-6)] * 3) == ApproxProfile.of(3, 3e-6)
    assert compose([ApproxProfile.of(1, 1e-6), PureProfile.of(2)]) == ApproxProfile.of(3, 1e-6)
    with pytest.raises(GuaranteeError, match="one or more"):
        compose([ApproxProfile.of(1, 0.5)] * 2)


def test_what_has_no_route_is_a_later_part() -> None:
    for other in (GaussianProfile.of(1), ZCDPProfile.of(1), RenyiProfile.of(2, 1)):
        with pytest.raises(NotYetError, match="not part of this version"):
            compose([ApproxProfile.of(1, 1e-6), other])
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
