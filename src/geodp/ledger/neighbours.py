"""Which data sets are neighbours, and what a promise is about: records, or entities with many."""

from __future__ import annotations

from geodp.statistics.entity_rules import rule_in

NEIGHBOURS = "replace one record, number of records public"


def of_entities(unit: str) -> str:
    """The relation of data sets in which one unit has any number of records."""
    return f"replace all records of one {unit}, number of {unit}s public"


def neighbours_of(statistic: str, unit: str) -> str:
    """The relation that a release of the statistic of this name is about.

    >>> neighbours_of("Fréchet mean", "person")
    'replace one record, number of records public'
    >>> neighbours_of("Fréchet mean of entity means", "person")
    'replace all records of one person, number of persons public'
    """
    return NEIGHBOURS if rule_in(statistic)[1] is None else of_entities(unit)


def replaced_thing(statistic: str, unit: str) -> str:
    """What neighbours differ in, one of those that n counts: a record, or a unit with all of its
    records."""
    return "record" if rule_in(statistic)[1] is None else unit


def adds_up(asked: str, ledger: str, unit: str) -> bool:
    """Whether prices to the neighbours ``asked`` add up in a ledger of these.

    Where each unit is one record, to replace it is to replace all of its records.
    """
    return asked == ledger or (ledger == NEIGHBOURS and asked == of_entities(unit))
