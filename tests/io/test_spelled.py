"""Arrays and data frames of rows that spell points."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import geodp as gd
from geodp.io import inspect_records, points_of

ROWS = np.array([[1.0, 0.1, 2.0, 0.2, 0.3, 3.0], [4.0, 0.0, 5.0, 0.0, 0.0, 6.0]])
MATRICES = [
    [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]],
    [[4.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 6.0]],
]


def test_an_array_of_triangles():
    np.testing.assert_array_equal(points_of(ROWS, gd.SPD(3), layout="lower"), MATRICES)
    np.testing.assert_array_equal(points_of(ROWS.tolist(), gd.SPD(3), columns="lower"), MATRICES)
    np.testing.assert_array_equal(points_of(MATRICES, gd.SPD(3)), MATRICES)
    north = points_of([[0, 90]], gd.Sphere(2), lonlat=True)
    np.testing.assert_allclose(north, [[0, 0, 1]], atol=1e-15)


def test_a_data_frame_by_its_columns():
    frame = pd.DataFrame({"who": ["a", "b"], **dict(zip("fedcba", ROWS.T[::-1], strict=True))})
    found = points_of(frame, gd.SPD(3), layout="lower", columns=list("abcdef"))
    np.testing.assert_array_equal(found, MATRICES)
    np.testing.assert_array_equal(
        points_of(pd.DataFrame(ROWS), gd.SPD(3), layout="lower"), MATRICES
    )
    odd = pd.DataFrame({"x": [1, "?", None], "y": pd.array([1, 2, None], dtype="Int64")})
    np.testing.assert_array_equal(
        points_of(odd, gd.Euclidean(2)), [[1, 1], [np.nan] * 2, [np.nan] * 2]
    )


@pytest.mark.parametrize(
    ("rows", "how", "said"),
    [
        (ROWS[:, :5], {"layout": "lower"}, r"\(n, 6\) is needed"),
        (ROWS, {}, r"\(n, 3, 3\) is needed"),
        (ROWS.astype(str), {"layout": "lower"}, "real numbers"),
        ([[1.0], [1.0, 2.0]], {"layout": "lower"}, "all of one length"),
        (ROWS, {"layout": "lower", "columns": list("abcdef")}, "have no names"),
        (pd.DataFrame(ROWS), {"layout": "lower", "columns": list("abcdef")}, "column 'a' once"),
        (pd.DataFrame(ROWS[:, :5]), {"layout": "lower"}, "has 5 columns; 6 are needed"),
        (pd.DataFrame(ROWS), {"layout": "sideways"}, "no layout"),
    ],
)
def test_what_spells_no_points_is_one_sentence(rows, how, said):
    with pytest.raises(gd.InputError, match=said):
        points_of(rows, gd.SPD(3), **how)


def test_rows_of_numbers_are_refused_with_the_way_out():
    ball = gd.Ball(gd.SPD(3), np.eye(3), 1)
    with pytest.raises(gd.InputError, match=r"\(n, 3, 3\) is needed.*geodp.io.points_of"):
        gd.release(ROWS, gd.FrechetMean(ball), gd.GaussianDP(1))
    with pytest.raises(gd.InputError, match=r"\(n, 3, 3\); rows .*geodp.io.points_of"):
        inspect_records(ROWS, gd.SPD(3))
