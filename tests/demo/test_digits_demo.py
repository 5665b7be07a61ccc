"""The demo: its public bound holds, its filters are as described, it runs on two digits."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import geodp as gd

PATH = Path(__file__).parents[2] / "examples" / "digits_demo.py"


@pytest.fixture(scope="module")
def demo():
    specification = importlib.util.spec_from_file_location("digits_demo", PATH)
    module = importlib.util.module_from_spec(specification)
    sys.modules["digits_demo"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["digits_demo"]


def test_descriptor_of_a_vertical_edge(demo):
    image = np.zeros((1, 8, 8))
    image[:, :, 4:] = 16
    found = demo.descriptors(image)[0] - demo.RIDGE * np.eye(5)
    # I is 0 or 1, half each; |Ix| is 1 on a quarter of the pixels, |Ixx|/2 is 1/2 there
    expected = np.zeros((5, 5))
    expected[0, 0] = 1 / 4
    expected[1, 1] = 1 / 4 - 1 / 16
    expected[3, 3] = 1 / 16 - 1 / 64
    expected[1, 3] = expected[3, 1] = 1 / 8 - 1 / 32
    assert np.allclose(found, expected, atol=1e-15)
    turned = demo.descriptors(image.transpose(0, 2, 1))[0] - demo.RIDGE * np.eye(5)
    swap = [0, 2, 1, 4, 3]
    assert np.allclose(turned, expected[np.ix_(swap, swap)], atol=1e-15)


def test_blank_image_is_the_ridge(demo):
    assert np.allclose(demo.descriptors(np.full((1, 8, 8), 7.0))[0], np.eye(5) / 64, atol=1e-15)


def test_every_image_lies_in_the_public_ball(demo):
    rng = np.random.default_rng(1)
    images = np.concatenate(
        [
            rng.integers(0, 17, (300, 8, 8)),
            16 * rng.integers(0, 2, (300, 8, 8)),  # the extremes of every pixel
            16 * (np.indices((8, 8)).sum(axis=0) % 2)[None],
            16 * (np.indices((8, 8)).sum(axis=0) // 2 % 2)[None],
        ]
    )
    records = demo.descriptors(images)
    for metric in demo.METRICS:
        ball = demo.public_ball(metric)
        assert ball.radius == pytest.approx(np.sqrt(5) / 2 * np.log((1.25 + 1 / 64) * 64))
        assert ball.space.dist(ball.center, records).max() <= ball.radius
    # the bound is not idle: a quarter of it is reached
    assert np.linalg.eigvalsh(records).max() > (1.25 + 1 / 64) / 4


def test_two_digits(demo, tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path), "--digits", "0", "1"]) == 0
    out = capsys.readouterr().out
    assert "1.41421-Gaussian DP" in out
    assert "not private" in out
    receipts = sorted((tmp_path / "receipts").glob("*.json"))
    assert [path.stem for path in receipts] == [
        f"digit-{digit}-{metric}" for digit in (0, 1) for metric in sorted(demo.METRICS)
    ]
    for path in receipts:
        release = gd.Release.load(path)
        assert all(check.passed for check in gd.verify(release))
        assert release.unit == "image"
        assert release.n in (178, 182)
        assert release.expected_distance < 0.25
        assert "off" not in json.loads(path.read_text(encoding="utf-8"))["outcome"]
    assert len(list((tmp_path / "pictures").glob("*.png"))) == 4
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<section") == 4


def test_total_is_parallel_over_digits_and_serial_over_metrics(demo):
    rng = np.random.default_rng(2)
    images, labels = rng.integers(0, 17, (30, 8, 8)), np.repeat([0, 1, 2], 10)
    found = list(demo.rows(images, labels, [0, 1, 2]))
    assert demo.total(found) == pytest.approx(np.sqrt(2), rel=1e-12)
    assert demo.total(found) >= np.sqrt(2) * (1 - 1e-15)
    single = [row for row in found if row.metric == demo.METRICS[0]]
    assert demo.total(single) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("module", "extra"), [("sklearn.datasets", "data"), ("matplotlib", "plot")]
)
def test_missing_extras_are_named(demo, module, extra, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, module, None)
    assert demo.main(["--out", str(tmp_path)]) == 2
    assert f"geodp[{extra}]" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
