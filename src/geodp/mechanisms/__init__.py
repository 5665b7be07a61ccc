"""How a value is randomised."""

from __future__ import annotations

from geodp.errors import InputError
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.mechanisms.wrapped import PrivateFootpoint, Wrapped
from geodp.noise.strategies import Gaussian, L2Laplace

__all__ = ["Calibration", "Mechanism", "PrivateFootpoint", "Stage", "Wrapped", "parse_mechanism"]


def candidates() -> tuple[Mechanism, ...]:
    """The mechanisms that ``plan`` and ``mechanism="best"`` choose from, in their fixed order."""
    return Wrapped(Gaussian()), Wrapped(L2Laplace())


def parse_mechanism(name: str) -> Mechanism:
    """The mechanism of that name, such as ``"wrapped-gaussian"``."""
    named = {mechanism.name: mechanism for mechanism in candidates()}
    if name not in named:
        raise InputError(f"The mechanism is one of best, {', '.join(named)}; not {name!r}.")
    return named[name]
