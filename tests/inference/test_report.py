"""The page of an inference."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.inference import equal_means, fractional_anisotropy
from geodp.inference.document import inference_of
from geodp.inference.scalars import parse_scalar
from geodp.report.inference import inference_html, inference_report, section

BALL = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.7)


def records(n):
    z = np.random.default_rng(1).uniform(-0.4, 0.4, (n, 2))
    return BALL.space.exp_coords(BALL.center, z)


def test_one_page_with_region_split_and_receipts(tmp_path):
    out = gd.infer(records(100), BALL, gd.GaussianDP(2))
    page = inference_html(out)
    for text in ("confidence region of the mean", "How 2-Gaussian DP was divided", "half axis 2"):
        assert text in page
    assert "direction 2" in page
    assert page.count("<dt>about records on</dt>") == len(out.releases) - 1
    assert page.count("<section") == len(out.releases)
    assert "FAILED" not in page
    assert "<script" not in page
    with pytest.raises(gd.InputError, match="cannot be written"):
        inference_report(out, tmp_path)


def test_labels_are_escaped():
    by = ["<b>"] * 50 + ["c"] * 50
    groups = gd.infer(records(100), BALL, gd.GaussianDP(2), by=by, by_public=True)
    page = inference_html(groups)
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "compose in parallel" in page


def report(path, out, *words):
    return CliRunner().invoke(main, ["report", str(path), "--out", str(out), *words])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A document with groups, the second far from the others, and the groups."""
    path = tmp_path_factory.mktemp("groups") / "groups.json"
    points = records(300)
    points[100:200] = BALL.space.exp_coords([0.0, 0.0, 1.0], np.full((100, 2), 0.35))
    by, rng = np.repeat(["a", "b", "c"], 100), np.random.default_rng(1)
    groups = gd.infer(points, BALL, gd.GaussianDP(8), by=by, by_public=True, rng=rng)
    groups.save(path)
    return path, groups


def test_a_page_of_a_document_compares_its_groups(saved, tmp_path):
    path, groups = saved
    out = tmp_path / "page.html"
    result = report(path, out, "--scalar", "angle-to:0,0,1")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"report": str(out), "receipts": 18}
    page = out.read_text()
    assert page.count("Confidence regions of the mean") == 1  # all on one picture
    verdict = equal_means(list(groups.inferences.values()))
    assert f"p-value {verdict.p_value:.3g}" in page
    cells = r"<tr><th scope=row>(. minus .)</th>" + r"<td class=num>([^<]*)</td>" * 4
    rows = {row[0]: row[1:] for row in re.findall(cells, page)}
    told = {name: cells[3] for name, cells in rows.items()}
    assert told == {"b minus a": "yes", "c minus a": "no", "c minus b": "yes"}
    length = groups.difference("a", "b").distance  # about that of the released means
    assert float(rows["b minus a"][0]) == pytest.approx(length, rel=1e-6)
    assert page.count("<th scope=row>angle-to:0,0,1</th>") == 3
    assert "Checks of the document" in page
    passed = {name: (page.count(f"✓ pass</td><td>{name}</td>")) for name in ("groups", "c: sum")}
    assert passed == {"groups": 1, "c: sum": 1}


def test_half_axes_of_a_difference():
    """On the line the region of a difference is its interval."""
    line = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    points = np.random.default_rng(3).uniform(-0.5, 0.5, (400, 1))
    by = np.repeat(["a", "b"], 200)
    found = gd.infer(points, line, gd.GaussianDP(4), by=by, by_public=True).difference("a", "b")
    width = (found.quantile * (found.sampling + found.noise)[0, 0]) ** 0.5
    assert found.half_axes == pytest.approx([width], rel=1e-12)


def test_a_single_inference_and_a_spoilt_one(tmp_path):
    path, out = tmp_path / "one.json", tmp_path / "page.html"
    document = gd.infer(records(100), BALL, gd.GaussianDP(2)).to_json()
    path.write_text(json.dumps(document))
    assert report(path, out).exit_code == 0
    page = out.read_text()
    assert "Comparison of the groups" not in page
    assert "✗ FAIL" not in page
    path.write_text(json.dumps(document | {"notes": ["Nothing."]}))
    assert report(path, out).exit_code == 0
    assert "✗ FAIL</td><td>results</td>" in out.read_text()


def test_what_is_refused_for_a_page(saved, tmp_path):
    path, _ = saved
    out = tmp_path / "page.html"
    mean = gd.FrechetMean(BALL)
    receipt = tmp_path / "receipt.json"
    gd.release(records(50), mean, gd.GaussianDP(1)).save(receipt)
    for words, about in (
        ((path, out, str(receipt)), "by itself"),
        ((path, out, "--smooth", "1"), "--smooth belongs"),
        ((path, out, "--scalar", "mean-diffusivity"), "no scalar 'mean-diffusivity'"),
        ((path, out, "--scalar", "angle-to:0,1"), "has 3 entries"),
        ((path, out, "--scalar", "angle-to:0,1,up"), "commas"),
        ((receipt, out, "--scalar", "angle-to:0,0,1"), "belongs to a document of infer"),
    ):
        result = report(*words)
        assert result.exit_code == 2
        assert about in result.stderr
        assert not out.exists()
    with pytest.raises(gd.InputError, match="no document of infer"):
        inference_of([])
    with pytest.raises(gd.InputError, match="has no groups"):
        inference_of({"schema": "geodp/groups/v1", "groups": {}})


def test_a_scalar_without_an_interval_is_told():
    """The anisotropy of an isotropic mean has a kink there."""
    ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    out = gd.infer(ball.center[None].repeat(200, 0), ball, gd.GaussianDP(10**9))
    tables = section("", out, {"anisotropy": fractional_anisotropy})
    assert "The anisotropy has no interval." in tables
    assert parse_scalar("mean-diffusivity", ball.space)(np.diag([1.0, 3.0])) == 2.0
