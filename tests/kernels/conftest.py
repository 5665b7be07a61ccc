"""The 60-digit reference values of tests/spaces, and how to ask a kernel for one logarithm."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mpmath
import numpy as np
import pytest

_SPACES = Path(__file__).parents[1] / "spaces"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"reference_{name}", _SPACES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def error_of():
    """The error of log-coordinates ``z`` of ``q`` at ``p``, as a length."""
    values, shapes = _load("conftest"), _load("test_planar_shapes")

    def error(space, p, q, z):
        if len(space.factors) > 1:
            parts, at = [], 0
            for factor, a, b in zip(space.factors, space.split(p), space.split(q), strict=True):
                parts.append(error(factor, a, b, z[at : at + factor.dim]))
                at += factor.dim
            return mpmath.norm(parts)
        if not space.spec.startswith("shapes"):
            gap = mpmath.matrix(list(z)) - mpmath.matrix(values.log_coords(space, p, q))
            return mpmath.norm(gap)
        exact, _ = shapes.reference_log(p, q)
        pairs = zip(space.vector(p, z), exact, strict=True)  # an isometry
        return shapes.norm([mpmath.mpc(float(a), float(b)) - t for (a, b), t in pairs])

    return error


@pytest.fixture(scope="session")
def compiled_log():
    """The kernel's log-coordinates of single records, None where it leaves one to numpy."""

    def logs(space, p, records, scale):
        fused = space.kernel().at(p)
        out = []
        for record in records:
            total, left = space.fused_sum(fused, np.array(record)[None], scale, scale)
            out.append(None if left[0] else total.mean_log)
        return out

    return logs


@pytest.fixture(scope="session")
def exact_logs():
    """Log-coordinates to 60 digits, as an mpmath column; of shapes a vector of their length."""
    values, shapes = _load("conftest"), _load("test_planar_shapes")

    def logs(space, p, q):
        if space.spec.startswith("shapes"):
            exact, _ = shapes.reference_log(p, q)
            return mpmath.matrix([shapes.norm(exact)])
        pairs = zip(space.factors, space.split(p), space.split(q), strict=True)
        return mpmath.matrix([z for part in pairs for z in values.log_coords(*part)])

    return logs
