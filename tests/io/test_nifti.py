"""NIfTI volumes of tensors, made by nibabel or byte by byte, in each order in use."""

from __future__ import annotations

import gzip
import resource
import struct
import tempfile
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geodp as gd
from geodp.io import Grid, Places, Tensors, places_of, read_subjects, read_voxels, write_tensors

SPACE = gd.SPD(3)
AFFINE = np.diag([2.0, 2.0, 3.0, 1.0])
UNIT = "1e-3 mm^2/s"
# xx, xy, xz, yy, yz, zz of the orders, written out by hand
ORDERS = {
    "lower": ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)),
    "upper": ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)),
    "diagonal-first": ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)),
}


def tensors(shape, seed=0):
    a = np.random.default_rng(seed).normal(size=(*shape, 3, 3))
    return a @ a.swapaxes(-1, -2) + 0.1 * np.eye(3)


def packed(x, order):
    return np.stack([x[..., i, j] for i, j in ORDERS[order]], axis=-1)


def save(path, data, intent=None, affine=AFFINE, dtype=np.float64):
    image = nibabel.Nifti1Image(np.asarray(data, dtype=dtype), affine)
    if intent is not None:
        image.header.set_intent(intent, (3.0,) if intent == 1005 else ())
    nibabel.save(image, path)
    return path


def by_hand(path, data, intent=0, dims=None, code=64, offset=352):
    """A NIfTI-1 file written field by field (nifti1.h)."""
    dims = data.shape if dims is None else dims
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, len(dims), *dims, *[1] * (7 - len(dims)))
    struct.pack_into("<h", header, 68, intent)
    struct.pack_into("<2h", header, 70, code, 64)
    struct.pack_into("<8f", header, 76, *[1.0] * 8)
    struct.pack_into("<f", header, 108, offset)
    struct.pack_into("<f", header, 112, 1.0)
    header[344:348] = b"n+1\0"
    path.write_bytes(bytes(header) + np.asfortranarray(data).tobytes(order="F"))
    return path


def small():
    with tempfile.TemporaryDirectory() as folder:
        data = packed(tensors((2, 1, 2)), "lower")
        return by_hand(Path(folder) / "s.nii", data, intent=1005).read_bytes()


SMALL = small()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
@pytest.mark.parametrize("five", [False, True])
def test_orders_of_files_by_nibabel(tmp_path, order, ending, five):
    x = tensors((2, 3, 4))
    data = packed(x, order)
    path = save(tmp_path / f"d{ending}", data[:, :, :, None] if five else data)
    found = read_voxels(path, SPACE, Tensors(UNIT, order))
    np.testing.assert_array_equal(found, x.reshape(-1, 3, 3))
    others = [read_voxels(path, SPACE, Tensors(UNIT, o)) for o in ORDERS if o != order]
    assert all((np.abs(other - found) > 0.1).any() for other in others)
    with pytest.raises(gd.InputError, match="order of its components: declare it"):
        read_voxels(path, SPACE, Tensors(UNIT))


@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_files_by_hand(tmp_path, order):
    x = tensors((1, 3, 1))  # axes of length one stay axes
    path = by_hand(tmp_path / "hand.nii", packed(x, order))
    found = read_voxels(path, SPACE, Tensors(UNIT, order))
    np.testing.assert_array_equal(found, x.reshape(-1, 3, 3))


def test_the_intent_code_says_the_order(tmp_path):
    x = tensors((2, 1, 2))
    for path in (
        save(tmp_path / "a.nii.gz", packed(x, "lower")[:, :, :, None], 1005),
        by_hand(tmp_path / "b.nii", packed(x, "lower")[:, :, :, None], intent=1005),
    ):
        for order in (None, "lower"):
            found = read_voxels(path, SPACE, Tensors(UNIT, order))
            np.testing.assert_array_equal(found, x.reshape(-1, 3, 3))
        with pytest.raises(gd.InputError, match="upper was declared"):
            read_voxels(path, SPACE, Tensors(UNIT, "upper"))


@pytest.mark.parametrize("unit", [None, "", "  "])
def test_the_unit_is_declared(unit):
    with pytest.raises(gd.InputError, match="does not say its unit"):
        Tensors(unit, "lower")


def test_units_of_diffusivity_are_converted(tmp_path):
    x = tensors((2, 2, 2))
    path = save(tmp_path / "d.nii", packed(x, "upper"))
    found = read_voxels(path, SPACE, Tensors("mm²/s", "upper", to="µm²/ms"))
    np.testing.assert_allclose(found, 1000 * x.reshape(-1, 3, 3), rtol=1e-15)
    with pytest.raises(gd.InputError, match="cannot be converted to furlongs"):
        Tensors("mm^2/s", "upper", to="furlongs")


def test_scaled_integers(tmp_path):
    x = np.round(tensors((2, 2, 1)) * 64)
    image = nibabel.Nifti1Image(packed(x, "lower").astype(np.int16), AFFINE)
    image.header.set_slope_inter(0.5, 3.0)
    nibabel.save(image, tmp_path / "i.nii")
    found = read_voxels(tmp_path / "i.nii", SPACE, Tensors(UNIT, "lower"))
    stored = np.asanyarray(nibabel.load(tmp_path / "i.nii").dataobj)
    np.testing.assert_array_equal(packed(found, "lower"), stored.reshape(-1, 6))


def test_masks_and_atlases(tmp_path):
    people = [tensors((2, 2, 3), seed) for seed in range(3)]
    paths = [save(tmp_path / f"{i}.nii.gz", packed(x, "upper")) for i, x in enumerate(people)]
    inside = np.zeros((2, 2, 3))
    inside[1, 0, 2] = inside[0, 1, 1] = 7
    mask = save(tmp_path / "mask.nii.gz", inside, dtype=np.uint8)
    voxels = read_voxels(paths[0], SPACE, Tensors(UNIT, "upper", mask=mask))
    np.testing.assert_array_equal(voxels, people[0][[0, 1], [1, 0], [1, 2]])
    maps = read_subjects(paths, gd.Power(SPACE, 2), Tensors(UNIT, "upper", mask=mask))
    np.testing.assert_array_equal(maps[2], people[2][[0, 1], [1, 0], [1, 2]])
    labels = np.array([0, 2, 2, 9, 0, 9, 9, 0, 2, 0, 0, 0.0]).reshape(2, 2, 3)
    atlas = save(tmp_path / "atlas.nii", labels)
    declared = Tensors(UNIT, "upper", atlas=atlas)
    regions = read_subjects(paths, gd.Power(SPACE, 2), declared)
    expected = [[x[labels == label].mean(axis=0) for label in (2, 9)] for x in people]
    np.testing.assert_allclose(regions, expected, rtol=1e-14)
    whole = save(tmp_path / "whole.nii", labels > 0)
    one = read_subjects(paths, SPACE, Tensors(UNIT, "upper", atlas=whole))
    np.testing.assert_allclose(one[1], people[1][labels > 0].mean(axis=0), rtol=1e-14)
    with pytest.raises(gd.InputError, match=r"2 regions of the atlas.*use .*\^2"):
        read_subjects(paths, gd.Power(SPACE, 3), declared)
    ball = gd.Ball.from_eigenvalues(gd.Power(SPACE, 2), 0.1, 10.0, physical_unit=UNIT)
    out = gd.release(regions, gd.FrechetMean(ball), gd.GaussianDP(50), "wrapped-gaussian")
    place = tmp_path / "mean.nii.gz"
    write_tensors(place, out.value, places_of(None, atlas))
    back = nibabel.load(place)
    assert back.shape == (2, 2, 3, 1, 6)
    assert back.header.get_intent()[0] == "symmetric matrix"
    data = back.get_fdata()[..., 0, :]
    np.testing.assert_array_equal(data[labels == 9], [packed(out.value[1], "lower")] * 3)
    assert (data[labels == 0] == 0).all()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_what_is_written_is_read_back(tmp_path, order, ending):
    x, path = tensors((6,)), tmp_path / f"out{ending}"
    write_tensors(path, x, Grid((1, 3, 2), AFFINE), order=order)
    np.testing.assert_array_equal(read_voxels(path, SPACE, Tensors(UNIT, order)), x)
    np.testing.assert_array_equal(nibabel.load(path).affine, AFFINE)
    if order == "lower":
        np.testing.assert_array_equal(read_voxels(path, SPACE, Tensors(UNIT)), x)


def test_a_bad_voxel_stays_in_its_record(tmp_path):
    data = packed(tensors((2, 2, 1)), "lower")
    data[1, 0, 0, 3] = np.nan
    found = read_voxels(save(tmp_path / "n.nii", data), SPACE, Tensors(UNIT, "lower"))
    assert [bool(np.isnan(x).any()) for x in found] == [False, False, True, False]


# --- bad input ----------------------------------------------------------------------------------
def damaged(tmp_path):
    good = tmp_path / "good.nii"
    save(good, packed(tensors((4, 4, 4)), "lower"))
    content = good.read_bytes()
    files = {
        "cut.nii": content[:-100],
        "header.nii": content[:200],
        "empty.nii": b"",
        "words.nii": b"lon,lat\n1,2\n" * 100,
        "cut.nii.gz": gzip.compress(content)[:-40],
        "flipped.nii.gz": gzip.compress(content)[:60] + b"\xff" * 80,
        "plain.nii.gz": content,
        "empty.nii.gz": b"",
    }
    for name, what in files.items():
        (tmp_path / name).write_bytes(what)
    yield from (tmp_path / name for name in files)
    yield tmp_path / "missing.nii"
    yield tmp_path / "good.txt"
    (tmp_path / "dir.nii").mkdir()
    yield tmp_path / "dir.nii"
    x = np.zeros((1, 1, 1, 6))
    for i, dims in enumerate([(30000, 30000, 30000, 6), (0, 1, 1, 6), (-1, 2, 2, 6), (32767,) * 7]):
        yield by_hand(tmp_path / f"huge{i}.nii", x, dims=dims)
        huge = by_hand(tmp_path / f"huge{i}", x, dims=dims).read_bytes()
        (tmp_path / f"huge{i}.nii.gz").write_bytes(gzip.compress(huge))
        yield tmp_path / f"huge{i}.nii.gz"
    yield by_hand(tmp_path / "far.nii", x, offset=1e30)
    yield by_hand(tmp_path / "nan.nii", x, offset=float("nan"))
    yield by_hand(tmp_path / "complex.nii", x, code=1792)
    yield by_hand(tmp_path / "unknown.nii", x, code=77)
    yield by_hand(tmp_path / "five.nii", np.zeros((2, 2, 2, 5)))
    yield by_hand(tmp_path / "three.nii", np.zeros((2, 2, 2)))
    yield by_hand(tmp_path / "time.nii", np.zeros((2, 2, 2, 2, 6)))


def test_damaged_and_lying_files_are_one_sentence(tmp_path, capfd):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = 0
    for path in damaged(tmp_path):
        with pytest.raises(gd.InputError) as caught:
            read_voxels(path, SPACE, Tensors(UNIT, "lower"))
        assert str(caught.value)[0].isupper(), path
        assert str(caught.value).endswith("."), path
        count += 1
    assert count == 26
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 200_000  # kB
    assert capfd.readouterr().err == ""  # nibabel's own log is kept quiet


def test_masks_that_do_not_fit(tmp_path):
    path = save(tmp_path / "d.nii", packed(tensors((2, 2, 2)), "lower"))
    wrong = {
        "other grid": save(tmp_path / "m1.nii", np.ones((2, 2, 3))),
        "elsewhere": save(tmp_path / "m2.nii", np.ones((2, 2, 2)), affine=np.diag([2, 2, 3.5, 1])),
        "no voxel": save(tmp_path / "m3.nii", np.zeros((2, 2, 2))),
        "one.": path,
    }
    said = {"other grid": "the grid", "elsewhere": "elsewhere in space", "no voxel": "marks no"}
    for name, mask in wrong.items():
        with pytest.raises(gd.InputError, match=said.get(name, name)):
            read_voxels(path, SPACE, Tensors(UNIT, "lower", mask=mask))
    close = save(tmp_path / "m4.nii", np.ones((2, 2, 2)), affine=np.diag([2, 2, 3 + 1e-5, 1]))
    assert len(read_voxels(path, SPACE, Tensors(UNIT, "lower", mask=close))) == 8
    halves = save(tmp_path / "h.nii", np.full((2, 2, 2), 0.5))
    with pytest.raises(gd.InputError, match="not all whole numbers"):
        Places.of_atlas(halves)
    with pytest.raises(gd.InputError, match="not both"):
        places_of(close, close)


def test_files_larger_than_the_memory_are_refused_unread(tmp_path, monkeypatch):
    """Zeros pack a thousandfold: such a file is as long as its header states, and small."""
    path = save(tmp_path / "zeros.nii.gz", np.zeros((100, 100, 100, 6)), dtype=np.int8)
    assert path.stat().st_size < 40_000
    monkeypatch.setattr("geodp.io.nifti.memory", lambda: 1e7)
    monkeypatch.setattr("geodp.io.nifti.Volume.component", None)
    with pytest.raises(gd.InputError, match="more voxels than this machine's memory"):
        read_voxels(path, SPACE, Tensors(UNIT, "lower"))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_bytes_changed_at_random(data):
    """Whatever the bytes: records, or one sentence."""
    content = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 400))] = data.draw(st.integers(0, 255))
    content = bytes(content)[: data.draw(st.sampled_from([len(content), 352, 380]))]
    packed = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("x.nii.gz" if packed else "x.nii")
        path.write_bytes(gzip.compress(content) if packed else content)
        try:
            assert read_voxels(path, SPACE, Tensors(UNIT, "lower")).shape[1:] == (3, 3)
        except gd.InputError as error:
            said = str(error)
        else:
            said = "."
        assert said.endswith(".")
