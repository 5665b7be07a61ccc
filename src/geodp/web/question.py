"""What the planner is asked: space, ball, number of records, promise and number of releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import geodp as gd
from geodp.arguments import text_or_none
from geodp.errors import InputError
from geodp.io import layout_for, read_point
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import exact
from geodp.spaces.base import Array, Space
from geodp.web.fields import Fields, number, numbers, one_of, whole

BALL_FIELDS = ("center", "radius", "eigenvalues", "degrees")
DECLARED = ("physical_unit", "component_order", "frame")
"""What the numbers of a record mean, for the receipt."""

STATISTICS: dict[str, Callable[[gd.Ball], gd.Statistic]] = {
    "frechet-mean": gd.FrechetMean,
    "tangent-mean": gd.TangentMean,
    "extrinsic-mean": gd.ExtrinsicMean,
    "frechet-median": gd.FrechetMedian,
}
"""What can be planned and released here, under the names of the command line."""

_MOST_RELEASES = 10_000
_MOST_DIMENSIONS = 2_000  # a page draws at once
_HOW = "Choose it from public knowledge, never from the data."


@final
@dataclass(frozen=True)
class Notion:
    """A kind of promise: what its numbers are called, and how it is made of them."""

    label: str
    amount: str
    second: str | None
    make: Callable[[str, str], Guarantee]


NOTIONS = {
    "gdp": Notion("Gaussian DP (mu)", "mu", None, lambda a, _: gd.GaussianDP(a)),
    "approx": Notion("(epsilon, delta)-DP", "epsilon", "delta", gd.ApproxDP),
    "pure": Notion("Pure epsilon-DP", "epsilon", None, lambda a, _: gd.PureDP(a)),
    "zcdp": Notion("Zero-concentrated DP (rho)", "rho", None, lambda a, _: gd.ZCDP(a)),
    "renyi": Notion("Rényi DP (alpha, epsilon)", "epsilon", "alpha", lambda a, b: gd.RenyiDP(b, a)),
}
START: Mapping[str, str] = {
    "space": "spd:3:affine-invariant",
    "center": "origin",
    "radius": "1.5",
    "eigenvalues": "",
    "degrees": "",
    "n": "200",
    "notion": "gdp",
    "amount": "1",
    "second": "",
    "releases": "1",
    "target": "",
    "reference": "",
}
"""The form before anything was written."""


@final
@dataclass(frozen=True, eq=False)
class Question:
    """The public facts that a plan follows from; ``notion``, ``amount`` and ``second`` as typed."""

    space: Space
    ball: gd.Ball
    n: int
    guarantee: Guarantee
    notion: str
    amount: str
    second: str
    releases: int = 1


def question_of(fields: Fields) -> Question | None:
    """The question in a form; None where a field is wrong, which ``fields.errors`` then says."""
    domain = ball_of(fields)
    n = fields.read("n", lambda text: whole(text, "The number of records n", 2))
    promise = promise_of(fields)
    releases = fields.read(
        "releases",
        lambda text: whole(text or "1", "The number of releases", 1, _MOST_RELEASES),
    )
    if fields.errors or domain is None or n is None or promise is None or releases is None:
        return None
    notion, amount, second = (fields.text(name) for name in ("notion", "amount", "second"))
    return Question(domain.space, domain, n, promise, notion, amount, second, releases)


def promise_of(fields: Fields) -> Guarantee | None:
    """The promise in a form; its numbers go to the exact parser as they were typed."""
    notion = fields.read("notion", lambda text: one_of(text, "The promise", NOTIONS))
    if notion is None:
        return None
    if fields.read("amount", lambda text: _exact(text, notion.amount)) is None:
        return None
    amount = fields.text("amount")
    if notion.second is None:
        return fields.read("amount", lambda _: notion.make(amount, ""))
    name = notion.second
    if fields.read("second", lambda text: _exact(text, name)) is None:
        return None
    return fields.read("second", lambda text: notion.make(amount, text))


def _exact(text: str, name: str) -> object:
    if not text:
        raise InputError(f"The number {name} is missing.")
    return exact(text, name)


def ball_of(fields: Fields) -> gd.Ball | None:
    """The public ball, stated in one of three ways, with what is declared of the records."""
    space = fields.read("space", _space)
    if space is None:
        return None
    declared: dict[str, Any] = {name: fields.read(name, _declared) or None for name in DECLARED}
    ways = [name for name in ("eigenvalues", "degrees") if fields.text(name)]
    if len(ways) > 1:
        fields.wrong("degrees", "State the ball in one way: by eigenvalues or by degrees.")
        return None
    if ways == ["eigenvalues"]:
        return fields.read(
            "eigenvalues",
            lambda text: gd.Ball.from_eigenvalues(
                space, *numbers(text, "The range", 2), **declared
            ),
        )
    if ways == ["degrees"]:
        return fields.read(
            "degrees",
            lambda text: gd.Ball.from_degrees(space, *numbers(text, "The cap", 3), **declared),
        )
    center = fields.read("center", lambda text: _center(text, space))
    radius = fields.read("radius", _radius)
    if center is None or radius is None:
        return None
    if fields.read("center", lambda _: gd.Ball(space, center, 1e-3)) is None:
        return None
    return fields.read("radius", lambda _: gd.Ball(space, center, radius, **declared))


def _declared(text: str) -> str:
    return text_or_none(text, "The text") or ""


def _space(text: str) -> Space:
    space = gd.parse_space(text)
    if space.dim > _MOST_DIMENSIONS:
        raise InputError(
            f"The page plans spaces of up to {_MOST_DIMENSIONS} dimensions; use geodp plan."
        )
    return space


def _center(text: str, space: Space) -> Array:
    if not text:
        raise InputError(f"The ball's centre is missing. {_HOW}")
    if text != "origin":
        point = [number(word, "The centre") for word in text.replace(",", " ").split()]
        text = ",".join(map(repr, point))
    return read_point(text, layout_for(space), "The centre")


def _radius(text: str) -> float:
    if not text:
        raise InputError(f"The ball's radius is missing. {_HOW}")
    return number(text, "The radius")
