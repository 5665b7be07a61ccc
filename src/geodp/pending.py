"""Public names whose part of geodp is not built yet: each refuses with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from geodp.errors import NotYetError


def _pending(name: str, what: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise NotYetError(f"{name} is not built yet: {what} come in a later version. {instead}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not built yet: {what}."
    return refuse


Power = _pending("Power", "powers of a space", "Use gd.Product of few factors.")
