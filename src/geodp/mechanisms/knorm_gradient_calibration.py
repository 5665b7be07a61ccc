"""A K-norm gradient mechanism with its scale: exact draws for records, simulated ones without."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, InputError
from geodp.mechanisms.base import Calibration, Evaluated
from geodp.mechanisms.knorm_gradient_proposals import Nearby, Proposals
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
_FALL, _MOST = 0.3, 60  # of log density on a fine step, and fine steps beside those for volume
_VOLUMES, _FINEST = 2.0, 600  # falls for each dimension, and fine steps in all
_GROUPED = 3  # digits of a distance over the radius by which simulated values are grouped
_ROUNDS = 20_000
_HOPELESS = (
    "On {space} the noise is so long beside the ball that almost no draw of the K-norm gradient "
    "law lies in it. Use more records, a larger epsilon, or wrapped-l2-laplace."
)
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
            if is_positive(partial(self._margin, norm(x), base, law, draw.piece, coin)):
                return x

    def _margin(
        self, norm: float, base: float, law: Proposals, piece: int, coin: Uniform, bits: int
    ) -> arb:
        """The log of the acceptance probability minus that of a uniform."""
        from flint import arb

        lifted = arb(law.drops[piece]) + law.log_share(piece)
        return (arb(base) - arb(norm)) / self.scale + lifted - coin.ball(bits).log()

    def _proposals(
        self, gradient: LossGradient, evaluated: Evaluated, value: Array
    ) -> tuple[float, Proposals]:
        """A floor of the computed norm, nowhere above it: its least, and steps from there."""
        assert evaluated.records is not None
        near = self._nearby(value)
        ends = near.ends(self._distances)
        far = np.maximum(ends[:-1] * (1 - 1e-12) - near.blur, 0.0)
        error = evaluated.statistic.error_bound
        floor = gradient.floor(evaluated.records, value, error, far)
        floor = floor - gradient.norm_error(self._edge) * (1 + 1e-6)
        floor = np.maximum.accumulate(np.maximum(floor, 0.0))
        base = float(floor[0])
        return base, near.law(ends, (floor - base) / self.scale * (1 - 1e-12))

    def _nearby(self, value: Array) -> Nearby:
        """Where kept points can lie, as seen from a value."""
        blur = 2 * self.space.log_error(self.ball.center, self._edge)  # of points and distances
        return Nearby.of(self.space, self.ball.center, value, self._edge, blur)

    @property
    def _edge(self) -> float:
        """No kept point lies farther from the centre."""
        return max(self.limit, self.ball.reach) * (1 + 1e-6)

    @cached_property
    def _distances(self) -> Array:
        """From 0 to beyond where any kept point can lie from any value in the ball.

        Geometric; and, as far as volume may outweigh the density's fall, one for each small fall.
        """
        stop = min(self._edge + self.ball.reach * (1 + 1e-6), self.space.injectivity_radius)
        share = self.scale / self.loss.largest(self._edge)  # of a term's range
        unit = self.loss.resolution * min(1.0, share)
        count = math.ceil(math.log(stop / (_NEAR * unit)) / math.log(_RATIO))
        step = _FALL * share * 2 * self.ball.reach
        far = min(stop, (_VOLUMES * self.space.dim / _FALL + _MOST) * step)
        fine = np.linspace(0.0, far, min(math.ceil(far / step) + 1, _FINEST))[1:-1]
        return np.unique(np.concatenate([[0.0], stop * _RATIO ** np.arange(-count, 1.0), fine]))

    @cached_property
    def law(self) -> SteppedLaw:
        """The law for the public data of ``assumes`` around the centre, for figures alone."""
        ends = self._distances
        return SteppedLaw(self.space, tuple(ends), self._model(ends).tolist())

    def _model(self, ends: Array) -> Array:
        drops = self.loss.model((ends[:-1] + ends[1:]) / 2) / self.scale
        return np.asarray(drops - drops.min())

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
        """Draws for the public data around each value; values as far away share their proposals."""
        check_generator(rng)
        out, offsets = np.array(values, dtype=np.float64), self.space.dist(self.ball.center, values)
        groups = np.round(offsets / self.ball.reach, _GROUPED)
        for group in np.unique(groups):
            left = np.flatnonzero(groups == group)
            farthest = values[left[int(np.argmax(offsets[left]))]]
            near = self._nearby(farthest)
            ends = near.ends(self._distances)
            law = near.law(ends, self._model(ends), thin=False)
            for _ in range(_ROUNDS):
                z = self._turned(values[left], law.sample(rng, len(left)), near)
                out[left] = self.space.exp_coords(values[left], z)
                left = left[~self._keeps(out[left])]
                if not len(left):
                    break
            else:
                raise ConditionError(_HOPELESS.format(space=self.space.spec))
        return out

    def _turned(self, values: Array, z: Array, near: Nearby) -> Array:
        """Draws turned from the axis they were made for to the centre's direction at each value."""
        if near.axis is None:
            return z
        to = self.space.log_coords(values, self.ball.center)
        mirror = to / np.linalg.norm(to, axis=1, keepdims=True) - near.axis
        square = np.maximum((mirror**2).sum(axis=1), 1e-300)
        return np.asarray(z - (2 * (z * mirror).sum(axis=1) / square)[:, None] * mirror)
