"""verify for whole documents: a receipt, an inference with all its receipts, groups of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from geodp.errors import GeodpError, InputError
from geodp.inference.collect import number_mechanism, numbers_at
from geodp.inference.groups import SCHEMA as GROUPS
from geodp.inference.groups import Groups, group_name
from geodp.inference.result import SCHEMA as INFERENCE
from geodp.inference.result import Inference
from geodp.inference.shares import additive
from geodp.ledger.check import Check
from geodp.ledger.receipt import SCHEMA as RECEIPT
from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.entity_rules import rule_in
from geodp.verbs.verify import summands, verify

_SPOILT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_SAME = 1e-6  # relative: what another machine's rounding may change in a simulated quantile


def verify_document(document: object) -> list[Check]:
    """The checks of what geodp wrote as JSON, by its schema.

    Of an inference each receipt is verified, then that together they cost no more than is stated,
    are of the same records seen from the released mean, and that everything else in the document
    follows from them. Of groups each inference, and that all have one promise, one ball and one
    unit, are different releases, and were paid for as groups where a ledger paid.

    Without signatures the released numbers are taken on the document's word: who holds it can
    change one, and then everything that follows from it.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    >>> out = gd.infer(np.linspace(-0.5, 0.5, 100)[:, None], ball, gd.GaussianDP(2))
    >>> checks = verify_document(out.to_json())
    >>> all(check.passed for check in checks), checks[0].name, checks[-1].name
    (True, 'mean, noise', 'results')
    """
    kind = document.get("schema") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError("This is neither a receipt nor a document of infer, by its schema.")
    assert isinstance(document, Mapping)
    try:
        with np.errstate(all="ignore"):  # numbers that no honest document has fail their checks
            return _KINDS[kind](document)
    except GeodpError:
        raise
    except KeyError as error:
        raise InputError(f"The document lacks the field {error.args[0]!r}.") from error
    except _SPOILT as error:
        raise InputError("The document has a field of the wrong kind.") from error


def _receipt(document: Mapping[str, Any]) -> list[Check]:
    return verify(Release.from_json(document))


def _inference(document: Mapping[str, Any]) -> list[Check]:
    out = Inference.from_json(document)
    parts = [
        replace(check, name=f"{name}, {check.name}")
        for name, one in out.releases.items()
        for check in verify(one)
    ]
    whole: dict[str, Callable[[Inference, Mapping[str, Any]], str | None]] = {
        "sum": _sum,
        "records": _records,
        "results": _results,
    }
    return [*parts, *(_checked(name, check, out, document) for name, check in whole.items())]


def _groups(document: Mapping[str, Any]) -> list[Check]:
    groups = document.get("groups")
    if not isinstance(groups, Mapping) or not groups:
        raise InputError("The document has no groups.")
    checks = [
        replace(check, name=f"{label}: {check.name}")
        for label, one in groups.items()
        for check in _inference(one)
    ]
    found = [Inference.from_json(one) for one in groups.values()]
    whole = Groups(group_name(document["by"]), dict(zip(groups, found, strict=True)))
    wrong = _apart(whole, Guarantee.from_json(document["guarantee"]))
    if wrong is None and not _same_whole(document, whole.to_json()):
        wrong = "The notes, the test or the fields of the whole are not those of its groups."
    fine = "Each group has the promise of the whole, which holds for disjoint groups."
    return [*checks, Check("groups", wrong is None, fine if wrong is None else wrong)]


def _same_whole(document: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Whether what stands beside the groups follows from them; an old document has no test."""
    old = set() if "equal_means" in document else {"equal_means"}
    stated = {name: one for name, one in document.items() if name != "groups"}
    return _near(stated, {name: ours[name] for name in set(ours) - {"groups"} - old})


def _apart(whole: Groups, stated: Guarantee) -> str | None:
    """Why the groups do not compose in parallel to the stated promise."""
    found = list(whole.inferences.values())
    means = [one.mean for one in found]
    first = means[0]
    if any(one.guarantee != stated for one in found):
        return "A group has another promise than the whole states."
    if any(_domain(one) != _domain(first) for one in means):
        return "The groups were not moved into one public ball."
    if any((one.statistic, one.unit) != (first.statistic, first.unit) for one in means):
        return "The groups are of different units."
    if len({one.value.tobytes() for one in means}) < len(means):  # two draws are never equal
        return "Two groups are one and the same release."
    payers = {_payer(one) for one in means}
    if payers == {None}:
        return None
    sources = {None if one is None else one[:2] for one in payers}
    names = [f"{whole.by}={label}" for label in whole.inferences]
    if len(sources) > 1 or [one.ledger and one.ledger.group for one in means] != names:
        return "A ledger paid for other groups, or from another data set."
    return None


_KINDS: dict[str, Callable[[Mapping[str, Any]], list[Check]]] = {
    RECEIPT: _receipt,
    INFERENCE: _inference,
    GROUPS: _groups,
}
_GOOD = {
    "sum": "All parts together cost at most the stated guarantee.",
    "records": "All parts are of the same records, seen from the released mean.",
    "results": "Region, intervals, split and notes follow from the receipts.",
}


def _checked(
    name: str,
    check: Callable[[Inference, Mapping[str, Any]], str | None],
    out: Inference,
    document: Mapping[str, Any],
) -> Check:
    try:
        wrong = check(out, document)
    except (GeodpError, ArithmeticError, np.linalg.LinAlgError, KeyError, TypeError, ValueError):
        wrong = "The document has a field of the wrong kind."
    return Check(name, wrong is None, _GOOD[name] if wrong is None else wrong)


def _sum(out: Inference, _: Mapping[str, Any]) -> str | None:
    if {name: one.guarantee for name, one in out.releases.items()} != dict(out.split):
        return "The split names another promise for a part than its receipt."
    whole = additive(out.guarantee)
    parts = [one.guarantee for one in out.releases.values()]
    if any(part.notion != whole.notion for part in parts):
        return "A part is stated in a notion that does not add up to the whole."
    limit, spent = summands(whole), [summands(part) for part in parts]
    fixed = {name for name in limit if name == "alpha"}
    if any(one[name] != limit[name] for one in spent for name in fixed):
        return "A part is stated at another Rényi order than the whole."
    if any(sum(one.get(name, 0) for one in spent) > limit[name] for name in set(limit) - fixed):
        return "The parts together cost more than the whole states."
    return None


def _records(out: Inference, _: Mapping[str, Any]) -> str | None:
    mean, numbers = out.mean, out.estimate.numbers
    base, rule = rule_in(mean.statistic)
    if base != "Fréchet mean":
        return "The mean of an inference is a Fréchet mean."
    spread = dict(_subject(out.releases["covariance"])).get("spread")
    statistics = numbers_at(numbers.domain, numbers.at, spread)
    for name, one in out.releases.items():
        if name == "mean":
            continue
        statistic = statistics[name]()
        words = statistic.name if rule is None else rule.words(statistic.name)
        made_with = dict(getattr(statistic, "parameters", {}))
        if one.statistic != words or not _near(dict(_subject(one)), made_with):
            return f"The part {name!r} is another number, or was seen from another point."
        if not _usual(one):
            return f"The noise of the part {name!r} is not what infer adds."
        if _domain(one) != _domain(mean) or (one.n, one.unit) != (mean.n, mean.unit):
            return f"The part {name!r} is of other records than the mean."
    if len({_payer(one) for one in out.releases.values()}) > 1:
        return "The parts were paid for by different ledgers, or from different data sets."
    return None


def _usual(one: Release) -> bool:
    """Whether a number beside the mean has the mechanism, and the footpoint, that infer uses."""
    stage, strategy = one.stages[-1], number_mechanism(one.guarantee)
    origin = one.space.origin.tolist()
    return len(one.stages) == 1 and (stage["name"], stage["footpoint"]) == (strategy.name, origin)


def _results(out: Inference, document: Mapping[str, Any]) -> str | None:
    ours = {k: v for k, v in out.to_json().items() if k != "releases"}
    stated = {k: v for k, v in document.items() if k != "releases"}
    if not _near(stated, ours):
        return "Region, intervals, split or notes do not follow from the receipts."
    return None


def _subject(release: Release) -> Iterator[tuple[str, Any]]:
    return iter(() if release.about is None else release.about.parameters.items())


def _domain(release: Release) -> dict[str, Any] | None:
    """The public ball of the records, as declared."""
    domain = release.domain if release.about is None else release.about.domain
    return None if domain is None else domain.to_json()


def _payer(release: Release) -> tuple[str, str, str | None] | None:
    mark = release.ledger
    return None if mark is None else (mark.id, mark.dataset, mark.group)


def _near(stated: object, ours: object) -> bool:
    """The same words and, but for rounding on another machine, the same numbers."""
    if isinstance(ours, Mapping):
        if not isinstance(stated, Mapping) or set(stated) != set(ours):
            return False
        return all(_near(stated[name], one) for name, one in ours.items())
    if isinstance(ours, (float, list)) and not _words(ours):
        numbers, expected = np.asarray(stated), np.asarray(ours)
        if numbers.shape != expected.shape or numbers.dtype.kind not in "fi":
            return False
        largest = float(np.abs(expected).max(initial=0.0))
        return bool((np.abs(numbers - expected) <= _SAME * largest).all())
    return type(stated) is type(ours) and stated == ours


def _words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
