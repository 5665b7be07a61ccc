"""Logarithms of planar shapes, summed on the lattice; the formulas of spaces/planar_shapes.py.

Shapes near the cut locus of the base point are left to numpy.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from geodp.kernels import hessians
from geodp.kernels.functions import angle
from geodp.kernels.kernel import Array
from geodp.kernels.lanes import WIDTH, both, gather, load, root, spread, store
from geodp.kernels.loop import compiled, give, helper, keep, present
from geodp.kernels.single import Single
from geodp.spaces import complexes as cx
from geodp.spaces import preshapes

_SIZE = 0.99e-6  # of norm and of centroid: below what ``contains`` allows
_NEAR = 2.0**-6  # of the product of unit preshapes: below it numpy works in twice the precision
_SPLIT = 134217729.0  # 2**27 + 1, Dekker 1971


@helper
def _error(a: Any, b: Any, product: Any) -> Any:
    """The error of a product of floats, exactly (Dekker)."""
    t, s = a * _SPLIT, b * _SPLIT
    x, u = t - (t - a), s - (s - b)
    y, v = a - x, b - u
    return ((x * u - product) + x * v + y * u) + y * v


@helper
def _residue(goal: Any, along: Any, straight: Any, across: Any, turned: Any) -> Any:
    """goal - along straight + across turned, as if in twice the precision."""
    p, q = along * straight, across * turned
    p_error, q_error = _error(along, straight, p), _error(across, turned, q)
    s = goal - p
    t = s - goal
    s_error = (goal - (s - t)) - (p + t)
    u = s + q
    t = u - s
    u_error = (s - (u - t)) + (q - t)
    return u + ((s_error + u_error) + (q_error - p_error))


@helper
def _product(k: int, acc: Any, z: int, base: Any, row: int) -> Any:
    """<base row, z>, the base conjugated; z lies in ``acc`` from lane ``z`` on, real part first."""
    a, b = spread(0.0), spread(0.0)
    for j in range(k):
        x, y = load(acc, (z + j) * WIDTH), load(acc, (z + k + j) * WIDTH)
        u, v = base[row + j], base[row + k + j]
        a = a + (x * u + y * v)
        b = b + (y * u - x * v)
    return a, b


@helper
def _subtract(k: int, acc: Any, z: int, base: Any, row: int, a: Any, b: Any) -> None:
    """z - (a + i b) times a base row, in place."""
    for j in range(k):
        x, y = load(acc, (z + j) * WIDTH), load(acc, (z + k + j) * WIDTH)
        u, v = base[row + j], base[row + k + j]
        store(acc, (z + j) * WIDTH, x - (a * u - b * v))
        store(acc, (z + k + j) * WIDTH, y - (a * v + b * u))


@helper
def _centre(k: int, acc: Any, z: int) -> Any:
    """z minus its mean, in place; the mean's squared modulus."""
    a, b = spread(0.0), spread(0.0)
    for j in range(k):
        a = a + load(acc, (z + j) * WIDTH)
        b = b + load(acc, (z + k + j) * WIDTH)
    a, b = a / float(k), b / float(k)
    for j in range(k):
        store(acc, (z + j) * WIDTH, load(acc, (z + j) * WIDTH) - a)
        store(acc, (z + k + j) * WIDTH, load(acc, (z + k + j) * WIDTH) - b)
    return a * a + b * b


@helper
def _square(k: int, acc: Any, z: int) -> Any:
    total = spread(0.0)
    for j in range(2 * k):
        x = load(acc, (z + j) * WIDTH)
        total = total + x * x
    return total


@lru_cache(maxsize=16)
def _logs_of(k: int) -> Any:
    """Its base holds, as real and imaginary rows of length k: p; its unit preshape; the axis of the
    frame at p over its pivot, and the axis; those of the fixed basis; then the gauge's phase and
    one over the length of p."""
    work = 2 * (2 * k - 3)
    re, im = work, work + k

    raw, normal, dual, axis, flat_dual, flat_axis, scalars = (2 * k * i for i in range(7))

    @compiled
    def run(
        x: Any,
        count: int,
        base: Any,
        unit: float,
        unit2: float,
        limit: float,
        acc: Any,
        left: Any,
        rows: Any,
    ) -> None:
        turn_re, turn_im, inverse = base[scalars], base[scalars + 1], base[scalars + 2]
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // (2 * k), count)
            for j in range(k):
                store(acc, (re + j) * WIDTH, gather(x, (at * k + j) * 2, 2 * k))
                store(acc, (im + j) * WIDTH, gather(x, (at * k + j) * 2 + 1, 2 * k))
            drift = _centre(k, acc, re) * float(k)
            norm = _square(k, acc, re)
            off = root(norm + drift) - 1.0
            ok = both(ok, both(off * off <= _SIZE * _SIZE, drift <= _SIZE * _SIZE))
            size = root(norm)
            a, b = _product(k, acc, re, base, normal)
            a, b = a / size, b / size
            cos = root(a * a + b * b)
            ok = both(ok, spread(_NEAR) <= cos)
            # q - c p for a float c near <p, q>/<p, p>, then across p and centred
            c, s = a * size * inverse, b * size * inverse
            for j in range(k):
                o = (at * k + j) * 2
                goal_re, goal_im = gather(x, o, 2 * k), gather(x, o + 1, 2 * k)
                u, v = spread(base[raw + j]), spread(base[raw + k + j])
                store(acc, (re + j) * WIDTH, _residue(goal_re, c, u, s, v))
                store(acc, (im + j) * WIDTH, _residue(goal_im, c, v, s * -1.0, u))
            _centre(k, acc, re)
            for _ in range(2):
                e, f = _product(k, acc, re, base, normal)
                _subtract(k, acc, re, base, normal, e, f)
            sin = root(_square(k, acc, re)) / size
            theta = angle(sin, cos)
            square_theta = theta * theta
            ok = both(ok, square_theta <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * (2 * k - 3)
            # the best rotation and the gauge: times conj(inner)/cos conj(turn), and the length
            stretch = theta / ((sin + 1e-300) * size * cos)
            c = (a * turn_re - b * turn_im) * stretch
            s = (a * turn_im + b * turn_re) * stretch
            for j in range(k):
                u, v = load(acc, (re + j) * WIDTH), load(acc, (im + j) * WIDTH)
                store(acc, (re + j) * WIDTH, u * c + v * s)
                store(acc, (im + j) * WIDTH, v * c - u * s)
            e, f = _product(k, acc, re, base, dual)
            _subtract(k, acc, re, base, axis, e, f)
            # coordinates in the basis of vectors orthogonal to 1 and the origin
            lead, mean = math.sqrt(float(k)), spread(0.0)
            g = spread(0.0)
            for j in range(k):
                mean = mean + load(acc, (re + j) * WIDTH)
                g = g + load(acc, (im + j) * WIDTH)
            mean = (load(acc, re * WIDTH) + mean / lead) / (lead + 1.0)
            g = (load(acc, im * WIDTH) + g / lead) / (lead + 1.0)
            store(acc, re * WIDTH, spread(0.0))
            store(acc, im * WIDTH, spread(0.0))
            for j in range(1, k):
                store(acc, (re + j) * WIDTH, load(acc, (re + j) * WIDTH) - mean)
                store(acc, (im + j) * WIDTH, load(acc, (im + j) * WIDTH) - g)
            e, f = _product(k, acc, re, base, flat_dual)
            _subtract(k, acc, re, base, flat_axis, e, f)
            for j in range(2, k):
                give(acc, rows, place, 2 * (j - 2), load(acc, (re + j) * WIDTH), unit, ok)
                give(acc, rows, place, 2 * (j - 2) + 1, load(acc, (im + j) * WIDTH), unit, ok)
            give(acc, rows, place, 2 * k - 4, square_theta, unit2, ok)

    return run


def planar_shapes(k: int) -> Single:
    """The kernel of ``PlanarShapes``."""
    fixed = preshapes.fixed(k)

    def rows(z: cx.Complex, count: int) -> list[Array]:
        """Real and imaginary parts, with zeros in front to make k of them."""
        wide = (np.broadcast_to(t, (count, t.shape[-1])) for t in z)
        return [np.pad(t, ((0, 0), (k - t.shape[-1], 0))) for t in wide]

    def base(p: Array) -> Array:
        raw, count = cx.of_points(p), len(p)
        middle = cx.centred(raw)
        unit = cx.unit(middle)
        turn = preshapes.phase(unit)
        turned = cx.multiply(turn.conj.wide, unit)
        axis = cx.add(fixed.origin, turned)
        pivot = cx.product(turned, fixed.origin)
        one = cx.Complex(np.ones(()), np.zeros(()))
        # <axis, step>/conj(pivot) = <axis/pivot, step>
        over = cx.divide(one, cx.Complex(1.0 + pivot.re, pivot.im))
        fixed_over = cx.divide(one, fixed.pivot)
        scalars = np.stack([turn.re, turn.im, 1.0 / cx.length(middle)], axis=1)
        parts = [
            *rows(raw, count),
            *rows(unit, count),
            *rows(cx.multiply(over.wide, axis), count),
            *rows(axis, count),
            *rows(cx.multiply(fixed_over.wide, fixed.axis), count),
            *rows(fixed.axis, count),
            scalars,
        ]
        return np.concatenate(parts, axis=1)

    hessian = partial(hessians.curved, 2 * k - 4, 1.0, lines=True)
    return Single(2 * k, 2 * k - 4, _logs_of(k), base, 2 * k, hessian)
