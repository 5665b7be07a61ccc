"""Rejection from a piecewise exponential envelope of a log-concave density, exact in the limit.

A tangent of a concave log-density lies above it everywhere, so tangents at public float points,
each used on an interval between public float ends, make an envelope whatever the points are: their
choice matters for speed alone. Heights and slopes are balls at any precision, so both the choice of
an interval and the accept decision are those of the ideal real-valued sampler (Devroye 1986, VII).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from geodp.noise.radial_density import Array, Density
from geodp.rounding.precision import is_positive, precisions, working_precision
from geodp.rounding.reals import Reals, Uniform

if TYPE_CHECKING:
    from flint import arb

_DROPS = (0.15, 0.6, 1.4, 2.6, 4.2, 6.5)  # of log g below its maximum, where tangents are laid
_STEPS = 200


@final
@dataclass(frozen=True)
class Piece:
    """A tangent at ``anchor`` used on ``[left, right]``; ``right`` None means the density's end.

    ``flat``: so little slope that a constant above the tangent is used instead. ``drop``: the
    density on this piece is ``exp(-drop)`` times what it says.
    """

    anchor: float
    left: float
    right: float | None
    flat: bool
    drop: float = 0.0


class BallPiece(NamedTuple):
    """A piece at some precision: log height at ``left``, slope (None if constant), ends, mass."""

    height: arb
    slope: arb | None
    left: arb
    width: arb | None
    mass: arb


@final
class Envelope:
    """The envelope of ``density``; ``balls(precision)`` and float twins of its numbers.

    With ``pieces`` of one's own, from 0 to the density's end, it is that of a density with steps:
    their drops change how often a piece is chosen, and nothing else.
    """

    def __init__(self, density: Density, pieces: tuple[Piece, ...] | None = None) -> None:
        self.density = density
        self.pieces = _pieces(density) if pieces is None else list(pieces)
        self._balls: dict[int, tuple[list[BallPiece], list[arb]]] = {}

    @cached_property
    def top(self) -> float:
        """About the maximum of log g, taken off every height: an exact float."""
        return float(self.density.log(np.array([p.anchor for p in self.pieces])).max())

    def balls(self, precision: int) -> tuple[list[BallPiece], list[arb]]:
        """The pieces and the cumulative masses with ``precision`` bits."""
        if precision not in self._balls:
            with working_precision(precision):
                made = [self._ball_piece(piece) for piece in self.pieces]
                sums = [made[0].mass]
                for part in made[1:]:
                    sums.append(sums[-1] + part.mass)
            self._balls[precision] = made, sums
        return self._balls[precision]

    def _ball_piece(self, piece: Piece) -> BallPiece:
        from flint import arb

        anchor, left = arb(piece.anchor), arb(piece.left)
        right = self.density.reach_ball() if piece.right is None else arb(piece.right)
        slope = self.density.slope_ball(anchor)
        height = self.density.log_ball(anchor) + slope * (left - anchor) - self.top
        share = (-arb(piece.drop)).exp()
        if right is None:
            return BallPiece(height, slope, left, None, -share * height.exp() / slope)
        width = right - left
        if piece.flat:
            height = height + abs(slope) * width
            return BallPiece(height, None, left, width, share * height.exp() * width)
        mass = share * height.exp() * (slope * width).expm1() / slope
        return BallPiece(height, slope, left, width, mass)

    @cached_property
    def float_table(self) -> tuple[Array, Array, Array, Array, Array]:
        """Heights, slopes, left ends, widths and cumulative masses as floats."""
        made, _ = self.balls(128)
        height = np.array([float(p.height) for p in made])
        slope = np.array([0.0 if p.slope is None else float(p.slope) for p in made])
        left = np.array([float(p.left) for p in made])
        width = np.array([math.inf if p.width is None else float(p.width) for p in made])
        return height, slope, left, width, np.cumsum([float(p.mass) for p in made])

    def propose(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Float proposals t and the envelope's log at them."""
        height, slope, left, width, sums = self.float_table
        at = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
        at = np.minimum(at, len(sums) - 1)
        u, s = rng.random(count), slope[at]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = np.log1p(u * np.expm1(s * width[at])) / s
        step = np.where(s == 0, u * width[at], step)
        return left[at] + step, height[at] + s * step + self.top


@final
class Proposal:
    """One exact draw from an envelope, and the uniform of its accept decision."""

    __slots__ = ("_at", "_coin", "_envelope", "_place")

    def __init__(self, envelope: Envelope, reals: Reals) -> None:
        self._envelope = envelope
        self._at = _pick(envelope, reals.uniform())
        self._place = reals.uniform()
        self._coin = reals.uniform()

    @property
    def piece(self) -> int:
        """The index of the piece that t lies on."""
        return self._at

    def radius(self, precision: int) -> arb:
        """t at the current working precision."""
        piece = self._envelope.balls(precision)[0][self._at]
        u = self._place.ball(precision)
        if piece.slope is None:
            assert piece.width is not None
            return piece.left + u * piece.width
        if piece.width is None:
            return piece.left + (-u).log1p() / piece.slope
        return piece.left + (u * (piece.slope * piece.width).expm1()).log1p() / piece.slope

    def accepts(self, log_target: Callable[[int, arb], arb]) -> bool:
        """Whether log U <= log target(t) - log envelope(t); ``log_target`` gets precision and t."""

        def margin(precision: int) -> arb:
            piece = self._envelope.balls(precision)[0][self._at]
            t = self.radius(precision)
            line = piece.height + self._envelope.top
            if piece.slope is not None:
                line = line + piece.slope * (t - piece.left)
            return log_target(precision, t) - line - self._coin.ball(precision).log()

        return is_positive(margin)


def _pick(envelope: Envelope, uniform: Uniform) -> int:
    """The index of the piece that ``uniform`` times the total mass falls into."""
    for precision in precisions():
        sums = envelope.balls(precision)[1]
        with working_precision(precision):
            x = uniform.ball(precision) * sums[-1]
            for index, bound in enumerate(sums):
                if x < bound or index == len(sums) - 1:
                    return index
                if not x > bound:
                    break
    raise AssertionError


def _pieces(density: Density) -> list[Piece]:
    anchors = _anchors(density)
    heights = [float(density.log(np.array(t))) for t in anchors]
    slopes = [density.slope(t) for t in anchors]
    ends = [0.0]
    for i in range(len(anchors) - 1):
        a, b = anchors[i], anchors[i + 1]
        gap = slopes[i] - slopes[i + 1]
        meet = (a + b) / 2
        if gap > 0:
            meet = a + (heights[i + 1] - heights[i] - slopes[i + 1] * (b - a)) / gap
        ends.append(min(max(meet, a), b))
    pieces = []
    for i, anchor in enumerate(anchors):
        last = i == len(anchors) - 1
        right = density.reach if last else ends[i + 1]
        flat = math.isfinite(right) and abs(slopes[i]) * (right - ends[i]) < 1e-6
        pieces.append(Piece(anchor, ends[i], None if last else right, flat))
    return pieces


def _anchors(density: Density) -> list[float]:
    """The mode, and points on both sides where log g has dropped by given amounts."""
    mode = _mode(density)
    top = float(density.log(np.array(mode)))
    points = {mode} if 0 < mode < density.reach else set()
    for drop in _DROPS:
        for side in (_left, _right):
            point = side(density, mode, top - drop)
            if point is not None and 0 < point < density.reach:
                points.add(point)
    return sorted(points) if points else [density.reach / 2]


def _mode(density: Density) -> float:
    low, high = 0.0, density.reach
    if math.isinf(high):
        high = 1.0
        while density.slope(high) > 0:
            low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if density.slope(middle) > 0:
            low = middle
        else:
            high = middle
    return high if low > 0 else 0.0


def _left(density: Density, mode: float, level: float) -> float | None:
    low, high = 0.0, mode
    if not mode > 0 or density.log(np.array(mode * 1e-9)) > level:
        return None
    return _cross(density, high, low, level)


def _right(density: Density, mode: float, level: float) -> float | None:
    end = density.reach
    if math.isinf(end):
        end = max(2 * mode, 1.0)
        while density.log(np.array(end)) > level:
            end *= 2
    elif density.log(np.array(end * (1 - 1e-9))) > level:
        return None
    return _cross(density, mode, end, level)


def _cross(density: Density, above: float, below: float, level: float) -> float:
    """A point between, where log g is about ``level``."""
    for _ in range(60):
        middle = (above + below) / 2
        if density.log(np.array(middle)) > level:
            above = middle
        else:
            below = middle
    return (above + below) / 2
