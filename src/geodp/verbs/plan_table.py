"""What a plan says: mechanisms in order, and the statistics next to the one asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from geodp.errors import InputError
from geodp.ledger.budget import shown
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.statistics.entity_rules import rule_in


@final
@dataclass(frozen=True)
class PlanRow:
    """One mechanism: its scale and how far a release is expected to land from the value.

    ``center`` and ``edge`` are mean distances for a value at the ball's centre and on its edge,
    with their standard errors; ``bound`` is a proven bound on ``edge``, if any.
    ``exact`` is the mean distance at the centre where a formula gives it.
    ``price`` is what a ledger charges, in its additive number. ``why_not`` holds the reason where
    the mechanism cannot serve. ``parameters`` are those of the noise's law. ``share`` is the
    promise to ask for at each release, where several share the guarantee; ``counted`` says whether
    it also pays for the share of replaced records.
    """

    mechanism: Mechanism
    scale: float | None = None
    center: float | None = None
    center_error: float | None = None
    edge: float | None = None
    edge_error: float | None = None
    bound: float | None = None
    price: str | None = None
    why_not: str | None = None
    parameters: Mapping[str, float] | None = None
    share: Guarantee | None = None
    exact: float | None = None
    counted: bool = True
    assumes: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        hidden = ("mechanism", *(() if self.share is not None else ("counted",)))
        facts = {k: v for k, v in vars(self).items() if k not in hidden and v is not None}
        if self.share is not None:
            facts["share"] = self.share.to_json()
        return {"mechanism": self.mechanism.name} | facts

    @property
    def words(self) -> str:
        """What the table cannot show in its columns."""
        chosen = [f"{name} {value:g}" for name, value in (self.parameters or {}).items()]
        off = "" if self.counted else " with replaced=0"
        each = [] if self.share is None else [f"each release {self.share.label}{off}"]
        data = [] if self.assumes is None else [f"for {self.assumes}"]
        return ", ".join(chosen + each + data)


@final
@dataclass(frozen=True)
class Relative:
    """Another statistic of the same records with its best mechanism; it estimates another point."""

    statistic: str
    sensitivity: float | None
    row: PlanRow

    def to_json(self) -> dict[str, Any]:
        """The relative as JSON values."""
        facts = {"statistic": self.statistic, "sensitivity": self.sensitivity}
        return facts | self.row.to_json()


@final
@dataclass(frozen=True)
class Plan:
    """The mechanisms in order of expected distance; those that cannot serve come last.

    ``note`` says what differs from a Fréchet mean released on its own space. ``replaced`` is what
    the noisy share of replaced records costs of the guarantee (None: it is switched off), and
    ``deviation`` its noise's standard deviation; the rows are about what is left. ``warning`` says
    that even the best noise is too wide for the space in 64-bit floats, and is empty else.
    ``relatives`` are other statistics of the same records, which estimate other points.
    """

    statistic: str
    space: str
    n: int
    guarantee: Guarantee
    sensitivity: float | None
    rows: tuple[PlanRow, ...]
    budget: Mapping[str, Any] | None = None
    note: str = ""
    releases: int = 1
    replaced: Guarantee | None = None
    deviation: float | None = None
    warning: str = ""
    relatives: tuple[Relative, ...] = ()

    @property
    def best(self) -> Mechanism:
        """The first mechanism that can serve; ``InputError`` with the reasons if none can."""
        if self.rows[0].why_not is not None:
            told = {row.why_not: row.mechanism.name for row in reversed(self.rows)}
            reasons = " ".join(f"{name}: {reason}" for reason, name in reversed(told.items()))
            raise InputError(f"No mechanism can give this. {reasons}")
        return self.rows[0].mechanism

    @property
    def pays(self) -> bool | None:
        """Whether the ledger's budget pays for at least one of them; None without a ledger."""
        return None if self.budget is None else self.rows[0].why_not is None

    def to_json(self) -> dict[str, Any]:
        """The plan as a JSON document."""
        return {
            "statistic": self.statistic,
            "space": self.space,
            "n": self.n,
            "guarantee": self.guarantee.to_json(),
            **({"releases": self.releases} if self.releases > 1 else {}),
            "sensitivity": self.sensitivity,
            "mechanisms": [row.to_json() for row in self.rows],
            **({"relatives": [r.to_json() for r in self.relatives]} if self.relatives else {}),
            **({} if self.replaced is None else {"replaced": self._replaced}),
            **({"note": self.note} if self.note else {}),
            **({"warning": self.warning} if self.warning else {}),
        } | ({} if self.budget is None else {"budget": {**self.budget, "pays": self.pays}})

    @property
    def _sensitivity(self) -> str:
        if self.sensitivity is None:
            return "no proven sensitivity of its own"
        return f"sensitivity {self.sensitivity:.6g}"

    @property
    def _replaced(self) -> dict[str, Any]:
        assert self.replaced is not None
        return {"guarantee": self.replaced.to_json(), "deviation": self.deviation}

    def __repr__(self) -> str:
        things = "records" if rule_in(self.statistic)[1] is None else "entities"
        several = f" in {self.releases} releases together" if self.releases > 1 else ""
        head = (
            f"{self.statistic} of {self.n} {things} on {self.space}, {self.guarantee.label}"
            f"{several}, {self._sensitivity}"
        )
        width = max([20, *(len(row.mechanism.name) + 1 for row in self.rows)])
        title = f"{'scale':>10}{'at centre':>18}{'at edge':>18}{'bound':>10}"
        table = [f"  {'mechanism':<{width}}{title}"]
        for row in self.rows:
            if row.why_not is None:
                center = f"{row.center:.4g} ± {row.center_error:.1g}"
                edge = f"{row.edge:.4g} ± {row.edge_error:.1g}"
                table.append(
                    f"  {row.mechanism.name:<{width}}{row.scale:>10.4g}{center:>18}{edge:>18}"
                    f"{'none' if row.bound is None else format(row.bound, '.4g'):>10}"
                )
                table += [f"      {row.words}"] if row.words else []
            else:
                table.append(f"  {row.mechanism.name:<{width}}{row.why_not}")
        for relative in self.relatives:
            row = relative.row
            table.append(
                f"  other estimand: {relative.statistic}, {row.mechanism.name} of scale "
                f"{row.scale:.4g}, {row.center:.4g} at centre, {row.edge:.4g} at edge"
            )
        if self.budget is not None:
            prices = {row.mechanism.name: row.price for row in self.rows if row.price is not None}
            each = [f"{name} {shown(Fraction(price))}" for name, price in prices.items()]
            listed = ", ".join(each) or "none"
            most = shown(Fraction(self.budget["left"]), down=True)
            left = f"{self.budget['adds']} left: {most} of {self.budget['limit']}"
            verdict = "it pays" if self.pays else "it pays for none of them"
            table.append(f"  ledger: {left}; prices: {listed}; {verdict}")
        if self.replaced is not None:
            table.append(
                f"  share of replaced records: {self.replaced.label} of it, noise of standard "
                f"deviation {self.deviation:.2g}"
            )
        note = [f"  note: {self.note}"] if self.note else []
        note += [f"  WARNING: {self.warning}"] if self.warning else []
        return "\n".join([head, *table, *note])
