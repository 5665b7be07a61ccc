"""Where a statistic's value is randomised, if not on its own space, and the public way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

if TYPE_CHECKING:
    from geodp.statistics.protocol import Statistic


@final
@dataclass(frozen=True, eq=False)
class Route:
    """Noise is added on ``space``; ``finish`` maps the drawn point to the statistic's own space.

    A statistic with an attribute ``route`` evaluates to points of ``route.space``: its sensitivity
    and its error bound are distances there. ``finish`` must be a public function of the drawn point
    alone, so that it is post-processing.

    Parameters
    ----------
    space, ball : where noise is added, and the public ball there that holds every value.
    lift : the statistic's value for records that all lie at the given points, ``(m, ...)``.
    finish : from drawn points ``(m, ...)`` to points of the statistic's space.
    words : what the receipt says of it, in sentences.
    stretch : ``dist(finish(a), finish(b)) <= stretch * dist(a, b)``, None if nothing is proven.
    """

    space: Space
    ball: Ball | None
    lift: Callable[[Array], Array]
    finish: Callable[[Array], Array]
    words: str = ""
    stretch: float | None = None


def route_of(statistic: Statistic) -> Route:
    """The statistic's own route; without one, noise is added on the space itself."""
    route = getattr(statistic, "route", None)
    if route is not None:
        assert isinstance(route, Route)
        return route
    return Route(statistic.space, statistic.ball, np.asarray, np.asarray, stretch=1.0)


def is_direct(route: Route) -> bool:
    """Whether the drawn point is what is released."""
    return route.finish is np.asarray
