"""The exponential map as it stands in textbooks, in plain floats: what naive releases use."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.spaces.hyperbolic import Hyperbolic
from geodp.spaces.planar_shapes import PlanarShapes
from geodp.spaces.spd import AffineInvariant
from geodp.spaces.sphere import Sphere


@singledispatch
def textbook_exp(space: Space, p: Array, v: Array) -> Array:
    """exp at ``p`` of tangent vectors ``(n, *point_shape)``; where nobody knows better, the
    space's own."""
    return space.exp(p, v)


@textbook_exp.register(Sphere)
@textbook_exp.register(PlanarShapes)
def _(space: Space, p: Array, v: Array) -> Array:
    """cos(t) p + sin(t)/t v, lengths in units of the radius."""
    axes = tuple(range(1, v.ndim))
    radius = np.sqrt((p * p).sum())
    t = np.sqrt((v * v).sum(axis=axes, keepdims=True)) / radius
    return np.asarray(np.cos(t) * p + np.sin(t) / t * v)


@textbook_exp.register
def _(space: Hyperbolic, p: Array, v: Array) -> Array:
    """cosh(t) p + sinh(t)/t v."""
    square = (v[:, 1:] ** 2).sum(axis=1) - v[:, 0] ** 2
    radius = np.sqrt(p[0] ** 2 - (p[1:] ** 2).sum())
    t = np.sqrt(np.maximum(square, 1e-300))[:, None] / radius
    return np.asarray(np.cosh(t) * p + np.sinh(t) / t * v)


@textbook_exp.register
def _(space: AffineInvariant, p: Array, v: Array) -> Array:
    """p^(1/2) Exp(p^(-1/2) v p^(-1/2)) p^(1/2)."""
    values, vectors = np.linalg.eigh(p)
    root = vectors * np.sqrt(values) @ vectors.T
    back = vectors / np.sqrt(values) @ vectors.T
    inner = back @ v @ back
    values, vectors = np.linalg.eigh((inner + np.swapaxes(inner, 1, 2)) / 2)
    middle = vectors * np.exp(values)[:, None, :] @ np.swapaxes(vectors, 1, 2)
    return np.asarray(root @ middle @ root)
