"""Profiles are certified: never below mpmath at 50 digits, and within 1e-9 of it."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geodp.errors import GuaranteeError
from geodp.privacy.approx import ApproxProfile
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.least import LeastProfile
from geodp.privacy.profile import Profile
from geodp.privacy.promised import promised
from geodp.privacy.pure import PureProfile
from geodp.privacy.renyi import RenyiProfile, ZCDPProfile

from . import oracle

RNG = np.random.default_rng(20240601)
PAIRS = [
    (Fraction(repr(float(m))), Fraction(repr(float(e))))
    for m, e in zip(
        np.exp(RNG.uniform(-5, 2.5, 150)), RNG.uniform(-1, 3, 150) ** 3 * 2, strict=True
    )
]
MAKERS: list[Callable[[Fraction], Profile]] = [
    GaussianProfile.of,
    PureProfile.of,
    ZCDPProfile.of,
    lambda x: RenyiProfile.of(1 + x, x),
    lambda x: ApproxProfile.of(x, 1e-3),
    lambda x: LeastProfile((PureProfile.of(x), ZCDPProfile.of(x**2 / 3))),
]


def test_gaussian_delta_against_mpmath() -> None:
    for mu, epsilon in PAIRS:
        bound = GaussianProfile.of(mu).delta(epsilon)
        assert oracle.tight_above(bound, oracle.gaussian_delta(mu, epsilon)), (mu, epsilon)


def test_gaussian_delta_down_to_1e_300() -> None:
    for mu, epsilon in [(1, 37.4), (0.1, 3.67), (3, 114), (1, 9.5)]:
        m, e = Fraction(repr(mu)), Fraction(repr(epsilon))
        truth = oracle.gaussian_delta(m, e)
        assert truth < mp.mpf("1e-19")
        assert oracle.tight_above(GaussianProfile.of(m).delta(e), truth)
    assert oracle.gaussian_delta(Fraction(1), Fraction("37.4")) < mp.mpf("1e-298")
    assert 0 < GaussianProfile.of(1).delta(1e6) <= 5e-324  # below float64: still not zero


def test_gaussian_epsilon_is_certified_and_tight() -> None:
    for mu in (0.05, 0.3, 1, 4):
        for delta in (0.01, 1e-6, 1e-20, 1e-100, 1e-300):
            profile, m = GaussianProfile.of(mu), Fraction(repr(mu))
            epsilon = profile.epsilon(delta)
            if epsilon == 0:
                assert oracle.gaussian_delta(m, Fraction(0)) <= delta
                continue
            for reading in (Fraction(epsilon), Fraction(repr(epsilon))):
                assert oracle.gaussian_delta(m, reading) <= oracle.number(Fraction(repr(delta)))
            below = Fraction(epsilon) * (1 - Fraction(1, 10**9))
            assert oracle.gaussian_delta(m, below) > delta


def test_gaussian_in_the_other_notions() -> None:
    profile = GaussianProfile.of(0.1)
    assert profile.mu() == 0.1
    assert profile.charge("gdp") == Fraction(1, 100)
    assert profile.charge("zcdp") == Fraction(1, 200)
    assert profile.rho() == 0.005
    assert profile.renyi(8) == 0.04
    with pytest.raises(GuaranteeError, match="L2Laplace"):
        profile.charge("pure")


def test_gaussian_renyi_by_quadrature() -> None:
    order, mu = mp.mpf(3), mp.mpf("0.7")
    value = mp.quad(
        lambda x: mp.npdf(x, mu, 1) ** order * mp.npdf(x, 0, 1) ** (1 - order), [-10, 0, 3, 12]
    )
    assert GaussianProfile.of("0.7").renyi(3) == pytest.approx(float(mp.log(value) / 2), rel=1e-10)


def test_pure_against_mpmath() -> None:
    for epsilon0, epsilon in PAIRS:
        profile = PureProfile.of(epsilon0)
        for e in (epsilon, epsilon0 / 3, -epsilon0 / 3, epsilon0 * (1 - Fraction(1, 10**6))):
            truth = oracle.response_delta(epsilon0, e)
            assert oracle.tight_above(profile.delta(e), truth), (epsilon0, e)


def test_pure_in_the_other_notions() -> None:
    for epsilon0, _ in PAIRS[::5]:
        profile = PureProfile.of(epsilon0)
        assert oracle.tight_above(profile.mu(), oracle.response_mu(epsilon0))
        for order in (Fraction(101, 100), Fraction(2), Fraction(40)):
            truth = oracle.response_renyi(epsilon0, order)
            assert oracle.tight_above(profile.renyi(order), truth)
            assert truth <= oracle.number(order) * mp.mpf(profile.rho())  # the zCDP claim
        assert profile.rho() <= float(epsilon0**2 / 2)
    assert PureProfile.of(0.61579).mu() < PureProfile.of(1).mu() == pytest.approx(1.23204, abs=6e-6)


def test_no_smaller_rho_holds_for_randomised_response() -> None:
    for epsilon0 in (Fraction(1, 10), Fraction(1), Fraction(6)):
        near = Fraction(1000001, 1000000)
        ratio = oracle.response_renyi(epsilon0, near) / oracle.number(near)
        assert ratio > PureProfile.of(epsilon0).rho() * (1 - 1e-5)


@pytest.mark.parametrize("text", ["2.3e-308", "1e-100", "1e-9", "700", "1e5", "1e100", "1e308"])
def test_extreme_parameters_stay_sound(text: str) -> None:
    x = Fraction(text)
    for make in (GaussianProfile.of, PureProfile.of, ZCDPProfile.of):
        profile = make(x)
        values = [profile.delta(e) for e in ("-1e308", -1, 0, 1, "1e308")]
        assert all(0 <= v <= 1 for v in values)
        assert values == sorted(values, reverse=True)
    assert PureProfile.of(x).rho() >= 0 or x > 10**300
    assert 0 <= RenyiProfile.of(2, x).delta(1) <= 1
    assert 0 <= ApproxProfile.of(x, 0.5).delta(1) <= 1


def test_conversions_hold_for_gaussian_noise_and_are_the_best_order() -> None:
    for mu, epsilon in PAIRS[::3]:
        e = abs(epsilon)
        zcdp = ZCDPProfile.of(mu**2 / 2).delta(e)
        single = RenyiProfile.of(3, 3 * mu**2 / 2).delta(e)
        truth = oracle.gaussian_delta(mu, e)
        assert truth <= zcdp <= 1
        assert truth <= single <= 1
        rho = oracle.number(mu**2 / 2)
        best = min(
            oracle.renyi_delta(1 + u, (1 + u) * rho, oracle.number(e))
            for u in map(mp.exp, mp.linspace(-8, 12, 400))
        )
        assert zcdp <= best * (1 + mp.mpf("1e-12")) + mp.mpf(5e-324)


def test_one_order_against_its_formula() -> None:
    value = RenyiProfile.of(4, "0.5").delta(3)  # beyond ε̄: the order itself is the best
    truth = oracle.renyi_delta(mp.mpf(4), mp.mpf("0.5"), mp.mpf(3))
    assert oracle.tight_above(value, truth)
    # within it the order 1/(1 − e^{ε−ε̄}) = 2.54, where the formula is 1 − e^{ε−ε̄}
    assert RenyiProfile.of(4, "0.5").delta(0) == pytest.approx(1 - math.exp(-0.5), rel=1e-12)
    assert RenyiProfile.of(4, "1e-4").delta(0) == pytest.approx(math.sqrt(5e-5), rel=1e-9)


def test_randomised_response_keeps_its_renyi_and_zcdp_conversions() -> None:
    for epsilon0 in (Fraction(1, 5), Fraction(1), Fraction(3)):
        pure = PureProfile.of(epsilon0)
        zcdp = ZCDPProfile(pure.rho_upper())
        renyi = RenyiProfile(Fraction(5), pure.renyi_upper(Fraction(5)))
        for k in range(-12, 13):
            e = epsilon0 * k / 8
            truth = oracle.response_delta(epsilon0, e)
            assert truth <= zcdp.delta(e)
            assert truth <= renyi.delta(e)


def test_approx_is_leak_or_randomised_response() -> None:
    profile = ApproxProfile.of(1, 0.01)
    for e in (-3, -1, -0.5, 0, 0.5, 1, 4):
        x = Fraction(repr(float(e)))
        # outcomes: revealed here, revealed there, and the two answers
        p = mp.mpf("0.99") / (1 + mp.exp(-1))
        q = mp.mpf("0.99") / (1 + mp.exp(1))
        s = mp.exp(oracle.number(x))
        truth = mp.mpf("0.01") + max(p - s * q, 0) + max(q - s * p, 0)
        assert float(truth) == pytest.approx(profile.delta(x), rel=1e-13)
    assert profile.epsilon(0.01) == 1
    with pytest.raises(GuaranteeError, match="larger delta"):
        profile.epsilon(0.0099)
    for notion in ("pure", "gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match=r"[Nn]o "):
            profile.charge(notion)
    with pytest.raises(GuaranteeError, match=r"[Nn]o "):
        profile.renyi(2)


def test_zcdp_to_gdp_is_proved_and_close() -> None:
    # numerical convex hull of the conversions and the sup of mu over a grid: 1.40447
    assert ZCDPProfile.of(0.5).mu() == pytest.approx(1.40447, rel=2e-3)  # below the usual 1.540
    assert ZCDPProfile.of(0.5).mu() < 1.540
    for rho in (Fraction(1, 1000), Fraction(1, 2), Fraction(7)):
        source = ZCDPProfile(rho)
        target = GaussianProfile(square=source.mu_squared_upper())
        tighter = GaussianProfile(square=source.mu_squared_upper() * Fraction(99, 100))
        unit = Fraction(float(rho) ** 0.5) / 16
        grid = [unit * k for k in range(250)]
        assert all(source.delta(e) <= target.delta(e) for e in grid)
        fine = [e / step for step in (4, 50) for e in grid]
        assert any(source.delta(e) > tighter.delta(e) for e in fine)
    for rho in (Fraction(1, 10**10), Fraction(17)):
        with pytest.raises(GuaranteeError, match="proved for rho"):
            ZCDPProfile(rho).mu()


@pytest.mark.parametrize("make", MAKERS)
@settings(deadline=None, max_examples=25)
@given(
    x=st.fractions(min_value=Fraction(1, 50), max_value=5),
    a=st.fractions(min_value=-6, max_value=6),
    b=st.fractions(min_value=-6, max_value=6),
    w=st.fractions(min_value=0, max_value=1),
)
def test_every_profile_is_decreasing_convex_and_symmetric(
    make: Callable[[Fraction], Profile], x: Fraction, a: Fraction, b: Fraction, w: Fraction
) -> None:
    profile = make(x)
    a, b = min(a, b), max(a, b)
    high, low = profile.delta(a), profile.delta(b)
    slack = 1e-13
    assert low <= high * (1 + slack)
    assert high >= float(-mp.expm1(oracle.number(a))) * (1 - slack)  # δ(ε) ≥ 1 − e^ε always
    symmetric = -mp.expm1(-oracle.number(b)) + mp.exp(-oracle.number(b)) * low
    if b >= 0:
        assert profile.delta(-b) == pytest.approx(float(symmetric), rel=1e-12, abs=1e-300)
    if make in MAKERS[:2] or make is MAKERS[4]:  # exact profiles; a least of bounds need not be
        s, t = mp.exp(oracle.number(a)), mp.exp(oracle.number(b))
        middle = float(mp.log(oracle.number(w) * s + (1 - oracle.number(w)) * t))
        chord = float(w) * high + (1 - float(w)) * low
        assert profile.delta(middle) <= chord * (1 + slack) + 1e-15


@settings(deadline=None, max_examples=30)
@given(
    x=st.fractions(min_value=Fraction(1, 50), max_value=1),
    k=st.integers(2, 5),
    e=st.fractions(min_value=0, max_value=3),
)
def test_group_privacy(x: Fraction, k: int, e: Fraction) -> None:
    """k changed records: δ_k(kε) ≤ δ(ε) (e^{kε} − 1)/(e^ε − 1), and the group's own law."""
    factor = sum(mp.exp(i * oracle.number(e)) for i in range(k))
    for one, many in [
        (GaussianProfile.of(x), GaussianProfile.of(k * x)),
        (PureProfile.of(x), PureProfile.of(k * x)),
    ]:
        assert many.delta(k * e) <= one.delta(e) * factor * (1 + mp.mpf("1e-12"))


def test_epsilon_inverts_delta_for_every_profile() -> None:
    for make in MAKERS:
        profile = make(Fraction(1, 2))
        for delta in (0.1, 0.01, 0.0011):
            epsilon = profile.epsilon(delta)
            assert profile.delta(math.nextafter(epsilon, 10)) <= delta
            assert epsilon == 0 or profile.delta(epsilon * (1 - 1e-9)) > delta


def test_bad_questions() -> None:
    profile = GaussianProfile.of(1)
    for bad in (float("nan"), float("inf"), "x", True, 5e-324):
        with pytest.raises(GuaranteeError, match=r"^The number epsilon "):
            profile.delta(bad)
        with pytest.raises(GuaranteeError, match=r"^The number delta "):
            profile.epsilon(bad)
    for bad in (0, -0.1, 1, 2):
        with pytest.raises(GuaranteeError, match=r"^The number delta "):
            profile.epsilon(bad)
    for bad in (1, 0.5, None):
        with pytest.raises(GuaranteeError, match="order alpha"):
            profile.renyi(bad)  # type: ignore[arg-type]
    with pytest.raises(GuaranteeError, match="notions"):
        profile.charge("zcpd")


def test_one_order_refuses_what_it_does_not_know() -> None:
    profile = RenyiProfile.of(4, 1)
    assert profile.renyi(4) == profile.renyi(2) == 1
    for notion in ("pure", "gdp", "zcdp"):
        with pytest.raises(GuaranteeError, match="implies no"):
            profile.charge(notion)
    with pytest.raises(GuaranteeError, match="above its own"):
        profile.renyi(5)
    with pytest.raises(GuaranteeError, match="no pure"):
        ZCDPProfile.of(1).charge("pure")


def test_promises_imply_their_profiles() -> None:
    from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

    assert promised(PureDP(2)) == PureProfile(Fraction(2))
    assert promised(ApproxDP(2, 0.1)).delta(3) == 0.1
    assert promised(GaussianDP(2)).mu() == 2
    assert promised(RenyiDP(2, 3)).renyi(2) == 3
    assert promised(ZCDP(2)).rho() == 2
