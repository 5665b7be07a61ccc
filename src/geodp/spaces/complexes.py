"""Complex vectors as pairs of real arrays, every record treated by itself, bit for bit.

numpy's complex product may or may not fuse its roundings, depending on where in a batch a record
stands; pairs of reals cannot. Sums over the last axis halve the array again and again, in an order
that depends on its length alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geodp.spaces.batch import Array, BoolArray, array

_SPLIT = 134217729.0  # 2**27 + 1, Dekker 1971


class Complex(NamedTuple):
    """Real and imaginary parts, of one shape."""

    re: Array
    im: Array

    @property
    def wide(self) -> Complex:
        """With one more axis, to be multiplied with vectors."""
        return Complex(self.re[..., None], self.im[..., None])

    @property
    def conj(self) -> Complex:
        return Complex(self.re, -self.im)

    def take(self, rows: BoolArray) -> Complex:
        return Complex(self.re[rows], self.im[rows])


def of_points(x: Array) -> Complex:
    """Points ``(..., k, 2)`` as complex vectors of length k."""
    return Complex(array(x[..., 0]), array(x[..., 1]))


def to_points(z: Complex) -> Array:
    """The inverse of ``of_points``."""
    return np.stack([z.re, z.im], axis=-1)


def add(a: Complex, b: Complex) -> Complex:
    return Complex(np.asarray(a.re + b.re), np.asarray(a.im + b.im))


def subtract(a: Complex, b: Complex) -> Complex:
    return Complex(np.asarray(a.re - b.re), np.asarray(a.im - b.im))


def multiply(a: Complex, b: Complex) -> Complex:
    return Complex(np.asarray(a.re * b.re - a.im * b.im), np.asarray(a.re * b.im + a.im * b.re))


def divide(a: Complex, b: Complex) -> Complex:
    size = b.re * b.re + b.im * b.im
    top = multiply(a, b.conj)
    return Complex(np.asarray(top.re / size), np.asarray(top.im / size))


def scale(t: Array, z: Complex) -> Complex:
    """The vectors ``z`` times the real numbers ``t``, one for each."""
    return Complex(np.asarray(t[..., None] * z.re), np.asarray(t[..., None] * z.im))


def fold(a: Array) -> Array:
    """Sums over the last axis."""
    while a.shape[-1] > 1:
        half, odd = divmod(a.shape[-1], 2)
        sums = a[..., :half] + a[..., half : 2 * half]
        if odd:
            sums[..., 0] += a[..., -1]
        a = sums
    return np.asarray(a[..., 0])


def total(z: Complex) -> Complex:
    """Sums over the last axis."""
    return Complex(fold(z.re), fold(z.im))


def product(a: Complex, b: Complex) -> Complex:
    """Hermitian products over the last axis, linear in ``b``; imaginary part 0 for a = b."""
    return Complex(fold(a.re * b.re + a.im * b.im), fold(a.re * b.im - a.im * b.re))


def modulus(c: Complex) -> Array:
    return np.asarray(np.hypot(c.re, c.im))


def length(z: Complex) -> Array:
    """Lengths over the last axis, without overflow or underflow of the squares."""
    top = np.maximum(np.abs(z.re).max(axis=-1), np.abs(z.im).max(axis=-1))
    _, power = np.frexp(top)
    re, im = (np.ldexp(t, -power[..., None]) for t in z)  # a power of two: exact
    return np.asarray(np.ldexp(np.sqrt(fold(re * re + im * im)), power))


def unit(z: Complex) -> Complex:
    return scale(1.0 / length(z), z)


def centred(z: Complex) -> Complex:
    """Minus the mean over the last axis."""
    mean = total(z)
    count = z.re.shape[-1]
    return subtract(z, Complex(mean.re / count, mean.im / count).wide)


def across(base: Complex, z: Complex) -> Complex:
    """The part of ``z`` that is Hermitian-orthogonal to the unit vectors ``base``."""
    return subtract(z, multiply(product(base, z).wide, base))


# --- error-free steps ---------------------------------------------------------------------------
def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b as a float and its error, exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a b as a float and its error, exactly (Dekker)."""
    p = a * b
    (x, y), (u, v) = _halves(a), _halves(b)
    return p, ((x * u - p) + x * v + y * u) + y * v


def _halves(a: Array) -> tuple[Array, Array]:
    t = _SPLIT * a
    high = t - (t - a)
    return high, a - high


def residue(q: Complex, c: Complex, p: Complex) -> Complex:
    """q - c p, to relative rounding of the result even where nearly everything cancels."""
    c = c.wide
    parts = []
    for goal, straight, factor, turned in (
        (q.re, p.re, c.im, p.im),
        (q.im, p.im, -c.im, p.re),
    ):
        along, along_error = _two_product(c.re, straight)
        cross, cross_error = _two_product(factor, turned)
        s, error = _two_sum(goal, -along)
        t, more = _two_sum(s, cross)
        parts.append(t + ((error + more) + (cross_error - along_error)))
    return Complex(parts[0], parts[1])


def accurate_product(a: Complex, b: Complex) -> Complex:
    """``product`` as if in twice the precision (Ogita, Rump and Oishi 2005)."""
    return Complex(
        _accurate_fold((a.re, b.re), (a.im, b.im)), _accurate_fold((a.re, b.im), (-a.im, b.re))
    )


def _accurate_fold(*factors: tuple[Array, Array]) -> Array:
    pairs = [_two_product(a, b) for a, b in factors]
    high = np.concatenate([p for p, _ in pairs], axis=-1)
    low = np.concatenate([e for _, e in pairs], axis=-1)
    while high.shape[-1] > 1:
        half = high.shape[-1] // 2
        sums, errors = _two_sum(high[..., :half], high[..., half : 2 * half])
        errors = errors + (low[..., :half] + low[..., half : 2 * half])
        high = np.concatenate([sums, high[..., 2 * half :]], axis=-1)
        low = np.concatenate([errors, low[..., 2 * half :]], axis=-1)
    return np.asarray((high + low)[..., 0])
