"""Certified privacy-loss distributions: exact integers, rounded so that the result dominates.

δ(ε) = ∫_ε^∞ e^{ε−s} P[L ≥ s] ds grows with every tail P[L ≥ s] of the privacy loss L, and so do
the tails of a sum of independent losses with the tails of each. Hence whatever is rounded,
truncated or merged here only ever raises tails, and no mass is lost: it is always one, exactly.
The proofs are in docs/proofs/composition.md.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import final

from geodp.privacy.pld_arith import ceil_shift, exp_floor

_LONGEST = 1 << 13  # grid points beyond which a composition moves to a grid twice as coarse


@final
@dataclass(frozen=True)
class Losses:
    """A privacy-loss distribution on the grid ``step``·ℤ, and at +∞.

    ``tails[i]`` = P[L ≥ (low + i)·step] in units of 2^−bits; the first is one, none increases.
    ``infinite`` = P[L = ∞] in the same units, at most the last tail.
    """

    step: Fraction
    low: int
    tails: tuple[int, ...]
    infinite: int
    bits: int

    @cached_property
    def deltas(self) -> tuple[int, ...]:
        """δ at every grid point, rounded up, in the units of ``tails``."""
        guard = self.bits + 32
        shrink = exp_floor(-self.step, guard)  # S constant on a cell: δ_{j−1} = S − e^{−h}(S − δ_j)
        value = self.infinite
        found = [value]
        for tail in reversed(self.tails[1:]):
            value = tail - ((tail - value) * shrink >> guard)
            found.append(value)
        return tuple(reversed(found))

    def delta(self, epsilon: Fraction) -> Fraction:
        """An upper bound of δ(ε), any ε, exact but for one rounding up."""
        index = max(-(-epsilon // self.step) - self.low, 0)  # the grid point at or above ε
        one = 1 << self.bits
        if index >= len(self.tails):
            return Fraction(self.infinite, one)
        guard = self.bits + 32
        shrink = exp_floor(epsilon - (self.low + index) * self.step, guard)
        tail = self.tails[index]
        return Fraction(tail - ((tail - self.deltas[index]) * shrink >> guard), one)

    @cached_property
    def masses(self) -> tuple[int, ...]:
        """P[L = (low + i)·step] in units of 2^−bits."""
        ends = (*self.tails[1:], self.infinite)
        return tuple(tail - after for tail, after in zip(self.tails, ends, strict=True))


@final
@dataclass(frozen=True)
class Cut:
    """How much mass may move up in one step: from the top to +∞, and from the bottom upwards."""

    top: int
    bottom: int


def trimmed(losses: Losses, cut: Cut) -> Losses:
    """The same with short ends: at most ``cut.top`` moves to +∞, ``cut.bottom`` to the lowest point
    kept."""
    tails = losses.tails
    end = bisect_left(tails, -cut.top, key=lambda t: -t)  # the first tail ≤ cut.top
    start = bisect_left(tails, cut.bottom - (1 << losses.bits) + 1, key=lambda t: -t) - 1
    end, start = max(end, 1), max(start, 0)
    start = min(start, end - 1)
    infinite = tails[end] if end < len(tails) else losses.infinite
    kept = (1 << losses.bits, *tails[start + 1 : end])
    return Losses(losses.step, losses.low + start, kept, infinite, losses.bits)


def convolved(a: Losses, b: Losses, cut: Cut) -> Losses:
    """The loss of two independent releases: exact integer convolution, then one rounding up."""
    from flint import fmpz_poly

    if a.step != b.step or a.bits != b.bits:
        raise ValueError("losses on different grids cannot be convolved")
    product = (fmpz_poly(list(a.masses)) * fmpz_poly(list(b.masses))).coeffs()
    finite_a = (1 << a.bits) - a.infinite
    finite_b = (1 << b.bits) - b.infinite
    running = (1 << 2 * a.bits) - finite_a * finite_b
    infinite = ceil_shift(running, a.bits)
    tails = []
    for mass in reversed(product):
        running += int(mass)
        tails.append(ceil_shift(running, a.bits))
    tails.reverse()
    if not tails:  # every loss is infinite
        tails.append(1 << a.bits)
    whole = Losses(a.step, a.low + b.low, tuple(tails), infinite, a.bits)
    return trimmed(whole, cut)


def power(losses: Losses, count: int, cut: Cut) -> Losses:
    """``count`` ≥ 1 independent copies, by squaring, on a coarser grid where it is long."""
    whole: Losses | None = None
    while True:
        if count & 1:
            whole = losses if whole is None else joined(whole, losses, cut)
        count >>= 1
        if not count and whole is not None:
            return whole
        losses = shortened(convolved(losses, losses, cut))


def joined(a: Losses, b: Losses, cut: Cut) -> Losses:
    """The convolution of two whose steps differ by a power of two."""
    while a.step < b.step:
        a = coarser(a)
    while b.step < a.step:
        b = coarser(b)
    return shortened(convolved(a, b, cut))


def shortened(losses: Losses) -> Losses:
    """The same on a grid short enough to be quick."""
    while len(losses.tails) > _LONGEST:
        losses = coarser(losses)
    return losses


def coarser(losses: Losses) -> Losses:
    """The same on the even points of the grid, by connecting the dots of its δ."""
    first = losses.low // 2
    last = -(-(losses.low + len(losses.tails) - 1) // 2)
    deltas = losses.deltas
    guard = losses.bits + 32
    step = 2 * losses.step
    points = []
    for index in range(first, last + 1):
        inner = 2 * index - losses.low
        if inner < 0:  # δ = 1 − e^{ε − ε_low}(1 − δ_low) below the grid
            shrink = exp_floor(inner * losses.step, guard)
            one = 1 << losses.bits
            value = one - ((one - deltas[0]) * shrink >> guard)
        else:
            value = deltas[inner] if inner < len(deltas) else losses.infinite
        points.append((index, value))
    return connected(step, points, losses.bits, losses.bits)


def connected(step: Fraction, points: list[tuple[int, int]], scale: int, bits: int) -> Losses:
    """Connect the dots: the losses whose δ is, in e^ε, the chord between the given points.

    ``points``: (grid index, upper bound of δ there in units of 2^−scale), by rising index. Each
    chord meets e^ε = 0 at the tail of its cell, d_a + (d_a − d_b)/(e^{(b−a)h} − 1); below the
    first point the chord comes from δ = 1 at e^ε = 0, beyond the last δ stays what it is.
    (Doroshenko et al. 2022.)
    """
    inverse: dict[int, int] = {}
    guard = scale + 32
    one, drop = 1 << bits, scale - bits
    cells: list[tuple[int, int]] = []  # width and tail of each cell
    for (a, d_a), (b, d_b) in pairwise(points):
        width = b - a
        if width not in inverse:  # 1/(e^g − 1) = e^{−g}/(1 − e^{−g}), rounded up
            less = exp_floor(-width * step, guard) + 2
            inverse[width] = -(-(less << guard) // ((1 << guard) - less))
        fall = max(d_a - d_b, 0)
        cells.append((width, ceil_shift(d_a + ceil_shift(fall * inverse[width], guard), drop)))
    infinite = min(one, ceil_shift(points[-1][1], drop))
    tails: list[int] = []
    highest = infinite
    for width, tail in reversed(cells):  # bounds are noisy: tails must not increase
        highest = min(one, max(highest, tail))
        tails.extend([highest] * width)
    tails.append(one)
    tails.reverse()
    return Losses(step, points[0][0], tuple(tails), infinite, bits)
