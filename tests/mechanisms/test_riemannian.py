"""Riemannian Laplace and Gaussian: guarantees by hand, releases, refusals, receipts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodp as gd
from geodp.mechanisms import candidates, parse_mechanism
from geodp.random import GeneratorBits
from geodp.testing import check_mechanism

RECORDS = 100


def mean(space: gd.Space, radius: float = 0.5) -> gd.FrechetMean:
    return gd.FrechetMean(gd.Ball(space, space.origin, radius))


def records(space: gd.Space) -> np.ndarray:
    z = np.random.default_rng(1).standard_normal((RECORDS, space.dim))
    return space.exp_coords(space.origin, 0.2 * z)


@pytest.mark.parametrize("space", [gd.SPD(2), gd.Euclidean(2)], ids=str)
def test_the_conformance_suite(space: gd.Space) -> None:
    ball = gd.Ball(space, space.origin, 0.5)
    check_mechanism(gd.RiemannianLaplace(), space, ball, guarantees=[gd.PureDP(1)], exact_draws=400)


def test_the_conformance_suite_with_a_zcdp_bound_alone() -> None:
    space = gd.SPD(3)
    promises = [gd.ApproxDP(1, 1e-5), gd.ZCDP("0.1")]
    check_mechanism(gd.RiemannianGaussian(), space, guarantees=promises, exact_draws=400)


def test_pure_scales() -> None:
    """Delta/epsilon where homogeneous, twice that where truncated."""
    for space in (gd.SPD(3), gd.Sphere(3), gd.Hyperbolic(2), gd.PlanarShapes(4)):
        ball = gd.Ball(space, space.origin, 0.3)
        plain = gd.calibrate(gd.RiemannianLaplace(), space, 0.125, gd.PureDP(2), ball=ball)
        cut = gd.calibrate(gd.RiemannianLaplace(True), space, 0.125, gd.PureDP(2), ball=ball)
        assert (plain.scale, cut.scale) == (0.0625, 0.125)
        assert plain.profile.delta(2) == cut.profile.delta(2) == 0


def test_laws_that_do_not_exist_are_refused_and_the_truncated_one_serves() -> None:
    space = gd.Hyperbolic(4)
    ball = gd.Ball(space, space.origin, 0.5)
    with pytest.raises(gd.ConditionError, match="wrapped-l2-laplace"):
        gd.calibrate(gd.RiemannianLaplace(), space, 0.4, gd.PureDP(1), ball=ball)
    cal = gd.calibrate(gd.RiemannianLaplace(True), space, 0.2, gd.PureDP(1), ball=ball)
    draws = cal.sample(space.origin, 20)
    assert (space.dist(space.origin, draws) <= 0.5).all()
    with pytest.raises(gd.ConditionError, match="ball"):
        gd.calibrate(gd.RiemannianLaplace(True), space, 0.2, gd.PureDP(1))


def test_a_truncated_law_that_never_hits_its_ball_is_refused() -> None:
    space = gd.Hyperbolic(16)
    ball = gd.Ball(space, space.origin, 2.0)
    with pytest.raises(gd.ConditionError, match="hardly ever"):
        gd.calibrate(gd.RiemannianLaplace(True), space, 0.1, gd.PureDP(1), ball=ball)


def test_gaussian_refusals_name_the_wrapped_one() -> None:
    with pytest.raises(gd.InputError, match="unbounded"):
        gd.calibrate(gd.RiemannianGaussian(), gd.SPD(2), 0.1, gd.PureDP(1))
    with pytest.raises(gd.GuaranteeError, match="wrapped-gaussian"):
        gd.calibrate(gd.RiemannianGaussian(), gd.SPD(2), 1.0, gd.ZCDP("0.1"))
    product = gd.Product(gd.Sphere(2), gd.Euclidean(1))
    with pytest.raises(gd.InputError, match="wrapped"):
        gd.calibrate(gd.RiemannianGaussian(), product, 0.1, gd.ZCDP("0.1"))


def test_on_flat_spaces_they_are_the_wrapped_ones() -> None:
    space = gd.SPD(2, metric="log-euclidean")
    for plain, wrapped in (
        (gd.RiemannianLaplace(), gd.Wrapped(gd.L2Laplace())),
        (gd.RiemannianGaussian(), gd.Wrapped(gd.Gaussian())),
    ):
        a = gd.calibrate(plain, space, 0.1, gd.ApproxDP(1, 1e-5))
        b = gd.calibrate(wrapped, space, 0.1, gd.ApproxDP(1, 1e-5))
        assert a.scale == b.scale
        assert a.expected_distance() == pytest.approx(b.expected_distance(), rel=0.05)


@pytest.mark.parametrize("name", ["riemannian-laplace", "riemannian-gaussian"])
@pytest.mark.parametrize("space", [gd.Sphere(2), gd.SPD(2)], ids=str)
def test_release_and_receipt(space: gd.Space, name: str) -> None:
    out = gd.release(records(space), mean(space), gd.ZCDP("0.5"), name)
    assert space.contains(out.value)
    again = gd.Release.from_json(out.to_json())
    assert all(check.passed for check in gd.verify(again))
    document = out.to_json()
    document["outcome"]["stages"][0]["scale"] *= 0.9
    forged = gd.Release.from_json(document)
    assert not all(check.passed for check in gd.verify(forged))


def test_draws_read_the_same_bits_around_every_value() -> None:
    """The control flow does not look at the value: two values leave the stream at one place."""
    for space in (gd.Sphere(2), gd.SPD(3), gd.Hyperbolic(4)):
        cal = gd.calibrate(gd.RiemannianLaplace(), space, 0.05, gd.PureDP(1))
        places = []
        for value in (space.origin, records(space)[0]):
            rng = np.random.default_rng(3)
            stream = GeneratorBits(rng)
            for _ in range(20):
                cal.draw(value, stream)
            places.append(rng.bit_generator.state["state"])
        assert places[0] == places[1]


def test_expected_distances_are_the_laws() -> None:
    """On S^2, Laplace of scale .2: .3846 [design, 5]; the whole law is the same everywhere."""
    cal = gd.calibrate(gd.RiemannianLaplace(), gd.Sphere(2), 0.2, gd.PureDP(1))
    assert cal.expected_distance() == pytest.approx(0.3846, abs=5e-5)
    draws = cal.distances(records(gd.Sphere(2)), np.random.default_rng(4))
    assert abs(draws.mean() - 0.3846) < 5 * draws.std() / math.sqrt(RECORDS)


def test_names_and_the_order_of_candidates() -> None:
    names = [mechanism.name for mechanism in candidates()]
    assert names[-2:] == ["riemannian-laplace", "riemannian-gaussian"]
    assert "k-norm-gradient" not in names
    for name in (*names, "k-norm-gradient", "riemannian-laplace-truncated"):
        assert parse_mechanism(name).name == name
