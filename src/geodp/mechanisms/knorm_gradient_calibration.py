"""A K-norm gradient mechanism with its scale: exact draws for records, simulated ones without."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import InputError
from geodp.mechanisms.base import Calibration, Evaluated
from geodp.noise.radial_steps import SteppedLaw
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.random import BitStream, check_generator, public_rng
from geodp.rounding.precision import is_positive
from geodp.rounding.reals import Reals, Uniform
from geodp.rounding.release import round_point
from geodp.spaces.base import Array, BoolArray, Space
from geodp.statistics.domain import Ball
from geodp.statistics.gradient import LossGradient, gradient_of

if TYPE_CHECKING:
    from flint import arb

    from geodp.mechanisms.knorm_gradient import KNormGradient

_REPEATS = 2000
_RATIO = 1.15  # between the distances at which a gradient's floor is asked for
_NEAR = 0.1  # of the least distance over which one scale of the gradient can go: the first of them
_STEP = 0.25  # of log density: what one step of the proposals may fall by
_DEEP, _WIDE = 45.0, 1.4  # fallen by so much, steps may be this wide instead
_NO_RECORDS = "A K-norm gradient draw needs the records: use gd.release, which hands them over."
_GRID = (
    "The accepted point was rounded to the public grid of 64-bit floats before the gradient was "
    "read there, so nothing finer than the grid was used."
)


@final
@dataclass(frozen=True, eq=False)
class KNormGradientCalibration(Calibration):
    """A K-norm gradient mechanism with its scale; see ``Calibration``.

    ``sensitivity`` and ``scale`` are of the gradient's norm, ``limit`` the distance from the ball's
    centre at which a release is cut off. The law depends on the records; expected distances and
    ``sample`` are for the public data that ``assumes`` names.
    """

    mechanism: KNormGradient
    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile
    ball: Ball
    sensitivity: float
    loss: LossGradient
    limit: float
    everywhere: bool
    assumed: str

    def check(self) -> None:
        """Refuse, from public facts, what cannot be drawn in reasonable time."""
        if not self.space.is_flat and not self.space.is_two_point_homogeneous:
            self.law.check()

    def release(self, evaluated: Evaluated, stream: BitStream) -> Array:
        """One exact draw of the K-norm gradient law of the data.

        The norm is read at the rounded point, a function of the ideal one, so the law is exact:
        density proportional to exp(-norm(round(x))/scale) on the points whose rounding lies within
        the limit, and its rounding is released.
        """
        assert evaluated.records is not None
        gradient = gradient_of(evaluated.statistic, self.mechanism.constant)
        norm = gradient.norm(evaluated.records, self._edge)
        value = self.space.project(evaluated.value)
        base, law = self._proposals(gradient, evaluated, value)
        while True:
            draw = law.exact(stream)
            coin = Reals(stream).uniform()
            x = round_point(self.space, value, draw.balls)
            if not self._keeps(x[None])[0]:
                continue
            if is_positive(partial(self._margin, norm(x), base, law.drops[draw.piece], coin)):
                return x

    def _margin(self, norm: float, base: float, drop: float, coin: Uniform, bits: int) -> arb:
        """The log of the acceptance probability minus that of a uniform."""
        from flint import arb

        return (arb(base) - arb(norm)) / self.scale + arb(drop) - coin.ball(bits).log()

    def _proposals(
        self, gradient: LossGradient, evaluated: Evaluated, value: Array
    ) -> tuple[float, SteppedLaw]:
        """A floor of the computed norm, nowhere above it: its least, and steps from there."""
        assert evaluated.records is not None
        ends = self._distances
        blur = 2 * self.space.log_error(self.ball.center, self._edge)  # of points and distances
        far = np.maximum(ends[:-1] * (1 - 1e-12) - blur, 0.0)
        error = evaluated.statistic.error_bound
        floor = gradient.floor(evaluated.records, value, error, far)
        floor = floor - gradient.norm_error(self._edge) * (1 + 1e-6)
        floor = np.maximum.accumulate(np.maximum(floor, 0.0))
        base = float(floor[0])
        drops = (floor - base) / self.scale * (1 - 1e-12)
        chosen = _thinned(ends, drops)
        return base, SteppedLaw(self.space, (*ends[chosen], ends[-1]), drops[chosen].tolist())

    @property
    def _edge(self) -> float:
        """No kept point lies farther from the centre."""
        return max(self.limit, self.ball.reach) * (1 + 1e-6)

    @cached_property
    def _distances(self) -> Array:
        """From 0 to beyond where any kept point can lie from any value in the ball."""
        stop = min(self._edge + self.ball.reach * (1 + 1e-6), self.space.injectivity_radius)
        unit = self.loss.resolution * min(1.0, self.scale / self.loss.largest(self._edge))
        count = math.ceil(math.log(stop / (_NEAR * unit)) / math.log(_RATIO))
        return np.concatenate([[0.0], stop * _RATIO ** np.arange(-count, 1.0)])

    @cached_property
    def law(self) -> SteppedLaw:
        """The law for the public data of ``assumes``, for figures alone."""
        ends = self._distances
        middle = (ends[:-1] + ends[1:]) / 2
        drops = self.loss.model(middle) / self.scale
        return SteppedLaw(self.space, tuple(ends), (drops - drops.min()).tolist())

    def draw(self, value: Array, stream: BitStream) -> Array:
        raise InputError(_NO_RECORDS)

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        if rng is None:
            raise InputError(_NO_RECORDS)
        point = np.asarray(value, dtype=np.float64)
        count = 1 if size is None else size
        draws = self._draws(np.broadcast_to(point, (count, *point.shape)), rng)
        return draws[0] if size is None else draws

    def expected_distance(self, at: ArrayLike | None = None) -> float:
        point = self.ball.center if at is None else np.asarray(at, dtype=np.float64)
        values = np.broadcast_to(point, (_REPEATS, *point.shape))
        return float(self.distances(values, public_rng()).mean())

    def mean_squared_error(self) -> float:
        values = np.broadcast_to(self.ball.center, (_REPEATS, *self.ball.center.shape))
        return float((self.distances(values, public_rng()) ** 2).mean())

    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        return self.space.dist(values, self._draws(values, rng))

    def distance_bound(self, distance: float) -> float:
        return float(self._distances[-1])

    @property
    def assumes(self) -> str:
        return self.assumed

    def facts(self) -> dict[str, object]:
        return {
            "name": self.mechanism.name,
            "scale": self.scale,
            "guarantee": self.guarantee.to_json(),
            "constant": self.mechanism.constant,
            "kept_in": "space" if self.everywhere else "ball",
            "grid": "float64",
            "assumes": self.assumed,
            "then": f"{_GRID} The expected distance is that for {self.assumed}.",
        }

    def _keeps(self, x: Array) -> BoolArray:
        far = self.space.cut_locus(self.ball.center, x)
        return np.asarray(~far & (self.space.dist(self.ball.center, x) <= self.limit))

    def _draws(self, values: Array, rng: np.random.Generator) -> Array:
        out = self.space.exp_coords(values, self.law.sample(check_generator(rng), len(values)))
        left = np.flatnonzero(~self._keeps(out))
        while len(left):
            z = self.law.sample(rng, len(left))
            out[left] = self.space.exp_coords(values[left], z)
            left = left[~self._keeps(out[left])]
        return out


def _thinned(ends: Array, drops: Array) -> list[int]:
    """Where steps begin: each as wide as a small fall of the density allows."""
    chosen = [0]
    for k in range(1, len(drops)):
        last = chosen[-1]
        deep = drops[last] > _DEEP
        wide = ends[k + 1] > _WIDE * ends[last] if deep else drops[k] > drops[last]
        falls = drops[min(k + 1, len(drops) - 1)] - drops[last] > _STEP
        if wide and (deep or falls):
            chosen.append(k)
    return chosen
