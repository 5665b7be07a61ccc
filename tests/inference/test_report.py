"""The page of an inference."""

from __future__ import annotations

import numpy as np
import pytest

import geodp as gd
from geodp.report.inference import inference_html, inference_report

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
