"""Reference values in 60-digit arithmetic, written from the definitions, not from the code."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

mp.dps = 60


def _vec(x):
    return mp.matrix([mp.mpf(float(t)) for t in np.ravel(x)])


def _mat(x):
    return mp.matrix([[mp.mpf(float(t)) for t in row] for row in np.asarray(x)])


def _dot(a, b):
    return mp.fsum(s * t for s, t in zip(a, b, strict=True))


def _norm(a):
    return mp.sqrt(_dot(a, a))


def sphere(p, q, kappa):
    x, y = _vec(p), _vec(q)
    x, y = x / _norm(x), y / _norm(y)
    cos = _dot(x, y)
    side = y - cos * x
    sin = _norm(side)
    angle = mp.atan2(sin, cos)
    v = side * (angle / sin / mp.sqrt(kappa)) if sin > 0 else 0 * side
    sign = 1 if x[0] >= 0 else -1
    w = x.copy()
    w[0] += sign
    image = v - w * (2 * _dot(w, v) / _dot(w, w))
    return [image[i] for i in range(1, len(image))]


def hyperbolic(p, q, k):
    root = mp.sqrt(k)
    x, y = _vec(p[1:]) * root, _vec(q[1:]) * root
    x0, y0 = mp.sqrt(1 + _dot(x, x)), mp.sqrt(1 + _dot(y, y))
    cosh = x0 * y0 - _dot(x, y)
    v, v0 = y - cosh * x, y0 - cosh * x0
    rho = mp.acosh(cosh)
    scale = rho / mp.sqrt(cosh**2 - 1) / root if cosh > 1 else mp.mpf(1) / root
    image = (v - x * (v0 / (1 + x0))) * scale
    return list(image)


def _sqrt2(i, j):
    return mp.mpf(1) if i == j else mp.sqrt(2)


def _logm(a):
    values, vectors = mp.eigsy(a)
    size = a.rows
    out = mp.matrix(size, size)
    for i in range(size):
        for j in range(size):
            out[i, j] = mp.fsum(
                vectors[i, k] * mp.log(values[k]) * vectors[j, k] for k in range(size)
            )
    return out


def logm(a):
    return _logm(_mat(a))


def affine_invariant(p, q):
    factor = mp.cholesky(_mat(p))
    inverse = factor**-1
    log = _logm(inverse * _mat(q) * inverse.T)
    return [log[i, j] * _sqrt2(i, j) for i in range(log.rows) for j in range(i + 1)]


def affine_invariant_log(p, q):
    factor = mp.cholesky(_mat(p))
    inverse = factor**-1
    return factor * _logm(inverse * _mat(q) * inverse.T) * factor.T


def log_euclidean(p, q):
    step = _logm(_mat(q)) - _logm(_mat(p))
    return [step[i, j] * _sqrt2(i, j) for i in range(step.rows) for j in range(i + 1)]


def log_cholesky(p, q):
    a, b = mp.cholesky(_mat(p)), mp.cholesky(_mat(q))
    return [
        mp.log(b[i, i] / a[i, i]) if i == j else b[i, j] - a[i, j]
        for i in range(a.rows)
        for j in range(i + 1)
    ]


def euclidean(p, q):
    return list(_vec(q) - _vec(p))


def log_coords(space, p, q):
    """Coordinates of log_p q for the stored floats, as mpmath numbers."""
    name, _, *rest = space.spec.split(":")
    if name == "sphere":
        return sphere(p, q, mp.mpf(float(rest[0])) if rest else mp.mpf(1))
    if name == "hyperbolic":
        return hyperbolic(p, q, -mp.mpf(float(rest[0])) if rest else mp.mpf(1))
    if name == "euclidean":
        return euclidean(p, q)
    table = {
        "affine-invariant": affine_invariant,
        "log-euclidean": log_euclidean,
        "log-cholesky": log_cholesky,
    }
    return table[rest[0]](p, q)


def dist(space, p, q):
    return _norm(log_coords(space, p, q))


class Oracle:
    log_coords = staticmethod(log_coords)
    dist = staticmethod(dist)
    logm = staticmethod(logm)
    affine_invariant_log = staticmethod(affine_invariant_log)

    @staticmethod
    def error(space, p, q):
        """True error of ``space.log_coords(p, q)``, as a length."""
        exact = log_coords(space, p, q)
        return float(
            _norm(
                [mp.mpf(float(z)) - t for z, t in zip(space.log_coords(p, q), exact, strict=True)]
            )
        )


@pytest.fixture(scope="session")
def oracle():
    return Oracle
