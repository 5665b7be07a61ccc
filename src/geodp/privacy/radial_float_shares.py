"""Shares of directions in which the loss is larger, as float estimates.

At distance r from one centre: those farther than t from the other. At distance t from the other:
those nearer than r to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Form(Protocol):
    """What matters of a pair: lengths in units of the curvature radius."""

    @property
    def dim(self) -> int: ...
    @property
    def sign(self) -> int: ...
    @property
    def shift(self) -> float: ...


def _caps(pair: Form, r: Array, t: Array) -> tuple[Array, Array]:
    """Shares of directions on a space form, F(x) and F(y)."""
    from scipy.special import betainc

    s, b = pair.shift, (pair.dim - 1) / 2
    sn = np.sin if pair.sign > 0 else np.sinh
    apart = sn((r + s - t) / 2) / sn(s)
    x = np.clip(_quotient(pair, (r + t + s) / 2, r) * apart, 0, 1)
    y = np.clip(_quotient(pair, (r + t - s) / 2, t) * apart, 0, 1)
    return betainc(b, b, x), betainc(b, b, y)


def _quotient(pair: Form, a: Array, b: Array) -> Array:
    """sn(a)/sn(b) without overflow."""
    if pair.sign > 0:
        return np.asarray(np.sin(a) / np.sin(b))
    return np.asarray(np.exp(a - b) * np.expm1(-2 * a) / np.expm1(-2 * b))


def _discs(pair: Form, r: Array, t: Array) -> tuple[Array, Array]:
    """The same on planar shapes, by quadrature over the modulus of z (see ``radial_shapes``)."""
    s, sn = np.array(pair.shift), np.sin
    around = sn((r + t + s) / 2)
    near = sn((r + s - t) / 2)
    beyond = sn((r + t - s) / 2)
    whole = np.cos(r) * np.cos(s) + np.cos(t)
    inner = _disc(pair, around * near / (sn(r) * sn(s)), whole / (sn(r) * sn(s)), False)
    whole = np.cos(t) * np.cos(s) + np.cos(r)
    outer = _disc(pair, 1 - beyond * near / (sn(t) * sn(s)), whole / (sn(t) * sn(s)), True)
    return inner, outer


def _disc(pair: Form, x: Array, whole: Array, outside: bool) -> Array:
    """P[z in the disc], or outside, where e - c = 2x - 1 and e + c = ``whole``."""
    n = pair.dim // 2
    x = np.clip(x, 0, 1)
    apart, room = 2 * x - 1, 4 * x * (1 - x)
    low, high = apart**2, np.minimum(whole**2, 1.0)
    u, w = _disc_rule()
    step = np.maximum(high - low, 0.0)
    at = low[:, None] + step[:, None] * u
    left = np.maximum(room[:, None] - step[:, None] * u, 0.0)  # 1 - at
    cosine = (
        (at - (apart * whole)[:, None]) / np.sqrt(at) / np.maximum(whole - apart, 1e-15)[:, None]
    )
    angle = np.arccos(np.clip(-cosine if outside else cosine, -1, 1)) / np.pi
    part = ((n - 1) * left ** (n - 2) * angle * w).sum(axis=1) * step
    if not outside:
        return np.asarray(part + np.where(apart > 0, 1 - room ** (n - 1), 0.0))
    part += np.maximum(1 - high, 0.0) ** (n - 1)
    return np.asarray(part + np.where(apart < 0, 1 - room ** (n - 1), 0.0))


@lru_cache(maxsize=1)
def _disc_rule() -> tuple[Array, Array]:
    x, w = np.polynomial.legendre.leggauss(64)
    v = (x + 1) / 2
    return np.sin(np.pi * v / 2) ** 2, w / 2 * np.pi / 2 * np.sin(np.pi * v)


SHARES: dict[int, Callable[[Form, Array, Array], tuple[Array, Array]]] = {0: _caps, 1: _discs}
