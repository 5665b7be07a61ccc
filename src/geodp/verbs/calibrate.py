"""calibrate: the least scale that gives a guarantee."""

from __future__ import annotations

from geodp.arguments import positive_real
from geodp.errors import InputError
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Space
from geodp.statistics.domain import Ball
from geodp.statistics.protocol import Statistic


def calibrate(
    mechanism: Mechanism,
    space: Space,
    sensitivity: float,
    guarantee: Guarantee,
    *,
    ball: Ball | None = None,
) -> Calibration:
    """The mechanism with its scale for values that move at most ``sensitivity`` on neighbours.

    Parameters
    ----------
    mechanism : such as ``gd.Wrapped(gd.Gaussian())``.
    space : where the value lives.
    sensitivity : a geodesic length, an upper bound that includes the errors of the computed value
        and of its logarithm at the footpoint (``release`` adds these by itself).
    guarantee : such as ``gd.GaussianDP(1)``.
    ball : the public ball that holds the value; needed where the curvature is positive.

    Raises
    ------
    GuaranteeError : the law cannot give the guarantee; the message says why and what can.
    ConditionError : the ball is missing or too wide.

    Examples
    --------
    >>> import geodp as gd
    >>> cal = gd.calibrate(gd.Wrapped(gd.L2Laplace()), gd.Hyperbolic(2), 0.2, gd.PureDP(0.5))
    >>> cal.scale
    0.4
    >>> cal.profile.delta(0.5)
    0.0
    """
    check_mechanism(mechanism)
    check_guarantee(guarantee)
    if not isinstance(space, Space):
        raise InputError("The space is an object such as gd.SPD(3) or gd.Sphere(2).")
    if ball is not None and ball.space != space:
        raise InputError(f"The ball lies in {ball.space.spec}, the value in {space.spec}.")
    length = positive_real(sensitivity, "The sensitivity")
    return mechanism.calibrate(space, length, guarantee, ball)


def check_mechanism(mechanism: object) -> None:
    """Refuse anything but a mechanism."""
    if not isinstance(mechanism, Mechanism):
        raise InputError("The mechanism is a strategy such as gd.Wrapped(gd.Gaussian()).")


def check_guarantee(guarantee: object) -> None:
    """Refuse anything but a guarantee."""
    if not isinstance(guarantee, Guarantee):
        raise InputError("The guarantee is an object such as gd.GaussianDP(1) or gd.PureDP(0.5).")


def check_statistic(statistic: object) -> None:
    """Refuse anything that does not follow the protocol ``gd.Statistic``."""
    if not isinstance(statistic, Statistic):
        raise InputError(
            "The statistic is an object such as gd.FrechetMean(ball), or your own with the members "
            "of gd.Statistic."
        )
