"""Receipts to report on."""

import dataclasses

import matplotlib as mpl
import numpy as np
import pytest

import geodp as gd

mpl.use("agg")


@pytest.fixture(scope="session")
def tensor():
    """A release on SPD(3) in a physical unit, by way of a real one; the value is fixed."""
    ball = gd.Ball.from_eigenvalues(gd.SPD(3), 0.1, 3.0, physical_unit="1e-3 mm^2/s")
    records = np.broadcast_to(0.7 * np.eye(3), (50, 3, 3))
    mechanism = gd.Wrapped(gd.Gaussian())
    out = gd.release(records, gd.FrechetMean(ball), gd.GaussianDP(1), mechanism, unit="person")
    return dataclasses.replace(out, value=np.diag([1.25, 0.5, 0.375]))
