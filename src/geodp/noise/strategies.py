"""The members of the spherical family a user can name; frozen, without scale or data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from geodp.errors import InputError
from geodp.noise.base import Noise
from geodp.noise.spherical import SphericalLaw


@final
@dataclass(frozen=True)
class Gaussian(Noise):
    """Independent normals; the scale is the standard deviation of a coordinate.

    >>> import geodp as gd
    >>> round(gd.Gaussian().law(3).mean_square(), 12)
    3.0
    """

    @property
    def name(self) -> str:
        return "gaussian"

    @property
    def parameters(self) -> dict[str, float]:
        return {}

    def law(self, dim: int) -> SphericalLaw:
        return SphericalLaw(dim, shape=dim - 1.0, power=2.0, rate=0.5)


@final
@dataclass(frozen=True)
class L2Laplace(Noise):
    """Density proportional to exp(-norm(x) / scale).

    >>> import geodp as gd
    >>> round(gd.L2Laplace().law(3).mean_radius(), 12)
    3.0
    """

    @property
    def name(self) -> str:
        return "l2-laplace"

    @property
    def parameters(self) -> dict[str, float]:
        return {}

    def law(self, dim: int) -> SphericalLaw:
        return SphericalLaw(dim, shape=dim - 1.0, power=1.0, rate=1.0)


@final
@dataclass(frozen=True)
class SphericalGamma(Noise):
    """Radius density proportional to r**shape * exp(-(r/scale)**power); shape > -1, power > 0.

    Without parameters: the member of least error for the dimension and the guarantee at hand. Least
    mean squared error on flat spaces, least mean distance from a value at the footpoint on curved.

    >>> import geodp as gd
    >>> gd.SphericalGamma(shape=1.0, power=1.0).law(2) == gd.L2Laplace().law(2)
    True
    """

    shape: float | None = None
    power: float | None = None

    def __post_init__(self) -> None:
        if (self.shape is None) != (self.power is None):
            raise InputError("SphericalGamma needs both shape and power, or neither.")
        if self.shape is not None and not (math.isfinite(self.shape) and self.shape > -1):
            raise InputError("The shape of SphericalGamma must be a finite number above -1.")
        if self.power is not None and not (math.isfinite(self.power) and self.power > 0):
            raise InputError("The power of SphericalGamma must be a finite number above 0.")

    @property
    def name(self) -> str:
        return "spherical-gamma"

    @property
    def parameters(self) -> dict[str, float]:
        if self.shape is None or self.power is None:
            return {}
        return {"shape": float(self.shape), "power": float(self.power)}

    def law(self, dim: int) -> SphericalLaw:
        if self.shape is None or self.power is None:
            raise InputError(
                "SphericalGamma() without parameters is a law only once a guarantee is known: "
                "calibrate, plan and release choose it; or name one, such as "
                "SphericalGamma(shape=1.0, power=1.0)."
            )
        return SphericalLaw(dim, shape=float(self.shape), power=float(self.power), rate=1.0)

    def resolved(self, best: Callable[[], Noise]) -> Noise:
        return best() if self.shape is None else self


def noise_named(name: str, parameters: Mapping[str, float] | None = None) -> Noise:
    """The strategy of that name, with the parameters that a receipt carries.

    >>> noise_named("spherical-gamma", {"shape": 1.0, "power": 2.0})
    SphericalGamma(shape=1.0, power=2.0)
    """
    if name not in _NAMED:
        raise InputError(f"noise must be one of {', '.join(_NAMED)}.")
    try:
        return _NAMED[name](**(parameters or {}))
    except TypeError:
        raise InputError(f"The noise {name} does not have these parameters.") from None


_NAMED: dict[str, Callable[..., Noise]] = {
    "gaussian": Gaussian,
    "l2-laplace": L2Laplace,
    "spherical-gamma": SphericalGamma,
}
