"""What docs/comparison.md says of other packages, where they are installed for tests."""

from __future__ import annotations

import csv
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

import geodp as gd

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
NAMES = {"OpenDP": "opendp", "pyRiemann": "pyriemann", "SciPy": "scipy", "DIPY": "dipy"}


def tensors(count: int, seed: int) -> np.ndarray:
    rng, space = np.random.default_rng(seed), gd.SPD(3)
    return space.exp_coords(np.eye(3), 0.4 * rng.standard_normal((count, 6)))


@pytest.mark.parametrize("title", NAMES)
def test_the_page_names_a_version_that_is_near_to_the_installed_one(title: str) -> None:
    try:
        installed = version(NAMES[title]).split(".")[:2]
    except PackageNotFoundError:
        pytest.skip(f"needs {NAMES[title]}")
    named = re.search(rf"\[{title}\]\([^)]*\) (\d+(?:\.\d+)*)", PAGE)
    assert named is not None
    assert named[1].split(".")[0] == installed[0]


def test_opendp_has_no_curved_space_and_names_its_proofs() -> None:
    from opendp import measurements, metrics

    distances = {x for x in dir(metrics) if x.endswith("_distance")}
    assert {"l1_distance", "l2_distance", "linf_distance", "change_one_distance"} <= distances
    assert not [x for x in distances if re.search("geodesic|riemann|sphere|manifold", x)]
    assert "Proof Document" in (measurements.make_gaussian.__doc__ or "")


def test_dp_accounting_knows_three_relations_and_sampling() -> None:
    import dp_accounting

    assert len(dp_accounting.NeighboringRelation) == 3
    assert dp_accounting.PoissonSampledDpEvent is not None


def test_pyriemann_has_sixteen_means_and_one_is_ours() -> None:
    from pyriemann.geometry.mean import mean_functions, mean_riemann

    assert len(mean_functions) == 16
    records = tensors(200, 1)
    ball = gd.Ball(gd.SPD(3), np.eye(3), 2.5)
    exact = gd.FrechetMean(ball).evaluate(records)
    assert float(gd.SPD(3).dist(exact.value, mean_riemann(records))) < 1e-7
    assert exact.error_bound < 1e-7


def test_pyriemann_takes_complex_matrices() -> None:
    from pyriemann.geometry.mean import mean_riemann

    skew = np.array([[0, 1j], [-1j, 0]])
    records = np.stack([2 * np.eye(2) + skew, 2 * np.eye(2) - skew])
    assert np.iscomplexobj(mean_riemann(records))
    np.testing.assert_allclose(mean_riemann(records), np.sqrt(3) * np.eye(2), atol=1e-7)


def test_pyriemann_warns_and_returns_where_it_does_not_converge() -> None:
    from pyriemann.geometry.mean import mean_riemann

    records = tensors(50, 2)
    with pytest.warns(UserWarning, match="Convergence"):
        found = mean_riemann(records, maxiter=1)
    assert float(gd.SPD(3).dist(found, mean_riemann(records))) > 1e-5


def test_scipy_takes_a_mirror_image_for_the_same_shape() -> None:
    """And its disparity is the squared sine of our distance where no reflection fits better."""
    from scipy.spatial import procrustes

    shape, space = np.array([[0.0, 0.0], [2, 0], [2.5, 1], [0, 1.2]]), gd.PlanarShapes(4)
    mirrored = shape * [1, -1]
    moved = shape + np.array([[0, 0.1], [0, 0], [0.2, 0], [0, 0]])
    assert procrustes(shape, mirrored)[2] < 1e-12
    assert float(space.dist(*map(space.from_landmarks, (shape, mirrored)))) > 0.1
    distance = float(space.dist(*map(space.from_landmarks, (shape, moved))))
    np.testing.assert_allclose(procrustes(shape, moved)[2], np.sin(distance) ** 2, rtol=1e-9)


def test_scipys_mean_direction_is_our_extrinsic_mean() -> None:
    from scipy.stats import directional_stats

    rng = np.random.default_rng(4)
    records = rng.normal([0.0, 0.0, 2.0], 1.0, (300, 3))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    mean = gd.ExtrinsicMean(gd.Sphere(2))
    found = mean.route.finish(mean.evaluate(records).value)
    np.testing.assert_allclose(found, directional_stats(records).mean_direction, atol=1e-9)


def test_the_committed_shifts_are_those_on_the_page() -> None:
    with (ROOT / "experiments" / "results" / "peers.csv").open(encoding="utf-8") as file:
        rows = {row["program"]: row for row in csv.DictReader(file)}
    assert round(float(rows["geomstats"]["largest_over_bound"])) == 65
    assert "up to 65 times the bound" in PAGE
    assert rows["pyriemann"]["pairs"] == "40"
    assert rows["pyriemann"]["beyond"] == rows["geodp"]["beyond"] == "0"


def test_pyriemann_keeps_the_bound_in_a_part_of_that_run() -> None:
    sys.path.insert(0, str(ROOT / "experiments"))
    from peers import pyriemann_mean, row

    found = row("pyriemann", pyriemann_mean(), gd.Ball(gd.SPD(3), np.eye(3), 1.5), 3, 5)
    assert 0.5 < found["largest_over_bound"] <= 1.0


def test_a_fixed_tolerance_errs_at_square_volts() -> None:
    """The tutorial on EEG: the log-Euclidean norm of one step at one covariance, in µV² and V²."""
    geometry = pytest.importorskip("pyriemann.geometry.tangentspace")
    step, at = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, 2.0])
    exact = np.sqrt(2) * np.log(2)  # of the logarithm's derivative, log(2) off the diagonal
    assert geometry.norm(step, at, metric="logeuclid") == pytest.approx(exact, rel=1e-12)
    off = geometry.norm(1e-12 * step, 1e-12 * at, metric="logeuclid") / exact
    assert off == pytest.approx(1.14, abs=0.005)
