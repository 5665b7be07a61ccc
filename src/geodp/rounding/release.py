"""The correctly rounded value of an ideal, real-valued release."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from geodp.rounding.floats import unique_float
from geodp.rounding.precision import START, precisions, working_precision
from geodp.spaces.base import Array, Space

if TYPE_CHECKING:
    from flint import arb

    from geodp.random import BitStream


class ExactDraw(Protocol):
    """One random vector, as balls at any precision from the same bits."""

    def balls(self, precision: int) -> list[arb]: ...


class ExactLaw(Protocol):
    """A law on R^dim that can be drawn from exactly."""

    def exact(self, stream: BitStream) -> ExactDraw: ...


def round_release(
    space: Space,
    footpoint: ArrayLike,
    value_coords: ArrayLike,
    law: ExactLaw,
    scale: float,
    stream: BitStream,
    start: int = START,
) -> Array:
    """exp_p0(z0 + scale * X), X from ``law``, every entry the float64 nearest to the ideal real.

    ``footpoint`` p0 (shape ``point_shape``), ``value_coords`` z0 (shape ``(dim,)``, orthonormal
    coordinates of log_p0 of the value) and ``scale`` are read as exact numbers. So the output is
    a fixed function of the ideal output, and has its guarantee (post-processing).

    X is drawn before the value is looked at; bits drawn and steps taken do not depend on the
    value, but for a refinement of the final rounding. With the first precision of 128 bits and a
    result that loses b bits to rounding and cancellation, an entry is refined with probability
    about 2**(b - 75): less than 2**-30 as long as b < 40.
    """
    from flint import arb

    draw = law.exact(stream)
    z = [arb(float(c)) for c in np.asarray(value_coords, dtype=np.float64)]
    sigma = arb(float(scale))

    def coords(precision: int) -> list[arb]:
        return [c + sigma * x for c, x in zip(z, draw.balls(precision), strict=True)]

    return round_point(space, footpoint, coords, start)


def round_point(
    space: Space,
    footpoint: ArrayLike,
    coords: Callable[[int], list[arb]],
    start: int = START,
) -> Array:
    """exp_p0 at the real coordinates that ``coords(precision)`` encloses, rounded entry by entry.

    Refines by doubling the precision until each entry is certain; ``GeodpError`` at 2**16 bits.
    """
    p = np.asarray(footpoint, dtype=np.float64)
    for precision in precisions(start):
        with working_precision(precision):
            entries = [unique_float(ball) for ball in space.exp_arb(p, coords(precision))]
        if None not in entries:
            return np.array(entries, dtype=np.float64).reshape(space.point_shape)
    raise AssertionError
