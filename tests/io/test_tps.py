"""TPS files made by hand: what is read, what becomes NaN, what is refused, and the way back."""

import json
import tracemalloc

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.io import layout_for, read_point, read_records, read_tps, write_tps

THREE = """LM=4
0 0
1 0
1.0E0 1
0\t1.5
IMAGE=one.jpg
ID=1
SCALE=0.5

lm=4
3.0  0
4 0
4 2
3 2
ID=
IMAGE=
SCALE=
LM=2
0 0
1 0
CURVES=1
POINTS=2
1 1
-0.25 1
COMMENT=a = b
ID=third
"""
RAW = np.array(
    [
        [[0, 0], [1, 0], [1, 1], [0, 1.5]],
        [[3, 0], [4, 0], [4, 2], [3, 2]],
        [[0, 0], [1, 0], [1, 1], [-0.25, 1]],
    ]
)
SPACE = gd.PlanarShapes(4)


def written(tmp_path, text):
    path = tmp_path / "x.tps"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
def test_landmarks_and_curves_become_records(tmp_path, start, end):
    path = written(tmp_path, start + THREE.replace("\n", end))
    found = read_records(path, SPACE)
    np.testing.assert_array_equal(found, SPACE.from_landmarks(RAW))


def test_specimens_are_as_the_file_says(tmp_path):
    one, two, three = read_tps(written(tmp_path, THREE))
    assert (one.id, one.image, one.scale) == ("1", "one.jpg", 0.5)
    assert (two.id, two.image, two.scale) == (None, None, None)
    assert (three.id, three.scale) == ("third", None)
    for found, expected in zip((one, two, three), RAW, strict=True):
        np.testing.assert_array_equal(found.landmarks, expected)  # not all have a scale


def test_scales_are_applied_if_every_specimen_has_one(tmp_path):
    text = THREE.replace("SCALE=\n", "SCALE=2\n") + "SCALE=1e-1\n"
    found = read_tps(written(tmp_path, text))
    for specimen, scale, raw in zip(found, (0.5, 2.0, 0.1), RAW, strict=True):
        np.testing.assert_array_equal(specimen.landmarks, raw * scale)
    for bad in ("0", "-1", "nan", "inf", "wide"):
        found = read_tps(written(tmp_path, text.replace("SCALE=2", f"SCALE={bad}")))
        np.testing.assert_array_equal(found[0].landmarks, RAW[0])


@pytest.mark.parametrize(
    "block",
    [
        "LM=4\n0 0\n1 0\n1 1\n",  # a landmark is missing
        "LM=4\n0 0\n1 0\n\n1 1\n",
        "LM=4\n0 0\n1 0\n1 1\nNA NA\n",
        "LM=4\n0 0\n1 0\n1 1\n0\n",
        "LM=4\n0 0\n1 0\n1 1\n0 1 2\n",
        "LM=4\n0 0\n1 0\n1 1\n0,1\n",
        "LM=4\n0 0\n1 0\n1 1\n0 nan\n",
        "LM=4\n0 0\n1 0\n1 1\n0 1_0\n",
        "LM=4\n2 2\n2 2\n2 2\n2 2\n",
        "LM=4\n0 0\n1 0\n1 1\n0 1\n0 2\n",
        "LM=3\n0 0\n1 0\n1 1\n",
        "LM=5\n0 0\n1 0\n1 1\n0 1\n0 2\n",
        "LM=\n0 0\n1 0\n1 1\n0 1\n",
        "LM=four\n0 0\n1 0\n1 1\n0 1\n",
        "LM=-4\n0 0\n1 0\n1 1\n0 1\n",
        "LM=999999999999999999\n0 0\n1 0\n1 1\n0 1\n",
        "LM=4\n",
        "LM3=4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n",
        "LM3=4\n0 0\n1 0\n1 1\n0 1\n",
        "LM=2\n0 0\n1 0\nCURVES=1\nPOINTS=1\n1 1\n0 1\n",
        "LM=2\n0 0\n1 0\nCURVES=2\nPOINTS=2\n1 1\n0 1\n",
        "LM=2\n0 0\n1 0\nPOINTS=2\n1 1\n0 1\n",
        "LM=4\n0 0\n1 0\nID=7\n1 1\n\xff\n",
    ],
)
def test_a_malformed_specimen_becomes_the_centre_and_leaves_the_others_alone(tmp_path, block):
    good = SPACE.from_landmarks(RAW)
    found = read_records(written(tmp_path, THREE[: THREE.index("lm=")] + block + THREE), SPACE)
    assert len(found) == 5
    np.testing.assert_array_equal(found[[0, 2, 3, 4]], good[[0, 0, 1, 2]])
    assert np.isnan(found[1]).all()
    (clipped,) = gd.Ball(SPACE, good[0], 0.7).clip(found).chunks()
    np.testing.assert_array_equal(clipped[1], good[0])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\n",
        "0 0\n1 0\n",
        "ID=1\nLM=3\n0 0\n1 0\n1 1\n",
        "x,y\n1,2\n",
        b"\xff\xfeL\x00M\x00",
        b"\x93NUMPY",
        b"PK\x03\x04garbage",
        bytes(range(256)) * 20,
    ],
)
def test_other_files_are_one_sentence_and_spend_nothing(tmp_path, content):
    path = written(tmp_path, content)
    with pytest.raises(gd.InputError) as caught:
        read_records(path, SPACE)
    assert "\n" not in str(caught.value)
    words = ["release", str(path), "--space", "shapes:4", "--center", "origin"]
    out = CliRunner().invoke(main, [*words, "--radius", "0.4", "--gdp", "1"])
    assert (out.exit_code, out.stdout) == (2, "")
    assert out.stderr.count("\n") == 1


def test_stated_sizes_and_endless_lines_take_no_memory(tmp_path):
    text = "LM=999999999\n" + "7" * 10_000_000 + "\n" + "LM=4\n" + "0 1\n" * 200_000
    path = written(tmp_path, text)
    del text
    tracemalloc.start()
    try:
        found = read_records(path, SPACE)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert np.isnan(found).all()
    assert len(found) == 2


def test_a_file_of_landmarks_for_another_space_is_refused(tmp_path):
    path = written(tmp_path, THREE)
    for space, how in ((gd.Euclidean(8), {}), (SPACE, {"layout": "split"})):
        with pytest.raises(gd.InputError, match="TPS"):
            read_records(path, space, header=False, **how)
    with pytest.raises(gd.InputError, match="header"):
        read_records(path, SPACE, header=False)


def test_the_way_back_loses_no_digit(tmp_path):
    x = np.random.default_rng(1).normal(size=(5, 7, 2)) * 10.0 ** np.arange(-3, 4)[:, None]
    write_tps(tmp_path / "out.tps", x, ids=list("abcde"))
    back = read_tps(tmp_path / "out.tps")
    np.testing.assert_array_equal([one.landmarks for one in back], x)
    assert [one.id for one in back] == list("abcde")
    value = gd.PlanarShapes(7).from_landmarks(x[0])
    write_tps(tmp_path / "one.tps", value)
    np.testing.assert_array_equal(read_tps(tmp_path / "one.tps")[0].landmarks, value)
    layout = layout_for(gd.PlanarShapes(7))
    center = read_point(str(tmp_path / "one.tps"), layout, "The centre")
    np.testing.assert_allclose(center, value, atol=1e-15)


@pytest.mark.parametrize(
    ("x", "ids", "words"),
    [
        (np.zeros((2, 3)), None, r"\(k, 2\)"),
        (np.zeros((2, 3, 2)), ["a"], "one name"),
        (np.zeros((3, 2)), ["a\nLM=3"], "one line"),
        ([["a", "b"]], None, "real numbers"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(tmp_path, x, ids, words):
    with pytest.raises(gd.InputError, match=words):
        write_tps(tmp_path / "x.tps", x, ids)
    with pytest.raises(gd.InputError, match="cannot be written"):
        write_tps(tmp_path / "none" / "x.tps", np.zeros((3, 2)))


def test_the_command_line_reads_tps(tmp_path):
    rng = np.random.default_rng(2)
    write_tps(tmp_path / "x.tps", RAW[1] + 0.1 * rng.normal(size=(30, 4, 2)))
    write_tps(tmp_path / "c.tps", RAW[1])
    words = [str(tmp_path / "x.tps"), "--space", "shapes:4"]
    words += ["--center", str(tmp_path / "c.tps"), "--radius", "0.4"]
    seen = CliRunner().invoke(main, ["inspect", *words, "--json"])
    assert (seen.exit_code, json.loads(seen.stdout)["points"]) == (0, 30)
    out = CliRunner().invoke(
        main, ["release", *words, "--gdp", "1", "--mechanism", "wrapped-gaussian", "--json"]
    )
    assert out.exit_code == 0, out.stderr
    assert SPACE.contains(np.array(json.loads(out.stdout)["outcome"]["value"]))
