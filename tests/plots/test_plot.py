"""The front door: dispatch, what is drawn and what never is, units, errors."""

import subprocess
import sys

import numpy as np
import pytest
from plot_helpers import labels, line, released

import geodp as gd
from geodp.plots import plot, register, style
from geodp.plots.registry import drawing_of

PRODUCT = gd.Product(gd.Sphere(2), gd.Euclidean(1), gd.SPD(2))
SPACES = [
    gd.Euclidean(1),
    gd.Euclidean(2),
    gd.Euclidean(4),
    gd.Sphere(1),
    gd.Sphere(2),
    gd.Sphere(4),
    gd.Hyperbolic(2),
    gd.Hyperbolic(3),
    gd.SPD(1),
    gd.SPD(2),
    gd.SPD(3),
    gd.SPD(3, "log-cholesky"),
    gd.SPD(4),
    gd.SPD(10, "log-euclidean"),
    PRODUCT,
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.spec)
def test_every_space_is_drawn_without_raw_records(space):
    ball = gd.Ball(space, space.origin, 0.5)
    ax = plot(released(ball, space.exp_coords(space.origin, np.full(space.dim, 0.05))))
    ax.figure.canvas.draw()
    assert "released value" in labels(ax)
    assert "raw records" not in labels(ax)
    assert "private" not in ax.get_title(loc="left").lower()


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.spec)
def test_raw_records_only_on_request_and_with_a_warning(space):
    ball = gd.Ball(space, space.origin, 0.5)
    records = np.stack([space.origin, np.full(space.point_shape, np.nan)])
    ax = plot(released(ball, space.origin), records=records)
    ax.figure.canvas.draw()
    assert "raw records" in labels(ax)
    assert "not private" in ax.get_title(loc="left")


def test_seeded_releases_say_so():
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    assert "NOT PRIVATE" in plot(released(ball, [0, 0, 1], private=False)).get_title(loc="left")


def test_coordinates_are_logs_with_an_even_share_of_the_noise():
    value = PRODUCT.join([[np.cos(0.1), np.sin(0.1), 0.0], [0.2], np.diag([np.exp(0.3), 1.0])])
    out = released(gd.Ball(PRODUCT, PRODUCT.origin, 0.5), value)
    ax = plot(out)
    assert np.allclose(line(ax, "released value")[:, 1], [0.1, 0, 0.2, 0.3, 0, 0], atol=1e-12)
    bars = [bar for bar in ax.patches if bar.get_width() < 1]
    share = out.expected_distance / np.sqrt(6)
    assert np.allclose([bar.get_height() for bar in bars], 2 * share)
    assert np.allclose([bar.get_y() + share for bar in bars], [0.1, 0, 0.2, 0.3, 0, 0], atol=1e-9)
    assert {text.get_text() for text in ax.texts} == {
        "sphere:2",
        "euclidean:1",
        PRODUCT.factors[2].spec,
    }


def test_draws_on_given_axes_and_returns_them():
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    assert plot([0.0, 1.0], gd.Euclidean(2), radius=0.3, ax=right) is right
    assert not left.has_data()


def test_a_point_alone_needs_no_noise():
    assert not any(label.startswith("noise") for label in labels(plot(np.eye(2), gd.SPD(2))))


def test_units_are_drawn_as_they_are():
    ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0, r"$\frac{$ <b>&")
    ax = plot(released(ball, [0.1, 0.2]))
    ax.figure.canvas.draw()  # matplotlib's mathematics would fail here
    assert r"\$\frac{\$ <b>&" in ax.get_xlabel()


def test_a_space_of_ones_own_gets_its_own_picture(monkeypatch):
    from geodp.plots import registry

    monkeypatch.setattr(registry, "_DRAWINGS", dict(registry._DRAWINGS))
    seen = []
    register("hyperbolic", 5)(lambda picture, ax: seen.append(picture.space.dim))
    plot(gd.Hyperbolic(5).origin, gd.Hyperbolic(5))
    assert seen == [5]
    assert drawing_of(gd.Hyperbolic(6)).draw is drawing_of(gd.Sphere(7)).draw


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (([0.0, 1.0],), gd.InputError, "needs its space"),
        (([0.0, 1.0], "sphere:1"), gd.InputError, "object"),
        (([0.0, 2.0], gd.Sphere(1)), gd.SpaceError, "no point"),
        (([0.0, 1.0], gd.Sphere(1), [[1.0]]), gd.SpaceError, "shape"),
        (([0.0, 1.0], gd.Sphere(1), None, float("nan")), gd.InputError, "radius"),
        (([0.0, 1.0], gd.Sphere(1), None, -1.0), gd.InputError, "radius"),
    ],
)
def test_refusals(arguments, error, word):
    with pytest.raises(error, match=word):
        plot(*arguments)


def test_a_release_brings_its_space():
    out = released(gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.5), [0.0, 0.0, 1.0])
    with pytest.raises(gd.InputError, match="leave space out"):
        plot(out, gd.Sphere(3))


def test_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(gd.InputError, match=r"geodp\[plot\]"):
        plot([0.0, 1.0], gd.Euclidean(2))


def test_importing_is_cheap():
    code = "import sys, geodp.plots, geodp.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_colours_differ_in_grey():
    from matplotlib.colors import to_rgb

    grey = [np.dot(to_rgb(c), [0.2126, 0.7152, 0.0722]) for c in (style.VALUE, style.NOISE)]
    assert grey[1] - grey[0] > 0.2
