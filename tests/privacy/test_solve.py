"""Calibration: certified on the private side, within 1e-9 of the optimum."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geodp.errors import GuaranteeError, InputError
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from geodp.privacy.solve import gaussian_ratio, laplace_ratio, scale_for

from . import oracle

LITTLE_MORE = 1 + Fraction(1, 10**9)


def test_gaussian_closed_forms() -> None:
    assert gaussian_ratio(GaussianDP(0.1)) == Fraction(1, 10)
    assert gaussian_ratio(ZCDP(0.02)) == Fraction(1, 5)
    assert gaussian_ratio(RenyiDP(8, 1)) == Fraction(1, 2)
    for ratio, square in [
        (gaussian_ratio(ZCDP(0.3)), Fraction(6, 10)),
        (gaussian_ratio(RenyiDP(7, 1)), Fraction(2, 7)),
    ]:
        assert ratio**2 <= square < (ratio * LITTLE_MORE) ** 2


def test_gaussian_at_epsilon_one_and_delta_1e_5() -> None:
    assert float(gaussian_ratio(ApproxDP(1, 1e-5)) ** -2) == pytest.approx(13.9176, abs=5e-5)


def test_gaussian_approx_is_private_and_tight() -> None:
    rng = np.random.default_rng(7)
    cases = [(0.1, 0.1), (4, 1e-12), (1, 1e-300), (1e-6, 1e-9), (50, 0.3), (0.01, 0.999)]
    cases += [
        (float(np.exp(x)), float(np.exp(y))) for x, y in rng.uniform([-4, -40], [3, -1], (15, 2))
    ]
    for epsilon, delta in cases:
        promise = ApproxDP(epsilon, delta)
        ratio = gaussian_ratio(promise)
        wanted = oracle.number(promise.delta)
        assert oracle.gaussian_delta(ratio, promise.epsilon) <= wanted
        assert oracle.gaussian_delta(ratio * LITTLE_MORE, promise.epsilon) > wanted


def test_gaussian_refuses_pure() -> None:
    with pytest.raises(GuaranteeError, match=r"L2Laplace.*epsilon, delta"):
        gaussian_ratio(PureDP(1))


def test_laplace_keeps_each_promise_and_a_little_more_would_not() -> None:
    assert laplace_ratio(PureDP(0.1)) == Fraction(1, 10)
    for epsilon, delta in [(1, 1e-5), (0.2, 0.3), (5, 0.9), (30, 1e-12), (2, 1e-300)]:
        promise = ApproxDP(epsilon, delta)
        ratio, wanted = laplace_ratio(promise), oracle.number(promise.delta)
        assert oracle.response_delta(ratio, promise.epsilon) <= wanted
        assert oracle.response_delta(ratio * LITTLE_MORE, promise.epsilon) > wanted
        assert ratio * LITTLE_MORE > promise.epsilon  # never worse than e = ε
    for mu in (0.01, 1, 9):
        ratio = laplace_ratio(GaussianDP(mu))
        assert oracle.response_mu(ratio) <= mu < oracle.response_mu(ratio * LITTLE_MORE)
    for order, epsilon in [(2, 1), (1.5, 0.01), (30, 4)]:
        promised = RenyiDP(order, epsilon)
        ratio = laplace_ratio(promised)
        assert oracle.response_renyi(ratio, promised.alpha) <= oracle.number(promised.epsilon)
        more = oracle.response_renyi(ratio * LITTLE_MORE, promised.alpha)
        assert more > oracle.number(promised.epsilon)
    for rho in (1e-4, 0.5, 20):
        wanted = oracle.number(Fraction(repr(rho)))
        ratio = laplace_ratio(ZCDP(rho))
        for factor, kept in ((1, True), (LITTLE_MORE, False)):
            e = oracle.number(ratio * factor)
            assert (e * mp.tanh(e / 2) <= wanted) is kept


finite = st.floats(1e-300, 1e300)


@given(finite, st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_scale_is_the_least_float_that_is_proved(sensitivity: float, ratio: Fraction) -> None:
    scale = scale_for(sensitivity, ratio)
    assert Fraction(sensitivity) / Fraction(scale) <= ratio
    below = math.nextafter(scale, 0)
    assert Fraction(sensitivity) / Fraction(below) > ratio


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_scale_refuses(bad: float) -> None:
    with pytest.raises(GuaranteeError, match="The sensitivity"):
        scale_for(bad, Fraction(1))
    with pytest.raises(GuaranteeError, match="The ratio"):
        scale_for(1.0, bad)
    with pytest.raises(GuaranteeError, match="largest float64"):
        scale_for(1e300, Fraction(1, 10**20))


PROMISES: list[Guarantee] = [PureDP(1), ApproxDP(1, 1e-6), GaussianDP(1), RenyiDP(4, 1), ZCDP(1)]


@pytest.mark.parametrize(
    ("noise", "promise"),
    [("gaussian", promise) for promise in PROMISES[1:]]
    + [("l2-laplace", promise) for promise in PROMISES],
)
def test_the_profile_at_the_ratio_keeps_the_promise(noise: str, promise: Guarantee) -> None:
    sensitivity = 0.3
    scale = scale_for(sensitivity, ratio_for(noise, 3, promise))
    profile = profile_for(noise, 3, Fraction(sensitivity) / Fraction(scale))
    kept = {
        "pure": lambda: profile.charge("pure") <= 1,
        "approx": lambda: profile.delta(1) <= 1e-6,
        "gdp": lambda: profile.charge("gdp") <= 1,
        "renyi": lambda: profile.charge("renyi", 4) <= 1,
        "zcdp": lambda: profile.charge("zcdp") <= 1,
    }
    assert kept[promise.notion]()


def test_registry_refusals() -> None:
    with pytest.raises(InputError, match="without parameters"):
        ratio_for("spherical-gamma", 3, PureDP(1))
    with pytest.raises(InputError, match="without parameters"):
        profile_for("spherical-gamma", 3, Fraction(1))
    with pytest.raises(InputError, match="noise must be one of"):
        ratio_for("cauchy", 3, PureDP(1))
    with pytest.raises(InputError, match="dimension"):
        ratio_for("gaussian", 0, GaussianDP(1))
    with pytest.raises(InputError, match="ratio"):
        profile_for("gaussian", 3, Fraction(0))


TINY, HUGE = "2.3e-308", "1.7e308"


@pytest.mark.parametrize("noise", ["gaussian", "l2-laplace"])
@pytest.mark.parametrize(
    "promise",
    [PureDP(TINY), PureDP(HUGE), GaussianDP(TINY), GaussianDP(HUGE), ZCDP(TINY), ZCDP(HUGE)]
    + [ApproxDP(e, d) for e in (TINY, 1, HUGE) for d in (TINY, 1e-9, "0.999999999999999999999")]
    + [RenyiDP(a, e) for a in ("1.000000000000000000001", 2, HUGE) for e in (TINY, 1, HUGE)],
    ids=repr,
)
def test_extreme_promises_get_a_ratio_or_a_sentence(noise: str, promise: Guarantee) -> None:
    try:
        ratio = ratio_for(noise, 2, promise)
        profile_for(noise, 2, ratio).delta(1)
    except GuaranteeError:
        ratio = None
    assert ratio is None or ratio > 0
