"""What a mechanism is: a strategy without scale or data, calibrated to a space and a guarantee."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.shares import equal_shares
from geodp.random import BitStream
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic
from geodp.statistics.records import ClippedRecords


class Calibration(ABC):
    """A mechanism with its scale: everything about a release but the value.

    ``scale`` is a geodesic length, the least float that meets ``guarantee``; ``profile`` holds
    certified upper bounds on delta(epsilon), mu, rho and Rényi divergence.
    """

    space: Space
    guarantee: Guarantee
    scale: float
    profile: Profile

    @abstractmethod
    def sample(
        self, value: ArrayLike, size: int | None = None, rng: np.random.Generator | None = None
    ) -> Array:
        """Draws ``(size, *point_shape)`` around ``value``, or one point if ``size`` is None.

        ``rng=None``: exactly rounded private draws, the release path. A numpy ``Generator``: fast
        float draws for simulation only; they are not private.
        """

    @abstractmethod
    def draw(self, value: Array, stream: BitStream) -> Array:
        """One exactly rounded point from a stream of bits."""

    def release(self, evaluated: Evaluated, stream: BitStream) -> Array:
        """One exactly rounded point for an evaluated statistic.

        Looks at the value alone; a mechanism that needs the records as well replaces this.
        """
        return self.draw(evaluated.value, stream)

    @abstractmethod
    def expected_distance(self, at: ArrayLike | None = None) -> float:
        """Mean geodesic distance of a draw from the value ``at`` (default: the ball's centre)."""

    def mean_distance(self) -> float | None:
        """Mean distance from a value at the ball's centre, where a formula gives it, else None."""
        return None

    @abstractmethod
    def mean_squared_error(self) -> float:
        """E of the squared length of the noise, in the tangent space."""

    @abstractmethod
    def distances(self, values: Array, rng: np.random.Generator) -> Array:
        """Simulated distances of one draw each around ``values`` of shape ``(n, *point_shape)``."""

    @abstractmethod
    def distance_bound(self, distance: float) -> float:
        """A proven upper bound on the expected distance, for a value at ``distance`` from the
        public point that the mechanism is built on."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Those of the noise's law besides its scale, by name."""
        return {}

    @property
    def assumes(self) -> str:
        """The data that expected distances are stated for; empty where they hold for all data."""
        return ""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """What a receipt says of the mechanism, as JSON values."""


class Evaluated(NamedTuple):
    """A statistic's value on clipped records (None where there are none): what is randomised."""

    value: Array
    statistic: Statistic
    records: ClippedRecords | None


class Stage(NamedTuple):
    """One draw of a mechanism that may take several: its strategy and its share."""

    mechanism: Mechanism
    guarantee: Guarantee


class Mechanism(ABC):
    """How a value is randomised. Frozen, holds no scale and no data."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in receipts and on the command line."""

    @abstractmethod
    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        """The reason why this mechanism cannot serve, from public facts; None if it can."""

    @abstractmethod
    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> Calibration:
        """The least scale that provably gives ``guarantee``."""

    @abstractmethod
    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        """The draws to make, in order; together they cost at most ``guarantee``."""

    @abstractmethod
    def at(self, point: Array) -> Mechanism:
        """This mechanism built on ``point``, which an earlier stage released."""

    @abstractmethod
    def offset(self, ball: Ball) -> float:
        """Distance between the ball's centre and the public point that the mechanism is built on,
        rounded up; the rounding of logarithms grows with it."""

    def suited(self, statistic: Statistic) -> Mechanism:
        """This mechanism, told what it must know of the statistic besides a sensitivity."""
        return self

    def sensitivity(self, statistic: Statistic, n: int) -> tuple[float, float] | None:
        """The exact sensitivity in the mechanism's own norm, and a bound on what rounding adds on
        either side; None for the statistic's own, a geodesic distance."""
        return None

    def resolved(self, space: Space, guarantee: Guarantee, releases: int = 1) -> Mechanism:
        """This mechanism, with what it leaves open chosen for so many equal releases that keep the
        guarantee in total; GuaranteeError where nothing can."""
        return self

    def shares(
        self, space: Space, guarantee: Guarantee, releases: int = 1
    ) -> tuple[Guarantee, ...]:
        """Promises for one release, by each of which ``releases`` of them keep the guarantee in
        total; a plan takes the one of least error."""
        return equal_shares(guarantee, releases)

    def rebuilt(self, facts: Mapping[str, Any]) -> Mechanism:
        """The strategy that wrote ``facts`` on a receipt, of the same name as this one."""
        return self
