"""How spends add up: data sets in sequence, disjoint groups of one in parallel."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from geodp.errors import InputError


class Part(NamedTuple):
    """A data set, or the group of it that a public label marks (``partition=label``)."""

    dataset: str
    partition: str = ""
    label: str = ""

    @property
    def group(self) -> str | None:
        """``partition=label``, None for the whole data set."""
        return f"{self.partition}={self.label}" if self.partition else None

    def __str__(self) -> str:
        return self.dataset if self.group is None else f"{self.dataset} [{self.group}]"


def part_of(dataset: object, group: object = None) -> Part:
    """The part that a call names; InputError for names that are no text.

    Names that look the same are the same: composed letters, no spaces around.
    """
    name = alike(dataset)
    if not name:
        raise InputError("A ledger needs the data set's name, such as dataset='study'.")
    if group is None:
        return Part(name)
    partition, equals, label = alike(group).partition("=")
    if not (partition.strip() and equals and label.strip()):
        raise InputError("A group is named by a public label: partition=label, such as site=A.")
    return Part(name, partition.strip(), label.strip())


def alike(text: object) -> str:
    """A name as a ledger keeps it; empty for a blank one, and for what is no text."""
    return unicodedata.normalize("NFC", text).strip() if isinstance(text, str) else ""


def total(spent: Mapping[Part, Fraction]) -> Fraction:
    """The most that any one unit may have been charged.

    A unit may be in every data set, so data sets add. Of one partition it is in one group, so there
    the dearest group counts; partitions of one data set by different labels add.

    >>> total({Part("a"): Fraction(1), Part("a", "site", "x"): Fraction(2),
    ...        Part("a", "site", "y"): Fraction(3), Part("b"): Fraction(4)})
    Fraction(8, 1)
    """
    dearest: dict[tuple[str, str], Fraction] = {}
    for part, amount in spent.items():
        key = part.dataset, part.partition
        dearest[key] = max(dearest.get(key, Fraction(0)), amount)
    return sum(dearest.values(), Fraction(0))
