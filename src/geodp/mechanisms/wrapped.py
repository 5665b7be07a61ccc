"""Exponential-wrapped mechanisms: spherical noise in the tangent space at a public footpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import real_array
from geodp.errors import ConditionError, GuaranteeError, InputError, SpaceError
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.mechanisms.utility import simulated_distances, wrapped_distance_bound
from geodp.noise.base import Noise
from geodp.noise.spherical import SphericalLaw
from geodp.privacy.families import profile_for, ratio_for
from geodp.privacy.guarantees import Guarantee, PureDP
from geodp.privacy.numbers import exact
from geodp.privacy.profile import Profile
from geodp.privacy.shares import equal_shares, noise_share
from geodp.privacy.solve import scale_for
from geodp.privacy.spherical_best import best_noise
from geodp.random import BitStream, bit_stream, check_generator, public_rng
from geodp.rounding.release import round_release
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

_REPEATS = 2000
_LEAST_REPEATS = 16  # of maps, whose distances vary little
_WIDEST = 256  # dimensions up to which the profile of a law that is not Gaussian is worked out


@final
@dataclass(frozen=True)
class PrivateFootpoint:
    """Spend ``share`` of the guarantee on a first release at the centre; its output, moved into the
    ball, is the footpoint of the second. Worth it where the centre may be far from the value.

    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 1.0))
    >>> two = gd.Wrapped(gd.Gaussian(), gd.PrivateFootpoint("1/4"))
    >>> out = gd.release(np.tile(np.eye(2), (9, 1, 1)), mean, gd.GaussianDP(1), two, replaced=0)
    >>> [stage["guarantee"]["mu"] for stage in out.stages][0], len(out.stages)
    ('0.5', 2)
    """

    share: float | Fraction | str = Fraction(1, 4)

    def __post_init__(self) -> None:
        try:
            share = exact(self.share, "share")
        except GuaranteeError as error:
            raise InputError("The share of a private footpoint lies between 0 and 1.") from error
        if share >= 1:
            raise InputError("The share of a private footpoint lies between 0 and 1.")
        object.__setattr__(self, "share", share)


@final
@dataclass(frozen=True, eq=False)
class Wrapped(Mechanism):
    """Release ``exp_{p0}(log_{p0} f + noise)`` at a public footpoint ``p0``.

    The guarantee is exactly that of adding the noise in Euclidean space: log contracts where no
    curvature is positive, and exp sees no data (Jiang et al., ICLR 2026; docs/proofs/wrapped).
    Where the curvature is at most ``kappa > 0`` the sensitivity grows by the Lipschitz constant of
    log on the ball, ``R / sin R``, ``R = sqrt(kappa) (radius + dist(center, p0))``.

    Parameters
    ----------
    noise : ``Gaussian()``, ``L2Laplace()`` or ``SphericalGamma(...)``.
    footpoint : None for the ball's centre (the space's origin without a ball), a public point of
        the space, or ``PrivateFootpoint(share)``. Never a point chosen by looking at the data.

    Examples
    --------
    >>> import geodp as gd
    >>> cal = gd.calibrate(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 0.1, gd.GaussianDP(1))
    >>> cal.scale
    0.1
    """

    noise: Noise
    footpoint: ArrayLike | PrivateFootpoint | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise InputError("Wrapped takes a noise such as gd.Gaussian() or gd.L2Laplace().")
        if self.footpoint is not None and not isinstance(self.footpoint, PrivateFootpoint):
            point = real_array(self.footpoint, "The footpoint")
            point.setflags(write=False)
            object.__setattr__(self, "footpoint", point)

    @property
    def name(self) -> str:
        return f"wrapped-{self.noise.name}"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        try:
            noise = self._noise_for(space, guarantee, 1)
            for stage in self.stages(guarantee):
                ratio_for(noise, space.dim, stage.guarantee)
            _lipschitz(space, ball, self._public_footpoint(space, ball))
        except InputError as error:
            return str(error)
        return None

    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> WrappedCalibration:
        if isinstance(self.footpoint, PrivateFootpoint):
            raise InputError(
                "A private footpoint makes two releases, each with its own scale: use release or "
                "plan, which run both, or calibrate the two stages one by one."
            )
        footpoint = self._public_footpoint(space, ball)
        factor = _lipschitz(space, ball, footpoint)
        tangent = sensitivity if factor == 1 else float(np.nextafter(sensitivity * factor, np.inf))
        noise = self._noise_for(space, guarantee, 1)
        scale = scale_for(tangent, ratio_for(noise, space.dim, guarantee))
        profile = profile_for(noise, space.dim, Fraction(tangent) / Fraction(scale))
        chosen = Wrapped(noise, self.footpoint)
        return WrappedCalibration(
            chosen, space, guarantee, scale, profile, ball, footpoint, sensitivity, tangent
        )

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        if not isinstance(self.footpoint, PrivateFootpoint):
            return (Stage(self, guarantee),)
        first, second = guarantee.split(self.footpoint.share)
        return Stage(Wrapped(self.noise), first), Stage(Wrapped(self.noise), second)

    def at(self, point: Array) -> Wrapped:
        return Wrapped(self.noise, point)

    def resolved(self, space: Space, guarantee: Guarantee, releases: int = 1) -> Wrapped:
        return Wrapped(self._noise_for(space, guarantee, releases), self.footpoint)

    def shares(
        self, space: Space, guarantee: Guarantee, releases: int = 1
    ) -> tuple[Guarantee, ...]:
        if releases == 1 or isinstance(self.footpoint, PrivateFootpoint):
            return equal_shares(guarantee, releases)
        return (noise_share(self.noise, space.dim, guarantee, releases),)

    def _noise_for(self, space: Space, guarantee: Guarantee, releases: int) -> Noise:
        """The noise with its parameters. A private footpoint's are those of its last draw."""
        last = self.stages(guarantee)[-1].guarantee
        _check_dim(self.noise, space, last)
        moment = 2 if space.is_flat else 1
        return self.noise.resolved(lambda: best_noise(space.dim, last, moment, releases))

    def offset(self, ball: Ball) -> float:
        footpoint = self._public_footpoint(ball.space, ball)
        return ball.offset(footpoint) * (1 + 1e-9)

    def _public_footpoint(self, space: Space, ball: Ball | None) -> Array:
        start = space.origin if ball is None else ball.center
        if self.footpoint is None or isinstance(self.footpoint, PrivateFootpoint):
            return start
        point = np.asarray(self.footpoint)
        if point.shape != space.point_shape or not space.contains(point):
            raise SpaceError(f"The footpoint is no point of {space.spec}.")
        return space.project(point)


@final
@dataclass(frozen=True, eq=False)
class WrappedCalibration(Calibration):
    """A wrapped mechanism with its scale; see ``Calibration``.

    ``sensitivity`` is the statistic's, ``tangent_sensitivity`` that of its log at the footpoint.
    """

    mechanism: Wrapped
    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile
    ball: Ball | None
    footpoint: Array
    sensitivity: float
    tangent_sensitivity: float

    @property
    def law(self) -> SphericalLaw:
        """The noise's law on R^dim at unit scale."""
        return self.mechanism.noise.law(self.space.dim)

    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        point = self._point(value)
        count = 1 if size is None else size
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise InputError("The size of a sample is an integer of at least 0, or None.")
        if rng is None:
            stream = bit_stream()
            draws = np.array([self.draw(point, stream) for _ in range(count)])
            draws = draws.reshape(count, *self.space.point_shape)
        else:
            draws = self._float_draws(np.broadcast_to(point, (count, *point.shape)), rng)
        return draws[0] if size is None else draws

    def draw(self, value: Array, stream: BitStream) -> Array:
        z = self.space.log_coords(self.footpoint, value)
        return round_release(self.space, self.footpoint, z, self.law, self.scale, stream)

    def expected_distance(self, at: ArrayLike | None = None) -> float:
        point = self._point(at) if at is not None else self._default_value()
        repeats = max(_REPEATS // self.space.cells, _LEAST_REPEATS)
        values = np.broadcast_to(point, (repeats, *point.shape))
        return float(self.distances(values, public_rng()).mean())

    def mean_distance(self) -> float | None:
        """That of the noise: exp keeps distances from the footpoint, up to the cut locus."""
        if not (self.space.is_hadamard and np.array_equal(self.footpoint, self._default_value())):
            return None
        return self.law.mean_radius(self.scale)

    def mean_squared_error(self) -> float:
        return self.law.mean_square(self.scale)

    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        noise = self.law.sample(rng, len(values), self.scale)
        return simulated_distances(self.space, self.footpoint, values, noise)

    def distance_bound(self, distance: float) -> float:
        return wrapped_distance_bound(self.space, self.law, self.scale, distance)

    @property
    def parameters(self) -> dict[str, float]:
        return self.mechanism.noise.parameters

    def facts(self) -> dict[str, object]:
        return {
            "name": self.mechanism.name,
            **({"parameters": self.parameters} if self.parameters else {}),
            "footpoint": self.footpoint.tolist(),
            "scale": self.scale,
            "tangent_sensitivity": self.tangent_sensitivity,
            "guarantee": self.guarantee.to_json(),
        }

    def _float_draws(self, values: Array, rng: np.random.Generator) -> Array:
        z = self.space.log_coords(self.footpoint, values)
        noise = self.law.sample(check_generator(rng), len(values), self.scale)
        return self.space.exp_coords(self.footpoint, z + noise)

    def _default_value(self) -> Array:
        return self.footpoint if self.ball is None else self.ball.center

    def _point(self, value: ArrayLike) -> Array:
        point = real_array(value, "The value")
        if point.shape != self.space.point_shape or not self.space.contains(point):
            raise SpaceError(f"The value is no point of {self.space.spec}.")
        if self.ball is not None and not self.space.is_hadamard:
            return self.ball.project(point)  # the bound on log holds inside the ball
        return self.space.project(point)


def _check_dim(noise: Noise, space: Space, guarantee: Guarantee) -> None:
    """Refuse what would take hours to certify: most profiles grow with the dimension."""
    if space.dim > _WIDEST and noise.name != "gaussian" and not isinstance(guarantee, PureDP):
        raise ConditionError(
            f"The profile of {noise.name} noise is not worked out beyond {_WIDEST} dimensions, and "
            f"{space.spec} has {space.dim}. Use wrapped-gaussian, or a pure promise."
        )


def _lipschitz(space: Space, ball: Ball | None, footpoint: Array) -> float:
    """A bound on how much log at the footpoint stretches distances inside the ball."""
    if space.is_hadamard:
        return 1.0
    if ball is None:
        raise ConditionError(
            f"On {space.spec} a wrapped mechanism needs the public ball that holds the value: pass "
            "ball=gd.Ball(space, center, radius)."
        )
    kappa = space.cell.curvature[1]
    widest = space.injectivity_radius
    if kappa > 0:
        widest = min(widest, math.pi / math.sqrt(kappa))
    reach = (ball.offset(footpoint) + ball.cell_reach) * (1 + 1e-12)
    if not (reach < widest * (1 - 1e-9) and ball.cell_reach < widest / 2):
        raise ConditionError(
            f"On {space.spec} a wrapped mechanism needs a ball of radius below {widest / 2:.6g} "
            f"that lies within {widest:.6g} of the footpoint. Use a smaller ball, or its centre as "
            "the footpoint."
        )
    if kappa <= 0:
        return 1.0
    angle = math.sqrt(kappa) * reach
    rounding = 1 + 1e-12 / (math.pi - angle)  # sin loses digits near pi
    return angle / math.sin(angle) * rounding
