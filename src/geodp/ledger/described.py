"""A strategy as a JSON value: two strategies are the same request when these are equal."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

import numpy as np


@singledispatch
def described(x: object) -> Any:
    """The class of a frozen strategy with its fields; anything else by its repr.

    >>> from geodp.mechanisms import Wrapped
    >>> from geodp.noise.strategies import Gaussian
    >>> described(Wrapped(Gaussian()))
    {'is': 'Wrapped', 'noise': {'is': 'Gaussian'}, 'footpoint': 'None'}
    """
    if not is_dataclass(x) or isinstance(x, type):
        return repr(x)
    return {"is": type(x).__qualname__} | {f.name: described(getattr(x, f.name)) for f in fields(x)}


@described.register
def _(x: str) -> Any:
    return x


@described.register
def _(x: np.ndarray) -> Any:
    return [list(x.shape), [repr(float(one)) for one in x.ravel()]]
