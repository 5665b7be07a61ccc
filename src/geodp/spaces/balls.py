"""Elementary steps in ball arithmetic that ``exp_arb`` shares between spaces."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat, ctx


def exact(x: float) -> arb:
    """The float itself, without rounding."""
    return arb(float(x))


def dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    total = arb(0)
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def norm(a: Sequence[arb]) -> arb:
    return dot(a, a).sqrt()


def _series(s: arb, first: int) -> arb:
    """Σ_k s^k/(2k + first)! for |s| <= 1, the tail enclosed."""
    total, term, k = arb(0), arb(1), 0
    while k < 8 or k < ctx.prec:
        total += term
        k += 1
        term = term * s / ((2 * k + first) * (2 * k + first - 1))
        if term.abs_upper() < arb(2) ** (-ctx.prec - 20):
            break
    rest = 2 * term.abs_upper()  # the terms fall at least by half
    return total + arb(0, rest)


def cos_sinc(s: arb) -> tuple[arb, arb]:
    """cos(√s) and sin(√s)/√s for s >= 0, also when the ball s touches 0."""
    if s.abs_upper() < 1:
        return _series(-s, 0), _series(-s, 1)
    if s.lower() > 0:
        root = s.sqrt()
        return root.cos(), root.sin() / root
    return arb(0, 1), arb(0, 1)  # both lie in [-1, 1]


def cosh_sinhc(s: arb) -> tuple[arb, arb]:
    """cosh(√s) and sinh(√s)/√s for s >= 0, also when the ball s touches 0."""
    if s.abs_upper() < 1:
        return _series(s, 0), _series(s, 1)
    if s.lower() > 0:
        root = s.sqrt()
        return root.cosh(), root.sinh() / root
    top = arb(s.upper()).sqrt()  # both increase with s
    return arb(1).union(top.cosh()), arb(1).union(top.sinh() / top)


def symmetric(z: Sequence[arb], size: int, off: arb) -> arb_mat:
    """The symmetric matrix with lower triangle z, row by row, its off-diagonals over ``off``."""
    rows = [[arb(0)] * size for _ in range(size)]
    at = 0
    for i in range(size):
        for j in range(i + 1):
            rows[i][j] = rows[j][i] = z[at] if i == j else z[at] / off
            at += 1
    return arb_mat(rows)


def mirrored(a: arb_mat) -> list[arb]:
    """Entries row by row, the upper triangle copied from the lower one."""
    size = a.nrows()
    return [a[max(i, j), min(i, j)] for i in range(size) for j in range(size)]
