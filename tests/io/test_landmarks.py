"""Files of raw landmarks: any position, size and rotation; what has no shape stays silent."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.io import layout_for, read_point
from geodp.io.inspection import inspect_records
from geodp.io.records import read_layout


@pytest.fixture
def raw():
    rng = np.random.default_rng(1)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    return 30 * (square + 0.1 * rng.normal(size=(20, 4, 2))) + [100, -7]


def test_arrays_and_tables_hold_raw_landmarks(tmp_path, raw):
    space = gd.PlanarShapes(4)
    raw[3] = 5.0
    np.save(tmp_path / "x.npy", raw)
    lines = "\n".join(",".join(map(repr, map(float, row.ravel()))) for row in raw)
    (tmp_path / "x.csv").write_text(lines)
    expected = space.from_landmarks(raw)
    for name in ("x.npy", "x.csv"):
        found = read_layout(str(tmp_path / name), layout_for(space), header=False)
        np.testing.assert_array_equal(found, expected)
    facts = inspect_records(expected, space)
    assert (facts["points"], facts["finite"], facts["matrices"]) == (19, 19, [])
    np.save(tmp_path / "c.npy", raw[0])
    np.testing.assert_array_equal(
        read_point(str(tmp_path / "c.npy"), layout_for(space), "The centre"), expected[0]
    )
    text = ",".join(map(str, raw[0].ravel()))
    np.testing.assert_allclose(read_point(text, layout_for(space), "The centre"), expected[0])


def test_matrices_and_landmarks_are_not_confused():
    with pytest.raises(gd.InputError, match="SPD"):
        layout_for(gd.PlanarShapes(4), columns="lower")


def test_the_command_line_releases_a_mean_shape(tmp_path, raw):
    np.save(tmp_path / "x.npy", raw)
    words = [
        "release",
        str(tmp_path / "x.npy"),
        "--space",
        "shapes:4",
        "--center",
        "0,0,1,0,1,1,0,1",
    ]
    words += ["--radius", "0.4", "--gdp", "1", "--json"]
    out = CliRunner().invoke(main, words)
    assert out.exit_code == 0, out.stderr
    value = np.array(json.loads(out.stdout)["outcome"]["value"])
    space = gd.PlanarShapes(4)
    assert space.contains(value)
    square = space.from_landmarks([[0, 0], [1, 0], [1, 1], [0, 1]])
    assert space.dist(value, square) < 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [({"--space": "shapes:2"}, "three landmarks"), ({"--radius": "0.8"}, "below 0.785398")],
)
def test_bad_requests_are_sentences(tmp_path, raw, change, words):
    np.save(tmp_path / "x.npy", raw)
    options = {
        "--space": "shapes:4",
        "--center": "origin",
        "--radius": "0.4",
        "--gdp": "1",
    } | change
    flat = [x for pair in options.items() for x in pair]
    out = CliRunner().invoke(main, ["release", str(tmp_path / "x.npy"), *flat])
    assert out.exit_code == 2
    assert words in out.stderr
