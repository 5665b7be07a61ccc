"""Profiles from a user's own δ(ε)."""

import math
from fractions import Fraction

import numpy as np
import pytest

from geodp.errors import GuaranteeError
from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile

MU = GaussianProfile.of(1)


def test_a_gaussian_given_by_its_delta_is_the_gaussian() -> None:
    mine = Profile.from_delta(MU.delta)
    for epsilon in (-2, 0, 0.3, 1, 7):
        assert MU.delta(epsilon) <= mine.delta(epsilon) <= MU.delta(epsilon) * (1 + 1e-14)
    assert mine.epsilon(1e-6) == pytest.approx(MU.epsilon(1e-6), rel=1e-14)
    twice = compose([mine, mine])
    root = GaussianProfile(square=Fraction(2))
    for delta in (1e-3, 1e-6, 1e-20):
        assert root.epsilon(delta) <= twice.epsilon(delta) <= root.epsilon(delta) * 1.001


def test_between_floats_it_asks_below() -> None:
    asked = []

    def delta(epsilon: float) -> float:
        asked.append(epsilon)
        return math.exp(-3 * epsilon) / 2

    third = Fraction(1, 3)
    bound = Profile.from_delta(delta).delta_upper(third)
    assert Fraction(asked[-1]) < third
    assert bound >= Fraction(delta(1 / 3))


def test_what_was_proven_beside_it_can_be_charged() -> None:
    mine = Profile.from_delta(MU.delta, mu=1, rho="1/2")
    assert mine.charge("gdp") == 1
    assert mine.charge("zcdp") == Fraction(1, 2)
    assert compose([mine, GaussianProfile.of(2)]).charge("gdp") == 5
    pure = Profile.from_delta(PureProfile.of(0.5).delta, pure=0.5)
    assert pure.charge("pure") == Fraction(1, 2)
    assert pure.charge("zcdp") == PureProfile.of(0.5).charge("zcdp")
    assert pure.pair() == (Fraction(1, 2), 0)
    bare = Profile.from_delta(MU.delta)
    for notion in ("pure", "gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match="follows from values of delta"):
            bare.charge(notion)
    with pytest.raises(GuaranteeError, match="follows from values of delta"):
        bare.renyi(2)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda e: 1.5, "from 0 to 1"),
        (lambda e: -1e-9, "from 0 to 1"),
        (lambda e: math.nan, "from 0 to 1"),
        (lambda e: math.inf, "from 0 to 1"),
        (lambda e: True, "from 0 to 1"),
        (lambda e: None, "from 0 to 1"),
        (lambda e: min(1.0, e / 100), "not increase"),
        (lambda e: 0.25 if e < 1 else 0, "convex"),
        (lambda e: 0.5 if e < 1 else 0.1, "convex"),
        (lambda e: max(0.0, 1 - (e / 10) ** 2), "convex"),
        (0.5, "takes a function"),
    ],
)
def test_what_is_no_delta_is_refused(function: object, message: str) -> None:
    with pytest.raises(GuaranteeError, match=message):
        Profile.from_delta(function)  # type: ignore[arg-type]


def test_functions_that_overflow_or_return_exact_numbers() -> None:
    def overflowing(epsilon: float) -> float:
        return 1 / (1 + math.exp(3 * epsilon))  # OverflowError above ε = 236

    mine = Profile.from_delta(overflowing)
    whole = compose([mine] * 3)
    assert 0 < whole.delta(1) < 3 * mine.delta(Fraction(1, 3)) + 1e-9
    with pytest.raises(GuaranteeError):
        mine.delta(1000)
    exact = Profile.from_delta(lambda e: max(Fraction(0), Fraction(1 - e) / 4), pure=1)
    assert exact.delta(0.5) == 0.125
    assert Profile.from_delta(lambda e: np.float64(0.25)).delta(3) == 0.25
