"""What twins are made of: a mechanism whose calibration is replaced by a planted one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.mechanisms.base import Calibration, Evaluated, Mechanism, Stage
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.random import BitStream, public_rng
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.testing.audit.laws import StatedLaw, stated_law

Plant = Callable[[Mechanism, Space, float, Guarantee, Ball | None], Calibration]
_REPEATS = 500


@final
@dataclass(frozen=True, eq=False)
class Twin(Mechanism):
    """``inner`` with a planted bug: ``plant`` calibrates in its place. NOT PRIVATE."""

    label: str
    inner: Mechanism
    plant: Plant

    @property
    def name(self) -> str:
        return f"{self.inner.name} ({self.label})"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        return self.inner.why_not(space, guarantee, ball)

    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> Calibration:
        return self.plant(self.inner, space, sensitivity, guarantee, ball)

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        return (Stage(self, guarantee),)

    def at(self, point: Array) -> Mechanism:
        return self

    def offset(self, ball: Ball) -> float:
        return self.inner.offset(ball)

    def sensitivity(self, statistic: Statistic, n: int) -> tuple[float, float] | None:
        return self.inner.sensitivity(statistic, n)


class _Planted(Calibration):
    """What every planted calibration says of its draws, by drawing."""

    def expected_distance(self, at: ArrayLike | None = None) -> float:
        point = self.space.origin if at is None else np.asarray(at, dtype=np.float64)
        values = np.broadcast_to(point, (_REPEATS, *point.shape))
        return float(self.distances(values, public_rng()).mean())

    def mean_squared_error(self) -> float:
        values = np.broadcast_to(self.space.origin, (_REPEATS, *self.space.point_shape))
        return float((self.distances(values, public_rng()) ** 2).mean())

    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        return self.space.dist(values, self.sample(values[0], len(values), rng))

    def distance_bound(self, distance: float) -> float:
        return np.inf

    def facts(self) -> dict[str, object]:
        return {"name": "planted", "scale": self.scale, "guarantee": self.guarantee.to_json()}


@final
@dataclass(frozen=True, eq=False)
class Swapped(_Planted):
    """States one calibration and draws from another."""

    stated: Calibration
    drawn: Calibration

    @property
    def space(self) -> Space:  # type: ignore[override]
        return self.stated.space

    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        return self.stated.guarantee

    @property
    def scale(self) -> float:  # type: ignore[override]
        return self.stated.scale

    @property
    def profile(self) -> Profile:  # type: ignore[override]
        return self.stated.profile

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        return self.drawn.sample(value, size, rng)

    def draw(self, value: Array, stream: BitStream) -> Array:
        return self.drawn.draw(value, stream)

    def release(self, evaluated: Evaluated, stream: BitStream) -> Array:
        return self.drawn.release(evaluated, stream)


@final
@dataclass(frozen=True, eq=False)
class FloatNoise(_Planted):
    """Noise in floats: ``sampler(value, n, rng)``, also where a release should be exact."""

    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile
    sampler: Callable[[Array, int, np.random.Generator], Array]
    law: StatedLaw | None

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        point = np.asarray(value, dtype=np.float64)
        source = np.random.default_rng() if rng is None else rng
        draws = self.sampler(point, 1 if size is None else size, source)
        return draws[0] if size is None else draws

    def draw(self, value: Array, stream: BitStream) -> Array:
        draws = self.sampler(value, 1, np.random.default_rng(stream.bits(128)))
        return np.asarray(draws[0])


@stated_law.register
def _(cal: Swapped) -> StatedLaw | None:
    return stated_law(cal.stated)


@stated_law.register
def _(cal: FloatNoise) -> StatedLaw | None:
    return cal.law
