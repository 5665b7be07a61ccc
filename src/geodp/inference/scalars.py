"""Scalar functions of a mean that people ask for, to be given to ``Inference.function``."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import real_array
from geodp.errors import InputError
from geodp.spaces.base import Array, Space


def scalar_of(f: Callable[[Array], float], x: Array) -> float:
    """``f(x)`` as a float; InputError if it is no number."""
    try:
        return float(f(x))
    except TypeError as error:
        raise InputError("The function takes one point and returns one number.") from error


def mean_diffusivity(tensor: Array) -> float:
    """A third of the trace (one m-th on SPD(m)).

    >>> mean_diffusivity(np.diag([1.0, 2.0, 3.0]))
    2.0
    """
    return float(np.trace(tensor) / len(tensor))


def fractional_anisotropy(tensor: Array) -> float:
    """``sqrt(m/(m−1)) |λ − mean λ|/|λ|``: 0 for isotropic tensors, 1 for a single direction.

    >>> round(fractional_anisotropy(np.diag([1.0, 0.0, 0.0])), 12)
    1.0
    """
    values = np.linalg.eigvalsh(tensor)
    m = len(values)
    spread = float(np.linalg.norm(values - values.mean()))
    return math.sqrt(m / (m - 1)) * spread / float(np.linalg.norm(values))


def angle_to(direction: ArrayLike) -> Callable[[Array], float]:
    """The angle to a public direction in radians, of points on a sphere.

    >>> round(angle_to([0.0, 0.0, 1.0])(np.array([1.0, 0.0, 0.0])), 6)
    1.570796
    """
    u = real_array(direction, "The direction")
    if u.ndim != 1 or not 0 < np.linalg.norm(u) < np.inf:
        raise InputError("A direction is a vector of finite numbers that are not all zero.")
    u = u / np.linalg.norm(u)

    def angle(x: Array) -> float:
        if x.shape != u.shape:
            raise InputError(f"The direction has {len(u)} entries; a point has shape {x.shape}.")
        v = x / np.linalg.norm(x)
        return 2 * math.atan2(float(np.linalg.norm(v - u)), float(np.linalg.norm(v + u)))

    return angle


TENSOR_SCALARS: dict[str, Callable[[Array], float]] = {
    "mean-diffusivity": mean_diffusivity,
    "fractional-anisotropy": fractional_anisotropy,
}
ANGLE = "angle-to:"


def parse_scalar(text: str, space: Space) -> Callable[[Array], float]:
    """A scalar function by its name: those of tensors on SPD, ``angle-to:0,0,1`` on spheres.

    Raises
    ------
    InputError : there is no such function on this space.

    Examples
    --------
    >>> import geodp as gd
    >>> parse_scalar("mean-diffusivity", gd.SPD(3))(np.eye(3))
    1.0
    """
    kind = space.spec.split(":")[0] if len(space.factors) == 1 else "product"
    if kind == "spd" and text in TENSOR_SCALARS:
        return TENSOR_SCALARS[text]
    if kind == "sphere" and text.startswith(ANGLE):
        return _angle(text.removeprefix(ANGLE), space)
    raise InputError(
        f"There is no scalar {text!r} of points of {space.spec}. Of tensors there are "
        f"{' and '.join(TENSOR_SCALARS)}, of directions {ANGLE}X,Y,Z."
    )


def _angle(text: str, sphere: Space) -> Callable[[Array], float]:
    try:
        direction = [float(word) for word in text.split(",")]
    except ValueError as error:
        raise InputError(f"After {ANGLE} come numbers with commas between, as 0,0,1.") from error
    if len(direction) != sphere.dim + 1:
        raise InputError(f"A direction on {sphere.spec} has {sphere.dim + 1} entries.")
    return angle_to(direction)
