"""Ellipses, the matrices at the noise radius, spectra: against closed forms."""

import dataclasses

import numpy as np
import pytest
from plot_helpers import line, released
from scipy.linalg import eigvalsh, logm

import geodp as gd
from geodp.plots import plot
from geodp.plots.matrix import noise_band
from geodp.plots.picture import Picture


def matrix_of(points):
    """The matrix P of an ellipse xᵀ P⁻¹ x = 1, by least squares on its points."""
    x, y = points.T
    a, b, c = np.linalg.lstsq(np.stack([x * x, 2 * x * y, y * y], 1), np.ones(len(x)), rcond=None)[
        0
    ]
    return np.linalg.inv([[a, b], [b, c]])


def turned(angle, *eigenvalues):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return turn @ np.diag(eigenvalues) @ turn.T


def ellipses(ax):
    return [np.column_stack(a.get_data()) for a in ax.lines if len(a.get_xdata()) > 2]


def test_spd2_axes_are_roots_of_eigenvalues():
    ax = plot(turned(0.4, 4.0, 0.25), gd.SPD(2))
    reach = np.linalg.norm(line(ax, "released value"), axis=1)
    assert reach.max() == pytest.approx(2.0, rel=1e-3)
    assert reach.min() == pytest.approx(0.5, rel=1e-3)


def test_spd2_noise_ellipses_lie_at_the_noise_radius():
    value = turned(0.4, 4.0, 0.25)
    ax = plot(value, gd.SPD(2), radius=0.6)
    around = [matrix_of(points) for points in ellipses(ax)]
    gaps = [np.linalg.norm(np.log(eigvalsh(p, value))) for p in around]
    near = [gap for gap in gaps if gap > 1e-6]
    assert len(near) == len(gaps) - 1  # all but the value itself
    assert len(near) >= 20
    assert np.allclose(near, 0.6, rtol=1e-6)


def test_spd3_draws_three_projections_with_units():
    value = np.array([[1.7, 0.2, 0.1], [0.2, 0.4, -0.05], [0.1, -0.05, 0.3]])
    ball = gd.Ball.from_eigenvalues(gd.SPD(3), 0.1, 3.0, physical_unit="1e-3 mm^2/s")
    ax = plot(released(ball, value))
    assert len(ax.child_axes) == 3
    for panel, (i, j) in zip(ax.child_axes, [(0, 1), (0, 2), (1, 2)], strict=True):
        shown = line(panel, "released value")
        assert np.allclose(matrix_of(shown), value[np.ix_([i, j], [i, j])], rtol=1e-8)
        center = matrix_of(line(panel, "centre of the public ball"))
        assert np.allclose(center, np.sqrt(0.3) * np.eye(2), rtol=1e-8)
        assert "mm^2/s" in panel.get_xlabel()
    limits = {panel.get_xlim() for panel in ax.child_axes} | {p.get_ylim() for p in ax.child_axes}
    assert len(limits) == 1  # one scale
    text = ax.get_legend().get_title().get_text()
    low, mid, high = np.linalg.eigvalsh(value)
    spread = (high - mid) ** 2 + (mid - low) ** 2 + (low - high) ** 2
    anisotropy = np.sqrt(spread / (2 * (high**2 + mid**2 + low**2)))  # Basser and Pierpaoli 1996
    assert f"anisotropy {anisotropy:.2f}" in text
    assert f"mean {np.trace(value) / 3:.3g}" in text


@pytest.mark.parametrize("metric", ["affine-invariant", "log-euclidean"])
def test_larger_matrices_show_entries_and_spectrum(metric):
    value = np.diag([4.0, 2.0, 1.0, 0.5, 0.25])
    value[0, 4] = value[4, 0] = 0.3
    ax = plot(released(gd.Ball(gd.SPD(5, metric), np.eye(5), 3.0, "V^2"), value))
    heat, spectrum = ax.child_axes
    assert np.array_equal(heat.images[0].get_array(), value)
    assert {text.get_text() for text in heat.texts} >= {"4", "2", "1", "0.5", "0.3"}
    shown = line(spectrum, "released value")
    assert np.allclose(shown[:, 1], np.linalg.eigvalsh(value)[::-1])
    assert spectrum.get_yscale() == "log"
    assert "[V^2]" in spectrum.get_ylabel()
    assert "[V^2]" in heat.get_xlabel()


def test_declared_components_label_the_heat_map():
    ball = gd.Ball(gd.SPD(4), np.eye(4), 3.0)
    out = released(ball, np.eye(4))
    domain = dataclasses.replace(out.domain, component_order="Fz, Cz, Pz, Oz")
    ax = plot(dataclasses.replace(out, domain=domain))
    shown = [tick.get_text() for tick in ax.child_axes[0].get_xticklabels()]
    assert shown == ["Fz", "Cz", "Pz", "Oz"]


def test_neighbours_of_log_euclidean_are_at_the_radius():
    value = np.diag([3.0, 1.0, 0.2, 0.1])
    around = Picture(value, gd.SPD(4, "log-euclidean"), "", noise=0.4).neighbours(30)
    gaps = [np.linalg.norm(logm(p) - logm(value)) for p in around]
    assert np.allclose(gaps, 0.4, rtol=1e-9)


def test_noise_band_holds_most_of_the_spectra_at_the_noise_radius():
    # eigenvalues apart by far more than the noise: first order, each log-eigenvalue moves by its
    # diagonal coordinate, r u_1 with u uniform on the sphere in R^10, (1+u_1)/2 ~ Beta(9/2, 9/2)
    from scipy.stats import beta

    value = np.diag([1e6, 1e3, 1.0, 1e-3])
    low, high = noise_band(Picture(value, gd.SPD(4), "", noise=0.1))
    reach = 0.1 * (2 * beta(4.5, 4.5).ppf(0.95) - 1)
    assert np.allclose(np.log(high / np.diag(value)), reach, rtol=0.2)
    assert np.allclose(np.log(low / np.diag(value)), -reach, rtol=0.2)
