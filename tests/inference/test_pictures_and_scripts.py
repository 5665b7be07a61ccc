"""Regions drawn on every kind of space; the scripts' loaders on small files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import geodp as gd
from geodp.inference import ConfidenceRegion

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

import covariance_descriptors
import directions


@pytest.fixture(autouse=True)
def no_screen():
    import matplotlib as mpl

    mpl.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize(
    "space",
    [gd.Sphere(2), gd.Hyperbolic(2), gd.Euclidean(2), gd.SPD(2), gd.SPD(3)],
    ids=lambda space: space.spec,
)
def test_one_region_and_several_on_one_picture(space):
    from geodp.plots.regions import plot_regions

    cov = 0.01 * np.eye(space.dim)
    one = ConfidenceRegion(space, space.origin, cov, cov / 2, 0.95, 6.0, 1e9)
    center = space.exp_coords(space.origin, 0.4 * np.eye(space.dim)[0])
    two = ConfidenceRegion(space, center, cov, cov, 0.95, 6.0, 1e9)
    ax = one.plot()
    assert len(ax.lines) + len(ax.collections) > 0
    both = plot_regions([one, two], ["a", "b"])
    names = [text.get_text() for text in both.get_legend().get_texts()]
    assert names == ["a", "b"]
    with pytest.raises(gd.InputError, match="one label"):
        plot_regions([one, two], ["a"])


def test_a_medmnist_file_is_read(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 60)
    bright = np.where(labels == 0, 90, 250)[:, None, None]
    images = (rng.random((120, 28, 28)) * bright).astype(np.uint8)
    path = tmp_path / "octmnist.npz"
    np.savez(path, train_images=images, train_labels=labels[:, None])
    images, read = covariance_descriptors.load(str(path))
    assert read.shape == (120,)
    assert images.max() <= 16
    rows, pairs = covariance_descriptors.rows_of(images, read, [5.0])
    private, plain = rows[0], rows[2]
    assert private["ratio"] > 1 == plain["ratio"]
    assert pairs[-1]["told_apart"] == 1
    np.savez(path, x=images)
    with pytest.raises(gd.InputError, match="train_images"):
        covariance_descriptors.load(str(path))


def test_coordinates_of_places():
    assert directions.degrees("+513030") == pytest.approx(51 + 30 / 60 + 30 / 3600)
    assert directions.degrees("-0000731") == pytest.approx(-(7 / 60 + 31 / 3600))
    assert directions.degrees("+11630") == pytest.approx(116.5)
