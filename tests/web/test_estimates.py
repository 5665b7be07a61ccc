"""The planner's numbers, against closed forms, quadrature, other simulations and gd.plan."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

import geodp as gd
from geodp.web.curves import families, needed
from geodp.web.estimates import estimate, mechanisms, reference, reference_distance
from geodp.web.fields import Fields
from geodp.web.question import START, question_of
from geodp.web.units import units_of

SPHERE = {"space": "sphere:2", "center": "0,0,1", "radius": "0.6"}


def ask(**changed):
    fields = Fields({**START, **changed})
    question = question_of(fields)
    assert question is not None, fields.errors
    return question


def mean_length(dim):
    """Of a standard normal vector."""
    return math.sqrt(2) * math.exp(math.lgamma((dim + 1) / 2) - math.lgamma(dim / 2))


@pytest.mark.parametrize("statistic", ["frechet-mean", "tangent-mean"])
def test_gaussian_noise_on_tensors_is_a_closed_form(statistic):
    # sensitivity 2 r/n; 0.01 of mu^2 pays for the share of replaced records; 6 dimensions
    scale = 2 * 1.5 / 200 / math.sqrt(0.99)
    row = estimate(ask(), statistic, mechanisms()["wrapped-gaussian"])
    assert row.distance == pytest.approx(scale * mean_length(6), rel=1e-6)
    assert row.error == 0
    assert reference_distance(ask(), statistic) == pytest.approx(row.distance, rel=1e-9)


def test_several_releases_share_the_promise():
    # each at mu/sqrt(4)
    one, four = (reference_distance(ask(releases=k), "frechet-mean") for k in ("1", "4"))
    assert four == pytest.approx(2 * one, rel=1e-6)


def test_pure_noise_on_tensors_is_a_closed_form():
    # radius of the l2-Laplace law: dim times its scale, 2 r/(n eps 0.99)
    row = estimate(ask(notion="pure"), "frechet-mean", reference("pure"))
    assert row.distance == pytest.approx(6 * 2 * 1.5 / 200 / 0.99, rel=1e-6)


@pytest.mark.parametrize("amount", ["1", "0.02"])
def test_tangent_noise_on_the_sphere_by_quadrature(amount):
    """Exp wraps the normal length r around: the distance is the arc cosine of cos r."""
    scale = 2 * 0.6 / 200 / float(amount) / math.sqrt(0.99)

    def part(r):
        return math.acos(math.cos(r)) * r / scale**2 * math.exp(-((r / scale) ** 2) / 2)

    true, _ = quad(part, 0, 12 * scale, limit=500)
    found = reference_distance(ask(**SPHERE, amount=amount), "tangent-mean")
    assert found == pytest.approx(true, rel=2e-3)


def test_extrinsic_noise_on_the_sphere_by_simulation():
    question = ask(**SPHERE)
    noise = np.random.default_rng(7).normal(size=(200_000, 3))
    scale = estimate(question, "extrinsic-mean", reference("gdp")).scale
    moved = np.array([0, 0, 1]) + scale * noise
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    true = np.arctan2(np.hypot(moved[:, 0], moved[:, 1]), moved[:, 2]).mean()
    # 1333 directions, relative spread 0.52: four standard errors are 6 %; 30 % is far outside
    assert reference_distance(question, "extrinsic-mean") == pytest.approx(true, rel=0.06)
    row = estimate(question, "extrinsic-mean", reference("gdp"))
    assert abs(row.distance - true) < 5 * row.error


@pytest.mark.parametrize("changed", [{}, SPHERE, {"space": "shapes:6", "radius": "0.3"}])
@pytest.mark.parametrize("mechanism", ["wrapped-gaussian", "riemannian-laplace"])
def test_rows_agree_with_the_plan(changed, mechanism):
    question = ask(**changed, notion="pure" if mechanism == "riemannian-laplace" else "gdp")
    named = mechanisms()[mechanism]
    row = estimate(question, "frechet-mean", named)
    (planned,) = gd.plan(
        gd.FrechetMean(question.ball), question.n, question.guarantee, [named]
    ).rows
    assert row.scale == planned.scale
    error = math.hypot(row.error, planned.center_error)
    assert abs(row.distance - planned.center) < 5 * error


def test_what_cannot_serve_says_why():
    row = estimate(ask(notion="pure"), "frechet-mean", mechanisms()["wrapped-gaussian"])
    assert row.distance is None
    assert row.why_not.startswith("Gaussian noise cannot promise pure epsilon")


def test_curves_go_the_right_way_and_through_the_question():
    for changed in ({}, SPHERE):
        question = ask(**changed)
        for family, falls in zip(families(question), (True, True, False), strict=True):
            assert family.curves
            for curve in family.curves:
                x, y = np.array(curve.points).T
                assert (np.diff(x) > 0).all()
                assert ((np.diff(y) < 0) == falls).all()
                here = reference_distance(question, curve.statistic)
                assert np.exp(np.interp(math.log(family.here), np.log(x), np.log(y))) == (
                    pytest.approx(here, rel=1e-9)
                )


def test_the_way_back_is_a_closed_form_and_the_least():
    target = 0.02
    for row in needed(ask(), target):
        # 2 r/(n mu sqrt(.99)) E|Z| = target
        factor = 2 * 1.5 * mean_length(6) / math.sqrt(0.99) / target
        assert int(row.n) == math.ceil(factor)
        assert float(row.amount) == pytest.approx(math.ceil(100 * factor / 200) / 100, abs=1e-12)
    question = ask(**SPHERE)
    for row in needed(question, target):
        errors = [
            reference_distance(ask(**SPHERE, n=str(n)), row.statistic)
            for n in (int(row.n) - 1, int(row.n))
        ]
        assert errors[0] > target >= errors[1]


def test_no_target_is_out_of_reach_without_a_word():
    (first, *_) = needed(ask(**SPHERE), 1e-30)
    assert (first.n, first.amount) == ("", "")


def test_degrees_pixels_edges_and_percent():
    (degrees,) = units_of(gd.Sphere(2))
    assert degrees.of(math.pi / 6) == pytest.approx(30)
    (degrees,) = units_of(gd.Sphere(2, curvature=4.0))  # radius 1/2
    assert degrees.of(math.pi / 6) == pytest.approx(60)
    (pixels,) = units_of(gd.PlanarShapes(4), 200.0)
    # two unit configurations at angle t lie 2 sin(t/2) apart; four landmarks share the square
    assert pixels.of(0.2) == pytest.approx(200 * 2 * math.sin(0.1) / 2)
    (edges,) = units_of(gd.Hyperbolic(2), 0.5)
    assert edges.of(2.0) == 4.0
    (percent,) = units_of(gd.SPD(4))
    space = gd.SPD(4)
    assert space.dist(np.eye(4), np.eye(4) * (1 + percent.of(0.3) / 100)) == pytest.approx(0.3)


def test_fractional_anisotropy_and_diffusivity():
    """To first order, against 20000 independent directions of log-eigenvalues and rotations."""
    anisotropy, diffusivity, _ = units_of(gd.SPD(3))
    root = np.diag(np.sqrt([1.7, 0.3, 0.3]))
    a = np.random.default_rng(11).normal(size=(20_000, 3, 3))
    s = (a + a.swapaxes(1, 2)) / 2  # orthonormal coordinates of symmetric matrices, up to length
    s /= np.linalg.norm(s, axis=(1, 2), keepdims=True)
    w = np.linalg.eigvalsh(root @ (np.eye(3) + 0.01 * s + 0.00005 * s @ s) @ root)
    fa = np.sqrt(1.5 * w.var(axis=1) * 3 / (w**2).sum(axis=1))
    start = np.array([1.7, 0.3, 0.3])
    fa_start = math.sqrt(1.5 * start.var() * 3 / (start**2).sum())
    assert anisotropy.of(0.01) == pytest.approx(np.abs(fa - fa_start).mean(), rel=0.12)
    change = np.abs(w.mean(axis=1) - start.mean()).mean()
    assert diffusivity.of(0.01) == pytest.approx(change, rel=0.12)
