"""Spheres, the disk and the plane: every drawn circle lies at its geodesic distance."""

import math

import numpy as np
import pytest
from plot_helpers import line, released

import geodp as gd
from geodp.plots import plot


def poincare_distance(u, v):
    """Closed form on the unit disk, curvature -1."""
    gap = np.sum((u - v) ** 2, axis=-1)
    room = (1 - np.sum(u**2, axis=-1)) * (1 - np.sum(v**2, axis=-1))
    return np.arccosh(1 + 2 * gap / room)


def lifted(image):
    """Points of the unit sphere in the viewer's frame from their orthographic image."""
    depth = np.sqrt(np.maximum(0, 1 - np.sum(image**2, axis=-1)))
    return np.concatenate([image, depth[..., None]], axis=-1)


def angle(p, q):
    return 2 * np.arcsin(np.linalg.norm(p - q, axis=-1) / 2)


@pytest.mark.parametrize("curvature", [-1.0, -0.25])
def test_disk(curvature):
    space = gd.Hyperbolic(2, curvature)
    ball = gd.Ball(space, space.from_ball([0.2, 0.1]), 1.0)
    out = released(ball, space.from_ball([0.3, -0.4]))
    ax = plot(out)
    stretch = math.sqrt(-curvature)
    noise, value = line(ax, "noise radius"), line(ax, "released value")
    assert np.allclose(value, [[0.3, -0.4]], atol=1e-12)
    assert np.allclose(poincare_distance(noise, value), stretch * out.expected_distance, rtol=1e-8)
    edge = line(ax, "edge of the public ball")
    center = np.array([0.2, 0.1])
    assert np.allclose(poincare_distance(edge, center), stretch * 1.0, rtol=1e-8)
    assert np.allclose(edge[0], edge[-1])  # closed


@pytest.mark.parametrize("curvature", [1.0, 4.0])
def test_globe(curvature):
    space = gd.Sphere(2, curvature)
    size = 1 / math.sqrt(curvature)
    center = size * np.array([0.6, 0.0, 0.8])
    out = released(gd.Ball(space, center, 0.7 * size), size * np.array([0.48, 0.36, 0.8]))
    ax = plot(out)
    value = lifted(line(ax, "released value"))
    noise = lifted(line(ax, "noise radius"))
    assert np.allclose(angle(noise, value), out.expected_distance / size, rtol=1e-8)
    edge = lifted(line(ax, "edge of the public ball"))
    assert np.allclose(angle(edge, np.array([0, 0, 1.0])), 0.7, rtol=1e-8)  # centred view
    # Snyder's orthographic formulas: east to the right, north up
    lon, lat, lat0 = math.atan2(0.36, 0.48), math.asin(0.8), math.asin(0.8)
    x = math.cos(lat) * math.sin(lon)
    y = math.cos(lat0) * math.sin(lat) - math.sin(lat0) * math.cos(lat) * math.cos(lon)
    assert np.allclose(line(ax, "released value"), [[x, y]], atol=1e-12)


def test_globe_hides_the_far_side():
    ax = plot(
        [0.0, 0.0, 1.0], gd.Sphere(2), radius=0.2, records=[[0.0, 0.0, -1.0], [0.0, 0.6, 0.8]]
    )
    assert np.isnan(line(ax, "raw records")).all(axis=1).tolist() == [True, False]


def test_globe_turns_to_a_value_that_the_ball_does_not_face():
    out = released(gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5), [0.0, 0.0, -1.0])
    assert np.allclose(line(plot(out), "released value"), 0)


def test_globe_labels_degrees():
    out = released(gd.Ball.from_degrees(gd.Sphere(2), 0, 90, 30), [0.0, 0.0, 1.0])
    texts = [text.get_text() for text in plot(out).get_legend().get_texts()]
    assert any("= 30°" in text for text in texts)


def test_plane_and_line():
    out = released(gd.Ball(gd.Euclidean(2), [1.0, 2.0], 3.0, "mm"), [1.5, 2.5])
    ax = plot(out)
    gap = np.linalg.norm(line(ax, "noise radius") - [1.5, 2.5], axis=1)
    assert np.allclose(gap, out.expected_distance)
    assert np.allclose(np.linalg.norm(line(ax, "edge") - [1.0, 2.0], axis=1), 3)
    assert "[mm]" in ax.get_xlabel()
    assert "[mm]" in ax.get_ylabel()
    out = released(gd.Ball(gd.Euclidean(1), [1.0], 3.0, "mm"), [0.5])
    ax = plot(out)
    r = out.expected_distance
    assert np.allclose(line(ax, "noise radius")[:, 0], [0.5 - r, 0.5 + r])
    assert np.allclose(line(ax, "edge")[:, 0], [-2, 4])
    assert "[mm]" in ax.get_xlabel()
