"""What an inference would release, how wide its region would be and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from geodp.arguments import positive_real
from geodp.errors import LedgerRefusal
from geodp.inference.quantiles import check_confidence
from geodp.inference.shares import predicted_radius
from geodp.ledger.budget import shown
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.domain import Ball
from geodp.verbs.calibrate import check_guarantee
from geodp.verbs.infer_plan import Prepared, noise_radius, prepared
from geodp.verbs.paying import ledger_of, price_of
from geodp.verbs.plan import check_count
from geodp.verbs.replaced import Division


@final
@dataclass(frozen=True)
class Part:
    """One of an inference's numbers: its promise, its mechanism and its price, in words."""

    name: str
    promise: Guarantee
    mechanism: str
    price: str

    def to_json(self) -> dict[str, Any]:
        """The part as JSON values; the price is null without a ledger."""
        promised = {"guarantee": self.promise.to_json(), "mechanism": self.mechanism}
        return {"name": self.name, **promised, "price": self.price or None}


@final
@dataclass(frozen=True, eq=False)
class InferencePlan:
    """An inference before anything is spent, from public facts alone.

    ``total`` is the price of all parts, and ``left`` what the ledger has for them (None: no ledger
    was named); ``budget`` is the ledger's, as JSON values.
    """

    ready: Prepared
    parts: tuple[Part, ...]
    total: Fraction
    left: Fraction | None
    budget: Mapping[str, Any] | None

    @property
    def expected(self) -> float:
        """The mean distance of the released mean from the records', for one at the centre."""
        return self.ready.calibration.expected_distance()

    @property
    def noise_radius(self) -> float:
        """The radius of the region that the privacy noise of the mean alone makes."""
        return noise_radius(self.ready)

    @property
    def radius(self) -> float:
        """The predicted radius of the region, for records that scatter over half the ball, or as
        far as the spread: an estimate, and no promise."""
        ready = self.ready
        return predicted_radius(ready.ball, ready.n, ready.split, ready.confidence, ready.spread)

    @property
    def pays(self) -> bool | None:
        """Whether the ledger would pay for all parts; None without one."""
        return None if self.left is None else self.total <= self.left

    @property
    def price(self) -> str:
        """The price of all parts, in words; empty without a ledger."""
        return "" if self.left is None else shown(self.total)

    @property
    def refusal(self) -> LedgerRefusal:
        """What to raise where the ledger would not pay."""
        left = Fraction(0) if self.left is None else self.left
        return LedgerRefusal(
            f"The numbers of this inference cost {shown(self.total)} together, and the ledger has "
            f"{shown(left, down=True)} left."
        )

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        ready = self.ready
        return {
            "n": ready.n,
            "space": ready.ball.space.spec,
            "guarantee": ready.guarantee.to_json(),
            "confidence": ready.confidence,
            "expected_distance": self.expected,
            "region": {"predicted_radius": self.radius, "noise_radius": self.noise_radius},
            "parts": [part.to_json() for part in self.parts],
            "price": self.price or None,
            "budget": None if self.budget is None else dict(self.budget),
            "pays": self.pays,
        }

    def __repr__(self) -> str:
        ready = self.ready
        lines = [
            f"Inference of {ready.n} records on {ready.ball.space.spec}, {ready.guarantee.label}",
            f"  region at {100 * ready.confidence:g} %: radius {self.noise_radius:.3g} by the "
            f"privacy noise alone, about {self.radius:.3g} for records {self._scatter}",
            f"  expected distance of the released mean from that of the records: "
            f"{self.expected:.3g}",
        ]
        for part in self.parts:
            price = f", price {part.price}" if part.price else ""
            lines.append(f"  {part.name}: {part.promise.label} by {part.mechanism}{price}")
        if self.budget is not None and self.left is not None:
            left = shown(self.left, down=True)
            told = "which pays" if self.pays else "which would not pay"
            adds = self.budget["adds"]
            lines.append(f"  together: {adds} = {self.price}; the ledger has {left}, {told}")
        return "\n".join(lines)

    @property
    def _scatter(self) -> str:
        spread = self.ready.spread
        return "that scatter over " + (
            "half the ball" if spread is None else f"half the ball, cut at {spread:g}"
        )


def inference_plan(
    ball: Ball,
    n: int,
    guarantee: Guarantee,
    confidence: float = 0.95,
    *,
    how: Mapping[str, Any] | None = None,
    ledger: object | None = None,
    dataset: str | None = None,
    group: str | None = None,
) -> InferencePlan:
    """The plan of an inference; touches no record and spends nothing.

    Parameters
    ----------
    ball, guarantee, confidence : as for ``gd.infer``.
    n : the public number of records, or of persons.
    how : the keywords of ``gd.infer`` that say which inference it is: ``mechanism``, ``split``,
        ``replaced`` and ``spread``.
    ledger, dataset, group : who would pay; a plan needs no data set's name.

    Raises
    ------
    ConditionError : too few records, a smeary domain, or noise too large for a finite region.
    LedgerRefusal : a part has no price in the ledger's notion.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> plan = inference_plan(ball, 1000, gd.GaussianDP(1))
    >>> [part.name for part in plan.parts], plan.noise_radius < plan.radius
    (['mean', 'covariance', 'variance', 'fourth', 'replaced'], True)
    """
    check_guarantee(guarantee)
    asked = dict(how or {})
    if asked.get("spread") is not None:
        asked["spread"] = positive_real(asked["spread"], "The spread")
    ready = prepared(ball, check_count(n), guarantee, check_confidence(confidence), asked)
    paying = None if ledger is None else ledger_of(ledger)
    notion = None if paying is None else paying.budget.notion
    parts, total = [], Fraction(0)
    for name, promise in ready.split.items():
        chosen, alone = ready.mechanism_of(name), Division(promise, promise)
        price = price_of(chosen, ready.statistic(name), ready.n, alone, notion)[0]
        total += price
        parts.append(Part(name, promise, chosen.name, "" if notion is None else shown(price)))
    left = budget = None
    if paying is not None:
        left = paying.left_for(dataset, group)
        budget = paying.budget.to_json(paying.budget.limit - left)
    return InferencePlan(ready, tuple(parts), total, left, budget)
