"""The curator's picture of raw records says what it draws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from plot_helpers import labels, line

import geodp as gd
from geodp.plots import entries


@pytest.fixture
def axes(monkeypatch, tmp_path):
    """Axes of the figure that ``draw_records`` saved."""

    def drawn(*given, **how):
        kept = []
        points = entries._points
        monkeypatch.setattr(
            entries, "_points", lambda ax, *rest: (kept.append(ax), points(ax, *rest))
        )
        entries.draw_records(*given, str(tmp_path / "seen.png"), **how)
        return kept[0]

    return drawn


def test_directions_are_drawn_with_the_public_ball(axes):
    space = gd.Sphere(2)
    ball = gd.Ball(space, [0.0, 0.0, 1.0], 0.5)
    records = space.exp_coords(ball.center, np.random.default_rng(0).normal(size=(30, 2)) / 5)
    ax = axes(np.vstack([records, [[np.nan] * 3]]), space, ball=ball)
    found = labels(ax)
    assert "centre of the public ball" in found
    assert any(label.startswith("edge of the public ball, radius 0.5") for label in found)
    assert not any("noise" in label or "released" in label for label in found)
    assert len(line(ax, "raw records")) == 30
    assert "not private" in ax.get_title(loc="left")


def test_without_a_ball_the_origin_is_named(axes):
    ax = axes(np.zeros((5, 2)), gd.Euclidean(2))
    assert "the space's origin" in labels(ax)


@pytest.mark.parametrize("size", [1.2e-3, 3e-3, 1.7, 40.0])
def test_numbers_under_histograms_do_not_meet(size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 7), layout="constrained")
    entries._histograms(figure, np.full((10, 3, 3), size), "mm^2/s")
    figure.canvas.draw()
    low, high = figure.axes[0].get_xlim()
    drawn = [
        x
        for ax in figure.axes[-3:]
        for x in ax.get_xticklabels()
        if low <= x.get_position()[0] <= high
    ]
    boxes = sorted((x.get_window_extent().x0, x.get_window_extent().x1) for x in drawn)
    assert len(boxes) >= 6
    assert all(one[1] < two[0] for one, two in pairwise(boxes))


@pytest.mark.parametrize("size", [(5.0, 5.9), (7.0, 6.4), (4.0, 7.0)])
def test_outlines_keep_their_title_and_legend_inside_the_picture(size):
    from matplotlib.figure import Figure

    space = gd.PlanarShapes(5)
    records = space.exp_coords(space.origin, 0.05 * np.random.default_rng(1).normal(size=(40, 6)))
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    entries._points(ax, records, space, gd.Ball(space, space.origin, 0.4), None)
    figure.draw_without_rendering()
    legend = ax.get_legend()
    for box in (legend.get_window_extent(), ax._left_title.get_window_extent()):
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["raw records", "centre of the public ball"]
    assert ax.get_xlabel().endswith("rotated onto the centre of the public ball")
