"""The audit's statistics: confidence bounds, events, laws, residuals, against closed forms.

Random tests have fixed seeds; under other seeds each comparison would fail with probability 1e-9.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest, chi2, norm

import geodp as gd
from geodp.testing.audit import stated_law
from geodp.testing.audit.classifier import classified
from geodp.testing.audit.confidence import ALARM, at_least, at_most
from geodp.testing.audit.events import Experiment
from geodp.testing.audit.fit import law_test
from geodp.testing.audit.floats import advantage
from geodp.testing.audit.laws import StatedLaw
from geodp.testing.audit.residuals import residual, traces

# --- confidence -----------------------------------------------------------------------------------


def test_bounds_on_a_probability_are_those_of_clopper_and_pearson() -> None:
    for hits, trials in ((3, 10), (500, 1000), (1, 10_000)):
        known = binomtest(hits, trials).proportion_ci(1 - 2e-6, method="exact")
        assert at_least(hits, trials, 1e-6) == pytest.approx(known.low, rel=1e-6)
        assert at_most(hits, trials, 1e-6) == pytest.approx(known.high, rel=1e-6)
    assert at_most(0, 50, 1e-9) == pytest.approx(1 - 1e-9 ** (1 / 50), rel=1e-9)
    assert at_least(50, 50, 1e-9) == pytest.approx(1e-9 ** (1 / 50), rel=1e-9)
    assert at_least(0, 50) == 0 < 1 == at_most(50, 50)


def gaussian_experiment(mu: float, count: int, seed: int) -> Experiment:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((2, count))
    useless = rng.standard_normal((2, count))
    return Experiment.split({"x": (noise[0] + mu, noise[1]), "useless": tuple(useless)})


def test_lower_bounds_come_near_the_truth_and_stay_below() -> None:
    """N(1, 1) against N(0, 1): mu = 1, delta(e) = Phi(1/2 - e) - e^e Phi(-1/2 - e)."""
    experiment = gaussian_experiment(1.0, 200_000, 1)
    mu = experiment.bound(lambda rates: rates.mu())
    assert 0.94 < mu.value < 1
    assert mu.event.startswith("x ")
    for epsilon in (0.0, 0.5, 1.0):
        delta = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
        found = experiment.bound(lambda rates, e=epsilon: rates.delta(e)).value
        assert delta - 0.025 * math.exp(epsilon) < found < delta
    assert gaussian_experiment(1.1, 200_000, 2).bound(lambda rates: rates.mu()).value > 1


def test_a_lower_bound_on_epsilon_from_an_event_that_never_happens() -> None:
    """Laplace noise, epsilon = 1: reached in both tails; infinite where a support ends."""
    rng = np.random.default_rng(3)
    x = rng.laplace(size=(2, 400_000))
    laplace = Experiment.split({"x": (x[0] + 1, x[1])})
    assert 0.9 < laplace.bound(lambda rates: rates.epsilon(0.0)).value < 1
    ends = Experiment.split({"x": (rng.random(50_000), rng.random(50_000) + 0.2)})
    assert ends.bound(lambda rates: rates.epsilon(0.0)).value > 5


def test_a_classifier_sees_what_no_projection_does() -> None:
    """A correlation of 0.8 against -0.8: no entry shows it. The total variation of the two laws is
    2 arctan(sqrt((1 + .8)/(1 - .8)))/pi - 2 arctan(sqrt((1 - .8)/(1 + .8)))/pi = .59."""
    rng = np.random.default_rng(9)
    x = rng.standard_normal((2, 40_000, 2)) * np.sqrt([1.8, 0.2])
    turn = np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2)
    first, second = x[0] @ turn, x[1] @ (turn * [1, -1])
    blind = Experiment.split({"entry": (first[:, 0], second[:, 0])})
    seeing = Experiment.split({"classifier": classified(first, second)})
    assert blind.bound(lambda rates: rates.delta(0.0)).value < 0
    truth = 4 / math.pi * math.atan(3) - 1
    assert truth - 0.06 < seeing.bound(lambda rates: rates.delta(0.0)).value < truth


def test_equal_laws_are_not_told_apart() -> None:
    experiment = gaussian_experiment(0.0, 50_000, 4)
    assert experiment.bound(lambda rates: rates.mu()).value < 0
    rng = np.random.default_rng(5)
    same = {"bins": (rng.random(6000), rng.random(6000))}
    assert advantage(same)[1] < 0
    assert advantage({"bins": (rng.random(6000), rng.random(6000) ** 3)})[0] > 0.35


# --- stated laws ----------------------------------------------------------------------------------


def law_of(mechanism: object, space: gd.Space, guarantee: object, sensitivity: float) -> StatedLaw:
    ball = gd.Ball(space, space.origin, 0.3)
    law = stated_law(gd.calibrate(mechanism, space, sensitivity, guarantee, ball=ball))
    assert law is not None
    return law


def test_radius_of_a_wrapped_gaussian() -> None:
    """|z|^2/sigma^2 is chi-square with d degrees of freedom."""
    law = law_of(gd.Wrapped(gd.Gaussian()), gd.SPD(3), gd.GaussianDP(1), 0.2)
    t = np.array([0.1, 0.3, 0.5, 1.0])
    assert law.radius.cdf(t) == pytest.approx(chi2(6).cdf((t / 0.2) ** 2), abs=2e-6)
    assert law.radius.total == pytest.approx(1, abs=1e-6)


def _by_quadrature(weight: object, points: np.ndarray, end: float) -> np.ndarray:
    total = quad(weight, 0, end, limit=200)[0]
    return np.array([quad(weight, 0, t, limit=200)[0] / total for t in points])


def test_radius_of_laplace_laws_on_curved_spaces() -> None:
    """Densities e^{-t/s} sin t on S^2, e^{-t/s} sinh^2 t on H^3; on SPD(2) = R x H^2 of curvature
    -1/2: e^{-t/s} t times the integral of sinh(t sin(phi)/sqrt 2) over phi in [0, pi]."""
    t, s = np.array([0.1, 0.2, 0.4, 0.8]), 0.2
    cases = {
        "sphere:2": (lambda x: math.exp(-x / s) * math.sin(x), math.pi),
        "hyperbolic:3": (lambda x: math.exp(-x / s) * math.sinh(x) ** 2, 12.0),
        "spd:2": (
            lambda x: math.exp(-x / s) * x
            * quad(lambda phi: math.sinh(x * math.sin(phi) / math.sqrt(2)), 0, math.pi)[0],
            12.0,
        ),
    }  # fmt: skip
    for spec, (weight, end) in cases.items():
        law = law_of(gd.RiemannianLaplace(), gd.parse_space(spec), gd.PureDP(1), s)
        known = _by_quadrature(weight, t, end)
        assert law.radius.cdf(t) == pytest.approx(known, abs=3e-5), spec
        assert law.radius.total == pytest.approx(1, abs=1e-3), spec


@pytest.mark.parametrize("spec", ["sphere:2", "hyperbolic:3", "spd:2", "euclidean:1", "shapes:4"])
def test_draws_of_ten_per_cent_less_do_not_fit(spec: str) -> None:
    space = gd.parse_space(spec)
    cal = gd.calibrate(gd.RiemannianLaplace(), space, 0.1, gd.PureDP(1))
    small = gd.calibrate(gd.RiemannianLaplace(), space, 0.09, gd.PureDP(1))
    law, at = stated_law(cal), space.origin
    assert law is not None
    rng = np.random.default_rng(6)
    assert law_test(law, [(at, cal.sample(at, 30_000, rng))], "float").outcome == "passed"
    wrong = law_test(law, [(at, small.sample(at, 30_000, rng))], "float")
    assert wrong.outcome == "FAILED"
    assert min(wrong.figures[p] for p in ("radius", "scale")) < ALARM


def test_draws_with_a_lopsided_direction_do_not_fit() -> None:
    space = gd.Euclidean(3)
    cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), space, 0.1, gd.GaussianDP(1))
    law = stated_law(cal)
    assert law is not None
    draws = cal.sample(space.origin, 30_000, np.random.default_rng(7))
    tilted = draws.copy()
    tilted[:3000, 1] = np.abs(tilted[:3000, 1])
    found = law_test(law, [(space.origin, tilted)], "float")
    assert found.outcome == "FAILED"
    assert found.figures["direction"] < ALARM < found.figures["radius"]


# --- residuals ------------------------------------------------------------------------------------


def test_residuals_are_exact() -> None:
    """Against rational arithmetic; 0.36 + 0.64 is not one in floats."""
    x = np.array([[0.48, 0.6, 0.64], [0.0, 0.0, 1.0], [0.1, 0.2, 0.97]])
    known = [(sum(Fraction(c) ** 2 for c in row) - 1) * 2**53 for row in x.tolist()]
    assert known[0] != 0 == known[1]
    assert residual(gd.Sphere(2), x) == pytest.approx([float(k) for k in known], rel=1e-15)
    y = np.array([[1.25, 0.75, 0.0], [1.1, 0.3, 0.2]])
    known = [(Fraction(a) ** 2 - Fraction(b) ** 2 - Fraction(c) ** 2 - 1) for a, b, c in y.tolist()]
    found = residual(gd.Hyperbolic(2), y)
    assert found == pytest.approx([float(k * 2**53) for k in known], rel=1e-15)
    lopsided = np.array([[[1.0, 0.5 + 2**-53], [0.5, 1.0]]])
    assert residual(gd.SPD(2), lopsided) == pytest.approx([1.0], rel=1e-15)
    assert not residual(gd.Euclidean(3), x).any()
    both = gd.parse_space("sphere:2+euclidean:1")
    assert residual(both, np.c_[x, x[:, :1]]) == pytest.approx(residual(gd.Sphere(2), x))


def test_last_bits_and_trailing_zeros() -> None:
    found = traces(gd.Euclidean(2), np.array([[1.5, 1 + 2.0**-52], [0.0, -3.0]]))
    assert found["trailing zeros of entry 0"].tolist() == [51, 53]
    assert found["last bits of entry 1"].tolist() == [1, 0]
