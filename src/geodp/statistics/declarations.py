"""What raw numbers are, as declared by their user and by their file: never guessed, never two."""

from __future__ import annotations

from collections.abc import Mapping

from geodp.errors import MismatchError

DECLARED = {
    "physical_unit": "physical unit",
    "component_order": "component order",
    "frame": "frame",
}
"""By their names on a ball and a receipt, and in words."""


def agreed(
    said: Mapping[str, str | None], found: Mapping[str, str | None]
) -> dict[str, str | None]:
    """What the user ``said``, or else what was ``found`` in the file.

    ``MismatchError`` where both say something and it is not the same text, blanks apart.

    >>> agreed({"physical_unit": None, "frame": "scanner"}, {"physical_unit": "mm"})
    {'physical_unit': 'mm', 'component_order': None, 'frame': 'scanner'}
    """
    both: dict[str, str | None] = {}
    for name, words in DECLARED.items():
        mine, its = said.get(name), found.get(name)
        if mine is not None and its is not None and mine.split() != its.split():
            raise MismatchError(
                f"The {words} was declared as {mine!r}, and the records' file says {its!r}. "
                "Declare what the file says, or correct the file."
            )
        both[name] = its if mine is None else mine
    return both
