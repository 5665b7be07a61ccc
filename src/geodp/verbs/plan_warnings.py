"""What a plan notes and warns of, from public facts alone: noise in one place, and noise that
leaves nothing."""

from __future__ import annotations

import math

import numpy as np

from geodp.random import public_rng
from geodp.statistics.entity_rules import rule_in
from geodp.statistics.protocol import Statistic
from geodp.verbs.stages import at_center

_PROBES = 64
_USEFUL = 0.1  # noise in each place of a map, in radii, that n is named for


def drowned(statistic: Statistic, n: int, distance: float | None) -> str:
    """What to say of maps whose noise in each place is as wide as the ball there."""
    cells, ball = statistic.space.cells, statistic.ball
    if cells == 1 or ball is None or distance is None:
        return ""
    there = distance / math.sqrt(cells)
    if there < ball.radius:
        return ""
    things = "records" if rule_in(statistic.name)[1] is None else "entities"
    needed = math.ceil(n * there / (_USEFUL * ball.radius))
    return (
        f"In each of the {cells} places the noise is about {there:.3g} wide, and the ball's radius "
        f"is {ball.radius:g}: such a map says nothing. The noise grows with the square root of the "
        f"number of places and falls with n: about {needed} {things} would bring it to a tenth of "
        f"the radius. Take fewer places, or more {things}."
    )


def in_each_place(statistic: Statistic, distance: float | None) -> str:
    """What the best expected distance of a map is in one of its places, root mean square."""
    cells, ball = statistic.space.cells, statistic.ball
    if cells == 1 or ball is None or distance is None:
        return ""
    return (
        f"Distances are over all {cells} places together; the best is about "
        f"{distance / math.sqrt(cells):.3g} in each, in balls of radius {ball.radius:.4g}."
    )


def unrepresentable(statistic: Statistic, distance: float | None) -> str:
    """What to say where points at twice the best expected distance are none in 64-bit floats."""
    if distance is None:
        return ""
    space = statistic.space
    z = public_rng().standard_normal((_PROBES, space.dim))
    z *= 2 * distance / np.linalg.norm(z, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        points = space.exp_coords(at_center(statistic)[0], z)
    if space.contains(points).all():
        return ""
    return (
        f"The noise is so wide that a released point may be none of {space.spec} in 64-bit floats, "
        "and then it says nothing. Take more records, a smaller ball or a weaker promise."
    )
