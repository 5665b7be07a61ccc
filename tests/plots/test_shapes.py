"""Outlines: the released one, others at the noise radius, records, all in one rotation."""

import numpy as np
import pytest
from plot_helpers import labels, line, released

import geodp as gd
from geodp.plots import plot
from geodp.testing import random_points


def outlines(ax, label):
    """The landmarks ``(n, k, 2)`` of all lines of the colour of the one with that label."""
    (first,) = [a for a in ax.lines if str(a.get_label()).startswith(label)]
    same = [a for a in ax.lines if a.get_color() == first.get_color() and a.get_lw() < 1]
    closed = np.stack([np.column_stack(a.get_data()) for a in same])
    assert np.array_equal(closed[:, 0], closed[:, -1])
    return closed[:, :-1]


def centre_at_rest(value, x):
    """Whether no rotation brings x nearer to the value: <value, x> real and positive."""
    z, w = (t[..., 0] + 1j * t[..., 1] for t in (value, x))
    fit = (np.conj(z) * w).sum(axis=-1)
    return np.abs(fit.imag).max() < 1e-9 and fit.real.min() > 0


@pytest.mark.parametrize("k", [3, 12, 50])
def test_outlines_lie_at_their_distances(k):
    space = gd.PlanarShapes(k)
    value, center = random_points(space, 2, 0.4, np.random.default_rng(k))
    records = random_points(space, 5, 0.5, np.random.default_rng(k + 1))
    out = released(gd.Ball(space, center, 0.5), value)
    ax = plot(out, records=records)
    assert np.allclose(line(ax, "released value")[:-1], value)
    around = outlines(ax, "noise radius")
    assert len(around) == 40
    assert np.allclose(space.dist(value, around), out.expected_distance, rtol=1e-9)
    raw = outlines(ax, "raw records")
    assert np.allclose(space.dist(raw, records), 0, atol=1e-12)
    middle = line(ax, "centre of the public ball")[:-1]
    assert space.dist(middle, center) < 1e-12
    assert all(centre_at_rest(value, x) for x in (around, raw, middle))
    assert ax.get_aspect() == 1
    assert "not private" in ax.get_title(loc="left")


def test_a_bare_shape_has_no_noise():
    space = gd.PlanarShapes(4)
    ax = plot(space.origin, space)
    found = labels(ax)
    assert "released value" in found
    assert not any(x.startswith(("noise", "centre of", "raw")) for x in found)
