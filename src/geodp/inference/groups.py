"""Several groups of one data set under one promise each: parallel composition."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geodp.arguments import text_or_none
from geodp.errors import GeodpError, InputError
from geodp.inference.equality import Difference, Verdict, difference, equal_means
from geodp.inference.result import Inference
from geodp.ledger.totals import alike
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array
from geodp.statistics.entity_rules import rule_in

SCHEMA = "geodp/groups/v1"
PARALLEL = (
    "The groups are disjoint and their labels and sizes are public: a neighbouring data set "
    "replaces {} within its group, so the groups compose in parallel and the whole keeps the "
    "promise of each."
)


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """One inference for each label, and what follows from them together."""

    by: str
    inferences: Mapping[str, Inference]

    @property
    def guarantee(self) -> Guarantee:
        """The promise of all groups together: that of each, by parallel composition."""
        return next(iter(self.inferences.values())).guarantee

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""
        mean = next(iter(self.inferences.values())).mean
        alone = rule_in(mean.statistic)[1] is None
        return (PARALLEL.format("one record" if alone else f"all records of one {mean.unit}"),)

    def __getitem__(self, label: object) -> Inference:
        key = alike(str(label))
        if key not in self.inferences:
            raise InputError(f"There is no group {key!r}; there are {', '.join(self.inferences)}.")
        return self.inferences[key]

    def difference(self, first: object, second: object) -> Difference:
        """The second group's mean minus the first's, with its region."""
        return difference(self[first], self[second])

    def equal_means(self) -> Verdict:
        """Are all groups' means equal?"""
        return equal_means(list(self.inferences.values()))

    def table(
        self, functions: Mapping[str, Callable[[Array], float]] | None = None
    ) -> list[dict[str, Any]]:
        """Tidy rows of all groups, the label first; ``functions`` as for an inference."""
        return [
            {self.by: label, **row}
            for label, one in self.inferences.items()
            for row in one.table(functions)
        ]

    def plot(self, ax: Any = None) -> Any:
        """All groups' regions in one picture."""
        from geodp.plots.regions import plot_regions

        labels = [f"{self.by} {label}" for label in self.inferences]
        return plot_regions([one.region for one in self.inferences.values()], labels, ax=ax)

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON document, with the test of equal means where there is one."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "guarantee": self.guarantee.to_json(),
            "notes": list(self.notes),
            "equal_means": self._tested(),
            "groups": {label: one.to_json() for label, one in self.inferences.items()},
        }

    def _tested(self) -> dict[str, Any] | None:
        """The test of equal means. What was released is written down even where no test can be
        made of it, as of means at opposite points."""
        if len(self.inferences) < 2:
            return None
        try:
            found = self.equal_means()
        except (GeodpError, ArithmeticError, ValueError):
            return None
        return found.to_json() if np.isfinite(found.statistic) else None

    def save(self, path: str | Path) -> None:
        """Write the document as JSON, as ``geodp infer --by`` prints it."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        head = f"Groups by {self.by}, together {self.guarantee.label}: {self.notes[0]}"
        return "\n".join([head, *(f"{k}: {v!r}" for k, v in self.inferences.items())])


def group_name(name: Any) -> str:
    """What the labels are of, in words; refused where a ledger could not tell it from a label."""
    text = alike(text_or_none(name, "by_name"))
    if not text or "=" in text:
        raise InputError("by_name is the label's name in words, such as site.")
    return text


def _texts(by: ArrayLike, n: int) -> NDArray[np.str_]:
    """The labels as text. What is neither a text nor an integer is no label: a missing one is not
    the name of a group."""
    labels = np.asarray(by)
    if not hasattr(by, "dtype") and labels.dtype.kind in "US":  # numpy spells out numbers in lists
        labels = np.array(by, dtype=object)
    if labels.dtype.kind == "O" and all(isinstance(one, str) for one in labels.flat):
        labels = labels.astype(str)  # such as a column of a table
    hidden = np.ma.getmaskarray(by).any() if isinstance(by, np.ma.MaskedArray) else False
    if labels.shape != (n,) or labels.dtype.kind not in "iuUSb" or hidden:
        raise InputError("by holds one label, a text or an integer, for each record.")
    try:
        return labels.astype(str)
    except UnicodeDecodeError as error:
        raise InputError("A label of bytes holds more than ASCII: give it as a text.") from error


def labelled(by: ArrayLike, n: int, public: bool | None) -> dict[str, NDArray[np.bool_]]:
    """Each label with a mask of its records; refused unless declared public. Labels that look the
    same are one, as in a ledger."""
    if public is not True:
        raise InputError(
            "Groups are compared in parallel only by a public label with public group sizes: say "
            "by_public=True if labels and sizes may be published. A private label (a diagnosis "
            "that is itself a secret) would be revealed by the groups, and is refused."
        )
    texts = _texts(by, n)
    found: dict[str, NDArray[np.bool_]] = {}
    for label in np.unique(texts):
        name = alike(text_or_none(str(label), "A label"))
        if not name:
            raise InputError("A label is blank: a missing one names no group.")
        found[name] = found.get(name, np.zeros(n, dtype=bool)) | (texts == label)
    if len(found) > 1000:
        raise InputError("There are more than 1000 labels; a label marks a group of many records.")
    return found
