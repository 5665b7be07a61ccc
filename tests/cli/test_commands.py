"""Every command as a user runs it: JSON on stdout, prose on stderr, exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.cli.strategies import MECHANISMS
from geodp.io import read_receipt

COMMANDS = ("inspect", "plan", "calibrate", "release", "verify", "report")


def run(*words, stdin=None):
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin)


@pytest.fixture
def tensors(tmp_path):
    path = tmp_path / "tensors.npy"
    factors = np.random.default_rng(3).normal(size=(30, 2, 2))
    np.save(path, factors @ factors.swapaxes(1, 2) + np.eye(2))
    return path


SPD = ("--space", "spd:2", "--center", "origin", "--radius", "2")


@pytest.mark.parametrize("words", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help(words):
    result = run(*words)
    assert result.exit_code == 0
    assert "Exit codes: 0 done, 1 a check failed, 2 bad input" in " ".join(result.stdout.split())
    for command in COMMANDS if words == ["--help"] else ():
        assert command in result.stdout


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert "geodp" in result.stdout


def test_release_verify_round_trip(tensors, tmp_path):
    out = tmp_path / "receipt.json"
    words = ("release", tensors, *SPD, "--gdp", "0.1", "--unit", "person", "--out", out)
    result = run(*words, "--physical-unit", "1e-3 mm^2/s")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document == json.loads(out.read_text())
    request = document["request"]
    assert (request["n"], request["unit"]) == (30, "person")
    assert request["guarantee"] == {"notion": "gdp", "mu": "0.1"}
    assert request["domain"]["physical_unit"] == "1e-3 mm^2/s"
    # sensitivity 2 r / n on a Hadamard space; a Gaussian's scale is sensitivity / mu
    assert document["outcome"]["sensitivity"]["total"] == pytest.approx(4 / 30, rel=1e-6)
    assert document["outcome"]["stages"][0]["scale"] == pytest.approx(4 / 3 / 0.99**0.5, rel=1e-6)
    # the rest of the promise pays for the share of moved records: 1/(30 sqrt(.01) mu)
    assert document["outcome"]["replaced"]["deviation"] == pytest.approx(10 / 3, rel=1e-6)
    assert "of the records was moved into the ball" in result.stderr
    alone = json.loads(run(*words, "--replaced", "0", "--json").stdout)
    assert alone["outcome"]["replaced"] is None
    assert alone["outcome"]["stages"][0]["scale"] == pytest.approx(4 / 3, rel=1e-6)
    assert "note: No ledger" in result.stderr
    assert run("verify", out).exit_code == 0
    assert run("verify", "-", stdin=out.read_text()).exit_code == 0


def test_json_silences_prose(tensors):
    for words in (
        ("release", tensors, *SPD, "--gdp", "1"),
        ("plan", *SPD, "--gdp", "1", "--n", "10"),
        ("inspect", tensors, *SPD),
        ("calibrate", *SPD, "--gdp", "1", "--sensitivity", "1", "--mechanism", "wrapped-gaussian"),
    ):
        result = run(*words, "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        json.loads(result.stdout)


@pytest.mark.parametrize(
    ("flag", "numbers", "stated"),
    [
        ("--pure", ["1/3"], {"notion": "pure", "epsilon": "1/3"}),
        ("--approx", ["0.1", "1e-5"], {"notion": "approx", "epsilon": "0.1", "delta": "0.00001"}),
        ("--gdp", ["0.30000000000000000001"], {"notion": "gdp", "mu": "0.30000000000000000001"}),
        ("--renyi", ["2", "0.1"], {"notion": "renyi", "alpha": "2", "epsilon": "0.1"}),
        ("--zcdp", ["5e-1"], {"notion": "zcdp", "rho": "0.5"}),
    ],
)
def test_budgets_never_pass_through_floats(tensors, flag, numbers, stated):
    result = run("release", tensors, *SPD, flag, *numbers)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["request"]["guarantee"] == stated


def test_mechanism_and_footpoint(tensors):
    words = ("release", tensors, *SPD, "--gdp", "1")
    laplace = json.loads(run(*words, "--mechanism", "wrapped-l2-laplace").stdout)
    assert laplace["request"]["mechanism"] == "wrapped-l2-laplace"
    two = json.loads(run(*words, "--footpoint", "private:1/4").stdout)
    shares = [float(stage["guarantee"]["mu"]) ** 2 for stage in two["outcome"]["stages"]]
    assert shares == pytest.approx([0.99 / 4, 0.99 * 3 / 4], rel=1e-9)
    moved = run(*words, "--footpoint", "2,0,0,1")
    assert json.loads(moved.stdout)["outcome"]["stages"][0]["footpoint"] == [[2, 0], [0, 1]]


def test_a_value_of_ones_own(tmp_path):
    np.save(tmp_path / "point.npy", np.diag([2.0, 1.0]))
    words = ("release", "--space", "spd:2", "--value", tmp_path / "point.npy", "--gdp", "1")
    result = run(*words, "--sensitivity", "0.05")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["request"]["n"] is None
    assert document["request"]["domain"] is None
    assert document["outcome"]["sensitivity"]["total"] == 0.05
    assert run("verify", "-", stdin=result.stdout).exit_code == 0
    for missing in (words, (*words, "--sensitivity", "-1"), (*words, "--sensitivity", "nan")):
        assert run(*missing).exit_code == 2


def test_a_seed_is_a_simulation_and_says_so(tensors):
    words = ("release", tensors, *SPD, "--gdp", "1", "--seed", "7")
    first, second = run(*words, "--json"), run(*words)
    assert "NOT PRIVATE" in first.stderr
    one, two = (json.loads(result.stdout)["outcome"] for result in (first, second))
    assert one["value"] == two["value"]
    assert one["private"] is False
    check = run("verify", "-", stdin=first.stdout)
    assert check.exit_code == 1
    assert json.loads(check.stdout)["passed"] is False
    assert "FAIL  noise" in check.stderr


def test_a_tampered_receipt_fails(tensors):
    receipt = json.loads(run("release", tensors, *SPD, "--gdp", "1").stdout)
    receipt["outcome"]["stages"][0]["scale"] *= 0.9
    result = run("verify", "-", stdin=json.dumps(receipt))
    assert result.exit_code == 1
    failed = [x["name"] for x in json.loads(result.stdout)["checks"] if not x["passed"]]
    assert failed == ["scale"]


def test_plan_reads_no_data_and_ranks(tmp_path):
    words = ("--space", "sphere:2", "--degrees", "10", "50", "20", "--n", "100", "--pure", "1")
    result = run("plan", *words)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    first, *_, last = document["mechanisms"]
    assert first["mechanism"] == "wrapped-l2-laplace"
    assert "why_not" in last
    # 2 tan(r) / n for r = 20 degrees
    assert document["sensitivity"] == pytest.approx(2 * np.tan(np.pi / 9) / 100, rel=1e-6)
    one = run("plan", *words, "--mechanism", "wrapped-l2-laplace", "--mechanism", "best")
    assert len(json.loads(one.stdout)["mechanisms"]) == 4


def test_plan_for_several_releases_under_one_total():
    words = ("plan", "--space", "spd:2", "--center", "origin", "--radius", "1", "--n", "50")
    one, four = (
        json.loads(
            run(*words, "--gdp", "1", "--releases", k, "--mechanism", "wrapped-gaussian").stdout
        )
        for k in ("1", "4")
    )
    assert four["releases"] == 4
    scales = [document["mechanisms"][0]["scale"] for document in (one, four)]
    assert scales[1] == pytest.approx(2 * scales[0])  # mu^2 adds
    assert run(*words, "--gdp", "1", "--releases", "0").exit_code == 2


def test_calibrate():
    words = ("calibrate", "--space", "sphere:2", "--sensitivity", "0.1", "--gdp", "2")
    radial = run(*words, "--mechanism", "riemannian-gaussian", "--json")
    # needs no ball, and no more than 0.2 % above sensitivity / mu on a sphere
    assert json.loads(radial.stdout)["scale"] == pytest.approx(0.05, rel=2.1e-3)
    no_ball = run(*words, "--mechanism", "wrapped-gaussian")
    assert no_ball.exit_code == 2
    assert "state it by --center and --radius" in no_ball.stderr
    assert "gd.Ball" not in no_ball.stderr
    found = run(*words, "--mechanism", "wrapped-gaussian", "--center", "0,0,1", "--radius", "0.5")
    document = json.loads(found.stdout)
    # sensitivity / mu, times R / sin R
    assert document["scale"] == pytest.approx(0.05 * 0.5 / np.sin(0.5), rel=1e-6)
    assert 0 < document["expected_distance"] < 0.1
    assert document["guarantee"] == {"notion": "gdp", "mu": "2"}


def test_calibrate_needs_no_ball_for_noise_on_the_sphere_itself():
    words = ("--space", "sphere:2", "--mechanism", "riemannian-gaussian", "--sensitivity", "0.1")
    result = run("calibrate", *words, "--gdp", "1", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert document["guarantee"] == {"notion": "gdp", "mu": "1"}
    # nearly flat at this scale: sigma = sensitivity / mu, mean length sigma sqrt(pi / 2)
    assert document["scale"] == pytest.approx(0.1, rel=0.01)
    flat = document["scale"] * np.sqrt(np.pi / 2)
    assert document["expected_distance"] == pytest.approx(flat, rel=0.01)
    assert "expected distance: 0.125" in run("calibrate", *words, "--gdp", "1").stderr


@pytest.mark.parametrize("name", MECHANISMS[1:])
def test_every_mechanism_calibrates_and_releases(name, tensors):
    promise = ("--pure", "1") if "laplace" in name or "norm" in name else ("--gdp", "1")
    ball = ("--space", "spd:2", "--center", "origin", "--radius", "0.5")
    words = (*ball, "--mechanism", name, *promise)
    result = run("calibrate", *words, "--sensitivity", "0.01")
    assert result.exit_code == 0
    if result.exit_code == 0:
        assert json.loads(result.stdout)["mechanism"] == name
        assert json.loads(result.stdout)["scale"] > 0
        released = run("release", tensors, *words)
        assert json.loads(released.stdout)["request"]["mechanism"] == name


def test_relatives_of_the_mean(tmp_path):
    north = np.broadcast_to([0.0, 0.0, 1.0], (20, 3))
    np.save(tmp_path / "x.npy", north)
    cap = ("--center", "0,0,1", "--radius", "0.5")
    words = ("--space", "sphere:2", "--gdp", "1", "--mechanism", "wrapped-gaussian")
    # 2 r / n in the tangent space; 2 sin(r) / n and 2 / n in the embedding
    for name, ball, expected in (
        ("tangent-mean", cap, 2 * 0.5 / 20),
        ("extrinsic-mean", cap, 2 * np.sin(0.5) / 20),
        ("extrinsic-mean", (), 2 / 20),
    ):
        released = run("release", tmp_path / "x.npy", *words, *ball, "--statistic", name)
        assert released.exit_code == 0, released.stderr
        document = json.loads(released.stdout)
        assert document["outcome"]["sensitivity"]["total"] == pytest.approx(expected, rel=1e-6)
        assert document["request"]["statistic"].startswith(name.replace("-", " "))
        assert run("verify", "-", stdin=released.stdout).exit_code == 0
        planned = run("plan", *words, *ball, "--statistic", name, "--n", "20")
        assert json.loads(planned.stdout)["sensitivity"] == pytest.approx(expected, rel=1e-6)


def test_what_is_declared_is_on_the_receipt_and_in_the_report(tensors, tmp_path):
    declared = {"physical_unit": "1e-3 mm^2/s", "component_order": "xx xy yy", "frame": "scanner"}
    flags = [w for k, v in declared.items() for w in ("--" + k.replace("_", "-"), v)]
    for ball in (SPD, ("--space", "spd:2", "--eigenvalues", "0.1", "10")):
        result = run("release", tensors, *ball, "--gdp", "1", *flags)
        assert declared.items() <= json.loads(result.stdout)["request"]["domain"].items()
    receipt, page = tmp_path / "r.json", tmp_path / "page.html"
    receipt.write_text(result.stdout, encoding="utf-8")
    assert run("report", receipt, "--out", page).exit_code == 0
    for name, text in declared.items():
        assert f"<dt>{name.replace('_', ' ')}</dt><dd>{text}</dd>" in page.read_text("utf-8")


def test_a_report_of_absurdly_wide_noise_is_a_page(tmp_path):
    np.save(tmp_path / "x.npy", np.broadcast_to(np.eye(3), (10, 3, 3)))
    words = ("--space", "spd:3:log-cholesky", "--center", "origin", "--radius", "2")
    receipt, page = tmp_path / "r.json", tmp_path / "page.html"
    words = ("release", tmp_path / "x.npy", *words, "--gdp", "0.001", "--seed", "1")
    assert run(*words, "--mechanism", "wrapped-gaussian", "--out", receipt).exit_code == 0
    result = run("report", receipt, "--out", page)
    assert result.exit_code == 0, result.stderr
    assert "<html" in page.read_text(encoding="utf-8")


def test_a_csv_file_must_be_declared_for_a_release(tmp_path):
    path = tmp_path / "x.csv"
    words = ("--space", "euclidean:2", "--center", "origin", "--radius", "1")
    counts = {"--header": 3, "--no-header": 4}
    for first in ("1,2", "x,y", "1,x", "x", ""):  # n is the same whatever the first line holds
        path.write_text(first + "\n0,1\n1,0\n\n")
        refused = run("release", path, *words, "--gdp", "1")
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "(--header" in refused.stderr
        assert "(--no-header" in refused.stderr
        for flag, n in counts.items():
            if flag == "--header" and len(first) < 3:
                continue  # a header of one column is refused
            released = run("release", path, *words, "--gdp", "1", flag)
            assert json.loads(released.stdout)["request"]["n"] == n
        if first != "x":  # a guessed header, of one column
            assert run("inspect", path, *words).exit_code == 0


def test_a_file_in_which_no_line_fits_is_all_malformed_records(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1;2\n3;4\n")
    words = ("--space", "euclidean:2", "--center", "origin", "--radius", "1")
    released = run("release", path, "--no-header", *words, "--gdp", "1")
    assert json.loads(released.stdout)["request"]["n"] == 2
    seen = run("inspect", path, "--no-header", *words)
    assert json.loads(seen.stdout)["points"] == 0
    assert "No record could be read" in seen.stderr


def test_eigenvalue_limits(tensors):
    result = run("release", tensors, "--space", "spd:2", "--eigenvalues", "0.1", "10", "--gdp", "1")
    domain = json.loads(result.stdout)["request"]["domain"]
    np.testing.assert_allclose(domain["center"], np.eye(2), rtol=1e-14)
    exact = np.sqrt(2) * np.log(10)  # every such matrix must lie inside, so rounding goes up
    assert exact <= domain["radius"] <= exact * (1 + 1e-6)


def test_inspect_says_not_private(tensors):
    result = run("inspect", tensors, *SPD)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["not_private"] is True
    assert result.stderr.startswith("NOT PRIVATE")


def test_standard_input(tensors):
    words = ("--space", "spd:2", "--center", "origin", "--radius", "2", "--gdp", "1")
    piped = CliRunner().invoke(main, ["release", "-", *words], input=tensors.read_bytes())
    assert json.loads(piped.stdout)["request"]["n"] == 30
    text = run("release", "-", "--no-header", *words, stdin="1,0,0,1\n2,0,0,1\n3,0,0,oops\n")
    assert json.loads(text.stdout)["request"]["n"] == 3


def test_csv_directions_and_embeddings(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("lon,lat\n10,50\n12,52\n11,49\n")
    words = ("--lonlat", "--space", "sphere:2", "--center", "10,50", "--radius", "0.3")
    found = json.loads(run("inspect", path, *words).stdout)
    assert (found["points"], found["ball"]["moved_to_edge"]) == (3, 0)
    path.write_text("0.1,0\n0,0.2\n")
    words = ("--poincare", "--space", "hyperbolic:2", "--center", "0,0", "--radius", "1", "--zcdp")
    assert run("release", path, "--no-header", *words, "0.5").exit_code == 0


def test_report(tensors, tmp_path):
    receipt, page = tmp_path / "r.json", tmp_path / "page.html"
    assert run("release", tensors, *SPD, "--gdp", "1", "--out", receipt).exit_code == 0
    result = run("report", receipt, receipt, "--out", page)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"report": str(page), "receipts": 2}
    assert "<html" in page.read_text(encoding="utf-8")


def test_the_library_reads_what_the_command_wrote(tensors, tmp_path):
    out = tmp_path / "r.json"
    run("release", tensors, *SPD, "--gdp", "1", "--out", out)
    assert gd.Release.load(out).space == gd.SPD(2)


@pytest.mark.parametrize("kind", ["inference", "groups"])
def test_a_document_of_infer_is_no_single_receipt(tmp_path, kind):
    path = tmp_path / "inference.json"
    path.write_text(json.dumps({"schema": f"geodp/{kind}/v1", "releases": {}}))
    with pytest.raises(gd.InputError, match="holds several receipts, under 'releases'"):
        read_receipt(path)
    for words in (("verify", path), ("report", path, "--out", tmp_path / "page.html")):
        result = run(*words)  # which read whole ones: this one is spoilt
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: The ")
