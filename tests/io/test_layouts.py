"""Declared layouts of landmarks, directions and hyperbolic points, against values by hand."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.io import layout_for, read_point, read_records
from geodp.io.declared import LAYOUTS

SHAPES = gd.PlanarShapes(4)
SQUARES = np.array(
    [
        [[0, 0], [2, 0], [2, 1], [0, 1]],
        [[5, 5], [6, 5], [6, 6], [5, 6.5]],
        [[0, 0], [3, 0], [3, 3], [0, 2]],
    ]
)
LONG = """wing,landmark,x,y
a,1,0,0
a,2,2,0
a,3,2,1
a,4,0,1
"b",4,5,6.5
c,1,0,0
c,2,3,0
"b",1,5,5
"b",2,6,5
"b",3,6,6
c,3,3,3
c,4,0,2
"""


def table(tmp_path, text, space, layout, header=False):
    (tmp_path / "x.csv").write_text(text)
    return read_records(tmp_path / "x.csv", space, layout=layout, header=header)


# --- landmarks ----------------------------------------------------------------------------------
def test_one_landmark_a_line_in_any_order(tmp_path):
    expected = SHAPES.from_landmarks(SQUARES)
    np.testing.assert_array_equal(table(tmp_path, LONG, SHAPES, "long", True), expected)
    from_0 = "\n".join(
        f"{name},{i},{x},{y}"
        for name, square in zip("abc", SQUARES, strict=True)
        for i, (x, y) in enumerate(square)
    )
    np.testing.assert_array_equal(table(tmp_path, from_0, SHAPES, "long-from-0"), expected)
    assert np.isnan(table(tmp_path, from_0, SHAPES, "long")).all()  # numbers are never guessed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"b",3,6,6\n', ""),  # a landmark is missing
        ('"b",3,6,6\n', '"b",3,6\n'),
        ('"b",3,6,6\n', '"b",3,6,NA\n'),
        ('"b",3,6,6\n', '"b",2,6,6\n'),
        ('"b",3,6,6\n', '"b",3.5,6,6\n'),
        ('"b",3,6,6\n', '"b",5,6,6\n'),
        ('"b",3,6,6\n', '"b",0,6,6\n'),
        ('"b",3,6,6\n', '"b",inf,6,6\n'),
        ('"b",3,6,6\n', '"b",1e300,6,6\n'),
        ('"b",3,6,6\n', '"b",3,6,6\n"b",3,6,6\n'),
        ('"b",3,6,6\n', '"b",3,6,6\n"b",9,6,6\n'),
        ('"b",3,6,6\n', '"b",3,6,6,1\n'),
    ],
)
def test_a_malformed_long_record_leaves_the_others_alone(tmp_path, old, new):
    found = table(tmp_path, LONG.replace(old, new), SHAPES, "long", True)
    expected = SHAPES.from_landmarks(SQUARES)
    np.testing.assert_array_equal(found[[0, 2]], expected[[0, 2]])
    assert found.shape == (3, 4, 2)
    assert np.isnan(found[1]).all()


def test_long_tables_state_their_header(tmp_path):
    with pytest.raises(gd.InputError, match="4 are needed: specimen, landmark, x, y"):
        table(tmp_path, "a,b\n" + LONG, SHAPES, "long", True)
    with pytest.raises(gd.InputError, match="--no-header"):
        table(tmp_path, LONG, SHAPES, "long", None)
    with pytest.raises(gd.InputError, match="no record"):
        table(tmp_path, "specimen,landmark,x,y\n", SHAPES, "long", True)


def test_columns_by_coordinate_and_arrays_of_r(tmp_path):
    expected = SHAPES.from_landmarks(SQUARES)
    rows = SQUARES.swapaxes(1, 2).reshape(3, 8)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    np.testing.assert_array_equal(table(tmp_path, text, SHAPES, "split"), expected)
    np.save(tmp_path / "split.npy", rows)
    found = read_records(tmp_path / "split.npy", SHAPES, layout="split")
    np.testing.assert_array_equal(found, expected)
    np.save(tmp_path / "r.npy", np.moveaxis(SQUARES, 0, -1))
    np.testing.assert_array_equal(read_records(tmp_path / "r.npy", SHAPES, layout="pkn"), expected)
    with pytest.raises(gd.InputError, match=r"shape \(4, 2, 3\); \(n, 4, 2\) is needed"):
        read_records(tmp_path / "r.npy", SHAPES)
    np.save(tmp_path / "n.npy", SQUARES)
    with pytest.raises(gd.InputError, match=r"shape \(3, 4, 2\); \(4, 2, n\) is needed"):
        read_records(tmp_path / "n.npy", SHAPES, layout="pkn")


# --- directions ---------------------------------------------------------------------------------
def test_angles_in_both_units(tmp_path):
    degrees = "0,0\n90,0\n-90,0\n45,30\n0,-90\n370,0\n0,90.001\nx,0\n"
    half, root = math.sqrt(0.5), math.sqrt(0.75)
    expected = np.array(
        [[1, 0, 0], [0, 1, 0], [0, -1, 0], [half * root, half * root, 0.5], [0, 0, -1],
         [math.cos(math.radians(10)), math.sin(math.radians(10)), 0]]
    )  # fmt: skip
    found = table(tmp_path, degrees, gd.Sphere(2), "lonlat-degrees")
    np.testing.assert_allclose(found[:6], expected, atol=1e-15)
    assert np.isnan(found[6:]).any(axis=1).all()
    radians = "\n".join(
        ",".join(repr(math.radians(float(x))) for x in line.split(","))
        for line in degrees.splitlines()[:7]
    )
    found = table(tmp_path, radians, gd.Sphere(2), "lonlat-radians")
    np.testing.assert_allclose(found[:6], expected, atol=1e-15)
    assert np.isnan(found[6]).any()


def test_dip_and_azimuth(tmp_path):
    """x north, y east, z down: a dip of 90° points down, azimuth 90° east."""
    text = "90,123\n0,0\n0,90\n30,180\n-45,270\n91,0\n"
    found = table(tmp_path, text, gd.Sphere(2), "dip-azimuth-degrees")
    half = math.sqrt(0.5)
    expected = [[0, 0, 1], [1, 0, 0], [0, 1, 0], [-math.sqrt(0.75), 0, 0.5], [0, -half, -half]]
    np.testing.assert_allclose(found[:5], expected, atol=1e-15)
    assert np.isnan(found[5]).any()
    text = f"{math.pi / 6},{math.pi}\n0.1,0.2\n"
    found = table(tmp_path, text, gd.Sphere(2), "dip-azimuth-radians")
    np.testing.assert_allclose(found[0], expected[3], atol=1e-15)
    small = gd.Sphere(2, 4.0)
    assert small.contains(table(tmp_path, "30,40\n", small, "dip-azimuth-degrees")).all()


def test_unit_vectors_are_read_as_they_are(tmp_path):
    found = table(tmp_path, "0.6,0.8\n1,1\n", gd.Sphere(1), "unit-vectors")
    np.testing.assert_array_equal(found, [[0.6, 0.8], [1, 1]])


def test_axial_data_are_refused_with_a_hint(tmp_path):
    with pytest.raises(gd.InputError, match=r"no mean direction.*euclidean:6"):
        table(tmp_path, "0,0,1\n", gd.Sphere(2), "axes")
    (tmp_path / "x.csv").write_text("0,0,1\n0,0,-1\n")
    words = ["release", str(tmp_path / "x.csv"), "--no-header", "--space", "sphere:2"]
    words += ["--degrees", "0", "90", "20", "--gdp", "1", "--layout", "axes"]
    out = CliRunner().invoke(main, words)
    assert (out.exit_code, out.stdout) == (2, "")
    assert "no mean direction" in out.stderr


# --- hyperbolic space ---------------------------------------------------------------------------
def test_models_of_hyperbolic_space(tmp_path):
    """Poincaré radius 1/2 lies at distance log 3: cosh 5/3, sinh 4/3."""
    space, point = gd.Hyperbolic(2), [5 / 3, 4 / 3, 0]
    for layout, text in (
        ("poincare", "0.5,0\n0,0\n"),
        ("hyperboloid", f"{5 / 3!r},{4 / 3!r},0\n1,0,0\n"),
        ("hyperboloid-time-last", f"{4 / 3!r},0,{5 / 3!r}\n0,0,1\n"),
    ):
        found = table(tmp_path, text, space, layout)
        np.testing.assert_allclose(found, [point, [1, 0, 0]], rtol=1e-14)
        found = read_point(text.splitlines()[0], layout_for(space, layout=layout), "It")
        np.testing.assert_allclose(found, point, rtol=1e-14)


# --- declarations -------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["euclidean:3", "sphere:2+euclidean:1"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_other_spaces_are_refused(spec, layout):
    with pytest.raises(gd.InputError):
        layout_for(gd.parse_space(spec), layout=layout)


@pytest.mark.parametrize("spec", ["spd:2", "sphere:2", "hyperbolic:2", "shapes:4"])
def test_each_layout_belongs_to_one_kind_of_space(spec):
    space, fits = gd.parse_space(spec), []
    for layout in LAYOUTS:
        try:
            layout_for(space, layout=layout)
        except gd.InputError:
            continue
        fits.append(layout)
    assert len(fits) == {"spd:2": 4, "sphere:2": 5, "hyperbolic:2": 3, "shapes:4": 5}[spec]


@pytest.mark.parametrize(
    "how",
    [
        {"layout": "upper"},
        {"layout": ""},
        {"layout": "wide", "columns": "full"},
        {"layout": "poincare", "poincare": True},
        {"layout": "lonlat-degrees", "lonlat": True},
        {"columns": "wide"},
    ],
)
def test_bad_declarations_are_one_sentence(how):
    with pytest.raises(gd.InputError) as caught:
        layout_for(SHAPES, **how)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("space", "layout"),
    [("shapes:4", "long"), ("shapes:4", "pkn"), ("sphere:2", "dip-azimuth-degrees")],
)
@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY\x01\x00\x46\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9**9, 9**9), }   \n",
        b"\x93NUMPY\x01\x00\x46\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2, 900000000)}  \n",
        b"PK\x03\x04garbage",
    ],
)
def test_damaged_files_are_one_sentence(tmp_path, space, layout, name, content):
    (tmp_path / name).write_bytes(content)
    words = ["release", str(tmp_path / name), "--space", space, "--layout", layout, "--gdp", "1"]
    out = CliRunner().invoke(main, [*words, "--center", "origin", "--radius", "0.3"])
    assert (out.exit_code, out.stdout) == (2, "")
    assert out.stderr.count("\n") == 1
