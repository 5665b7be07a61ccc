"""Compositions by loss distributions against truths from elsewhere, never below them."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from geodp.privacy.compose import compose
from geodp.privacy.gaussian import GaussianProfile
from geodp.privacy.pld_profile import PLDProfile
from geodp.privacy.profile import Profile
from geodp.privacy.pure import PureProfile

from . import oracle


@pytest.mark.parametrize(("mu", "count"), [("0.1", 100), ("1", 2), ("0.01", 3000), ("2", 7)])
def test_gaussians_by_losses_are_the_closed_form_rounded_up(mu: str, count: int) -> None:
    whole = PLDProfile.composed([(GaussianProfile.of(mu), count)], 88)
    square = count * Fraction(mu) ** 2
    root = math.sqrt(square)
    for k in range(-4, 37):  # δ from almost one down to 1e-20
        epsilon = Fraction(k, 4) * Fraction(root) + square / 2
        truth = oracle.gaussian_delta_of_square(square, epsilon)
        assert truth <= whole.delta(epsilon) <= truth * mp.mpf("1.02"), (k, truth)
    closed = GaussianProfile(square=square)
    for delta in (1e-2, 1e-6, 1e-12, 1e-20):
        assert closed.epsilon(delta) <= whole.epsilon(delta) <= closed.epsilon(delta) * 1.0005


def test_check_value_of_a_hundred_gaussians() -> None:
    whole = PLDProfile.composed([(GaussianProfile.of(0.1), 100)], 64)
    assert whole.epsilon(1e-6) == pytest.approx(4.8866, rel=5e-4)


def test_small_deltas_reach_deeper_levels() -> None:
    """ε of a mixture whose truth is known, at δ far below the first level of resolution."""
    mixture = compose([PureProfile.of(0.5), GaussianProfile.of(1)])
    p = 1 / (1 + mp.exp(mp.mpf("-0.5")))
    for delta in (1e-6, 1e-30, 1e-100, 1e-200):
        epsilon = Fraction(mixture.epsilon(delta))
        with mp.workdps(450):
            at = [
                w * oracle.gaussian_delta(Fraction(1), e + s)
                for e in (epsilon, epsilon * Fraction(998, 1000))
                for w, s in ((p, -Fraction(1, 2)), (1 - p, Fraction(1, 2)))
            ]
            assert at[0] + at[1] <= mp.mpf(delta) < at[2] + at[3]
        assert mixture.delta(epsilon) <= delta * 1.01


@pytest.mark.parametrize(
    ("pure", "mu"),
    [
        ("700", "1/1000"),
        ("1000000", "1"),
        ("1/1000000000", "1"),
        ("1", "1/1000000000"),
        ("3", "50"),
    ],
)
def test_parts_of_very_different_size(pure: str, mu: str) -> None:
    whole = compose([PureProfile.of(pure), GaussianProfile.of(mu)])
    for delta in (1e-3, 1e-12):
        epsilon = Fraction(whole.epsilon(delta))
        with mp.workdps(50):
            p = 1 / (1 + mp.exp(-oracle.number(Fraction(pure))))
            mass = p * oracle.gaussian_delta(Fraction(mu), epsilon - Fraction(pure))
            mass += (1 - p) * oracle.gaussian_delta(Fraction(mu), epsilon + Fraction(pure))
            assert mass <= mp.mpf(delta)
        added = float(Fraction(pure)) + GaussianProfile.of(mu).epsilon(delta)
        assert epsilon <= added * 1.05  # one grid for both is coarse for one of them


def _discrete_delta(p: list[Fraction], q: list[Fraction], epsilon: mp.mpf) -> mp.mpf:
    factor = mp.exp(epsilon)
    return mp.fsum(
        max(oracle.number(x) - factor * oracle.number(y), 0) for x, y in zip(p, q, strict=True)
    )


def _product(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    return [x * y for x, y in itertools.product(p, q)]


@pytest.mark.parametrize("seed", range(6))
def test_discrete_pairs_by_brute_force(seed: int) -> None:
    """Every order of the two neighbours in each of three releases, all outcomes enumerated."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(3):
        weights = rng.integers(0 if seed % 2 else 1, 40, size=(2, 4))
        weights[:, 0] += 1
        pairs.append([[Fraction(int(x), int(row.sum())) for x in row] for row in weights])

    def profile(p: list[Fraction], q: list[Fraction]) -> Profile:
        def delta(epsilon: float) -> float:
            worst = max(_discrete_delta(p, q, mp.mpf(epsilon)), _discrete_delta(q, p, epsilon))
            return min(1.0, math.nextafter(float(worst) * (1 + 1e-12), 2)) if worst else 0.0

        return Profile.from_delta(delta)

    whole = compose([profile(p, q) for p, q in pairs])
    for epsilon in (-1.5, 0.0, 0.3, 1.0, 2.5, 6.0):
        bound, truths = whole.delta(epsilon), []
        for order in itertools.product((0, 1), repeat=3):
            p, q = [Fraction(1)], [Fraction(1)]
            for (a, b), flip in zip(pairs, order, strict=True):
                p, q = _product(p, b if flip else a), _product(q, a if flip else b)
            truths.append(_discrete_delta(p, q, mp.mpf(epsilon)))
        assert max(truths) <= bound
        if epsilon in (0.0, 0.3, 1.0):  # dominating both orders at once costs something
            assert bound <= max(truths) * mp.mpf("1.35")


def test_hundred_folds_against_dp_accounting() -> None:
    peer = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    gaussian = peer.from_gaussian_mechanism(10.0, value_discretization_interval=1e-3)
    laplace = peer.from_laplace_mechanism(10.0, value_discretization_interval=1e-3)
    mine = {
        "gaussian": PLDProfile.composed([(GaussianProfile.of("0.1"), 100)], 64),
        "laplace": compose([_laplace(0.1)] * 100),
    }
    for name, other in (("gaussian", gaussian), ("laplace", laplace)):
        whole = other.self_compose(100)
        for delta in (1e-3, 1e-6, 1e-9):
            expected = whole.get_epsilon_for_delta(delta)
            assert mine[name].epsilon(delta) == pytest.approx(expected, rel=1e-3), (name, delta)


def _laplace(bound: float) -> Profile:
    """One-dimensional Laplace noise: δ = 1 − e^{(ε − ε₀)/2} up to ε₀."""

    def delta(epsilon: float) -> float:
        return max(0.0, -math.expm1((epsilon - bound) / 2)) * (1 + 1e-15)

    return Profile.from_delta(delta, pure=bound)


def test_laplace_against_the_response_and_itself() -> None:
    """Tighter than pure ε alone, and never below the central value of its own exact pair."""
    b = mp.mpf("0.5")
    whole, response = compose([_laplace(0.5)] * 2), compose([PureProfile.of(0.5)] * 2)
    for epsilon in (0, 0.25, 0.5, 0.75, 0.99):
        truth = _two_laplaces(b, mp.mpf(epsilon))
        assert truth * (1 - mp.mpf("1e-15")) <= whole.delta(epsilon)
        assert whole.delta(epsilon) <= truth * mp.mpf("1.01")
        assert whole.delta(epsilon) < response.delta(epsilon)


def _two_laplaces(b: mp.mpf, e: mp.mpf) -> mp.mpf:
    """The loss of one: ½ at b, ½e^{−b} at −b, density ¼e^{(l−b)/2} between; condition on it."""

    def single(e: mp.mpf) -> mp.mpf:
        if e >= b:
            return mp.mpf(0)
        return -mp.expm1(e if e <= -b else (e - b) / 2)

    kinks = sorted({-b, b, *(x for x in (e - b, e + b) if -b < x < b)})
    middle = mp.quad(lambda u: mp.exp((u - b) / 2) / 4 * single(e - u), kinks)
    return single(e - b) / 2 + mp.exp(-b) / 2 * single(e + b) + middle
