"""Our profiles in other libraries' accounts: never below the truth, and close to it."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting.pld import privacy_loss_distribution as theirs

import geodp as gd
from geodp.privacy import adapters, pld_grid
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.promised import promised

from .oracle import gaussian_delta as exact_delta

MEAN = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(exact_delta(Fraction(mu), Fraction(epsilon)))


EPSILONS = (-2.0, -0.3, 0.0, 0.1, 0.7, 1.0, 2.5, 4.0)


@pytest.fixture
def features() -> object:
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


@pytest.mark.parametrize(
    ("mu", "sigma", "delta"), [(1.0, 2.0, 1e-6), (0.3, 5.0, 1e-9), (3.0, 0.5, 1e-3)]
)
def test_composed_with_their_gaussian(mu: float, sigma: float, delta: float) -> None:
    """Two Gaussians are one of mu^2 + 1/sigma^2; delta(epsilon) by mpmath."""
    whole = GaussianProfile.of(mu).to_dp_accounting()
    whole = whole.compose(theirs.from_gaussian_mechanism(sigma))
    together = math.sqrt(mu**2 + sigma**-2)
    epsilon = whole.get_epsilon_for_delta(delta)
    assert gaussian_delta(together, epsilon) <= delta
    assert gaussian_delta(together, epsilon * (1 - 1e-3)) > delta


@pytest.mark.parametrize(
    "promise",
    [
        gd.PureDP("0.98765432"),
        gd.ApproxDP(1, 1e-5),
        gd.GaussianDP("0.02"),
        gd.GaussianDP(5),
        gd.ZCDP(0.5),
        gd.RenyiDP(8, 1),
    ],
    ids=repr,
)
def test_it_dominates_every_kind_of_promise(promise: gd.PureDP) -> None:
    profile = promised(promise)
    found = profile.to_dp_accounting()
    for epsilon in EPSILONS:
        said = found.get_delta_for_epsilon(epsilon)
        assert said >= profile.delta(epsilon)
        if epsilon >= 0:  # a promise says little of a negative epsilon, their symmetry more
            assert said <= profile.delta(epsilon) * 1.15 + 1e-4


def test_pure_dp_is_randomised_response() -> None:
    """Their own, with e^1/(1 + e^1) for the truth, has the same delta at every epsilon."""
    own = theirs.from_randomized_response(2 / (1 + math.e), 2)
    ours = promised(gd.PureDP(1)).to_dp_accounting()
    for epsilon in np.linspace(-1.2, 1.2, 50):
        wanted = own.get_delta_for_epsilon(epsilon)
        assert ours.get_delta_for_epsilon(epsilon) == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_a_composition_and_a_curved_law() -> None:
    laplace = gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.SPD(2), 0.1, gd.PureDP(1)).profile
    profile = gd.compose([laplace, GaussianProfile.of("0.5")])
    found = laplace.to_dp_accounting().compose(theirs.from_gaussian_mechanism(2.0))
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        said = found.get_delta_for_epsilon(epsilon)
        assert profile.delta(epsilon) * (1 - 1e-2) <= said <= profile.delta(epsilon) * 1.02


def test_a_grid_of_their_choice() -> None:
    coarse = GaussianProfile.of(1).to_dp_accounting(1e-2)
    coarse.compose(theirs.from_gaussian_mechanism(1.0, value_discretization_interval=1e-2))
    with pytest.raises(gd.InputError, match="larger interval"):
        GaussianProfile.of(1).to_dp_accounting("1e-7")
    with pytest.raises(gd.GuaranteeError, match="greater than zero"):
        GaussianProfile.of(1).to_dp_accounting(0)


def test_dots_that_are_read_too_low_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparisons above have power: mass that is 1 % small fails them."""
    real = pld_grid.dots
    monkeypatch.setattr(
        adapters, "dots", lambda p, *rest: real(GaussianProfile.of(Fraction(99, 100)), *rest)
    )
    whole = GaussianProfile.of(1).to_dp_accounting()
    assert gaussian_delta(1, whole.get_epsilon_for_delta(1e-6)) > 1e-6


def test_opendp_reads_our_profile(features: object) -> None:
    profile = GaussianProfile.of(1)
    found = profile.to_opendp()
    for epsilon in (0.0, 0.5, 1.0, 4.0):
        assert found.delta(epsilon) == profile.delta(epsilon)
    for delta in (0.3, 1e-6, 1e-12):
        epsilon = found.epsilon(delta)
        assert gaussian_delta(1, epsilon) <= delta
        assert gaussian_delta(1, epsilon * (1 - 1e-9)) > delta
    assert found.epsilon(1e-320) > 30


def test_opendp_composes_our_release(features: object) -> None:
    """As the map of a measurement of its own, beside its zCDP account of the same Gaussian."""
    out = gd.release(np.zeros((9, 2)), MEAN, gd.GaussianDP(1), gd.Wrapped(gd.Gaussian()))
    profile = out.to_opendp()
    numbers = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    ours = dp.m.make_user_measurement(
        *numbers,
        dp.fixed_smoothed_max_divergence(),
        function=lambda _: 0.0,
        privacy_map=lambda _: (profile.epsilon(1e-6), 1e-6),
        TO=float,
    )
    epsilon, delta = dp.c.make_composition([ours, ours]).map(1)
    assert (epsilon, delta) == pytest.approx((2 * 4.886554, 2e-6), rel=1e-6)
    gaussian = dp.m.make_gaussian(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), 1.0
    )
    account = dp.c.make_zCDP_to_approxDP(gaussian).map(1.0)
    assert profile.epsilon(1e-6) <= account.epsilon(1e-6)  # zCDP is the looser account
    assert promised(gd.ZCDP(0.5)).epsilon(1e-6) == pytest.approx(account.epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize("rho", ["0.5", "0.003", "4"])
def test_opendp_agrees_on_the_scale_of_gaussian_noise(features: object, rho: str) -> None:
    """Its Gaussian at our scale keeps rho-zCDP, and at a scale a millionth smaller it does not."""
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.Euclidean(3), 0.37, gd.ZCDP(rho))
    one = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    assert dp.m.make_gaussian(*one, cal.scale).map(0.37) <= float(rho) * (1 + 1e-12)
    assert dp.m.make_gaussian(*one, cal.scale * (1 - 1e-6)).map(0.37) > float(rho)


def test_a_receipt_promises_the_least_that_it_knows() -> None:
    """A Gaussian calibrated to (1, 1e-5) has mu = 1/3.7307 (Balle and Wang): far less than (1,
    1e-5) alone says."""
    promise = gd.ApproxDP(1, 1e-5)
    noise = gd.Wrapped(gd.Gaussian())
    out = gd.release(np.zeros((9, 2)), MEAN, promise, noise, replaced=0)
    found = out.to_dp_accounting()
    assert found.get_epsilon_for_delta(1e-9) == pytest.approx(
        promised(gd.GaussianDP(1 / 3.7307)).epsilon(1e-9), rel=1e-3
    )
    assert found.get_delta_for_epsilon(1.0) <= 1e-5 * (1 + 1e-2)


def test_consent_and_packages_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gd.InputError, match="enable_features"):
        GaussianProfile.of(1).to_opendp()
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    for ask in (GaussianProfile.of(1).to_opendp, GaussianProfile.of(1).to_dp_accounting):
        with pytest.raises(gd.InputError, match=r"pip install 'geodp\[accounting\]'"):
            ask()
