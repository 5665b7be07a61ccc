"""Units of diffusivity, converted where both are known."""

from __future__ import annotations

from geodp.errors import InputError

_SQUARE_METRES_PER_SECOND = {
    "m^2/s": 1.0,
    "mm^2/s": 1e-6,
    "1e-3mm^2/s": 1e-9,
    "um^2/ms": 1e-9,
    "um^2/s": 1e-12,
}
_SPELLINGS = (("²", "^2"), ("µ", "u"), ("μ", "u"), ("10^-3", "1e-3"), ("10⁻³", "1e-3"), (" ", ""))


def diffusivity(unit: str) -> float | None:
    """The unit in m²/s, None for a text that names no unit of diffusivity.

    >>> diffusivity("µm²/ms") == diffusivity("1e-3 mm^2/s")
    True
    """
    for old, new in _SPELLINGS:
        unit = unit.replace(old, new)
    return _SQUARE_METRES_PER_SECOND.get(unit)


def factor(unit: str, target: str) -> float:
    """What numbers in ``unit`` are multiplied by to be numbers in ``target``.

    ``InputError`` where either is no known unit of diffusivity, unless they are the same text.

    >>> factor("mm^2/s", "um^2/ms")
    1000.0
    """
    if unit == target:
        return 1.0
    old, new = diffusivity(unit), diffusivity(target)
    if old is None or new is None:
        raise InputError(
            f"Numbers in {unit} cannot be converted to {target}; the units known are m^2/s, "
            "mm^2/s, 1e-3 mm^2/s, um^2/ms and um^2/s."
        )
    return float(f"{old / new:.6g}")  # a power of ten, without the division's rounding
