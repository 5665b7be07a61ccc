"""Riemannian Laplace and Gaussian mechanisms: noise on the space itself, around the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from geodp.errors import ConditionError
from geodp.mechanisms.base import Mechanism, Stage
from geodp.mechanisms.riemannian_calibration import RiemannianCalibration
from geodp.mechanisms.riemannian_price import (
    gaussian_price,
    gaussian_refusal,
    laplace_price,
    truncated_price,
)
from geodp.noise.radial_laws import missing, radial_law
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball


@final
@dataclass(frozen=True)
class RiemannianLaplace(Mechanism):
    """Release a point of density proportional to ``exp(-dist(x, value) / scale)``.

    On a homogeneous space the normaliser does not depend on the value, so pure epsilon needs
    ``scale = sensitivity / epsilon`` (Reimherr, Bharath and Soto, NeurIPS 2021); other notions on
    spheres, hyperbolic spaces and planar shapes follow from the exact profile
    (docs/proofs/riemannian), elsewhere from pure epsilon. The law
    exists for scales below a limit where volume grows exponentially.

    Parameters
    ----------
    truncated : keep the release in the public ball. It then exists at every scale, and pure epsilon
        needs ``2 * sensitivity / epsilon``; how long a draw takes depends on the value.

    Raises
    ------
    ConditionError : the law does not exist at the scale that the guarantee needs.

    Examples
    --------
    >>> import geodp as gd
    >>> cal = gd.calibrate(gd.RiemannianLaplace(), gd.SPD(2), 0.1, gd.PureDP(1))
    >>> cal.scale
    0.1
    """

    truncated: bool = False

    @property
    def name(self) -> str:
        return "riemannian-laplace-truncated" if self.truncated else "riemannian-laplace"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        if self.truncated and ball is None:
            return "A truncated law needs the public ball that it is kept in."
        return missing(space, "laplace")

    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> RiemannianCalibration:
        reason = self.why_not(space, guarantee, ball)
        if reason is not None:
            raise ConditionError(reason)
        scale, profile = self._price(space, sensitivity, guarantee)
        stop = 2 * ball.reach if self.truncated and ball is not None else None
        law = radial_law(space, "laplace", scale, stop)
        inside = ball if self.truncated else None
        cal = RiemannianCalibration(
            self, space, guarantee, scale, profile, ball, sensitivity, law, inside
        )
        cal.check()
        return cal

    def _price(
        self, space: Space, sensitivity: float, guarantee: Guarantee
    ) -> tuple[float, Profile]:
        price = truncated_price if self.truncated else laplace_price
        return price(space, sensitivity, guarantee)

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        return (Stage(self, guarantee),)

    def at(self, point: Array) -> RiemannianLaplace:
        return self

    def offset(self, ball: Ball) -> float:
        return 0.0


@final
@dataclass(frozen=True)
class RiemannianGaussian(Mechanism):
    """Release a point of density proportional to ``exp(-dist(x, value)^2 / (2 scale^2))``.

    On spheres, hyperbolic spaces and planar shapes the scale follows from the exact profile, and on
    products of a flat and a hyperbolic space, such as SPD(2), from that of the factor; on other
    spaces of nowhere positive curvature from the log-Sobolev bound ``rho = sensitivity^2 /
    (2 scale^2 (1 - K scale^2))``, Ric >= -K, which promises no less than ``2 K sensitivity^2`` zCDP
    (docs/proofs/riemannian). Jiang et al. (NeurIPS 2023) take scale = sensitivity/mu, which does
    not give mu-GDP on hyperbolic space.

    Examples
    --------
    >>> import geodp as gd
    >>> cal = gd.calibrate(gd.RiemannianGaussian(), gd.SPD(3), 0.01, gd.ZCDP(0.1))
    >>> 0.0223 < cal.scale < 0.0225
    True
    """

    @property
    def name(self) -> str:
        return "riemannian-gaussian"

    def why_not(self, space: Space, guarantee: Guarantee, ball: Ball | None) -> str | None:
        return missing(space, "gaussian") or gaussian_refusal(space, guarantee)

    def calibrate(
        self, space: Space, sensitivity: float, guarantee: Guarantee, ball: Ball | None
    ) -> RiemannianCalibration:
        reason = self.why_not(space, guarantee, ball)
        if reason is not None:
            raise ConditionError(reason)
        scale, profile = gaussian_price(space, sensitivity, guarantee)
        law = radial_law(space, "gaussian", scale)
        return RiemannianCalibration(
            self, space, guarantee, scale, profile, ball, sensitivity, law, None
        )

    def stages(self, guarantee: Guarantee) -> tuple[Stage, ...]:
        return (Stage(self, guarantee),)

    def at(self, point: Array) -> RiemannianGaussian:
        return self

    def offset(self, ball: Ball) -> float:
        return 0.0
