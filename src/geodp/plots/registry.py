"""Which picture a space gets: looked up by kind and dimension, never asked of its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from geodp.plots.picture import Picture
from geodp.spaces.base import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawer: TypeAlias = "Callable[[Picture, Axes], None]"


class Drawing(NamedTuple):
    """How a kind of space is drawn, and the size of a new figure for it, in inches."""

    draw: Drawer
    size: tuple[float, float]


_SIZE = (5.0, 6.9)
_DRAWINGS: dict[tuple[str, int | None], Drawing] = {}


def kind_of(space: Space) -> str:
    """The kind of a space: the first word of its ``spec``, ``"product"`` for products."""
    return "product" if len(space.factors) > 1 else space.spec.split(":")[0]


def register(
    kind: str, dim: int | None = None, size: tuple[float, float] = _SIZE
) -> Callable[[Drawer], Drawer]:
    """A decorator that makes a function the picture of a kind of space.

    ``kind`` is the first word of the space's ``spec``, ``dim`` its dimension (None: every one that
    has no picture of its own). The function takes a ``Picture`` and a matplotlib ``Axes``.

    >>> from geodp.plots import register
    >>> @register("torus", 2)
    ... def square(picture, ax):
    ...     ax.plot(*picture.value, "o")
    """

    def keep(drawer: Drawer) -> Drawer:
        _DRAWINGS[kind, dim] = Drawing(drawer, size)
        return drawer

    return keep


def drawing_of(space: Space) -> Drawing:
    """The picture of ``space``: its kind and dimension, its kind, else log-coordinates."""
    from geodp.plots.coordinates import draw_coordinates

    kind = kind_of(space)
    for key in ((kind, space.dim), (kind, None)):
        if key in _DRAWINGS:
            return _DRAWINGS[key]
    return Drawing(draw_coordinates, (6.8, 4.4))


def component_names(order: str | None) -> tuple[str, ...]:
    """The declared component order ``"xx, xy, yy"`` as names; none if it is one word."""
    names = tuple(name.strip() for name in (order or "").split(","))
    return names if len(names) > 1 else ()
