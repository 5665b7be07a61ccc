"""Space strings: ``parse_space`` and ``Space.spec`` are inverse to each other."""

from __future__ import annotations

import re
from collections.abc import Callable

from geodp.errors import SpaceError
from geodp.spaces.base import Space
from geodp.spaces.charts import LogCholesky, LogEuclidean
from geodp.spaces.euclidean import Euclidean
from geodp.spaces.hyperbolic import Hyperbolic
from geodp.spaces.planar_shapes import PlanarShapes
from geodp.spaces.power import Power
from geodp.spaces.product import Product
from geodp.spaces.pullback import Pullback
from geodp.spaces.spd import AffineInvariant
from geodp.spaces.sphere import Sphere

_METRICS: dict[str, Callable[[int], Space]] = {
    "affine-invariant": AffineInvariant,
    "log-euclidean": lambda size: Pullback(size, LogEuclidean()),
    "log-cholesky": lambda size: Pullback(size, LogCholesky()),
}
_ALIASES = {
    "riemann": "affine-invariant",
    "logeuclid": "log-euclidean",
    "logchol": "log-cholesky",
}
_KINDS = ("euclidean", "spd", "hyperbolic", "sphere", "shapes")
_EXISTING = (
    "euclidean:D, spd:M, spd:M:METRIC (affine-invariant, log-euclidean or log-cholesky), "
    "hyperbolic:D, hyperbolic:D:CURVATURE, sphere:D, sphere:D:CURVATURE, shapes:LANDMARKS, "
    "products such as sphere:2+euclidean:3, and powers such as spd:3^1000 or "
    "(sphere:2+euclidean:1)^20"
)


def SPD(size: int, metric: str = "affine-invariant") -> Space:
    """Symmetric positive definite ``size`` × ``size`` matrices, points ``(..., size, size)``.

    ``metric`` is "affine-invariant" (alias riemann), "log-euclidean" (logeuclid) or "log-cholesky"
    (logchol); anything else raises ``SpaceError``.

    >>> import geodp as gd
    >>> gd.SPD(3)
    <spd:3:affine-invariant>
    """
    name = _ALIASES.get(metric, metric)
    if name not in _METRICS:
        raise SpaceError(
            "The metric of SPD must be affine-invariant, log-euclidean or log-cholesky."
        )
    return _METRICS[name](size)


def parse_space(text: str) -> Space:
    """The space that a string such as ``"spd:3:affine-invariant"`` names; inverse of ``.spec``.

    Raises ``SpaceError`` for a string that names no space.

    >>> import geodp as gd
    >>> gd.parse_space("sphere:2+euclidean:3").spec
    'sphere:2+euclidean:3'
    """
    # A plus inside a number such as 1e+20 is followed by a digit, never by a letter; one inside
    # parentheses by a closing one that no opening one comes before.
    parts = re.split(r"\+(?=\s*[A-Za-z(])(?![^(]*\))", text.strip())
    spaces = [_parse_one(part) for part in parts]
    return spaces[0] if len(spaces) == 1 else Product(*spaces)


def _parse_one(text: str) -> Space:
    if "^" in text:
        inner, _, count = text.strip().rpartition("^")
        return Power(parse_space(_unwrapped(inner, text)), _integer(count.strip(), text))
    name, *rest = (word.strip() for word in text.strip().lower().split(":"))
    if name not in _KINDS or not 1 <= len(rest) <= 2:
        raise _unknown(text)
    size = _integer(rest[0], text)
    if name == "spd":
        return SPD(size, *rest[1:])
    if name in ("euclidean", "shapes"):
        if len(rest) > 1:
            raise _unknown(text)
        return Euclidean(size) if name == "euclidean" else PlanarShapes(size)
    curvature = [_number(word, text) for word in rest[1:]]
    return Sphere(size, *curvature) if name == "sphere" else Hyperbolic(size, *curvature)


def _unwrapped(inner: str, text: str) -> str:
    """Without the parentheses that a power needs around a product, and nothing else may have."""
    inner = inner.strip()
    if not re.fullmatch(r"\([^()]*\+[^()]*\)|[^()]*", inner):
        raise _unknown(text)
    return inner.strip("()")


def _integer(word: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", word):
        raise _unknown(text)
    return int(word)


def _number(word: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise _unknown(text) from None


def _unknown(text: str) -> SpaceError:
    return SpaceError(f"The string {text!r} names no space. Hint: known are {_EXISTING}.")
