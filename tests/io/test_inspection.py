"""inspect: counts that can be worked out by hand, and hints for the known pitfalls."""

from __future__ import annotations

import json

import numpy as np

import geodp as gd
from geodp.io import inspect_records


def covariances(n, channels, samples, rng):
    x = rng.normal(size=(n, channels, samples))
    return x @ x.swapaxes(1, 2) / samples


def test_counts_on_a_line():
    ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    found = inspect_records(np.array([[0.0], [0.5], [3.0], [np.nan], [np.inf]]), ball.space, ball)
    assert (found["records"], found["finite"], found["points"]) == (5, 3, 3)
    assert found["ball"] == {"radius": 1.0, "moved_to_edge": 1, "replaced_by_center": 2}
    assert found["distance_quantiles"]["50 %"] == 0.5
    assert found["not_private"] is True
    json.dumps(found, allow_nan=False)


def test_antipodes_are_replaced_by_the_centre():
    ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    found = inspect_records(np.array([[0, 0, 1.0], [0, 0, -1.0], [0, 0, 2.0]]), ball.space, ball)
    assert found["points"] == 2
    assert found["ball"]["replaced_by_center"] == 2
    assert any("--lonlat" in hint for hint in found["hints"])


def test_fewer_samples_than_channels():
    records = covariances(20, 4, 3, np.random.default_rng(1))
    found = inspect_records(records, gd.SPD(4))
    (matrices,) = found["matrices"]
    assert (matrices["rank_deficient"], matrices["ranks_below_size"]) == (20, [3])
    assert any("ridge" in hint and "3 channels" in hint for hint in found["hints"])


def test_average_reference():
    records = covariances(20, 4, 50, np.random.default_rng(2))
    center = np.eye(4) - 1 / 4
    found = inspect_records(center @ records @ center, gd.SPD(4))
    (matrices,) = found["matrices"]
    assert matrices["rows_sum_to_zero"] == matrices["rank_deficient"] == 20
    assert any("average-referenced" in hint for hint in found["hints"])


def test_scale_does_not_matter():
    records = covariances(20, 4, 50, np.random.default_rng(3))
    for scale in (1e-14, 1.0, 1e8):
        found = inspect_records(scale * records, gd.SPD(4))
        assert found["points"] == 20
        assert found["matrices"][0]["rank_deficient"] == 0


def test_asymmetric_and_indefinite():
    records = np.array([[[1.0, 0.5], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], np.eye(2)])
    (matrices,) = inspect_records(records, gd.SPD(2))["matrices"]
    assert (matrices["asymmetric"], matrices["indefinite"], matrices["rank_deficient"]) == (1, 1, 0)


def test_zero_and_empty_matrices_do_not_divide():
    found = inspect_records(np.zeros((3, 2, 2)), gd.SPD(2))
    assert found["matrices"][0]["ranks_below_size"] == [0]
    found = inspect_records(np.full((3, 2, 2), np.nan), gd.SPD(2))
    assert (found["finite"], found["distance_quantiles"]) == (0, None)


def test_all_outside_hints_at_units():
    ball = gd.Ball(gd.SPD(3), np.eye(3), 2.0)
    tensors = np.broadcast_to(np.diag([1.7e-3, 3e-4, 3e-4]), (5, 3, 3))
    found = inspect_records(tensors, ball.space, ball)
    assert found["ball"]["moved_to_edge"] == 5
    assert any("physical unit" in hint for hint in found["hints"])


def test_factors_of_a_product():
    space = gd.parse_space("spd:2+sphere:2")
    rows = np.array([[1.0, 1, 1, 1, 0, 0, 1], [1.0, 0, 0, 1, 0, 0, 1]])
    found = inspect_records(rows, space)
    assert found["points"] == 1
    assert found["matrices"][0]["rank_deficient"] == 1


def test_many_chunks_count_as_one():
    records = covariances(9000, 3, 10, np.random.default_rng(4))
    records[::7] = np.nan
    found = inspect_records(records, gd.SPD(3))
    assert found["points"] == found["finite"] == 9000 - len(range(0, 9000, 7))
