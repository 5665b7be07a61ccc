"""How much noise each of k equal releases needs: the published figures, and certified totals."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from geodp.errors import GuaranteeError, InputError
from geodp.privacy.compose import compose
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile
from geodp.privacy.shares import largest_ratio, share_of

DIM = 10
TOTAL = ApproxDP(1, 1e-5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def l2_delta(length: float, epsilon: float) -> float:
    """δ(ε) of ℓ2-Laplace noise of scale one in ten dimensions, shifted by ``length``.

    P[|x − s| − |x| > ε] − e^ε P[|x| − |x − s| > ε …]: both are integrals over |x| of the law of
    the cosine; floats, for these tests alone.
    """
    from scipy.special import betainc

    def above(loss: float) -> float:
        ends = sorted({0.0, abs(length - loss) / 2, (length + abs(loss)) / 2, 6.0, 10, 20, 40, 90})
        total = 0.0
        for a, b in pairwise(ends):
            u = (NODES + 1) / 2
            r = a + (b - a) * np.sin(np.pi * u / 2) ** 2
            weight = WEIGHTS / 2 * (b - a) * np.pi / 2 * np.sin(np.pi * u)
            cosine = (length**2 - loss**2 - 2 * r * loss) / (2 * r * length)
            density = np.exp((DIM - 1) * np.log(r) - r - math.lgamma(DIM))
            half = (1 + np.clip(cosine, -1, 1)) / 2
            total += float(np.sum(weight * density * betainc((DIM - 1) / 2, (DIM - 1) / 2, half)))
        return total

    value = above(epsilon) - math.exp(epsilon) * (1 - above(-epsilon))
    return min(1.0, max(0.0, value)) if epsilon < length else 0.0


def l2_profile(ratio: Fraction) -> Profile:
    length = float(ratio)
    return Profile.from_delta(lambda epsilon: l2_delta(length, epsilon) + 1e-15, pure=length)


def test_the_oracle_has_the_known_scale_of_one_release() -> None:
    assert l2_delta(1 / 0.87281, 1.0) == pytest.approx(1e-5, rel=1e-4)


@pytest.mark.parametrize(
    ("releases", "naive", "tight"),
    [(2, 330.9, 227.1), (4, 1314.6, 530.5), (8, 5240, 1142), (16, 20922, 2367), (32, 83612, 4817)],
)
def test_published_errors_of_l2_laplace(releases: int, naive: float, tight: float) -> None:
    ratio = largest_ratio(l2_profile, TOTAL, releases, 0.87 / math.sqrt(releases))
    assert DIM * (DIM + 1) / float(ratio) ** 2 == pytest.approx(tight, rel=5e-3)
    each = float(TOTAL.epsilon) / releases, 1e-5 / releases  # basic composition
    assert l2_delta(math.sqrt(DIM * (DIM + 1) / naive), each[0]) == pytest.approx(each[1], rel=0.05)


def test_published_errors_by_the_certified_family() -> None:
    """The other four values: experiments/composition.py."""
    ratio = share_of("l2-laplace", DIM, TOTAL, 32)
    assert DIM * (DIM + 1) / float(ratio) ** 2 == pytest.approx(4817, rel=5e-3)


@pytest.mark.parametrize("releases", [2, 7, 50])
def test_shares_are_certified_and_nearly_the_largest(releases: int) -> None:
    ratio = largest_ratio(PureProfile, TOTAL, releases, 0.3)
    assert compose([PureProfile(ratio)] * releases).delta(1) <= 1e-5
    beyond = compose([PureProfile(ratio * Fraction(10002, 10000))] * releases)
    assert beyond.delta(1) > 1e-5


def test_a_poor_guess_finds_the_same() -> None:
    for start in (1e-6, 50.0):
        found = largest_ratio(PureProfile, TOTAL, 7, start)
        assert float(found) == pytest.approx(float(largest_ratio(PureProfile, TOTAL, 7, 0.3)), 5e-5)


@pytest.mark.parametrize("noise", ["gaussian", "l2-laplace"])
@pytest.mark.parametrize(
    "promise", [PureDP(1), ApproxDP(1, 1e-5), GaussianDP("0.3"), RenyiDP(3, 1), ZCDP("0.1")]
)
@pytest.mark.parametrize("releases", [1, 3])
def test_every_notion_is_kept_in_total(noise: str, promise: object, releases: int) -> None:
    try:
        single = ratio_for(noise, 3, promise)
    except GuaranteeError as reason:  # what one release cannot promise, several cannot either
        with pytest.raises(GuaranteeError, match=str(reason)[:30]):
            share_of(noise, 3, promise, releases)
        return
    ratio = share_of(noise, 3, promise, releases)
    whole = compose([profile_for(noise, 3, ratio)] * releases)
    spent, allowed = {
        "pure": lambda: (whole.charge("pure"), promise.epsilon),
        "approx": lambda: (whole.delta_upper(promise.epsilon), promise.delta),
        "gdp": lambda: (whole.charge("gdp"), promise.mu**2),
        "renyi": lambda: (whole.renyi_upper(promise.alpha), promise.epsilon),
        "zcdp": lambda: (whole.charge("zcdp"), promise.rho),
    }[promise.notion]()
    close = Fraction(8, 10) if promise.notion == "approx" else Fraction(999, 1000)  # δ is steep
    assert close * allowed <= spent <= allowed
    if releases == 1:
        assert ratio == single


def test_bad_numbers_of_releases() -> None:
    for bad in (0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match="number of releases"):
            share_of("gaussian", 3, GaussianDP(1), bad)  # type: ignore[arg-type]
