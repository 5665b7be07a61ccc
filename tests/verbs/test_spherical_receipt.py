"""A receipt of noise with parameters carries them, and verify rebuilds the law from it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import geodp as gd


def test_what_the_search_found_is_on_the_receipt() -> None:
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    open_ = gd.Wrapped(gd.SphericalGamma())
    for guarantee, mechanism in [
        (gd.ApproxDP(0.1, 0.1), open_),
        (gd.ApproxDP(0.1, 0.1), "best"),
        (gd.GaussianDP(1), "wrapped-spherical-gamma"),
        (gd.ApproxDP(1, 0.1), gd.Wrapped(gd.SphericalGamma(), gd.PrivateFootpoint())),
    ]:
        out = gd.release(np.zeros((10, 2)), mean, guarantee, mechanism)
        assert out.mechanism == "wrapped-spherical-gamma"
        assert all(set(stage["parameters"]) == {"shape", "power"} for stage in out.stages)
        assert all(check.passed for check in gd.verify(out))
    gaussian = gd.calibrate(open_, gd.Euclidean(3), 1.0, gd.GaussianDP(1))
    assert gaussian.facts()["parameters"] == {"shape": 2.0, "power": 2.0}
    assert abs(gaussian.mean_squared_error() - 3) < 1e-9


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
