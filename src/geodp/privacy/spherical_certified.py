"""Certified δ(ε) of a spherical law: cells of ``spherical_cells``, split until their sum is sharp.

Every cell is an enclosure, so the sum is one at any stage; floats only say where to start.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, final

from geodp.privacy.balls import ball, lower, rational_down, rational_up, upper
from geodp.privacy.spherical_cells import CellNumbers, crude, exact, smooth
from geodp.privacy.spherical_float import FloatShift, estimate_parts
from geodp.privacy.spherical_laplace import factorises, laplace_delta
from geodp.rounding.precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    from geodp.privacy.spherical_shift import Shift

SINGLE = Fraction(1, 10**7)  # relative width for one release; 1e-4 is promised
FINE = Fraction(4, 10**10)  # for privacy-loss distributions; 1e-9 is promised
_PRECISIONS = (128, 256, 512)
_SPLITS = 600
_FEW_SPLITS = 60  # where δ is below every float
_BATCH = 4  # splits between two looks at the sum
_LARGEST_CELL = Fraction(1)
_NEAR, _FAR = 1e-9, 1e6  # shifts that floats can handle
_NEGLIGIBLE = Fraction(1, 10**250)


@final
@dataclass(frozen=True)
class Enclosure:
    """Rationals with low ≤ δ ≤ high."""

    low: Fraction
    high: Fraction


def delta_enclosure(shift: Shift, epsilon: Fraction, width: Fraction = SINGLE) -> Enclosure:
    """δ(ε) to about ``width`` relative; wider, but still proved, where no precision is enough.

    For ε < 0 by δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), since the pair is its own mirror image.
    """
    if epsilon >= 0:
        return _cached(shift, epsilon, width)
    other = _cached(shift, -epsilon, width)

    def mirrored(value: Fraction) -> arb:
        return ball(value) * ball(epsilon).exp() - ball(epsilon).expm1()

    return Enclosure(
        max(Fraction(0), lower(lambda: mirrored(other.low))),
        min(Fraction(1), upper(lambda: mirrored(other.high))),
    )


@lru_cache(maxsize=65536)
def _cached(shift: Shift, epsilon: Fraction, width: Fraction) -> Enclosure:
    if shift.is_pure and pure_loss_at_most(shift, epsilon):
        return Enclosure(Fraction(0), Fraction(0))
    length = shift.length
    if length > _FAR or epsilon > _FAR:
        return Enclosure(Fraction(0), Fraction(1))
    if length < _NEAR:  # δ grows with the shift
        wider = shift.at(Fraction(2 * _NEAR / length) * shift.ratio)
        return Enclosure(Fraction(0), _cached(wider, epsilon, width).high)
    best = Enclosure(Fraction(0), Fraction(1))
    integral = laplace_delta if factorises(shift) else _total
    for bits in _PRECISIONS:
        with working_precision(bits):
            try:
                total = integral(shift, epsilon, width)
            except (ArithmeticError, ValueError):
                continue
            if not total.is_finite():
                continue
            best = Enclosure(
                max(best.low, rational_down(total)), min(best.high, rational_up(total))
            )
        if best.high - best.low <= width * best.high or best.high < _NEGLIGIBLE:
            break
    return best


def pure_loss_at_most(shift: Shift, epsilon: Fraction) -> bool:
    """Whether s^power ≤ ε is proved; s^power = rate·ratio^power is the largest loss."""
    if shift.power == 1:
        return shift.rate * shift.ratio <= epsilon
    bound = upper(lambda: ball(shift.rate) * ball(shift.ratio) ** ball(shift.power))
    return bound <= epsilon


def _total(shift: Shift, epsilon: Fraction, width: Fraction) -> arb:
    """The enclosure at the working precision, split to ``width`` or as often as allowed."""
    from flint import arb, ctx

    guess, smallest = _guess(shift, epsilon)
    target = float(width) * guess / 100
    numbers = CellNumbers(shift, epsilon)
    heap: list[tuple[float, int, arb, _Cell]] = []
    done: list[arb] = []
    count = 0

    def add(cells: Iterable[_Cell]) -> None:
        nonlocal count
        for cell in cells:
            value = cell.value(numbers, target)
            count += 1
            radius = float(value.rad())
            if radius <= abs(float(value.mid())) * 2.0 ** (24 - ctx.prec):
                done.append(value)  # splitting cannot sharpen it
            else:
                heapq.heappush(heap, (-radius, count, value, cell))

    def total() -> arb:
        return sum((value for _, _, value, _ in heap), sum(done, arb(0)))

    add(_first_cells(shift, epsilon, smallest))
    for i in range(_SPLITS if target > 0 else _FEW_SPLITS):
        if i % _BATCH == 0:
            whole = total()
            if not heap or whole.rad() * 2 <= float(width) * abs(whole.mid()):
                break
        add(heapq.heappop(heap)[3].split())
        if not heap:
            break
    return total()


def _guess(shift: Shift, epsilon: Fraction) -> tuple[float, float]:
    """δ in floats, 0 where they underflow, and the probability from which on radii matter."""
    loss = float(epsilon)
    first, second = estimate_parts(FloatShift.of(shift), loss)
    guess = max(first + second, 1e-12 * first)
    return (guess, guess * math.exp(-min(loss, 600.0)) * 1e-13) if guess > 1e-250 else (0.0, 1e-280)


@final
@dataclass(frozen=True)
class _Cell:
    """y from ``left`` to ``right``; None at the outermost ends, r = ∞ and r = 0."""

    left: Fraction | None
    right: Fraction | None

    def value(self, numbers: CellNumbers, target: float) -> arb:
        if self.left is None or self.right is None:
            return numbers.outermost(self.left, self.right)
        found = exact(numbers, self.left, self.right)
        if found is not None:
            return found
        if numbers.dim > 1 and target > 0 and self.right - self.left <= _LARGEST_CELL:
            found = smooth(numbers, self.left, self.right, target)
            if found is not None and found.rad() * 1000 < abs(found.mid()):
                return found
        rough = crude(numbers, self.left, self.right)
        return rough if found is None or rough.rad() < found.rad() else found

    def split(self) -> tuple[_Cell, _Cell]:
        if self.left is not None and self.right is not None:
            middle = (self.left + self.right) / 2
        elif self.right is not None:
            middle = self.right - 1
        else:
            assert self.left is not None
            middle = self.left + 1
        return _Cell(self.left, middle), _Cell(middle, self.right)


def _first_cells(shift: Shift, epsilon: Fraction, smallest: float) -> list[_Cell]:
    """A partition of the reals, broken where a triangle degenerates and a little beside."""
    ends = FloatShift.of(shift).breaks(float(epsilon), smallest)
    points = {ends[0], ends[-1]}
    for root in ends[1:-1]:
        room = max(abs(root), 1.0) * 1e-13
        points |= {root - room, root + room}
    inside = [Fraction(point) for point in sorted(points)]
    cuts: list[Fraction | None] = [None]
    for left, right in pairwise(inside):
        pieces = max(1, math.ceil((right - left) / _LARGEST_CELL))
        cuts += [left + (right - left) * Fraction(i, pieces) for i in range(pieces)]
    cuts += [inside[-1], None]
    return [_Cell(a, b) for a, b in pairwise(cuts)]
