"""From options to the library's objects; every refusal comes before data is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import geodp as gd
from geodp.errors import GuaranteeError, InputError
from geodp.io import Layout, layout_for, read_point
from geodp.mechanisms import Mechanism
from geodp.noise.base import Noise
from geodp.privacy.guarantees import Guarantee

_GUARANTEES: dict[str, Callable[..., Guarantee]] = {
    "pure": gd.PureDP,
    "approx": gd.ApproxDP,
    "gdp": gd.GaussianDP,
    "renyi": gd.RenyiDP,
    "zcdp": gd.ZCDP,
}
_NOISES: dict[str, Callable[[], Noise]] = {
    "wrapped-gaussian": gd.Gaussian,
    "wrapped-l2-laplace": gd.L2Laplace,
}
_PENDING: dict[str, Callable[[], Any]] = {
    "riemannian-gaussian": gd.RiemannianGaussian,
    "riemannian-laplace": gd.RiemannianLaplace,
    "knorm-gradient": gd.KNormGradient,
}
_HOW_TO_CHOOSE = (
    "Choose it from public knowledge, never from the data: physical limits (--eigenvalues LO HI on "
    "SPD, --degrees LON LAT ANGLE on sphere:2), the design of the study, or a public data set. "
    "The page 'How to choose' shows ways."
)
MECHANISMS = ("best", *_NOISES, *_PENDING)

Given = Mapping[str, Any]


def space_and_layout(given: Given) -> tuple[gd.Space, Layout]:
    """The space, and how its points are spelled in files and options."""
    space = gd.parse_space(given["space"])
    layout = layout_for(
        space,
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


def ball(given: Given, layout: Layout, *, required: bool) -> gd.Ball | None:
    """The public ball from one of the three ways to state it; None if none was and none must be."""
    ways = [
        given["center"] is not None or given["radius"] is not None,
        given["eigenvalues"] is not None,
        given["degrees"] is not None,
    ]
    if sum(ways) > 1:
        raise InputError(
            "State the ball in one way: --center with --radius, --eigenvalues or --degrees."
        )
    space, unit = layout.space, given["physical_unit"]
    if given["eigenvalues"] is not None:
        return gd.Ball.from_eigenvalues(space, *given["eigenvalues"], physical_unit=unit)
    if given["degrees"] is not None:
        cap = gd.Ball.from_degrees(space, *given["degrees"])
        return cap if unit is None else gd.Ball(space, cap.center, cap.radius, unit)
    if not (required or any(ways)):
        return None
    for name, what in (("center", "centre"), ("radius", "radius")):
        if given[name] is None:
            raise InputError(f"The ball's {what} is missing (--{name}). {_HOW_TO_CHOOSE}")
    return gd.Ball(space, read_point(given["center"], layout, "The centre"), given["radius"], unit)


def mechanisms(given: Given, layout: Layout, *names: str) -> tuple[Mechanism, ...]:
    """The mechanisms that the names ask for ("best": all that there are), with the footpoint."""
    footpoint = _footpoint(given["footpoint"], layout)
    chosen: list[str] = []
    for name in names:
        if name in _PENDING:
            _PENDING[name]()
        chosen += list(_NOISES) if name == "best" else [name]
    return tuple(gd.Wrapped(_NOISES[name](), footpoint) for name in dict.fromkeys(chosen))


def check_one_serves(
    considered: tuple[Mechanism, ...],
    space: gd.Space,
    promise: Guarantee,
    domain: gd.Ball | None,
) -> None:
    """Refuse, from public facts, when no mechanism can serve."""
    reasons = [mechanism.why_not(space, promise, domain) for mechanism in considered]
    refused = [reason for reason in dict.fromkeys(reasons) if reason is not None]
    if None not in reasons:
        raise InputError(" ".join(refused))


def _footpoint(text: str | None, layout: Layout) -> Any:
    if text is None or text == "center":
        return None
    kind, _, share = text.partition(":")
    if kind == "private":
        return gd.PrivateFootpoint(share) if share else gd.PrivateFootpoint()
    return read_point(text, layout, "The footpoint")
