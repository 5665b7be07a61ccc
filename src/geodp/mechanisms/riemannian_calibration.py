"""A radial mechanism with its scale: draws around a value, exactly rounded or for simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, SpaceError
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.noise.radial import RadialLaw
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.random import BitStream, bit_stream, check_generator, public_rng
from geodp.rounding.release import round_point
from geodp.spaces.base import Array, BoolArray, Space
from geodp.statistics.domain import Ball

_REPEATS = 2000
_LEAST = 1 / 400  # share of draws around a value on the edge that must hit the ball


@final
@dataclass(frozen=True, eq=False)
class RiemannianCalibration(Calibration):
    """A radial law around the value; see ``Calibration``.

    ``inside`` is the ball that draws are kept in, None for the whole law. The noise is drawn in the
    frame at the value without looking at it; only a truncated law's number of tries depends on it.
    """

    mechanism: Mechanism
    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile
    ball: Ball | None
    sensitivity: float
    law: RadialLaw
    inside: Ball | None

    def check(self) -> None:
        """Refuse a truncated law that hardly ever hits its ball; public numbers alone decide."""
        if self.inside is None:
            return
        rng = public_rng()
        step = np.zeros(self.space.dim)
        step[0] = self.inside.radius
        edge = self.space.exp_coords(self.inside.center, step)
        draws = self.space.exp_coords(edge, self.law.sample(rng, 2 * _REPEATS))
        if self._keeps(draws).mean() < _LEAST:
            raise ConditionError(
                f"On {self.space.spec} a truncated law of scale {self.scale:.4g} around a value on "
                "the edge of the ball hardly ever hits the ball, so it cannot be drawn in "
                "reasonable time. Use a wrapped mechanism, or a smaller ball."
            )

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        point = self._point(value)
        count = 1 if size is None else size
        if rng is None:
            stream = bit_stream()
            draws = np.array([self.draw(point, stream) for _ in range(count)])
            draws = draws.reshape(count, *self.space.point_shape)
        else:
            draws = self._float_draws(np.broadcast_to(point, (count, *point.shape)), rng)
        return draws[0] if size is None else draws

    def draw(self, value: Array, stream: BitStream) -> Array:
        while True:
            x = round_point(self.space, value, self.law.exact(stream).balls)
            if self.inside is None or self._keeps(x[None])[0]:
                return x

    def expected_distance(self, at: ArrayLike | None = None) -> float:
        if self.inside is None:
            return self.law.mean_radius()
        point = self.inside.center if at is None else self._point(at)
        values = np.broadcast_to(point, (_REPEATS, *point.shape))
        return float(self.distances(values, public_rng()).mean())

    def mean_squared_error(self) -> float:
        if self.inside is None:
            return self.law.mean_square()
        point = self.inside.center
        values = np.broadcast_to(point, (_REPEATS, *point.shape))
        return float((self.distances(values, public_rng()) ** 2).mean())

    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        if self.inside is None:  # the same around every value
            return np.asarray(np.linalg.norm(self.law.sample(rng, len(values)), axis=-1))
        return self.space.dist(values, self._float_draws(values, rng))

    def distance_bound(self, distance: float) -> float:
        """The mean of the law around every value; for a truncated law the ball's diameter."""
        if self.inside is None:
            return self.law.mean_radius() * (1 + 1e-2)
        return 2 * self.inside.reach

    def facts(self) -> dict[str, object]:
        return {
            "name": self.mechanism.name,
            "scale": self.scale,
            "guarantee": self.guarantee.to_json(),
        }

    def _keeps(self, x: Array) -> BoolArray:
        """Whether rounded points count as inside: a public set, fixed by the ball alone."""
        assert self.inside is not None
        far = self.space.cut_locus(self.inside.center, x)
        return np.asarray(~far & (self.space.dist(self.inside.center, x) <= self.inside.radius))

    def _float_draws(self, values: Array, rng: np.random.Generator) -> Array:
        out = self.space.exp_coords(values, self.law.sample(check_generator(rng), len(values)))
        if self.inside is None:
            return out
        left = np.flatnonzero(~self._keeps(out))
        while len(left):
            z = self.law.sample(rng, len(left))
            out[left] = self.space.exp_coords(values[left], z)
            left = left[~self._keeps(out[left])]
        return out

    def _point(self, value: ArrayLike) -> Array:
        point = np.asarray(value, dtype=np.float64)
        if point.shape != self.space.point_shape or not self.space.contains(point):
            raise SpaceError(f"The value is no point of {self.space.spec}.")
        point = self.space.project(point)
        return point if self.ball is None else self.ball.project(point)
