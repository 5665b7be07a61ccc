"""A release in sentences: what it is, and what an attacker can and cannot do with it."""

from __future__ import annotations

from geodp.ledger.neighbours import replaced_thing
from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import percent
from geodp.report.spaces import name_of

_ALARMS = (0.01, 0.05, 0.1)


def summary(release: Release) -> str:
    """What was released, in one or two sentences."""
    count = ""
    if release.n is not None:
        each = f", each one {release.unit}" if _thing(release) == "record" else ""
        count = f" of {_things(release)}{each},"
    text = f"The {release.statistic}{count} in {name_of(release.space)}, with noise added."
    if release.domain is None:
        return text
    moved = () if release.replaced is None else release.replaced.notes
    return " ".join(
        (
            f"{text} Records are held to a public ball of radius {release.domain.radius:.4g} by a "
            "public rule, before anything is computed.",
            *moved,
        )
    )


def accuracy(release: Release) -> str:
    """How far the value lies from the one without noise."""
    assumed = release.stages[-1].get("assumes")
    data = "" if assumed is None else f"{assumed}, and "
    return (
        f"The noise moves the value by {release.expected_distance:.3g} on average, a geodesic "
        f"length, simulated for {data}a true value at the centre of the ball. How far this one "
        "moved is private."
    )


def cannot(release: Release) -> list[str]:
    """What the guarantee rules out."""
    if not release.private:
        return []
    return [
        f"Someone who knows all the other {_plural(_thing(release))}, and everything else there is "
        f"to know, still cannot tell well whether a given {release.unit} was among the "
        f"{_things(release)} or another one in its place.",
        release.promise,
        "No later computation on the released value, and no future knowledge, weakens this.",
    ]


def can(release: Release) -> list[str]:
    """What the guarantee leaves open."""
    return [
        "Learn what the data say as a whole: that is what the release is for, and it may tell "
        "something about people who are not in the data.",
        f"Know the number of {_plural(_thing(release))}, the ball, the statistic and the "
        "mechanism: they are public.",
        f"Combine this with other releases about the same {_plural(release.unit)}: guarantees add "
        f"up, and {_account(release)}.",
        f"Learn more about someone who stands behind several {_plural(_thing(release))}: one "
        f"{release.unit} is protected, not several together.",
    ]


def detection(release: Release) -> list[tuple[str, str]]:
    """False alarms against the most that any test can detect, as percentages rounded up."""
    return [(percent(a), percent(release.guarantee.detection(a))) for a in _ALARMS]


def _account(release: Release) -> str:
    if release.ledger is None:
        return "nothing here keeps count of them"
    return "a ledger keeps count of those that are paid from it"


def _thing(release: Release) -> str:
    """What neighbours differ in: a record, or a unit with all of its records."""
    return replaced_thing(release.statistic, release.unit)


def _things(release: Release) -> str:
    count = "" if release.n is None else f"{release.n} "
    return count + _plural(_thing(release))


def _plural(unit: str) -> str:
    return "people" if unit == "person" else f"{unit}s"
