"""Linear maps of covariances, orders of components, units, and MedMNIST images."""

from __future__ import annotations

import numpy as np
import pytest

import geodp as gd
from geodp.io import LinearMap, covariance_descriptors, layout_for, read_medmnist
from geodp.io.matrices_layout import ORDERS, component_names, components, unpacked
from geodp.io.units import diffusivity, factor


# --- orders -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("lower", "xx xy yy xz yz zz"),
        ("upper", "xx xy xz yy yz zz"),
        ("diagonal-first", "xx yy zz xy xz yz"),
    ],
)
def test_orders_in_use(tmp_path, order, names):
    tensor = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]])
    value = {"xx": 1.0, "yy": 2.0, "zz": 3.0, "xy": 0.1, "xz": 0.2, "yz": 0.3}
    row = [value[name] for name in names.split()]
    assert component_names(order, 3) == names.split()
    (tmp_path / "x.csv").write_text(",".join(map(str, row)) + "\n" + ",".join(["?"] * 6) + "\n")
    found = gd.io.read_records(tmp_path / "x.csv", gd.SPD(3), layout=order, header=False)
    np.testing.assert_array_equal(found[0], tensor)
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(components(tensor, order), row)
    maps = layout_for(gd.Power(gd.SPD(3), 2), layout=order)
    assert maps.width == 12
    np.testing.assert_array_equal(maps.points(np.array([row + row]))[0], [tensor, tensor])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_orders_of_any_size(order, size):
    x = np.random.default_rng(0).normal(size=(4, size, size))
    x += x.swapaxes(1, 2)
    packed = components(x, order)
    assert packed.shape == (4, size * (size + 1) // 2)
    np.testing.assert_array_equal(unpacked(packed, order, size), x)
    assert len(set(component_names(order, size))) == packed.shape[1]


def test_units():
    assert factor("m^2/s", "1e-3 mm^2/s") == 1e9
    assert factor("um^2/s", "mm^2/s") == 1e-6
    assert diffusivity("10^-3 mm²/s") == 1e-9
    assert factor("parrots", "parrots") == 1.0
    assert diffusivity("mm") is None


# --- linear maps --------------------------------------------------------------------------------
def test_a_linear_map_is_the_covariance_of_the_mapped_signals():
    rng = np.random.default_rng(1)
    signals, q = rng.normal(size=(7, 6, 40)), rng.normal(size=(6, 3))
    mapped = np.array([np.cov(q.T @ one) for one in signals])
    found = LinearMap(q).apply(np.array([np.cov(one) for one in signals]))
    np.testing.assert_allclose(found, mapped, rtol=1e-12)
    np.testing.assert_array_equal(found, found.swapaxes(1, 2))


def test_channels_and_the_mean():
    x = np.arange(16.0).reshape(1, 4, 4)
    x = x + x.swapaxes(1, 2)
    kept = LinearMap.of_channels(4, [3, 0]).apply(x)
    np.testing.assert_array_equal(kept[0], x[0][np.ix_([3, 0], [3, 0])])
    q = LinearMap.without_mean(6).matrix
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-15)
    np.testing.assert_allclose(q.sum(axis=0), 0, atol=1e-15)


def test_records_that_are_no_covariance_become_no_point():
    x = np.tile(np.eye(3), (4, 1, 1))
    x[1, 0, 1] = 0.5  # not symmetric
    x[2, 0, 0] = np.nan
    x[3, 0, 0] = -1.0
    found = LinearMap(np.eye(3)[:, :2]).apply(x)
    assert gd.SPD(2).contains(found).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    "q",
    [
        np.eye(3)[0],
        np.zeros((3, 2)),
        np.ones((3, 2)),
        np.ones((2, 3)),
        np.full((2, 2), np.nan),
        np.eye(2, dtype=complex),
        [["a"]],
    ],
)
def test_maps_that_are_refused(q):
    with pytest.raises(gd.InputError):
        LinearMap(q)


@pytest.mark.parametrize("keep", [[], [0, 0], [4], [-1], [0.5]])
def test_channels_that_are_refused(keep):
    with pytest.raises(gd.InputError, match="from 0 to 3"):
        LinearMap.of_channels(4, keep)


# --- MedMNIST -----------------------------------------------------------------------------------
def archive(path, **changed):
    rng = np.random.default_rng(2)
    arrays = {}
    for split, n in (("train", 9), ("val", 4), ("test", 3)):
        arrays[f"{split}_images"] = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        arrays[f"{split}_labels"] = rng.integers(0, 4, (n, 1), dtype=np.uint8)
    np.savez(path, **(arrays | changed))
    return arrays | changed


def test_medmnist(tmp_path):
    arrays = archive(tmp_path / "m.npz")
    for split in ("train", "val", "test"):
        found = read_medmnist(tmp_path / "m.npz", split)
        np.testing.assert_array_equal(found.images, arrays[f"{split}_images"])
        np.testing.assert_array_equal(found.labels, arrays[f"{split}_labels"])
    assert "255" not in repr(found)
    with pytest.raises(gd.InputError, match="train, val, test"):
        read_medmnist(tmp_path / "m.npz", "all")


@pytest.mark.parametrize(
    ("name", "bad", "said"),
    [
        ("train_images", np.zeros((9, 28, 28)), "no images of 8 bits"),
        ("train_images", np.zeros((9, 28, 28, 4), np.uint8), "no images of 8 bits"),
        ("train_labels", np.zeros((8, 1), np.uint8), "labels that are not"),
        ("train_labels", np.zeros((9, 1)), "labels that are not"),
    ],
)
def test_medmnist_files_that_are_refused(tmp_path, name, bad, said):
    archive(tmp_path / "m.npz", **{name: bad})
    with pytest.raises(gd.InputError, match=said):
        read_medmnist(tmp_path / "m.npz", "train")
    (tmp_path / "m.npz").write_bytes((tmp_path / "m.npz").read_bytes()[:500])
    with pytest.raises(gd.InputError, match="damaged"):
        read_medmnist(tmp_path / "m.npz", "train")


def test_descriptors_by_hand():
    """Intensity x/10 + y/20 has constant differences: one variance, all else 0."""
    row, column = np.mgrid[:8, :10]
    image = row / 20 + column / 40
    found = covariance_descriptors(image[None], 0.25)[0]
    expected = np.zeros((5, 5))
    expected[0, 0] = image[2:-2, 2:-2].var()
    np.testing.assert_allclose(found, expected + 0.25 * np.eye(5), atol=1e-15)


def test_descriptors_stay_in_their_public_limits():
    rng = np.random.default_rng(3)
    checks = np.indices((28, 28)).sum(axis=0) % 2
    stripes = np.broadcast_to(np.arange(28) // 2 % 2, (28, 28))
    images = np.stack([checks, stripes, stripes.T, rng.integers(0, 2, (28, 28)), 0 * checks])
    values = np.linalg.eigvalsh(covariance_descriptors((255 * images).astype(np.uint8), 1e-3))
    assert (values >= 1e-3 * (1 - 1e-9)).all()
    assert (values <= 0.501).all()
    assert values.max() > 0.2  # the limit is not idle
    colour = np.repeat((255 * images).astype(np.uint8)[..., None], 3, axis=3)
    np.testing.assert_allclose(
        covariance_descriptors(colour, 1e-3), covariance_descriptors(images.astype(float), 1e-3)
    )
    for bad in (np.zeros((3, 5, 5)), np.zeros((2, 8, 8), int), np.zeros((8, 8))):
        with pytest.raises(gd.InputError):
            covariance_descriptors(bad, 1e-3)
