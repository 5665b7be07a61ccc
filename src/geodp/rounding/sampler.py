"""Exact draws from real-valued laws, as balls at any precision from the same random bits."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, final

from geodp.rounding.precision import is_positive, working_precision
from geodp.rounding.reals import Reals, Uniform

if TYPE_CHECKING:
    from flint import arb

    from geodp.random import BitStream


@final
class NormalPair:
    """Two independent standard normals (Box and Muller 1958)."""

    __slots__ = ("_angle", "_radius")

    def __init__(self, reals: Reals) -> None:
        self._radius = reals.uniform()
        self._angle = reals.uniform()

    def balls(self, precision: int) -> tuple[arb, arb]:
        """Both normals at the current working precision."""
        radius = (-2 * self._radius.ball(precision).log()).sqrt()
        sine, cosine = (2 * self._angle.ball(precision)).sin_cos_pi()
        return radius * cosine, radius * sine


@final
class GammaDraw:
    """A Gamma(``order``) real, any rational order > 0, unit rate.

    Marsaglia and Tsang (2000), every comparison decided by ball arithmetic, so the law is exact.
    An order below 1 is drawn as Gamma(order + 1) * U**(1/order).
    """

    __slots__ = ("_boost", "_normal", "_order")

    def __init__(self, order: Fraction, reals: Reals) -> None:
        self._order = order
        self._boost: Uniform | None = reals.uniform() if order < 1 else None
        accepted = False
        while not accepted:
            self._normal = NormalPair(reals)
            accepted = self._accepts(reals.uniform())

    def _candidate(self, precision: int) -> tuple[arb, arb, arb]:
        """Marsaglia and Tsang's d, x and the cube root of v."""
        from flint import arb, fmpq

        shift = self._order - Fraction(1, 3) + (self._boost is not None)
        d = arb(fmpq(shift.numerator, shift.denominator))
        x = self._normal.balls(precision)[0]
        return d, x, 1 + x / (9 * d).sqrt()

    def _accepts(self, uniform: Uniform) -> bool:
        if not is_positive(lambda precision: self._candidate(precision)[2]):
            return False

        def margin(precision: int) -> arb:
            d, x, root = self._candidate(precision)
            log_bound = x * x / 2 + d * (1 - root**3 + 3 * root.log())
            return log_bound - uniform.ball(precision).log()

        return is_positive(margin)

    def ball(self, precision: int) -> arb:
        """The draw at the current working precision."""
        from flint import arb, fmpq

        d, _, root = self._candidate(precision)
        value = d * root**3
        if self._boost is None:
            return value
        inverse = arb(fmpq(self._order.denominator, self._order.numerator))
        return value * (self._boost.ball(precision).log() * inverse).exp()


@final
class SphericalDraw:
    """One exact draw of X = R U in R^dim, U uniform on the sphere.

    R has density proportional to ``r**shape * exp(-rate * r**power)``; parameters are read as the
    exact numbers that their floats stand for. Which bits are drawn depends on the law and the
    stream alone.
    """

    __slots__ = ("_dim", "_direction", "_gamma", "_power", "_rate", "_sign")

    def __init__(
        self, dim: int, shape: float, power: float, rate: float, stream: BitStream
    ) -> None:
        reals = Reals(stream)
        self._dim = dim
        self._power = Fraction(power)
        self._rate = Fraction(rate)
        self._sign = 1 - 2 * reals.bit()  # the direction when dim = 1
        pairs = (dim + 1) // 2 if dim > 1 else 0
        self._direction = [NormalPair(reals) for _ in range(pairs)]
        self._gamma = GammaDraw((Fraction(shape) + 1) / self._power, reals)

    def balls(self, precision: int) -> list[arb]:
        """The ``dim`` coordinates of X, computed with ``precision`` bits."""
        from flint import arb

        with working_precision(precision):
            radius = self._radius(precision)
            if self._dim == 1:
                return [radius * self._sign]
            normals = [n for pair in self._direction for n in pair.balls(precision)][: self._dim]
            factor = radius / sum((n * n for n in normals), arb(0)).sqrt()
            return [n * factor for n in normals]

    def _radius(self, precision: int) -> arb:
        from flint import arb, fmpq

        rate = arb(fmpq(self._rate.numerator, self._rate.denominator))
        root = arb(fmpq(self._power.denominator, self._power.numerator))
        return (self._gamma.ball(precision) / rate) ** root
