"""What infer returns: the released numbers with their receipts, and what follows from them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from geodp.errors import GeodpError, InputError
from geodp.inference.estimate import Direction, Estimate, Interval
from geodp.inference.numbers import numbers_of
from geodp.inference.quantiles import check_confidence
from geodp.inference.region import ConfidenceRegion
from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array

SCHEMA = "geodp/inference/v1"
_SPOILT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@final
@dataclass(frozen=True, eq=False)
class Inference:
    """A private mean with its region, and the variance with its interval.

    ``guarantee`` covers everything here; ``split`` says how it was divided among ``releases``, each
    with its own receipt. ``estimate`` holds what follows from them without further cost.
    """

    guarantee: Guarantee
    split: Mapping[str, Guarantee]
    releases: Mapping[str, Release]
    estimate: Estimate

    @property
    def mean(self) -> Release:
        """The released Fréchet mean with its receipt."""
        return self.releases["mean"]

    @property
    def variance(self) -> Release | None:
        """The released Fréchet variance, if it was asked for."""
        return self.releases.get("variance")

    @property
    def region(self) -> ConfidenceRegion:
        """The confidence region of the Fréchet mean."""
        return self.estimate.region

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of the Fréchet variance."""
        return self.estimate.interval

    @property
    def replaced(self) -> Interval | None:
        """The share of records that the public rule moved or replaced, with its interval."""
        return self.estimate.replaced

    @property
    def private(self) -> bool:
        """Whether the noise was private."""
        return all(one.private for one in self.releases.values())

    def function(self, f: Callable[[Array], float]) -> Interval:
        """The interval of a scalar function of the mean; see ``Estimate.function``."""
        return self.estimate.function(f)

    def principal_directions(self) -> list[Direction]:
        """Principal geodesic directions, by falling variance."""
        return self.estimate.principal_directions()

    def table(
        self, functions: Mapping[str, Callable[[Array], float]] | None = None
    ) -> list[dict[str, Any]]:
        """Tidy rows of everything with an interval, scalar ``functions`` of the mean by name too.

        Examples
        --------
        >>> import numpy as np, geodp as gd
        >>> from geodp.inference import mean_diffusivity
        >>> ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
        >>> z = np.random.default_rng(1).uniform(-0.3, 0.3, (300, 3))
        >>> out = gd.infer(gd.SPD(2).exp_coords(np.eye(2), z), ball, gd.GaussianDP(2))
        >>> out.table({"mean diffusivity": mean_diffusivity})[-1]["what"]
        'mean diffusivity'
        """
        return self.estimate.table(functions)

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON document, receipts included."""
        interval, replaced = self.interval, self.replaced
        return {
            "schema": SCHEMA,
            "guarantee": self.guarantee.to_json(),
            "split": {name: part.to_json() for name, part in self.split.items()},
            "confidence": self.region.confidence,
            "private": self.private,
            "region": self.region.to_json(),
            "variance_interval": None if interval is None else interval.to_json(),
            "replaced_share": None if replaced is None else replaced.to_json(),
            "notes": list(self.notes),
            "releases": {name: one.to_json() for name, one in self.releases.items()},
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Inference:
        """The inference that ``to_json`` wrote, from its receipts: what follows from them is made
        afresh and not read. ``InputError`` where it is none; ``gd.verify`` says more."""
        if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
            raise InputError(f"This is no inference of schema {SCHEMA}.")
        try:
            split, releases = dict(document["split"]), dict(document["releases"])
            found = {str(name): Release.from_json(one) for name, one in releases.items()}
            return cls(
                Guarantee.from_json(document["guarantee"]),
                {str(name): Guarantee.from_json(one) for name, one in split.items()},
                found,
                Estimate(numbers_of(found), check_confidence(document["confidence"])),
            )
        except GeodpError:
            raise
        except KeyError as error:
            raise InputError(f"The inference lacks the field {error.args[0]!r}.") from error
        except _SPOILT as error:
            raise InputError("The document has a field of the wrong kind.") from error

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""
        notes = [
            "The region is for the Fréchet mean of the population of records after the public rule."
        ]
        replaced = self.replaced
        if replaced is not None and replaced.low > 0.05:
            notes.append(
                f"At least {100 * replaced.low:.0f} % of the records were moved into the ball or "
                "replaced by its centre: check the physical unit, the ball and the data."
            )
        if not self.private:
            notes.append("NOT PRIVATE: the noise came from a seeded generator and can be replayed.")
        return tuple(dict.fromkeys((*notes, *self.mean.notes)))  # both say that it was seeded

    def save(self, path: str | Path) -> None:
        """Write the document as JSON."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean and its region."""
        return self.region.plot(ax)

    def __repr__(self) -> str:
        mean = self.mean
        shares = ", ".join(f"{name} {part.label}" for name, part in self.split.items())
        lines = [
            f"Inference from {mean.n} {mean.unit}s on {mean.space.spec}, {self.guarantee.label}",
            *(f"  {line.strip()}" for line in repr(self.region).splitlines()),
        ]
        for what, (one, released) in self.estimate.ranged.items():
            cut = "" if one.inside == one.value else f" (released: {released:.4g})"
            what = what.removeprefix("share of ")
            lines.append(f"  {what}: {one.inside:.4g}, from {one.low:.4g} to {one.high:.4g}{cut}")
        lines.append(f"  split: {shares}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Tidy rows as CSV text, one column for each key that occurs."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
