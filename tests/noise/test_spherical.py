"""The spherical law against scipy's generalized gamma, normal and Laplace laws and quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats

from geodp.errors import InputError
from geodp.noise import Gaussian, L2Laplace, SphericalGamma, SphericalLaw
from geodp.random import GeneratorBits

NOISES = [
    Gaussian(),
    L2Laplace(),
    SphericalGamma(shape=-0.5, power=3.0),
    SphericalGamma(shape=2.5, power=0.75),
]
DIMS = [1, 2, 3, 6]
CASES = [pytest.param(n, d, id=f"{n!r}-{d}") for n in NOISES for d in DIMS]
COUNT = 3000
LEVEL = 1e-8  # per Kolmogorov-Smirnov test; about 100 of them: flake rate 1e-6 were seeds not fixed


def radius_law(noise, dim, scale=1.0):
    """scipy's generalized gamma with the parameters of the documented density."""
    shape, power, rate = {
        "gaussian": lambda: (dim - 1.0, 2.0, 0.5),
        "l2-laplace": lambda: (dim - 1.0, 1.0, 1.0),
        "spherical-gamma": lambda: (noise.shape, noise.power, 1.0),
    }[noise.name]()
    return stats.gengamma((shape + 1) / power, power, scale=scale * rate ** (-1 / power))


def exact_sample(law, count, seed):
    stream = GeneratorBits(np.random.default_rng(seed))
    return np.array([[float(b) for b in law.exact(stream).balls(64)] for _ in range(count)])


def check_sample(x, noise, dim):
    """Radius, direction and their independence; power: a radius 30 % off must fail."""
    radius = np.linalg.norm(x, axis=1)
    assert stats.kstest(radius, radius_law(noise, dim).cdf).pvalue > LEVEL
    for off in (0.7, 1.3):
        assert stats.kstest(radius * off, radius_law(noise, dim).cdf).pvalue < LEVEL
    for unit in (x[:, 0] / radius, x[:, -1] / radius):
        if dim == 1:
            assert abs(unit.sum()) < 6 * np.sqrt(len(x))
        else:
            half = (dim - 1) / 2
            assert stats.kstest((1 + unit) / 2, stats.beta(half, half).cdf).pvalue > LEVEL
            assert stats.spearmanr(radius, unit**2).pvalue > LEVEL
        assert stats.spearmanr(radius, unit).pvalue > LEVEL
    if dim == 2:
        angle = np.arctan2(x[:, 1], x[:, 0]) / (2 * np.pi) + 0.5
        assert stats.kstest(angle, "uniform").pvalue > LEVEL
    covariance = np.cov(x.T).reshape(dim, dim)
    off_diagonal = covariance[~np.eye(dim, dtype=bool)]
    assert np.all(np.abs(off_diagonal) < 0.25 * covariance.trace() / dim)


@pytest.mark.parametrize(("noise", "dim"), CASES)
def test_exact_sampler(noise, dim):
    check_sample(exact_sample(noise.law(dim), COUNT, seed=dim), noise, dim)


@pytest.mark.parametrize(("noise", "dim"), CASES)
def test_float_sampler(noise, dim):
    x = noise.law(dim).sample(np.random.default_rng(dim), COUNT, scale=2.5) / 2.5
    check_sample(x, noise, dim)


@pytest.mark.parametrize("order", [0.02, 0.3, 1.0, 1.5, 40.0])
def test_exact_gamma_orders(order):
    # power 1, rate 1: the radius is Gamma(order)
    law = SphericalLaw(1, shape=order - 1, power=1.0, rate=1.0)
    radius = np.abs(exact_sample(law, 2000, seed=5)[:, 0])
    assert stats.kstest(radius, stats.gamma(order).cdf).pvalue > LEVEL
    assert stats.kstest(radius, stats.gamma(order * 1.3).cdf).pvalue < LEVEL


def test_exact_coordinates_are_normal_and_laplace():
    x = exact_sample(Gaussian().law(3), COUNT, seed=11)
    for i in range(3):
        assert stats.kstest(x[:, i], "norm").pvalue > LEVEL
        assert stats.kstest(x[:, i] * 1.3, "norm").pvalue < LEVEL
    y = exact_sample(L2Laplace().law(1), COUNT, seed=12)
    assert stats.kstest(y[:, 0], "laplace").pvalue > LEVEL


def test_size_of_float_samples():
    law = Gaussian().law(3)
    rng = np.random.default_rng(0)
    assert law.sample(rng, 4).shape == (4, 3)
    assert law.sample(rng, (2, 5)).shape == (2, 5, 3)
    assert law.sample(rng, ()).shape == (3,)


@pytest.mark.parametrize(("noise", "dim"), CASES)
@pytest.mark.parametrize("scale", [1.0, 0.03])
def test_radius_density_cdf_and_moments(noise, dim, scale):
    law, oracle = noise.law(dim), radius_law(noise, dim, scale)
    r = scale * np.array([0.05, 0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(law.log_radius_density(r, scale), oracle.logpdf(r), rtol=1e-11)
    np.testing.assert_allclose(law.radius_cdf(r, scale), oracle.cdf(r), rtol=1e-11)
    assert law.mean_radius(scale) == pytest.approx(oracle.mean(), rel=1e-11)
    assert law.mean_square(scale) == pytest.approx(oracle.moment(2), rel=1e-11)


def test_log_density_of_known_laws():
    x = np.random.default_rng(1).standard_normal((2, 5, 4))
    gauss = stats.multivariate_normal(np.zeros(4), 0.09).logpdf(x)
    np.testing.assert_allclose(Gaussian().law(4).log_density(x, 0.3), gauss, rtol=1e-12)
    one = stats.laplace(scale=0.3).logpdf(x[..., 0])
    got = L2Laplace().law(1).log_density(x[..., :1], 0.3)
    np.testing.assert_allclose(got, one, rtol=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_log_density_integrates_to_one_in_the_plane(noise):
    law = noise.law(2)

    def ring(log_r):  # polar coordinates, radius on a log scale, along one ray
        r = np.exp(log_r)
        return 2 * np.pi * r * r * np.exp(law.log_density(r * np.array([0.6, 0.8]), 1.7))

    total = integrate.quad(ring, -60, 9, limit=400, epsabs=1e-11)[0]
    assert total == pytest.approx(1, abs=1e-9)


def test_density_at_the_centre():
    assert Gaussian().law(2).log_density(np.zeros(2)) == pytest.approx(-np.log(2 * np.pi))
    assert SphericalGamma(0.5, 1.0).law(2).log_density(np.zeros(2)) == np.inf
    assert SphericalGamma(1.5, 1.0).law(2).log_density(np.zeros(2)) == -np.inf


def test_members_of_the_family():
    assert Gaussian().law(5) == SphericalLaw(5, 4.0, 2.0, 0.5)
    assert L2Laplace().law(5) == SphericalLaw(5, 4.0, 1.0, 1.0)
    assert SphericalGamma(shape=0.5, power=2).law(5) == SphericalLaw(5, 0.5, 2.0, 1.0)
    assert [n.name for n in NOISES] == ["gaussian", "l2-laplace"] + 2 * ["spherical-gamma"]
    assert Gaussian() == Gaussian()
    with pytest.raises(AttributeError):
        NOISES[2].shape = 1.0


def test_an_open_member_is_no_law_yet():
    noise = SphericalGamma()
    with pytest.raises(InputError, match="once a guarantee is known"):
        noise.law(3)


@pytest.mark.parametrize(
    ("shape", "power"),
    [(-1.0, 1.0), (np.nan, 1.0), (np.inf, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, np.nan),
     (1.0, np.inf), (1.0, None), (None, 1.0)],
)  # fmt: skip
def test_bad_parameters(shape, power):
    with pytest.raises(InputError, match="SphericalGamma"):
        SphericalGamma(shape=shape, power=power)


@pytest.mark.parametrize("dim", [0, -1, 2.0, True, None])
def test_bad_dimension(dim):
    with pytest.raises(InputError, match="dimension"):
        SphericalLaw(dim, 1.0, 1.0, 1.0)


def test_heavy_tails_have_infinite_float_moments():
    law = SphericalGamma(1.0, 1e-3).law(2)
    assert law.mean_radius() == law.mean_square() == np.inf


def test_bad_law():
    for args in [
        (1.0, 1e-320, 1.0),
        (-1.0, 1.0, 1.0),
        (1.0, 0.0, 1.0),
        (1.0, 1.0, 0.0),
        (1.0, 1.0, np.inf),
    ]:
        with pytest.raises(InputError, match="spherical law"):
            SphericalLaw(2, *args)
