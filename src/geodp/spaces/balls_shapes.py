"""The exponential map of planar shapes in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import acb, arb, fmpq

from geodp.spaces import balls
from geodp.spaces.base import Array

Vector = list[acb]


def _product(a: Sequence[acb], b: Sequence[acb]) -> acb:
    total = acb(0)
    for x, y in zip(a, b, strict=True):
        total += x.conjugate() * y
    return total


def _unit(a: Vector) -> Vector:
    size = _product(a, a).real.sqrt()
    return [x / size for x in a]


def _moved(x: Vector, axis: Vector, pivot: acb) -> Vector:
    """x - a <a, x>/pivot."""
    along = _product(axis, x) / pivot
    return [s - along * t for s, t in zip(x, axis, strict=True)]


def _origin(count: int) -> Vector:
    root = arb(count).sqrt()
    points = []
    for j in range(count):
        sine, cosine = arb(fmpq(2 * j, count)).sin_cos_pi()
        points.append(acb(cosine, sine) / root)
    return points


def _flatten(x: Vector) -> Vector:
    """Coordinates in an orthonormal basis of the centred vectors; as in ``preshapes``."""
    root = arb(len(x)).sqrt()
    lead = (x[0] + sum(x, acb(0)) / root) / (root + 1)
    return [t - lead for t in x[1:]]


def _lift(w: Vector) -> Vector:
    root = arb(len(w) + 1).sqrt()
    mean = sum(w, acb(0)) / root
    return [-mean, *(t - mean / (root + 1) for t in w)]


def exp_shape(p: Array, phase: tuple[float, float], z: Sequence[arb]) -> list[arb]:
    """``exp(p, vector(p, z))`` in the canonical gauge, the landmarks' entries in turn.

    ``phase`` is the float number by which ``vector`` turns p; its modulus is made 1 exactly.
    Undefined (NaN) while a ball cannot tell the outcome from the cut locus of the origin.
    """
    count = len(p)
    points = [acb(balls.exact(x), balls.exact(y)) for x, y in np.asarray(p)]
    mean = sum(points, acb(0)) / count
    unit = _unit([x - mean for x in points])
    turn = acb(balls.exact(phase[0]), balls.exact(phase[1]))
    turn = turn / abs(turn)
    base = [turn.conjugate() * x for x in unit]
    origin = _origin(count)

    flat = _flatten(origin)
    axis = [flat[0] + 1, *flat[1:]]
    pairs = [acb(x, y) for x, y in zip(z[::2], z[1::2], strict=True)]
    step = _lift(_moved([acb(0), *pairs], axis, 1 + flat[0].conjugate()))
    axis = [x + y for x, y in zip(origin, base, strict=True)]
    step = _moved(step, axis, 1 + _product(base, origin))

    cos, sinc = balls.cos_sinc(balls.dot(z, z))
    end = [cos * x + sinc * v for x, v in zip(base, step, strict=True)]
    lead = _product(origin, end)
    gauge = lead.conjugate() / abs(lead)
    return [part for x in end for part in ((gauge * x).real, (gauge * x).imag)]
