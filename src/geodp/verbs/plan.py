"""plan: what each mechanism would cost in accuracy, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from geodp.errors import ConditionError, InputError
from geodp.inference.shares import REPLACED
from geodp.mechanisms import candidates
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import Number
from geodp.privacy.shares import equal_part
from geodp.random import public_rng
from geodp.spaces.base import Array
from geodp.statistics.entities import PerEntity, entities_of, entity_rule
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.calibrate import check_guarantee, check_mechanism, check_statistic
from geodp.verbs.paying import Purse, ledger_of
from geodp.verbs.replaced import Counting, Division, divided
from geodp.verbs.stages import (
    at_center,
    at_edge,
    calibrated,
    sensitivity_of,
    simulate,
)

_PROBES = 64
_USEFUL = 0.1  # noise in each place of a map, in radii, that n is named for
_WORTH = 0.01  # relative: the gain in distance that pays for a law with parameters


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
class Plan:
    """The mechanisms in order of expected distance; those that cannot serve come last.

    ``note`` says what differs from a Fréchet mean released on its own space. ``replaced`` is what
    the noisy share of replaced records costs of the guarantee (None: it is switched off), and
    ``deviation`` its noise's standard deviation; the rows are about what is left. ``warning`` says
    that even the best noise is too wide for the space in 64-bit floats, and is empty else.
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

    @property
    def best(self) -> Mechanism:
        """The first mechanism that can serve; ``InputError`` with the reasons if none can."""
        if self.rows[0].why_not is not None:
            told = {row.why_not: row.mechanism.name for row in reversed(self.rows)}
            reasons = " ".join(f"{name}: {reason}" for reason, name in reversed(told.items()))
            raise InputError(f"No mechanism can give this. {reasons}")
        return self.rows[0].mechanism

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
            **({} if self.replaced is None else {"replaced": self._replaced}),
            **({"note": self.note} if self.note else {}),
            **({"warning": self.warning} if self.warning else {}),
        } | ({} if self.budget is None else {"budget": dict(self.budget)})

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
        several = f" in {self.releases} releases together" if self.releases > 1 else ""
        head = (
            f"{self.statistic} of {self.n} records on {self.space}, {self.guarantee.label}"
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
        if self.budget is not None:
            prices = {row.mechanism.name: row.price for row in self.rows if row.price is not None}
            listed = ", ".join(f"{name} {price}" for name, price in prices.items()) or "none"
            left = f"{self.budget['adds']} left: {self.budget['left']} of {self.budget['limit']}"
            table.append(f"  ledger: {left}; prices: {listed}")
        if self.replaced is not None:
            table.append(
                f"  share of replaced records: {self.replaced.label} of it, noise of standard "
                f"deviation {self.deviation:.2g}"
            )
        note = [f"  note: {self.note}"] if self.note else []
        note += [f"  WARNING: {self.warning}"] if self.warning else []
        return "\n".join([head, *table, *note])


def plan(
    statistic: Statistic,
    n: int,
    guarantee: Guarantee,
    mechanisms: Sequence[Mechanism] | None = None,
    releases: int = 1,
    ledger: object | None = None,
    replaced: Number = REPLACED,
    *,
    entities: object | None = None,
    per_entity: int | None = None,
) -> Plan:
    """Rank mechanisms by the expected geodesic distance between release and value.

    Touches no data: everything follows from the domain, ``n`` and the guarantee. Distances are
    simulated with a public seed, for a value at the ball's centre (or the space's origin) and for
    one on its edge. What ``replaced`` takes of the guarantee, as in ``release``, is taken off
    first. With a ``ledger`` each mechanism's price is shown, and what the ledger would
    not pay for cannot serve.

    With ``releases`` = k the guarantee holds for k equal releases together, fixed beforehand: each
    row's scale is that of one of them, and ``share`` what to ask ``release`` for.

    ``entities`` and ``per_entity`` are those of ``release``; ``n`` is then the number of persons.
    ``entities=True`` says that persons have many records, without showing which.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> mean = gd.FrechetMean(gd.Ball(gd.SPD(2), np.eye(2), 1.5))
    >>> gd.plan(mean, 100, gd.ApproxDP(1, 1e-5)).best.name
    'riemannian-laplace'
    """
    check_statistic(statistic)
    check_guarantee(guarantee)
    n, count = check_count(n), check_releases(releases)
    statistic = _per_entity(statistic, n, entities, per_entity)
    considered = candidates() if mechanisms is None else tuple(mechanisms)
    if not considered:
        raise InputError("At least one mechanism is needed.")
    for mechanism in considered:
        check_mechanism(mechanism)
    if ledger is None:
        return ranked(statistic, n, guarantee, considered, Purse(releases=count), replaced)
    paying = ledger_of(ledger)
    left = paying.left_for()
    purse = Purse(paying.budget.notion, left, count)
    budget = paying.budget.to_json(paying.budget.limit - left)
    found = ranked(statistic, n, guarantee, considered, purse, replaced)
    return replace(found, budget=budget)


def _per_entity(statistic: Statistic, n: int, entities: Any, per_entity: int | None) -> Statistic:
    """The statistic of persons, where records are grouped."""
    if entities is True:
        return PerEntity(statistic, entity_rule(per_entity))
    records = len(entities) if hasattr(entities, "__len__") else n
    groups = entities_of(entities, records, per_entity)
    if groups is None:
        return statistic
    if len(groups) != n:
        raise InputError("With entities n is their number, which is public.")
    return PerEntity(statistic, groups.rule)


def ranked(
    statistic: Statistic,
    n: int,
    guarantee: Guarantee,
    mechanisms: Sequence[Mechanism],
    purse: Purse,
    replaced: Any = REPLACED,
) -> Plan:
    """The plan of mechanisms that have passed the checks, as far as the purse allows."""
    rows: list[PlanRow] = []
    for mechanism in mechanisms:
        row = _row(statistic, n, guarantee, mechanism, purse, replaced)
        if row.why_not is not None or not any(_same(row, other) for other in rows):
            rows.append(row)
    total = _sensitivity(statistic, n)
    head = (statistic.name, statistic.space.spec, n, guarantee, total)
    note = route_of(statistic).words
    division = divided(statistic, equal_part(guarantee, purse.releases), replaced)
    counting = Counting.of(division, statistic, n)
    deviation = None if counting is None else counting.deviation
    in_order = _ranked(rows)
    return Plan(
        *head,
        in_order,
        note=note,
        releases=purse.releases,
        replaced=division.count,
        deviation=deviation,
        warning=_warning(statistic, in_order[0].center)
        or _drowned(statistic, n, in_order[0].center),
    )


def _drowned(statistic: Statistic, n: int, distance: float | None) -> str:
    """What to say of maps whose noise in each place is as wide as the ball there."""
    cells, ball = statistic.space.cells, statistic.ball
    if cells == 1 or ball is None or distance is None:
        return ""
    there = distance / math.sqrt(cells)
    if there < ball.radius:
        return ""
    needed = math.ceil(n * there / (_USEFUL * ball.radius))
    return (
        f"In each of the {cells} places the noise is about {there:.3g} wide, and the ball's radius "
        f"is {ball.radius:g}: such a map says nothing. The noise grows with the square root of the "
        f"number of places and falls with n: about {needed} records would bring it to a tenth of "
        "the radius. Take fewer places, or more records."
    )


def _warning(statistic: Statistic, distance: float | None) -> str:
    """What to say where points at twice the best expected distance are none in 64-bit floats."""
    if distance is None:
        return ""
    space = statistic.space
    z = public_rng().standard_normal((_PROBES, space.dim))
    z *= 2 * distance / np.linalg.norm(z, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        points = space.exp_coords(at_center(statistic)[0], z)
    if space.contains(points).all():
        return ""
    return (
        f"The noise is so wide that a released point may be none of {space.spec} in 64-bit floats, "
        "and then it says nothing. Take more records, a smaller ball or a weaker promise."
    )


def _sensitivity(statistic: Statistic, n: int) -> float | None:
    """Of the value itself; None where none is proven, and only some mechanisms can serve."""
    try:
        return sensitivity_of(statistic, n).total
    except ConditionError:
        return None


def check_count(n: object) -> int:
    """A number of records, at least two."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise InputError("The number of records n is an integer of at least two.")
    if n > 2**53:
        raise InputError("The number of records n is at most 2**53.")
    return int(n)


def check_releases(releases: object) -> int:
    """A number of releases that share a guarantee, at least one."""
    if isinstance(releases, bool) or not isinstance(releases, (int, np.integer)) or releases < 1:
        raise InputError("The number of releases is an integer of at least one.")
    return int(releases)


def _same(row: PlanRow, other: PlanRow) -> bool:
    """Whether the best member of a family is one that has a row under its own name."""
    if not row.parameters or other.parameters or row.center is None or other.center is None:
        return False
    pairs = (row.center, other.center), (row.edge or 0.0, other.edge or 0.0)
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def _row(
    statistic: Statistic,
    n: int,
    guarantee: Guarantee,
    mechanism: Mechanism,
    purse: Purse,
    replaced: Any,
) -> PlanRow:
    """The row of the mechanism with all choices made, at the share of least distance."""
    space, several = route_of(statistic).space, purse.releases > 1
    whole = guarantee if several else divided(statistic, guarantee, replaced).value
    try:
        chosen = mechanism.resolved(space, whole, purse.releases)
        shares = chosen.shares(space, guarantee, purse.releases)
    except InputError as error:
        return PlanRow(mechanism, why_not=str(error))
    # several (ε, δ) stand for the composed law of the value's noise alone: no room for a share
    parts = [0 if several and share.notion == "approx" else replaced for share in shares]
    divisions = [divided(statistic, *pair) for pair in zip(shares, parts, strict=True)]
    rows = [_row_of(statistic, n, division, chosen, purse) for division in divisions]
    able = [row for row in rows if row.center is not None and row.why_not is None]
    best = min(able, key=lambda row: row.center or 0.0) if able else rows[0]
    if not several:
        return best
    division = divisions[rows.index(best)]
    return replace(best, share=division.whole, counted=division.count is not None)


def _row_of(
    statistic: Statistic, n: int, division: Division, mechanism: Mechanism, purse: Purse
) -> PlanRow:
    route = route_of(statistic)
    reason = mechanism.why_not(route.space, division.value, route.ball)
    if reason is not None:
        return PlanRow(mechanism, why_not=reason)
    try:
        return _able_row(statistic, n, division, mechanism, purse)
    except InputError as error:  # no scale serves at this sensitivity
        return PlanRow(mechanism, why_not=str(error))


def _able_row(
    statistic: Statistic, n: int, division: Division, mechanism: Mechanism, purse: Purse
) -> PlanRow:
    route = route_of(statistic)
    price, reason = purse.price(mechanism, statistic, n, division)
    if reason is not None:
        return PlanRow(mechanism, price=price, why_not=reason)
    stages = mechanism.stages(division.value)
    rng = public_rng()
    center, center_error = _mean(simulate(stages, statistic, n, at_center(statistic), rng))
    edge, edge_error = _mean(simulate(stages, statistic, n, at_edge(statistic, rng), rng))
    cal, _ = calibrated(stages[-1].mechanism, statistic, n, stages[-1].guarantee)
    reach = 0.0 if statistic.ball is None else statistic.ball.reach
    bound = cal.distance_bound(reach * len(stages))  # a private footpoint lies in the ball too
    proven = None if route.stretch is None else bound * route.stretch
    row = PlanRow(mechanism, cal.scale, center, center_error, edge, edge_error, proven, price)
    exact = cal.mean_distance() if len(stages) == 1 and is_direct(route) else None
    assumes = cal.assumes or None
    return replace(row, parameters=cal.parameters or None, exact=exact, assumes=assumes)


def _mean(distances: Array) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(distances.mean()), float(distances.std() / np.sqrt(len(distances)))


def _ranked(rows: list[PlanRow]) -> tuple[PlanRow, ...]:
    """By expected distance; the fixed order stands within two standard errors of a simulation, and
    a law with parameters must be better by a hundredth."""
    able = [row for row in rows if row.why_not is None]
    ranked: list[PlanRow] = []
    for row in able:
        place = len(ranked)
        while place and _clearly_nearer(row, ranked[place - 1]):
            place -= 1
        ranked.insert(place, row)
    return (*ranked, *(row for row in rows if row.why_not is not None))


def _clearly_nearer(row: PlanRow, other: PlanRow) -> bool:
    """By the mean of the distances at centre and edge: where the value lies is secret. Two wrapped
    laws at the centre by the mean length of their noise, which needs no simulation."""
    if row.exact is not None and other.exact is not None:
        return row.exact < other.exact * (1 - (_WORTH if row.parameters else 0.0))
    (near, error), (far, other_error) = _figure(row), _figure(other)
    return bool(near < far - 2 * np.hypot(error, other_error))


def _figure(row: PlanRow) -> tuple[float, float]:
    assert row.center is not None
    assert row.edge is not None
    error = np.hypot(row.center_error or 0.0, row.edge_error or 0.0) / 2
    return (row.center + row.edge) / 2, float(error)
