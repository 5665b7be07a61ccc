"""The table of optima: laws, not proofs. An entry is what a search finds, certified anew."""

from __future__ import annotations

from fractions import Fraction

import pytest

import geodp as gd
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.spherical_best import best_noise, searched
from geodp.privacy.spherical_optima import _table, laws, tabulated

CASES = [(3, "0.99", "1e-5", 2), (6, "1", "1e-6", 1), (2, "7.92", "1e-6", 1)]


def length(noise, dim, promise, moment):
    """Mean length, or root mean square, of the noise at the certified scale for sensitivity 1."""
    law, ratio = noise.law(dim), float(ratio_for(noise, dim, promise))
    return (law.mean_radius() if moment == 1 else law.mean_square() ** 0.5) / ratio


@pytest.mark.parametrize(("dim", "epsilon", "delta", "moment"), CASES)
def test_an_entry_is_what_the_search_finds_and_is_certified_anew(dim, epsilon, delta, moment):
    promise = gd.ApproxDP(epsilon, delta)
    noise = tabulated(dim, promise, moment)
    assert noise == best_noise(dim, promise, moment) == searched(dim, promise, moment, 1)
    ratio = ratio_for(noise, dim, promise)
    assert profile_for(noise, dim, ratio).delta(float(epsilon)) <= float(delta) * (1 + 1e-9)
    plain = [length(one, dim, promise, moment) for one in (gd.Gaussian(), gd.L2Laplace())]
    assert length(noise, dim, promise, moment) <= min(plain) * (1 + 1e-9)


def test_the_table_is_whole():
    table = _table()
    dims = {dim for _, _, dim, _ in table}
    assert {1, 2, 3, 6} <= dims
    promises = {(epsilon, delta) for epsilon, delta, _, _ in table}
    assert len(table) == len(dims) * len(promises) * 2
    assert {(Fraction(99, 100), Fraction(1, 10**5)), (Fraction(1), Fraction(1, 10**6))} <= promises
    assert all(noise.shape > -1 and noise.power > 0 for noise in table.values())


def test_nothing_is_found_for_what_is_not_there():
    assert tabulated(3, gd.ApproxDP("1.0001", "1e-5"), 2) is None
    assert tabulated(3, gd.GaussianDP(1), 2) is None
    assert laws({"version": 2, "optima": [["1", "1e-5", 3, 2, 2.0, 1.0]]}) == {}


def test_a_wrong_entry_costs_accuracy_and_no_privacy(monkeypatch):
    """A release does not trust the table: the scale follows from the law that is used."""
    promise = gd.ApproxDP("1", "1e-5")
    poor = gd.SphericalGamma(1.0, 2.5)
    monkeypatch.setattr("geodp.privacy.spherical_best.tabulated", lambda *_: poor)
    best_noise.cache_clear()
    try:
        cal = gd.calibrate(gd.Wrapped(gd.SphericalGamma()), gd.Euclidean(2), 0.1, promise)
    finally:
        best_noise.cache_clear()
    assert cal.mechanism.noise == poor
    assert cal.profile.delta(1.0) <= 1e-5 * (1 + 1e-9)
