"""How a value is randomised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geodp.errors import InputError
from geodp.mechanisms.base import Calibration, Evaluated, Mechanism, Stage
from geodp.mechanisms.knorm_gradient import KNormGradient
from geodp.mechanisms.riemannian import RiemannianGaussian, RiemannianLaplace
from geodp.mechanisms.wrapped import PrivateFootpoint, Wrapped
from geodp.noise.strategies import Gaussian, L2Laplace, SphericalGamma

__all__ = [
    "Calibration",
    "Evaluated",
    "KNormGradient",
    "Mechanism",
    "PrivateFootpoint",
    "RiemannianGaussian",
    "RiemannianLaplace",
    "Stage",
    "Wrapped",
    "parse_mechanism",
    "rebuilt",
]


def candidates() -> tuple[Mechanism, ...]:
    """The mechanisms that ``plan`` and ``mechanism="best"`` choose from, in their fixed order."""
    return (
        Wrapped(Gaussian()),
        Wrapped(L2Laplace()),
        Wrapped(SphericalGamma()),
        RiemannianLaplace(),
        RiemannianGaussian(),
    )


def on_request() -> tuple[Mechanism, ...]:
    """Those that are never chosen by themselves: how long they take depends on the data."""
    return RiemannianLaplace(truncated=True), KNormGradient()


def parse_mechanism(name: str) -> Mechanism:
    """The mechanism of that name, such as ``"wrapped-gaussian"``."""
    named = {mechanism.name: mechanism for mechanism in (*candidates(), *on_request())}
    if name not in named:
        raise InputError(f"The mechanism is one of best, {', '.join(named)}; not {name!r}.")
    return named[name]


def rebuilt(facts: Mapping[str, Any]) -> Mechanism:
    """The strategy that wrote a stage's facts on a receipt."""
    name = str(facts["name"])
    try:
        mechanism = parse_mechanism(name)
    except InputError:
        raise InputError(
            f"The mechanism {name!r} is none of geodp's, so its scale cannot be recomputed here."
        ) from None
    return mechanism.rebuilt(facts)
