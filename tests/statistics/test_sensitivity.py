"""The sensitivity and certificate formulas against the design's check values and mpmath."""

from __future__ import annotations

import math

import mpmath
import pytest

import geodp as gd
from geodp.errors import ConditionError, InputError
from geodp.statistics.sensitivity import (
    certificate_slope,
    entry_gradient,
    hessian_floor,
    mean_sensitivity,
    provable_error,
    safe_iterations,
)

S2 = gd.Sphere(2)


@pytest.mark.parametrize(
    ("radius", "sharp", "published"),
    [(math.pi / 8, 0.8284, 1.2146), (0.6, 1.3683, 3.944), (0.75, 1.8632, 26.70)],
)
def test_sphere_check_values(radius: float, sharp: float, published: float) -> None:
    n = 10**6  # large, so that min(2 r, .) does not bite
    assert n * mean_sensitivity(S2, radius, n) == pytest.approx(sharp, rel=1e-4)
    assert n * mean_sensitivity(S2, radius, n, "published") == pytest.approx(published, rel=1e-3)


def test_sphere_beyond_the_published_condition() -> None:
    assert 10**6 * mean_sensitivity(S2, 1.2, 10**6) == pytest.approx(5.144, rel=1e-3)
    with pytest.raises(ConditionError, match="sharp bound"):
        mean_sensitivity(S2, 1.2, 10, "published")


@pytest.mark.parametrize("radius", [0.01, 0.4, 1.0, 1.5, 1.5707, 1.570796, 1.5707963])
@pytest.mark.parametrize("curvature", [0.25, 1.0, 7.3])
def test_sharp_bound_never_below_the_real_number(radius: float, curvature: float) -> None:
    space = gd.Sphere(3, curvature=curvature)
    r = radius / math.sqrt(curvature)
    with mpmath.workdps(60):
        k = mpmath.sqrt(mpmath.mpf(space.curvature[1]))
        true = 2 * mpmath.tan(k * mpmath.mpf(r)) / k / 10**9
        got = mpmath.mpf(mean_sensitivity(space, r, 10**9))
        assert true <= got <= true * (1 + mpmath.mpf("1e-6")) + 2 * r * (got >= 2 * r)


def test_flat_and_negative_curvature() -> None:
    for space in (gd.Euclidean(2), gd.SPD(3), gd.Hyperbolic(4), gd.Sphere(1)):
        got = mean_sensitivity(space, 0.7, 10)
        assert 0.14 <= got <= 0.14 * (1 + 1e-11)


def test_products_take_the_greatest_curvature() -> None:
    space = gd.Product(gd.Sphere(2), gd.Hyperbolic(2))
    assert mean_sensitivity(space, 0.6, 10**6) == mean_sensitivity(S2, 0.6, 10**6)


@pytest.mark.parametrize(
    ("space", "limit"),
    [
        (gd.Sphere(2), math.pi / 2),
        (gd.Sphere(2, curvature=4.0), math.pi / 4),
        (gd.Sphere(1), math.pi / 2),
    ],
)
def test_radius_condition(space: gd.Space, limit: float) -> None:
    mean_sensitivity(space, limit * 0.999, 5)
    with pytest.raises(ConditionError, match="smaller ball"):
        mean_sensitivity(space, limit * 1.001, 5)


def test_certificate_reduces_to_the_floor_at_zero_gradient() -> None:
    assert certificate_slope(S2, 1.0, 0.0) == hessian_floor(S2, 1.0) == 1 / math.tan(1.0)
    assert certificate_slope(S2, 1.0, 0.1) < 1 / math.tan(1.0)
    assert certificate_slope(gd.SPD(3), 5.0, 1.0) == 1.0
    assert certificate_slope(S2, 1e-9, 1e-12) == pytest.approx(1.0)


def test_iteration_counts_follow_the_proof() -> None:
    """docs/proofs/sensitivity, rounding: the contraction reaches the error within the count."""
    step, count = safe_iterations(gd.Hyperbolic(2), 1.0, 1e-8)
    smooth = 3 / math.tanh(3)
    assert step == pytest.approx(1 / smooth)
    assert (1 - step / 4) ** count <= 1e-8 < (1 - step / 4) ** (count - 1)
    assert provable_error(gd.Hyperbolic(2), 1.0, 1e-15) == pytest.approx(8e-15 * smooth**1.5)
    assert safe_iterations(gd.Sphere(1), 1.0, 1e-9)[0] == 1.0
    step, count = safe_iterations(S2, 1.4, 1e-8)
    assert step == 1.0
    assert 300 < count < 3000
    slope = 1.4 / math.tan(1.4) / 2
    assert provable_error(S2, 1.4, 1e-15) == pytest.approx(8e-15 / slope**2)
    assert certificate_slope(S2, 1.4, entry_gradient(S2, 1.4)) == pytest.approx(slope)


def test_curvature_of_both_signs_is_refused() -> None:
    with pytest.raises(ConditionError, match="both signs"):
        safe_iterations(gd.Product(gd.Sphere(2), gd.Hyperbolic(2)), 0.5, 1e-8)


@pytest.mark.parametrize("n", [1, 0, -3, 2.5, True, "10"])
def test_numbers_of_records_that_are_none_are_refused(n: int) -> None:
    with pytest.raises(InputError, match="at least two"):
        gd.FrechetMean(gd.Ball(S2, S2.origin, 0.5)).sensitivity(n)
