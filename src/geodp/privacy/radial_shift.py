"""Two radial laws a shift apart on a two-point homogeneous space: the numbers that matter.

The density at distance r from its centre is proportional to f(r), e^{-r/scale} (laplace) or
e^{-r^2/2 scale^2} (gaussian), with respect to volume. In units of the curvature radius the space
is a sphere or hyperbolic space of curvature +1 or -1, or planar shapes of curvature 1 to 4; nothing
else of its geometry enters. Proofs: docs/proofs/riemannian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from geodp.privacy.balls import ball

if TYPE_CHECKING:
    from flint import arb


@final
@dataclass(frozen=True)
class RadialPair:
    """Laws of one kernel and scale whose centres are ``shift`` apart; all numbers exact.

    ``curvature`` is not 0 (the least, on shapes) and ``dim`` at least 1 (a circle). ``cosine`` is 1
    on planar shapes of dimension 4 or more and 0 on space forms: the sphere of radius r has area
    ``sn(r)^(dim - 1) cos(r)^cosine``.
    """

    kernel: str
    dim: int
    curvature: Fraction
    scale: Fraction
    shift: Fraction
    cosine: int = 0

    def at(self, scale: Fraction, shift: Fraction) -> RadialPair:
        """The same law with other lengths."""
        return RadialPair(self.kernel, self.dim, self.curvature, scale, shift, self.cosine)

    @property
    def sign(self) -> int:
        """+1 on a sphere or planar shapes, -1 on hyperbolic space."""
        return 1 if self.curvature > 0 else -1

    def unit(self) -> tuple[arb, arb]:
        """Scale and shift in units of the curvature radius, at the working precision."""
        root = ball(abs(self.curvature)).sqrt()
        return root * ball(self.scale), root * ball(self.shift)

    @property
    def floats(self) -> tuple[float, float]:
        """The same as float estimates."""
        root = math.sqrt(abs(float(self.curvature)))
        return root * float(self.scale), root * float(self.shift)

    def loss_ball(self) -> arb | None:
        """The largest privacy loss, as a ball; None where it is unbounded.

        ``shift/scale`` for Laplace. Gaussian on a sphere: (t^2 - r^2)/2 scale^2 with t - r at most
        the shift and t + r at most 2 pi less the shift; on planar shapes, of half the diameter, pi.
        """
        from flint import arb

        scale, shift = self.unit()
        if self.kernel == "laplace":
            return shift / scale
        if self.sign < 0:
            return None
        diameter = arb.pi() / (1 + self.cosine)
        wide = 2 * diameter - shift
        if not shift < diameter:
            return diameter**2 / (2 * scale**2)
        return shift * wide / (2 * scale**2)

    @property
    def has_exact_profile(self) -> bool:
        """Whether the one-dimensional integral applies: dimension two or more, shift not absurd."""
        return self.dim > 1 and self.floats[1] < 3.0 / (1 + self.cosine)
