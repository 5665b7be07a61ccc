"""Passes over SPD(1), SPD(2) and SPD(3), everything in registers; see ``spd``."""

from __future__ import annotations

from typing import Any

from geodp.kernels.functions import log
from geodp.kernels.jacobi import ROOT2, SMALL, SWEEPS, allowed, even, ranged, rotation, turn
from geodp.kernels.lanes import WIDTH, bits, both, choose, gather, spread
from geodp.kernels.loop import compiled, give, helper, keep, present


def one() -> Any:
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
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x), count)
            w = gather(x, at, 1) * base[0] * base[0]
            ok = both(ok, ranged(w))
            z = log(w) - base[1]
            square = z * z
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * 2
            give(acc, rows, place, 0, z, unit, ok)
            give(acc, rows, place, 1, square, unit2, ok)

    return run


def two() -> Any:
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
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // 4, count)
            o = 4 * at
            y0, y2 = gather(x, o, 4), gather(x, o + 3, 4)
            y1, same = even(gather(x, o + 1, 4), gather(x, o + 2, 4), y0, y2)
            ok = both(ok, same)
            t0 = y0 * base[2] + y1 * base[3]
            t1 = y1 * base[2] + y2 * base[3]
            w0 = y0 * base[0] * base[0]
            w1 = t0 * base[0]
            w2 = t0 * base[2] + t1 * base[3]
            c, s, low, high = rotation(w0, w2, w1)
            ok = both(ok, both(ranged(low), ranged(high)))
            first, second = log(low), log(high)
            z0 = c * c * first + s * s * second - base[4]
            z1 = c * s * (second - first) * ROOT2 - base[5]
            z2 = s * s * first + c * c * second - base[6]
            square = z0 * z0 + z1 * z1 + z2 * z2
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * 4
            give(acc, rows, place, 0, z0, unit, ok)
            give(acc, rows, place, 1, z1, unit, ok)
            give(acc, rows, place, 2, z2, unit, ok)
            give(acc, rows, place, 3, square, unit2, ok)

    return run


@helper
def _sweep_three(w: Any, v: Any, active: Any) -> Any:
    """The three rotations of a 3 x 3 matrix, on active lanes; rows of V stay with their lanes."""
    w00, w10, w11, w20, w21, w22 = w
    v00, v01, v02, v10, v11, v12, v20, v21, v22 = v
    one, zero = spread(1.0), spread(0.0)

    c, s, low, high = rotation(w00, w11, w10)
    c, s = choose(active, c, one), choose(active, s, zero)
    w00, w11 = choose(active, low, w00), choose(active, high, w11)
    w10 = choose(active, zero, w10)
    w20, w21 = turn(c, s, w20, w21)
    v00, v01 = turn(c, s, v00, v01)
    v10, v11 = turn(c, s, v10, v11)
    v20, v21 = turn(c, s, v20, v21)

    c, s, low, high = rotation(w00, w22, w20)
    c, s = choose(active, c, one), choose(active, s, zero)
    w00, w22 = choose(active, low, w00), choose(active, high, w22)
    w20 = choose(active, zero, w20)
    w10, w21 = turn(c, s, w10, w21)
    v00, v02 = turn(c, s, v00, v02)
    v10, v12 = turn(c, s, v10, v12)
    v20, v22 = turn(c, s, v20, v22)

    c, s, low, high = rotation(w11, w22, w21)
    c, s = choose(active, c, one), choose(active, s, zero)
    w11, w22 = choose(active, low, w11), choose(active, high, w22)
    w21 = choose(active, zero, w21)
    w10, w20 = turn(c, s, w10, w20)
    v01, v02 = turn(c, s, v01, v02)
    v11, v12 = turn(c, s, v11, v12)
    v21, v22 = turn(c, s, v21, v22)
    return (w00, w10, w11, w20, w21, w22), (v00, v01, v02, v10, v11, v12, v20, v21, v22)


@helper
def _entry_three(values: Any, logs: Any, a: Any, b: Any) -> Any:
    """One entry of V diag(log λ) Vᵀ, of V diag(λ) Vᵀ and of V Vᵀ; a and b are rows of V."""
    p, q, r = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    z = p * logs[0] + q * logs[1] + r * logs[2]
    return z, p * values[0] + q * values[1] + r * values[2], p + q + r


@helper
def _off_three(w: Any) -> Any:
    return w[1] * w[1] + w[3] * w[3] + w[4] * w[4]


def three() -> Any:
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
        for start in range(0, count, WIDTH):
            at, ok = present(start, len(x) // 9, count)
            o = 9 * at
            y00, y11, y22 = gather(x, o, 9), gather(x, o + 4, 9), gather(x, o + 8, 9)
            y10, same10 = even(gather(x, o + 1, 9), gather(x, o + 3, 9), y00, y11)
            y20, same20 = even(gather(x, o + 2, 9), gather(x, o + 6, 9), y00, y22)
            y21, same21 = even(gather(x, o + 5, 9), gather(x, o + 7, 9), y11, y22)
            ok = both(both(ok, same10), both(same20, same21))

            t10, t11 = y00 * base[3] + y10 * base[4], y10 * base[3] + y11 * base[4]
            t20 = y00 * base[6] + y10 * base[7] + y20 * base[8]
            t21 = y10 * base[6] + y11 * base[7] + y21 * base[8]
            t22 = y20 * base[6] + y21 * base[7] + y22 * base[8]
            w00 = y00 * base[0] * base[0]
            w10, w11 = t10 * base[0], t10 * base[3] + t11 * base[4]
            w20, w21 = t20 * base[0], t20 * base[3] + t21 * base[4]
            w22 = t20 * base[6] + t21 * base[7] + t22 * base[8]

            one, zero = spread(1.0), spread(0.0)
            w = (w00, w10, w11, w20, w21, w22)
            v = (one, zero, zero, zero, one, zero, zero, zero, one)
            norm = w00 * w00 + w11 * w11 + w22 * w22 + _off_three(w) * 2.0
            small = norm * SMALL
            for _ in range(3):  # every matrix
                w, v = _sweep_three(w, v, small <= small)
            for _ in range(SWEEPS):
                active = both(small < _off_three(w), ok)
                if bits(active) == 0:
                    break
                w, v = _sweep_three(w, v, active)
            ok = both(both(ok, ranged(w[0])), both(ranged(w[2]), ranged(w[5])))

            logs = (log(w[0]), log(w[2]), log(w[5]))
            values = (w[0], w[2], w[5])
            first, second, third = v[:3], v[3:6], v[6:]
            z0, r0, e0 = _entry_three(values, logs, first, first)
            z1, r1, e1 = _entry_three(values, logs, second, first)
            z2, r2, e2 = _entry_three(values, logs, second, second)
            z3, r3, e3 = _entry_three(values, logs, third, first)
            z4, r4, e4 = _entry_three(values, logs, third, second)
            z5, r5, e5 = _entry_three(values, logs, third, third)
            r0, r2, r5 = r0 - w00, r2 - w11, r5 - w22
            r1, r3, r4 = r1 - w10, r3 - w20, r4 - w21
            e0, e2, e5 = e0 - 1.0, e2 - 1.0, e5 - 1.0
            residual = r0 * r0 + r2 * r2 + r5 * r5 + (r1 * r1 + r3 * r3 + r4 * r4) * 2.0
            skew = e0 * e0 + e2 * e2 + e5 * e5 + (e1 * e1 + e3 * e3 + e4 * e4) * 2.0
            ok = both(ok, both(residual <= norm * allowed(3), skew <= spread(allowed(3))))

            z0, z2, z5 = z0 - base[9], z2 - base[11], z5 - base[14]
            z1, z3, z4 = z1 * ROOT2 - base[10], z3 * ROOT2 - base[12], z4 * ROOT2 - base[13]
            square = z0 * z0 + z1 * z1 + z2 * z2 + z3 * z3 + z4 * z4 + z5 * z5
            ok = both(ok, square <= limit)
            keep(ok, at, start, count, left)
            place = start // WIDTH * 7
            give(acc, rows, place, 0, z0, unit, ok)
            give(acc, rows, place, 1, z1, unit, ok)
            give(acc, rows, place, 2, z2, unit, ok)
            give(acc, rows, place, 3, z3, unit, ok)
            give(acc, rows, place, 4, z4, unit, ok)
            give(acc, rows, place, 5, z5, unit, ok)
            give(acc, rows, place, 6, square, unit2, ok)

    return run
