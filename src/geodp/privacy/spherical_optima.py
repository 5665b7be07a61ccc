"""Optima of the spherical law, found beforehand for common (ε, δ): a table that ships.

An entry is what ``best_noise`` finds by its search, which takes up to a second; it names a law and
proves nothing. Whoever takes one from here calibrates it like any other law, with a certificate of
its own. ``experiments/optima.py`` makes the table.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from geodp.noise.strategies import SphericalGamma
from geodp.privacy.guarantees import ApproxDP, Guarantee

NAME = "spherical_optima.json"
VERSION = 1

Key: TypeAlias = "tuple[Fraction, Fraction, int, int]"
"""Epsilon, delta, dimension and moment, exact."""


def tabulated(dim: int, guarantee: Guarantee, moment: int) -> SphericalGamma | None:
    """The law that the table holds for exactly these parameters; None where it holds none.

    >>> tabulated(3, ApproxDP("0.123", "1e-5"), 2) is None
    True
    """
    if not isinstance(guarantee, ApproxDP):
        return None
    return _table().get((guarantee.epsilon, guarantee.delta, dim, moment))


@cache
def _table() -> dict[Key, SphericalGamma]:
    return laws(json.loads(files("geodp.privacy").joinpath(NAME).read_text(encoding="utf-8")))


def laws(document: Any) -> dict[Key, SphericalGamma]:
    """The laws of a table's document ``{"version": 1, "optima": [[ε, δ, dim, moment, shape,
    power], …]}``; none where it is of another version."""
    if document["version"] != VERSION:
        return {}
    return {
        (Fraction(epsilon), Fraction(delta), dim, moment): SphericalGamma(shape, power)
        for epsilon, delta, dim, moment, shape, power in document["optima"]
    }
