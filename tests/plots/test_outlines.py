"""Smoothed outlines against a least-squares fit, and what smoothing must leave alone."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from plot_helpers import line, released

import geodp as gd
from geodp.cli import main
from geodp.outlines import smooth
from geodp.plots import plot
from geodp.testing import random_points


def fitted(landmarks, bandwidth, closed):
    """Each landmark's weighted least-squares line, by numpy, landmark by landmark."""
    k = len(landmarks)
    t = np.arange(k) / (k if closed else k - 1)
    out = np.empty_like(landmarks)
    for i in range(k):
        gap = t - t[i]
        if closed:
            gap = (gap + 0.5) % 1 - 0.5
        weight = np.clip(1 - (gap / bandwidth) ** 2, 0, None)
        design = np.stack([np.ones(k), gap], axis=1) * np.sqrt(weight)[:, None]
        solution = np.linalg.lstsq(design, landmarks * np.sqrt(weight)[:, None], rcond=None)
        out[i] = solution[0][0]
    return gd.PlanarShapes.from_landmarks(out)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("bandwidth", [0.05, 0.12, 0.3, 0.5])
@pytest.mark.parametrize("k", [5, 20, 31])
def test_each_landmark_is_the_weighted_fit(k, bandwidth, closed):
    x = np.random.default_rng(k).normal(size=(k, 2))
    found = smooth(x, bandwidth, closed)
    np.testing.assert_allclose(found, fitted(x, bandwidth, closed), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [12, 13])
def test_circles_stay_and_so_do_lines_that_are_open(k):
    space = gd.PlanarShapes(k)
    assert space.dist(space.origin, smooth(space.origin, 0.4)) < 1e-13
    straight = np.outer(np.arange(k), [2.0, -1.0])
    point = space.from_landmarks(straight)
    assert space.dist(point, smooth(straight, 0.4, closed=False)) < 1e-13
    assert space.dist(point, smooth(straight, 0.4)) > 0.01  # closed, its ends are bends


@pytest.mark.parametrize("bandwidth", [0.01, 1 / 30])
def test_a_window_with_one_landmark_changes_nothing(bandwidth):
    space = gd.PlanarShapes(30)
    x = random_points(space, 1, 0.6, np.random.default_rng(1))[0]
    assert space.dist(x, smooth(x, bandwidth)) < 1e-13


def test_the_start_of_a_closed_outline_and_its_rotation_do_not_matter():
    space = gd.PlanarShapes(24)
    x = random_points(space, 1, 0.6, np.random.default_rng(2))[0]
    turned = np.roll(x, 7, axis=0) @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert space.dist(np.roll(smooth(x, 0.2), 7, axis=0), smooth(turned, 0.2)) < 1e-13


def test_noise_is_reduced():
    space = gd.PlanarShapes(40)
    noisy = space.exp_coords(
        np.broadcast_to(space.origin, (20, 40, 2)),
        0.05 * np.random.default_rng(3).normal(size=(20, space.dim)),
    )
    left = [space.dist(space.origin, smooth(x, 0.15)) for x in noisy]
    assert np.median(left) < 0.6 * np.median(space.dist(space.origin, noisy))


def test_a_release_is_smoothed_and_drawn(tmp_path):
    space = gd.PlanarShapes(16)
    value = random_points(space, 1, 0.3, np.random.default_rng(4))[0]
    out = released(gd.Ball(space, space.origin, 0.4), value)
    even = smooth(out, 0.15)
    assert space.contains(even)
    np.testing.assert_array_equal(even, smooth(value, 0.15))
    drawn = line(plot(out, smooth=0.15), "released value, smoothed")[:-1]
    assert space.dist(drawn, even) < 1e-12
    assert np.allclose(line(plot(out), "released value")[:-1], value)
    out.save(tmp_path / "receipt.json")
    words = ["report", str(tmp_path / "receipt.json"), "--out", str(tmp_path / "page.html")]
    pages = []
    for more in ([], ["--smooth", "0.15"]):
        assert CliRunner().invoke(main, [*words, *more]).exit_code == 0
        pages.append((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "bandwidth 0.15" in pages[1]
    assert "bandwidth" not in pages[0]


@pytest.mark.parametrize(
    ("outline", "bandwidth", "words"),
    [
        (np.eye(3)[:, :2], 0.0, "finite and positive"),
        (np.eye(3)[:, :2], float("nan"), "finite and positive"),
        (np.eye(3)[:, :2], 0.51, "at most 1/2"),
        (np.eye(3)[:, :2], "wide", "must be a number"),
        (np.eye(2), 0.1, "three landmarks"),
        (np.eye(3), 0.1, "three landmarks"),
        (np.ones((5, 2)), 0.1, "have no shape"),
        (np.array([[0, 0], [1, 0], [0, np.inf]]), 0.1, "have no shape"),
        ([["a", "b"]] * 3, 0.1, "real numbers"),
    ],
)
def test_bad_input_is_one_sentence(outline, bandwidth, words):
    with pytest.raises(gd.InputError, match=words):
        smooth(outline, bandwidth)


def test_only_shapes_are_smoothed(tmp_path):
    out = released(gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4), [0.0, 0.0, 1.0])
    with pytest.raises(gd.InputError, match="planar shapes"):
        smooth(out, 0.1)
    with pytest.raises(gd.InputError, match="planar shapes"):
        plot(out, smooth=0.1)
    (tmp_path / "receipt.json").write_text(json.dumps(out.to_json()))
    words = ["report", str(tmp_path / "receipt.json"), "--out", str(tmp_path / "x.html")]
    refused = CliRunner().invoke(main, [*words, "--smooth", "0.1"])
    assert refused.exit_code == 2
    assert "planar shapes" in refused.stderr
    assert not (tmp_path / "x.html").exists()
