"""Files in: what is read, what becomes a record of NaN, and what is refused with a sentence."""

from __future__ import annotations

import io
import math
from types import SimpleNamespace

import numpy as np
import pytest

import geodp as gd
from geodp.io import layout_for, read_point, read_records
from geodp.io.records import read_layout


@pytest.fixture
def spd_records():
    factors = np.random.default_rng(1).normal(size=(6, 3, 3))
    return factors @ factors.swapaxes(1, 2) + np.eye(3)


def test_npy_is_a_read_only_memory_map(tmp_path, spd_records):
    np.save(tmp_path / "x.npy", spd_records)
    found = read_records(tmp_path / "x.npy", gd.SPD(3))
    assert isinstance(found, np.memmap)
    assert not found.flags.writeable
    np.testing.assert_array_equal(found, spd_records)


@pytest.mark.parametrize("dtype", ["float32", "int16", ">f8"])
def test_real_dtypes_are_kept(tmp_path, dtype):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2).astype(dtype))
    found = read_records(tmp_path / "x.npy", gd.Euclidean(2))
    np.testing.assert_array_equal(np.asarray(found, dtype=float), [[0, 1], [2, 3], [4, 5]])


@pytest.mark.parametrize(
    "array", [np.zeros((3, 2), complex), np.full((3, 2), "a"), np.ones((3, 2)) > 0]
)
def test_other_dtypes_are_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(gd.InputError, match="real numbers are needed"):
        read_records(tmp_path / "x.npy", gd.Euclidean(2))


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", np.array([[1, None]], dtype=object))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(gd.InputError, match="holds Python objects"):
            read_records(tmp_path / name, gd.Euclidean(2))


class Payload:
    """Unpickling it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_nothing_is_unpickled(tmp_path):
    bait = np.array([Payload(tmp_path / "taken"), None], dtype=object)
    np.save(tmp_path / "x.npy", bait, allow_pickle=True)
    np.savez(tmp_path / "x.npz", bait)
    for name in ("x.npy", "x.npz"):
        with pytest.raises(gd.InputError):
            read_records(tmp_path / name, gd.Euclidean(2))
    assert not (tmp_path / "taken").exists()


def test_npz_takes_its_only_array_or_the_named_one(tmp_path):
    one, two = np.zeros((2, 3)), np.ones((4, 3))
    np.savez(tmp_path / "one.npz", one)
    np.savez(tmp_path / "two.npz", first=one, second=two)
    space = gd.Euclidean(3)
    np.testing.assert_array_equal(read_records(tmp_path / "one.npz", space), one)
    np.testing.assert_array_equal(read_records(tmp_path / "two.npz", space, key="second"), two)
    for key in (None, "third"):
        with pytest.raises(gd.InputError, match="'first', 'second'"):
            read_records(tmp_path / "two.npz", space, key=key)


def test_a_key_without_npz_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3)))
    with pytest.raises(gd.InputError, match="A key names"):
        read_records(tmp_path / "x.npy", gd.Euclidean(3), key="a")


@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 2, 2), (2, 3, 3, 1), ()])
def test_wrong_shapes_are_refused(tmp_path, shape):
    np.save(tmp_path / "x.npy", np.zeros(shape))
    with pytest.raises(gd.InputError, match=r"\(n, 3, 3\) is needed"):
        read_records(tmp_path / "x.npy", gd.SPD(3))


def test_no_record_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0, 2)))
    np.savez(tmp_path / "x.npz", np.zeros((0, 2)))
    (tmp_path / "x.csv").write_text("a,b\n")
    for name in ("x.npy", "x.npz", "x.csv"):
        with pytest.raises(gd.InputError, match="no record"):
            read_records(tmp_path / name, gd.Euclidean(2), header=True)


def csv(tmp_path, text, space, header=False, **how):
    (tmp_path / "x.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_records(tmp_path / "x.csv", space, header=header, **how)


def guessed(tmp_path, text, space):
    (tmp_path / "x.csv").write_text(text)
    return read_layout(tmp_path / "x.csv", layout_for(space), guess=True)


def test_a_header_is_never_decided_by_the_first_line(tmp_path):
    for text in ("1,2\n3,4\n", "x,y\n3,4\n", "x\n", "\n"):
        with pytest.raises(gd.InputError, match=r"--header; .*--no-header"):
            csv(tmp_path, text, gd.Euclidean(2), header=None)


@pytest.mark.parametrize("head", ["", "x,y\n", '"x","y"\r\n', "\ufeffx,y\n", " x , y \n"])
def test_eyes_that_may_see_the_records_may_guess(tmp_path, head):
    found = guessed(tmp_path, head + "1,2\n3,-4e-1\n", gd.Euclidean(2))
    np.testing.assert_array_equal(found, [[1, 2], [3, -0.4]])


@pytest.mark.parametrize("first", ["NA,NA", "nan,nan", ",", "x,1", "1,x", "?,?"])
def test_a_first_line_with_a_number_or_a_missing_value_is_a_record(tmp_path, first):
    assert len(guessed(tmp_path, first + "\n1,2\n", gd.Euclidean(2))) == 2


def test_the_header_can_be_declared(tmp_path):
    space = gd.Euclidean(2)
    assert len(csv(tmp_path, "1,2\n3,4\n", space, header=True)) == 1
    assert np.isnan(csv(tmp_path, "x,y\n3,4\n", space, header=False)[0]).all()


@pytest.mark.parametrize(
    "line",
    ["1", "1,2,3", "", "1,", "1,x", "NA,2", "1_0,2", '"1,2"', '"1', "\x00,1", "1;2", "\udcff,1"],
)
def test_a_malformed_line_is_one_record_of_nan(tmp_path, line):
    text = f"x,y\n1,2\n{line}\n3,4\n".encode("utf-8", "surrogateescape")
    found = csv(tmp_path, text, gd.Euclidean(2), header=True)
    np.testing.assert_array_equal(found, [[1, 2], [math.nan] * 2, [3, 4]])
    for place in (1, 3):  # the first record and the last one are no exceptions
        lines = ["x,y", "1,2", "3,4"]
        lines.insert(place, line)
        text = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
        found = csv(tmp_path, text, gd.Euclidean(2), header=True)
        assert np.isnan(found[place - 1]).all()
        assert np.isfinite(found).all(axis=1).sum() == len(found) - 1 == 2


def test_only_the_final_newline_is_no_record(tmp_path):
    for space, line in ((gd.Euclidean(2), "1,2"), (gd.Euclidean(1), "1")):
        assert len(csv(tmp_path, f"{line}\n{line}", space)) == 2
        assert len(csv(tmp_path, f"{line}\n{line}\n", space)) == 2
        assert len(csv(tmp_path, f"{line}\r\n{line}\r\n", space)) == 2
        found = csv(tmp_path, f"{line}\n\n{line}\n\n\n", space)
        assert np.isnan(found).all(axis=1).tolist() == [False, True, False, True, True]


def test_the_wrong_number_of_columns_is_one_sentence(tmp_path):
    with pytest.raises(gd.InputError, match=r"header has 3 columns; 2 are needed.*--entities"):
        csv(tmp_path, "a,b,c\n1,2,3\n", gd.Euclidean(2), header=True)


def test_a_file_in_which_no_line_fits_is_all_nan(tmp_path):
    for text in ("1,2,3\n1,2,3\n", "1;2\n3;4\n", "\n\n"):
        found = csv(tmp_path, text, gd.Euclidean(2))
        assert found.shape == (2, 2)
        assert np.isnan(found).all()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_refused(tmp_path, encoding):
    mark = "" if encoding == "utf-16" else "\ufeff"
    with pytest.raises(gd.InputError, match="UTF-8"):
        csv(tmp_path, (mark + "1,2\n3,4\n").encode(encoding), gd.Euclidean(2))


def test_full_and_lower_matrices(tmp_path, spd_records):
    full = "\n".join(",".join(map(repr, map(float, x.ravel()))) for x in spd_records)
    order = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    lower = "\n".join(",".join(repr(float(x[i])) for i in order) for x in spd_records)
    space = gd.SPD(3)
    np.testing.assert_array_equal(csv(tmp_path, full, space), spd_records)
    np.testing.assert_array_equal(csv(tmp_path, full, space, columns="full"), spd_records)
    found = csv(tmp_path, lower, space, columns="lower")
    np.testing.assert_allclose(found, spd_records, rtol=1e-15)
    assert np.isnan(csv(tmp_path, lower, space)).all()


def test_degrees_and_the_ball_are_also_read_from_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[90.0, 0.0], [0.0, 91.0], [-630.0, 0.0]]))
    found = read_records(tmp_path / "x.npy", gd.Sphere(2), lonlat=True)
    np.testing.assert_allclose(found[0], [0, 1, 0], atol=1e-15)
    assert np.isnan(found[1]).any()
    np.testing.assert_allclose(found[2], [0, 1, 0], atol=1e-15)
    np.save(tmp_path / "u.npy", np.array([[0.5, 0.0], [1.5, 0.0]]))
    found = read_records(tmp_path / "u.npy", gd.Hyperbolic(2), poincare=True)
    # Poincaré radius 1/2 is at distance 2 artanh(1/2) = log 3: cosh = 5/3, sinh = 4/3
    np.testing.assert_allclose(found[0], [5 / 3, 4 / 3, 0], rtol=1e-14)
    assert not gd.Hyperbolic(2).contains(found)[1]


def test_degrees_on_a_sphere_of_another_size(tmp_path):
    space = gd.Sphere(2, 4.0)
    found = csv(tmp_path, "30,40\n0,-90\n", space, lonlat=True)
    assert space.contains(found).all()
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 0.5, rtol=1e-15)


@pytest.mark.parametrize(
    ("space", "how"),
    [
        ("euclidean:3", {"lonlat": True}),
        ("sphere:3", {"lonlat": True}),
        ("sphere:2", {"poincare": True}),
        ("sphere:2", {"columns": "full"}),
        ("spd:2", {"columns": "by-column"}),
        ("spd:2", {"columns": "full", "lonlat": True}),
        ("sphere:2+euclidean:1", {"lonlat": True}),
    ],
)
def test_declarations_that_do_not_fit_are_refused(space, how):
    with pytest.raises(gd.InputError):
        layout_for(gd.parse_space(space), **how)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}\n",
        b"\x93NUMPY\x01\x00\x46\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9**9, 9**9), }   \n",
        b"PK\x03\x04garbage",
        b"PK\x05\x06" + bytes(18),
        bytes(range(256)) * 20,
    ],
)
def test_damaged_files_are_one_sentence(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(gd.InputError) as caught:
        read_records(tmp_path / name, gd.Euclidean(2))
    assert str(caught.value).count("\n") == 0


def test_a_truncated_array_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((100, 2)))
    np.savez_compressed(tmp_path / "x.npz", np.random.default_rng(0).normal(size=(100, 2)))
    for name in ("x.npy", "x.npz"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(gd.InputError, match=r"damaged|cut off"):
            read_records(tmp_path / name, gd.Euclidean(2))


@pytest.mark.parametrize("path", ["missing.npy", ".", "a\0b", "x" * 5000])
def test_bad_paths_are_one_sentence(path):
    with pytest.raises(gd.InputError, match=r"exist|directory|opened"):
        read_records(path, gd.Euclidean(2))


def npy_bytes(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("content", [b"1,2\n3,4\n", npy_bytes(np.array([[1.0, 2], [3, 4]]))])
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    np.testing.assert_array_equal(
        read_records("-", gd.Euclidean(2), header=False), [[1, 2], [3, 4]]
    )


def test_a_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(gd.InputError, match="closed"):
        read_records("-", gd.Euclidean(2))


def test_points(tmp_path):
    sphere = layout_for(gd.Sphere(2))
    np.testing.assert_array_equal(read_point("origin", sphere, "It"), gd.Sphere(2).origin)
    np.testing.assert_array_equal(read_point("0,-1,0", sphere, "It"), [0, -1, 0])
    np.save(tmp_path / "p.npy", np.diag([1.0, 2.0]))
    (tmp_path / "p.csv").write_text("1,0,0,2\n")
    for name in ("p.npy", "p.csv"):
        found = read_point(str(tmp_path / name), layout_for(gd.SPD(2)), "It")
        np.testing.assert_array_equal(found, np.diag([1.0, 2.0]))
    lower = layout_for(gd.SPD(2), columns="lower")
    np.testing.assert_array_equal(read_point("1,0,2", lower, "It"), np.diag([1.0, 2.0]))


@pytest.mark.parametrize("text", ["1,2", "1", "nowhere", "", "1,,2"])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(gd.InputError):
        read_point(text, layout_for(gd.Sphere(2)), "The centre")


def test_two_points_in_a_file_are_refused(tmp_path):
    np.save(tmp_path / "p.npy", np.eye(3)[:2])
    with pytest.raises(gd.InputError, match=r"shape \(2, 3\)"):
        read_point(str(tmp_path / "p.npy"), layout_for(gd.Sphere(2)), "The centre")
