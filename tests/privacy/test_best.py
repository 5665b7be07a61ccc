"""The best spherical law for a promise: published and own reductions, and what it never exceeds."""

import math
import time

import pytest

from geodp.errors import GuaranteeError
from geodp.noise.base import Noise
from geodp.noise.strategies import Gaussian, L2Laplace, SphericalGamma
from geodp.privacy.families import ratio_for
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from geodp.privacy.shares import equal_shares, noise_share, share_of
from geodp.privacy.spherical_best import best_noise
from geodp.privacy.spherical_estimates import estimated_ratio

TOTAL = ApproxDP(1, "1e-5")


def error(noise: Noise, dim: int, promise: Guarantee) -> float:
    """E R² at the certified scale; infinite where the law cannot keep the promise."""
    try:
        return noise.law(dim).mean_square(float(1 / ratio_for(noise, dim, promise)))
    except GuaranteeError:
        return math.inf


@pytest.mark.parametrize(("dim", "percent"), [(2, 17.5), (3, 14.1)])
def test_own_search_beats_the_published_reductions(dim: int, percent: float) -> None:
    promise = ApproxDP(0.1, 0.1)
    found = best_noise(dim, promise, 2)
    saved = 100 * (1 - error(found, dim, promise) / error(Gaussian(), dim, promise))
    assert percent <= saved <= percent + 0.2  # nothing in the family is much better


@pytest.mark.parametrize(
    ("dim", "promise"),
    [
        (1, TOTAL),
        (20, TOTAL),
        (20, ApproxDP(0.1, 0.1)),
        (2, ApproxDP(4, 0.1)),
        (3, PureDP(1)),
        (3, PureDP(20)),
        (3, GaussianDP(1)),
        (3, GaussianDP(8)),
        (2, ZCDP("0.5")),
        (3, RenyiDP(3, 1)),
    ],
    ids=repr,
)
def test_never_worse_than_the_named_members_and_soon(dim: int, promise: Guarantee) -> None:
    begun = time.process_time()
    found = best_noise(dim, promise, 2)
    assert time.process_time() - begun < 5
    least = min(error(noise, dim, promise) for noise in (Gaussian(), L2Laplace()))
    assert error(found, dim, promise) <= least * (1 + 1e-12)


def test_pure_epsilon_against_the_closed_form() -> None:
    """E R² = ε^(−2/p) Γ(5/p)/Γ(3/p) in three dimensions, least over a fine grid of p ≤ 1."""
    least = min(
        -2 / p * math.log(20) + math.lgamma(5 / p) - math.lgamma(3 / p)
        for p in (k / 1000 for k in range(150, 1001))
    )
    assert error(best_noise(3, PureDP(20), 2), 3, PureDP(20)) == pytest.approx(
        math.exp(least), rel=1e-5
    )
    assert best_noise(3, PureDP(1), 2) == SphericalGamma(2.0, 1.0)


def test_a_grid_holds_nothing_better() -> None:
    promise = ApproxDP("0.5", "0.01")
    least = error(best_noise(3, promise, 2), 3, promise)
    for pole in (0.0, 0.05, 0.2, 0.5):
        for power in (0.8, 1, 1.5, 2, 3, 4, 6, 9):
            ratio = estimated_ratio(SphericalGamma(2 - pole, power).law(3), promise)
            assert SphericalGamma(2 - pole, power).law(3).mean_square(1 / ratio) >= 0.999 * least


@pytest.mark.parametrize("releases", [2, 8])
def test_composed_estimates_against_certified_compositions(releases: int) -> None:
    for noise in (Gaussian(), L2Laplace()):
        certified = float(share_of(noise, 3, TOTAL, releases))
        assert estimated_ratio(noise.law(3), TOTAL, releases) == pytest.approx(certified, rel=3e-3)


@pytest.mark.parametrize(("releases", "ratio"), [(1, 0.285), (2, 0.54), (4, 0.87), (16, 1.22)])
def test_l2_over_gaussian_when_several_share_a_budget(releases: int, ratio: float) -> None:
    """Measured beforehand; and the best is never above either."""
    square = {
        noise: noise.law(3).mean_square(1 / estimated_ratio(noise.law(3), TOTAL, releases))
        for noise in (Gaussian(), L2Laplace())
    }
    assert square[L2Laplace()] / square[Gaussian()] == pytest.approx(ratio, abs=0.006)
    law = best_noise(3, TOTAL, 2, releases).law(3)
    best = law.mean_square(1 / estimated_ratio(law, TOTAL, releases))
    assert best <= min(square.values()) * (1 + 1e-12)


def test_shares_are_promises_that_keep_the_total() -> None:
    gaussian = noise_share(Gaussian(), 3, TOTAL, 4)
    assert gaussian == equal_shares(TOTAL, 4)[0]
    assert ratio_for(Gaussian(), 3, gaussian) <= share_of(Gaussian(), 3, TOTAL, 4)
    laplace = noise_share(L2Laplace(), 3, TOTAL, 8)
    assert ratio_for(L2Laplace(), 3, laplace) <= share_of(L2Laplace(), 3, TOTAL, 8)
    assert float(laplace.epsilon) == pytest.approx(0.18015, rel=1e-3)  # type: ignore[attr-defined]
    assert equal_shares(GaussianDP(1), 4) == (GaussianDP("0.5"),)
    assert equal_shares(TOTAL, 1) == (TOTAL,)


def test_the_gaussian_by_its_parameters_has_the_same_share() -> None:
    assert noise_share(SphericalGamma(2.0, 2.0), 3, TOTAL, 4) == noise_share(
        Gaussian(), 3, TOTAL, 4
    )


def test_a_share_said_as_a_pair_needs_no_larger_ratio() -> None:
    noise = SphericalGamma(2.0, 1.355)
    share = noise_share(noise, 3, TOTAL, 8)
    ratio, most = ratio_for(noise, 3, share), share_of(noise, 3, TOTAL, 8)
    assert most * (1 - 1 / 1000) < ratio <= most
