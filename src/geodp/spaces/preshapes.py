"""Centred unit vectors in C^k: the reference shape, the canonical gauge, the basis of shape space.

The reference o is the regular k-gon. A preshape is rotated so that its product with o is real and
positive (near the cut locus of o: its first coordinate that is not small). The basis at a preshape
w of that gauge is the unitary map U t = t - a <a, t>/(1 + <w, o>), a = o + w, which takes -o to w,
applied to a fixed basis of the vectors orthogonal to 1 and o; it is smooth but at the cut locus.
The fixed basis comes from two such maps, so that nothing takes more than O(k) steps.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from geodp.spaces import complexes as cx
from geodp.spaces.batch import EPS, Array, BoolArray, array
from geodp.spaces.complexes import Complex


class Fixed(NamedTuple):
    """What depends on k alone: the reference o, and the map that takes -e to its coordinates."""

    origin: Complex
    axis: Complex
    pivot: Complex


@lru_cache(maxsize=64)
def fixed(count: int) -> Fixed:
    angle = 2.0 * math.pi * np.arange(count) / count
    origin = cx.unit(cx.centred(Complex(np.cos(angle), np.sin(angle))))
    axis = flatten(origin)
    pivot = Complex(np.asarray(1.0 + axis.re[0]), np.asarray(-axis.im[0]))
    axis.re[0] += 1.0
    for part in (*origin, *axis):
        part.setflags(write=False)
    return Fixed(origin, axis, pivot)


def flatten(x: Complex) -> Complex:
    """Coordinates ``(..., k-1)`` in an orthonormal basis of the centred vectors ``(..., k)``."""
    root = math.sqrt(x.re.shape[-1])
    parts = []
    for t in x:
        lead = (t[..., :1] + cx.fold(t)[..., None] / root) / (root + 1.0)
        parts.append(array(t[..., 1:] - lead))
    return Complex(parts[0], parts[1])


def lift(w: Complex) -> Complex:
    """The inverse of ``flatten``."""
    root = math.sqrt(w.re.shape[-1] + 1)
    parts = []
    for t in w:
        mean = cx.fold(t)[..., None] / root
        parts.append(np.concatenate([-mean, t - mean / (root + 1.0)], axis=-1))
    return Complex(parts[0], parts[1])


def fixed_coords(x: Complex) -> Array:
    """Coordinates ``(..., k-2, 2)`` of the part of ``x`` orthogonal to 1 and o."""
    _, axis, pivot = fixed(x.re.shape[-1])
    w = flatten(x)
    along = cx.divide(cx.product(axis, w), pivot.conj)
    w = cx.subtract(w, cx.multiply(along.wide, axis))
    return np.stack([w.re[..., 1:], w.im[..., 1:]], axis=-1)


def fixed_vector(z: Array) -> Complex:
    """The inverse of ``fixed_coords``."""
    _, axis, pivot = fixed(z.shape[-2] + 2)
    pad = np.zeros_like(z[..., :1, 0])
    w = Complex(
        np.concatenate([pad, z[..., 0]], axis=-1), np.concatenate([pad, z[..., 1]], axis=-1)
    )
    along = cx.divide(cx.product(axis, w), pivot)
    return lift(cx.subtract(w, cx.multiply(along.wide, axis)))


# --- gauge --------------------------------------------------------------------------------------
def _rounding(count: int) -> float:
    """How far the product of a preshape with o may be off."""
    return (2.0 * count + 8.0) * EPS


def phase(w: Complex) -> Complex:
    """The unit numbers by which preshapes differ from their canonical gauge; 1 on the cut locus."""
    lead = cx.product(fixed(w.re.shape[-1]).origin, w)
    size = cx.modulus(lead)
    known = size > 64 * _rounding(w.re.shape[-1])
    return Complex(np.where(known, lead.re / size, 1.0), np.where(known, lead.im / size, 0.0))


def canonical(w: Complex) -> Complex:
    """Preshapes in the canonical gauge."""
    out = cx.multiply(phase(w).conj.wide, w)
    count = w.re.shape[-1]
    small = 64 * _rounding(count)
    lost = np.asarray(cx.modulus(cx.product(fixed(count).origin, w)) <= small)
    if not lost.any():
        return out
    rest = fixed_coords(w.take(lost))
    sizes = np.hypot(rest[..., 0], rest[..., 1])
    first = np.argmax(sizes > small, axis=-1)[..., None]
    size = np.take_along_axis(sizes, first, axis=-1)
    turn = Complex(
        np.take_along_axis(rest[..., 0], first, axis=-1) / size,
        np.take_along_axis(rest[..., 1], first, axis=-1) / size,
    )
    turned = cx.multiply(turn.conj, w.take(lost))
    out.re[lost], out.im[lost] = turned.re, turned.im
    return out


def is_canonical(w: Complex) -> BoolArray:
    """Whether rounding alone keeps preshapes from the canonical gauge; true of ``canonical``."""
    count = w.re.shape[-1]
    error = _rounding(count)
    lead = cx.product(fixed(count).origin, w)
    first = np.asarray((lead.re > 8 * error) & (np.abs(lead.im) <= 4 * error))
    lost = np.asarray(~first & (cx.modulus(lead) <= 65 * error))
    if lost.any():
        rest = fixed_coords(w.take(lost))
        sizes = np.hypot(rest[..., 0], rest[..., 1])
        at = np.argmax(sizes > 63 * error, axis=-1)[..., None]
        re = np.take_along_axis(rest[..., 0], at, axis=-1)[..., 0]
        im = np.take_along_axis(rest[..., 1], at, axis=-1)[..., 0]
        first[lost] = (re > 0) & (np.abs(im) <= 4 * error)
    return np.asarray(first)
