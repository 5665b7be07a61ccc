"""Laws on the line with a pole, by exact incomplete-gamma arithmetic.

A pole of f(x - s) makes e^eps f(x - s) exceed f(x) on a set some 1e-7 wide around s, which float
quadrature misses: these are the cases of experiments/profiles.py in which its oracle is the one
that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from geodp.noise.spherical import SphericalLaw
from geodp.privacy.spherical_certified import SINGLE, delta_enclosure
from geodp.privacy.spherical_shift import Shift


def _width(exceeds: Callable[[mpmath.mpf], mpmath.mpf]) -> mpmath.mpf:
    """Where ``exceeds`` turns negative, going away from the pole."""
    low, high = mpmath.mpf(-140), mpmath.mpf(0)
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(mpmath.e**middle) > 0 else (low, middle)
    return mpmath.e**low


def exact(shape: float, power: float, shift: float, epsilon: float) -> mpmath.mpf:
    """1 - e^eps + the integral of (e^eps f(x - s) - f(x))_+ around the pole at s, eps < 0."""
    a, p, s = mpmath.mpf(shape), mpmath.mpf(power), mpmath.mpf(shift)
    ratio = mpmath.e ** mpmath.mpf(epsilon)
    whole = 2 * mpmath.gamma((a + 1) / p) / p

    def f(x: mpmath.mpf) -> mpmath.mpf:
        return abs(x) ** a * mpmath.e ** (-(abs(x) ** p)) / whole

    delta = 1 - ratio
    for side in (1, -1):
        width = _width(lambda u, side=side: ratio * f(u) - f(s + side * u))
        delta += ratio * mpmath.gammainc((a + 1) / p, 0, width**p) / p / whole
        delta -= mpmath.quad(lambda u, side=side: f(s + side * u), [0, width])
    return delta


@pytest.mark.parametrize(
    ("shape", "power", "shift", "epsilon"),
    [
        (-0.13824570780533946, 0.5, 1.4505430950403588, -3.4080857487361547),
        (-0.3, 0.5, 1.0, -3.0),
        (-0.2, 1.0, 2.0, -4.0),
    ],
)
def test_a_pole_on_the_line(shape: float, power: float, shift: float, epsilon: float) -> None:
    law = SphericalLaw(1, shape, power, 1.0)
    found = delta_enclosure(Shift.of(law, Fraction(shift)), Fraction(epsilon), SINGLE)
    with mpmath.workdps(40):
        truth = exact(shape, power, shift, epsilon)
        assert mpmath.mpf(found.low.numerator) / found.low.denominator <= truth
        assert truth <= mpmath.mpf(found.high.numerator) / found.high.denominator
