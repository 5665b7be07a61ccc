"""A receipt of noise with parameters carries them, and verify rebuilds the law from it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import geodp as gd


def test_parameters_on_the_receipt(tmp_path: Path) -> None:
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    mechanism = gd.Wrapped(gd.SphericalGamma(shape=1.0, power=1.0))
    out = gd.release(np.zeros((10, 2)), mean, gd.ApproxDP(0.5, 1e-3), mechanism)
    out.save(tmp_path / "receipt.json")
    stage = json.loads((tmp_path / "receipt.json").read_text())["outcome"]["stages"][0]
    assert stage["parameters"] == {"shape": 1.0, "power": 1.0}
    loaded = gd.Release.load(tmp_path / "receipt.json")
    assert all(check.passed for check in gd.verify(loaded))
    other = {**stage, "parameters": {"shape": 1.0, "power": 4.0}}  # would need more noise
    assert not all(check.passed for check in gd.verify(replace(loaded, stages=(other,))))
