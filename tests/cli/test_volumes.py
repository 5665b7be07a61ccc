"""Volumes on the command line: declared, looked at, converted and released; and nothing guessed."""

from __future__ import annotations

import gzip
import json

import nibabel
import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main

UNIT = ("--physical-unit", "mm^2/s")
BALL = ("--space", "spd:3", "--eigenvalues", "1e-4", "3e-3", *UNIT)
LOWER, UPPER = ((0, 1, 1, 2, 2, 2), (0, 0, 1, 0, 1, 2)), ((0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2))


def tissue(shape, seed=0):
    """Tensors like white matter's in mm^2/s: eigenvalues 1.7, 0.3, 0.3 e-3, turned at random."""
    g = np.random.default_rng(seed).normal(size=(*shape, 3))
    u = g / np.linalg.norm(g, axis=-1, keepdims=True)
    return 1e-3 * (0.3 * np.eye(3) + 1.4 * u[..., :, None] * u[..., None, :])


def save(path, x, order=UPPER):
    nibabel.save(nibabel.Nifti1Image(x[..., order[0], order[1]], np.eye(4)), path)


def run(*args, code=0):
    out = CliRunner().invoke(main, [*map(str, args)])
    assert out.exit_code == code, out.stderr
    return out


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_inspect_shows_what_was_understood_and_a_wrong_order():
    save("fsl.nii.gz", tissue((4, 4, 4)))
    right = run("inspect", "fsl.nii.gz", *BALL, "--layout", "upper", "--frame", "scanner",
                "--picture", "right.png")  # fmt: skip
    facts = json.loads(right.stdout)
    assert facts["points"] == 64
    assert facts["columns"] == "the upper triangle, row by row (xx xy xz yy yz zz)"
    assert (facts["physical_unit"], facts["frame"]) == ("mm^2/s", "scanner")
    # free water, 3e-3 I; the ball's centre is sqrt(1e-4 * 3e-3) I: sqrt(3) log(sqrt(30)) away
    assert facts["reference"]["distance"] == pytest.approx(np.sqrt(3) * np.log(30) / 2, rel=1e-9)
    assert "free water at body temperature, 0.003 mm^2/s, lies 2.946" in right.stderr
    wrong = json.loads(run("inspect", "fsl.nii.gz", *BALL, "--layout", "lower").stdout)
    assert wrong["matrices"][0]["indefinite"] > 32
    assert any("order of the components" in hint for hint in wrong["hints"])
    assert nibabel.load("fsl.nii.gz").shape == (4, 4, 4, 6)
    with open("right.png", "rb") as picture:
        assert picture.read(4) == b"\x89PNG"


def test_a_wrong_unit_shows_in_the_reference_and_the_ball():
    save("d.nii", tissue((3, 3, 3)))
    said = ("--space", "spd:3", "--eigenvalues", "0.1", "3", "--physical-unit", "1e-3 mm^2/s")
    facts = json.loads(run("inspect", "d.nii", *said, "--layout", "upper").stdout)
    assert facts["ball"]["moved_to_edge"] == 27
    assert any("same physical unit" in hint for hint in facts["hints"])
    converted = run("convert", "d.nii", "--space", "spd:3", *UNIT, "--layout", "upper",
                    "--to-unit", "1e-3 mm^2/s", "--out", "good.nii.gz")  # fmt: skip
    assert json.loads(converted.stdout)["physical_unit"] == "1e-3 mm^2/s"
    assert "NOT PRIVATE" in converted.stderr
    facts = json.loads(run("inspect", "good.nii.gz", *said).stdout)
    assert facts["columns"] == "the lower triangle, row by row (xx xy yy xz yz zz)"  # by its header
    assert facts["ball"]["moved_to_edge"] == 0


def test_the_picture_of_a_wrong_order_says_so(monkeypatch):
    from matplotlib.figure import Figure

    titles = {}
    saved = Figure.savefig

    def keep(figure, path, *args, **how):
        titles[str(path)] = [ax.get_title() for ax in figure.axes]
        saved(figure, path, *args, **how)

    monkeypatch.setattr(Figure, "savefig", keep)
    save("d.nii", tissue((6, 6, 6)))
    for layout in ("upper", "lower"):
        run("inspect", "d.nii", *BALL, "--layout", layout, "--picture", f"{layout}.svg")
    names = ["xx", "xy", "xz", "xy", "yy", "yz", "xz", "yz", "zz"]
    assert titles["upper.svg"] == names
    assert "below zero" in titles["lower.svg"][4]  # yy, which is really xz


def test_people_with_an_atlas_to_a_map_and_back():
    paths = [f"sub-{i:02}.nii.gz" for i in range(12)]
    for i, path in enumerate(paths):
        save(path, tissue((2, 3, 2), i))
    labels = np.zeros((2, 3, 2))
    labels[0], labels[1, 0] = 3, 8
    nibabel.save(nibabel.Nifti1Image(labels, np.eye(4)), "atlas.nii.gz")
    said = ("--space", "spd:3^2", "--eigenvalues", "1e-4", "3e-3", *UNIT, "--layout", "upper")
    atlas = ("--subjects", "--atlas", "atlas.nii.gz")
    facts = json.loads(run("inspect", *paths, *said, *atlas).stdout)
    assert (facts["records"], facts["places"], facts["points"]) == (12, 2, 24)
    out = run("release", *paths, *said, *atlas, "--gdp", "20", "--mechanism", "wrapped-gaussian",
              "--unit", "person", "--out", "r.json")  # fmt: skip
    value = np.array(json.loads(out.stdout)["outcome"]["value"])
    assert json.loads(out.stdout)["request"]["n"] == 12
    run("convert", "r.json", "--atlas", "atlas.nii.gz", "--out", "mean.nii.gz")
    data = nibabel.load("mean.nii.gz").get_fdata()[:, :, :, 0]
    np.testing.assert_array_equal(data[labels == 8], [value[1][LOWER]] * 2)
    run("convert", *paths, *said[:2], *said[5:], *atlas, "--out", "all.npy")
    expected = [tissue((2, 3, 2), i)[labels == 3].mean(axis=0) for i in range(12)]
    np.testing.assert_allclose(np.load("all.npy")[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("command", ["release", "infer"])
def test_a_voxel_of_one_volume_is_no_person(command):
    """Its promise would be to voxels; with a ledger nothing is spent."""
    save("head.nii.gz", tissue((4, 4, 4), 1))
    run("ledger", "init", "budget.db", "--gdp", "9", "--unit", "person")
    said = (command, "head.nii.gz", "--space", "spd:3", "--eigenvalues", "1e-4", "3e-3", *UNIT,
            "--layout", "upper", "--gdp", "2")  # fmt: skip
    for more in (("--unit", "person"), ("--ledger", "budget.db", "--dataset", "head")):
        refused = run(*said, *more, code=2)
        assert "no voxel is one person" in refused.stderr
    assert json.loads(run("ledger", "show", "budget.db").stdout)["entries"] == 1
    for more in ((), ("--unit", "voxel")):
        assert "Inference" in (text := run(*said, *more).stderr) or "Fréchet mean" in text


def test_tables_and_linear_maps():
    signals = np.random.default_rng(3).normal(size=(20, 50, 5))
    signals -= signals.mean(axis=2, keepdims=True)  # average reference: rank 4
    covariances = signals.swapaxes(1, 2) @ signals / 50
    np.save("eeg.npy", covariances)
    assert json.loads(run("inspect", "eeg.npy", "--space", "spd:5").stdout)["points"] < 20
    np.save("q.npy", gd.io.LinearMap.without_mean(5).matrix)
    run("convert", "eeg.npy", "--space", "spd:5", "--linear-map", "q.npy", "--to-layout", "upper",
        "--out", "eeg.csv")  # fmt: skip
    facts = run("inspect", "eeg.csv", "--space", "spd:4", "--layout", "upper", "--header")
    assert json.loads(facts.stdout)["points"] == 20
    # total variance is kept: the map is orthonormal on what the reference left
    with open("eeg.csv") as table:
        header, *lines = table.read().splitlines()
    assert header.split(",")[:5] == ["1.1", "1.2", "1.3", "1.4", "2.2"]
    diagonal = [header.split(",").index(f"{i}.{i}") for i in range(1, 5)]
    traces = [sum(float(line.split(",")[i]) for i in diagonal) for line in lines]
    np.testing.assert_allclose(traces, covariances.trace(axis1=1, axis2=2), rtol=1e-10)


def test_landmarks_are_written_as_tps():
    np.save("x.npy", np.random.default_rng(0).normal(size=(3, 5, 2)))
    run("convert", "x.npy", "--space", "shapes:5", "--out", "x.tps")
    assert json.loads(run("inspect", "x.tps", "--space", "shapes:5").stdout)["points"] == 3


BAD = {
    "no order": (("d.nii", *BALL), "order of its components: declare it"),
    "no unit": (("d.nii", *BALL[:5], "--layout", "upper"), "does not say its unit"),
    "full": (("d.nii", *BALL, "--layout", "full"), "are in order lower, upper"),
    "header": (("d.nii", *BALL, "--layout", "upper", "--header"), "no header line"),
    "several": (("d.nii", "d.nii", *BALL, "--layout", "upper"), "say --subjects"),
    "no mask": (("d.nii", "d.nii", *BALL, "--layout", "upper", "--subjects"), "public mask or"),
    "mask of a table": (("x.npy", *BALL, "--mask", "d.nii"), "belongs to NIfTI files"),
    "two tables": (("x.npy", "x.npy", *BALL), "only NIfTI files may be several"),
    "mixed": (("x.npy", "d.nii", *BALL), "only NIfTI files may be several"),
    "cut off": (("cut.nii.gz", *BALL, "--layout", "upper"), "damaged"),
    "missing": (("no.nii", *BALL, "--layout", "upper"), "does not exist"),
    "text": (("text.nii", *BALL, "--layout", "upper"), "damaged"),
}


@pytest.mark.parametrize("command", ["inspect", "release", "infer"])
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence_and_costs_nothing(command, what):
    save("d.nii", tissue((2, 2, 2)))
    np.save("x.npy", tissue((5,)))
    with open("d.nii", "rb") as good, open("cut.nii.gz", "wb") as cut:
        cut.write(gzip.compress(good.read())[:300])
    with open("text.nii", "w") as text:
        text.write("xx,xy\n1,2\n")
    line, said = BAD[what]
    pay = ()
    if command != "inspect":
        gd.Ledger.create("budget.db", gd.GaussianDP(9), unit="record")
        pay = ("--gdp", "1", "--ledger", "budget.db", "--dataset", "d")
    out = run(command, *line, *pay, code=2)
    assert out.stdout == ""
    assert len(out.stderr.splitlines()) == 1
    assert said in out.stderr
    if pay:
        assert gd.Ledger("budget.db").show()["entries"] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x.npy --space spd:3 --out x.txt", "ends in .npy"),
        ("x.npy --space spd:3 --out x.nii", "in the voxels of a NIfTI FILE"),
        ("x.npy --space spd:3 --out x.tps", "hold planar shapes"),
        ("x.npy --out y.npy", "Say where the records live"),
        ("x.npy --space spd:3 --out x.npy", "is an input"),
        ("x.npy --space spd:3 --to-unit mm^2/s --out y.npy", "needs the --physical-unit"),
        ("x.npy --space spd:3 --physical-unit A --to-unit m^2/s --out y.npy", "cannot be conver"),
        ("x.npy --space spd:3 --linear-map no.npy --out y.npy", "does not exist"),
        ("x.npy --space spd:3 --linear-map x.npy --out y.npy", "is a matrix"),
        ("x.json --out y.npy", "does not exist"),
    ],
)
def test_conversions_that_are_refused(line, said):
    np.save("x.npy", tissue((5,)))
    out = run("convert", *line.split(), code=2)
    assert said in out.stderr
    assert len(out.stderr.splitlines()) == 1
