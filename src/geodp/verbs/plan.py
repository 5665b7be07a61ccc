"""plan: what each mechanism would cost in accuracy, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from geodp.statistics.entities import PerEntity, entities_of
from geodp.statistics.entity_rules import entity_rule
from geodp.statistics.protocol import Statistic
from geodp.statistics.route import is_direct, route_of
from geodp.verbs.calibrate import check_guarantee, check_mechanism, check_statistic
from geodp.verbs.paying import Purse, ledger_of
from geodp.verbs.plan_table import Plan, PlanRow, Relative
from geodp.verbs.plan_warnings import drowned, in_each_place, unrepresentable
from geodp.verbs.replaced import Counting, Division, divided
from geodp.verbs.stages import (
    at_center,
    at_edge,
    calibrated,
    sensitivity_of,
    simulate,
)

_WORTH = 0.01  # relative: the gain in distance that pays for a law with parameters


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
    dataset: str | None = None,
    group: str | None = None,
) -> Plan:
    """Rank mechanisms by the expected geodesic distance between release and value.

    Touches no data: everything follows from the domain, ``n`` and the guarantee. Distances are
    simulated with a public seed, for a value at the ball's centre (or the space's origin) and for
    one on its edge. What ``replaced`` takes of the guarantee, as in ``release``, is taken off
    first. The mean's relatives, which estimate other points, are listed with their best mechanism.
    With a ``ledger`` each mechanism's price is shown, and what the ledger would not pay for cannot
    serve; ``Plan.pays`` says whether anything is left. With a ``dataset`` and a ``group`` that it
    knows, by what they have left.

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
    purse, budget = Purse(releases=count), None
    if ledger is None and (dataset is not None or group is not None):
        raise InputError("dataset and group belong to a ledger: name the ledger too.")
    if ledger is not None:
        paying = ledger_of(ledger)
        left = paying.left_for(dataset, group)
        purse = Purse(paying.budget.notion, left, count)
        budget = paying.budget.to_json(paying.budget.limit - left)
    found = ranked(statistic, n, guarantee, considered, purse, replaced)
    others = getattr(statistic, "relatives", ())
    relatives = [_relative(other, n, guarantee, considered, purse, replaced) for other in others]
    return replace(found, budget=budget, relatives=tuple(filter(None, relatives)))


def _relative(
    statistic: Statistic,
    n: int,
    guarantee: Guarantee,
    mechanisms: Sequence[Mechanism],
    purse: Purse,
    replaced: Any,
) -> Relative | None:
    """A statistic next to the one asked for, at its best; None where nothing serves it."""
    best = ranked(statistic, n, guarantee, mechanisms, purse, replaced)
    if best.rows[0].why_not is not None:
        return None
    return Relative(statistic.name, best.sensitivity, best.rows[0])


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
    division = divided(statistic, equal_part(guarantee, purse.releases), replaced)
    counting = Counting.of(division, statistic, n)
    deviation = None if counting is None else counting.deviation
    in_order = _ranked(rows)
    notes = route_of(statistic).words, in_each_place(statistic, in_order[0].center)
    return Plan(
        *head,
        in_order,
        note=" ".join(filter(None, notes)),
        releases=purse.releases,
        replaced=division.count,
        deviation=deviation,
        warning=unrepresentable(statistic, in_order[0].center)
        or drowned(statistic, n, in_order[0].center),
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
