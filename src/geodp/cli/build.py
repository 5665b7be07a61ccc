"""From options to the library's objects; every refusal comes before data is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import geodp as gd
from geodp.errors import GuaranteeError, InputError
from geodp.io import Layout, layout_for, read_point
from geodp.privacy.guarantees import Guarantee

_GUARANTEES: dict[str, Callable[..., Guarantee]] = {
    "pure": gd.PureDP,
    "approx": gd.ApproxDP,
    "gdp": gd.GaussianDP,
    "renyi": gd.RenyiDP,
    "zcdp": gd.ZCDP,
}
_HOW_TO_CHOOSE = (
    "Choose it from public knowledge, never from the data: physical limits (--eigenvalues LO HI on "
    "SPD, --degrees LON LAT ANGLE on sphere:2), the design of the study, or a public data set. "
    "The page 'How to choose' shows ways."
)

Given = Mapping[str, Any]


def space_and_layout(given: Given) -> tuple[gd.Space, Layout]:
    """The space, and how its points are spelled in files and options."""
    space = gd.parse_space(given["space"])
    layout = layout_for(
        space,
        layout=given.get("layout"),
        columns=given.get("columns"),
        lonlat=given.get("lonlat", False),
        poincare=given.get("poincare", False),
    )
    return space, layout


def guarantee(given: Given) -> Guarantee:
    """Exactly one guarantee; its numbers go to the exact parser as they were typed."""
    asked = [(kind, numbers) for kind in _GUARANTEES for numbers in given[kind]]
    if len(asked) != 1:
        raise GuaranteeError(
            "Give exactly one guarantee: --pure EPS, --approx EPS DELTA, --gdp MU, "
            "--renyi ALPHA EPS or --zcdp RHO."
        )
    kind, numbers = asked[0]
    return _GUARANTEES[kind](*((numbers,) if isinstance(numbers, str) else numbers))


def ledger(given: Given) -> gd.Ledger | None:
    """The ledger that pays, and a data set's name with it; None where none was named."""
    if given["ledger"] is None:
        for name in ("ledger_key", "dataset", "group", "request_id"):
            if given.get(name) is not None:
                raise InputError(f"--{name.replace('_', '-')} needs the --ledger that pays.")
        return None
    if given["dataset"] is None:
        raise InputError("--ledger needs a --dataset NAME, by which it knows the records again.")
    return gd.Ledger(given["ledger"], given["ledger_key"])


def ball(
    given: Given, layout: Layout, *, required: bool, declared_alone: bool = False
) -> gd.Ball | None:
    """The public ball from one of the three ways to state it; None if none was and none must be.

    Units, order and frame are refused without a ball, unless they may be ``declared_alone``.
    """
    ways = [
        given["center"] is not None or given["radius"] is not None,
        given["eigenvalues"] is not None,
        given["degrees"] is not None,
    ]
    if sum(ways) > 1:
        raise InputError(
            "State the ball in one way: --center with --radius, --eigenvalues or --degrees."
        )
    space = layout.space
    declared = {name: given[name] for name in ("physical_unit", "component_order", "frame")}
    if given["eigenvalues"] is not None:
        return gd.Ball.from_eigenvalues(space, *given["eigenvalues"], **declared)
    if given["degrees"] is not None:
        return gd.Ball.from_degrees(space, *given["degrees"], **declared)
    if not (required or any(ways)):
        if declared_alone:
            return None
        for name, text in declared.items():
            if text is not None:
                raise InputError(f"--{name.replace('_', '-')} is declared with a ball; state one.")
        return None
    for name, what in (("center", "centre"), ("radius", "radius")):
        if given[name] is None:
            raise InputError(f"The ball's {what} is missing (--{name}). {_HOW_TO_CHOOSE}")
    center = read_point(given["center"], layout, "The centre")
    return gd.Ball(space, center, given["radius"], **declared)
