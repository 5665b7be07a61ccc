"""release: evaluate, randomise, round, and hand out a receipt."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import text_or_none
from geodp.errors import ConditionError, GeodpError, InputError, MismatchError
from geodp.inference.shares import REPLACED
from geodp.ledger.described import described
from geodp.ledger.facts import Domain, Subject
from geodp.ledger.receipt import Release, request_json
from geodp.mechanisms import candidates, parse_mechanism
from geodp.mechanisms.base import Calibration, Evaluated, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import Number
from geodp.progress import Hook, reporting, tick
from geodp.random import bit_stream
from geodp.spaces.base import Array
from geodp.statistics.domain import Ball
from geodp.statistics.entities import Entities, PerEntity, entities_of
from geodp.statistics.given_value import GivenValue
from geodp.statistics.protocol import Statistic, domain_of
from geodp.statistics.records import ClippedRecords, source_of
from geodp.statistics.route import route_of
from geodp.verbs.calibrate import check_guarantee, check_mechanism, check_statistic
from geodp.verbs.paying import Purse, account_for, checked, price_of, strength_of
from geodp.verbs.plan import ranked
from geodp.verbs.replaced import Counting, divided
from geodp.verbs.stages import expected_distance, finished, run, stage_facts


def release(
    records: ArrayLike | ClippedRecords | None,
    statistic: Statistic,
    guarantee: Guarantee,
    mechanism: Mechanism | str = "best",
    *,
    replaced: Number = REPLACED,
    unit: str | None = None,
    entities: object | None = None,
    per_entity: int | None = None,
    ledger: object | None = None,
    dataset: str | None = None,
    group: str | None = None,
    request_id: str | None = None,
    rng: np.random.Generator | None = None,
    progress: Hook | None = None,
) -> Release:
    """Release a statistic of the records with a differential-privacy guarantee.

    Records outside the public ball are moved by its rule, the statistic is evaluated to a certified
    error, noise is calibrated to its sensitivity plus twice that error, and the ideal real-valued
    outcome is rounded correctly to floats. Neighbours differ in one record, or with ``entities`` in
    all records of one; n is public. No message and no refusal depends on a record's value.

    Parameters
    ----------
    records : array ``(n, *point_shape)``, n >= 2, a memory map, or records clipped to the ball.
    statistic : such as ``gd.FrechetMean(ball)``.
    guarantee : ``PureDP``, ``ApproxDP``, ``GaussianDP``, ``RenyiDP`` or ``ZCDP``.
    mechanism : ``"best"`` (least expected distance, from public facts) or a mechanism.
    replaced : the part of the promise that pays for the noisy share of records that the public rule
        moved or replaced: a wrong unit shows there at once. 0 switches it off. The value is
        released to the rest, and both together keep ``guarantee``.
    unit : what one record is, in words (default: the ledger's, else ``"record"``, or ``"person"``
        with entities).
    entities : one id for each record (texts, numbers or other hashable values, of one kind), where
        a person has several. All records of a person then count as one, and ``n`` is the number of
        persons, which is public. Each enters by the certified mean of its records in the ball.
    per_entity : instead, each person enters by its first so many records, repeated in turn where it
        has fewer.
    ledger : a ``gd.Ledger``, its file or its URL. It is charged before a record's value is looked
        at, and what was charged stays charged, whatever happens next.
    dataset : the data set's name in the ledger, registered with a keyed digest at its first use.
    group : ``"partition=label"`` where the records are those of one public label; groups of one
        partition are disjoint and charged in parallel.
    request_id : a text of yours: a retry with the same one returns the stored release, unchanged.
    rng : a seeded numpy ``Generator`` makes the outcome repeatable and NOT PRIVATE; a ledger
        refuses it.
    progress : called with a ``geodp.progress.Step`` now and then. What it raises stops the release,
        as Ctrl-C does; before the noise is drawn nothing is spent, and nothing is released.

    Returns
    -------
    Release : the value with its receipt, signed where a ledger paid.

    Raises
    ------
    LedgerRefusal : the ledger does not pay; the message says what would still fit.
    MismatchError : unit, neighbours or records are not those that the ledger knows.
    LedgerError : the ledger cannot be read or written.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.6)
    >>> north = np.array([[0.0, 0.1, 1.0], [0.1, 0.0, 1.0], [0.0, 0.0, 1.0]])
    >>> north /= np.linalg.norm(north, axis=1, keepdims=True)
    >>> out = gd.release(north, gd.FrechetMean(ball), gd.GaussianDP(1), unit="person")
    >>> out.value.shape, out.n, out.private
    ((3,), 3, True)
    """
    check_statistic(statistic)
    check_guarantee(guarantee)
    stream = bit_stream(rng)
    for what, text in (("unit", unit), ("data set", dataset), ("request id", request_id)):
        if text_or_none(text, f"The {what}") is not None and not str(text).strip():
            raise InputError(f"The {what} is blank: name it, or leave it out.")
    account = account_for(ledger, dataset, group, request_id, seeded=not stream.private)
    data, n = _accepted(records, statistic)
    groups = None if data is None else entities_of(entities, n, per_entity)
    if groups is not None:
        statistic, n = PerEntity(statistic, groups.rule), len(groups)
    protected = account.unit(_entity(unit, ledger, grouped=entities is not None))
    division = divided(statistic, guarantee, replaced)
    domain = None if statistic.ball is None else _described(statistic.ball)
    about, public_n = _subject(statistic), None if records is None else n
    name, strategy_asked = _asked(mechanism)
    request = request_json(
        statistic.space, statistic.name, domain, public_n, protected, guarantee, name, about=about
    )
    grouping = None if groups is None else groups.fingerprint
    share = None if division.count is None else division.count.to_json()
    asked = {
        "request": request,
        "strategy": strategy_asked,
        "count": share,
        "bounds": _bounds(statistic, n),
        "entities": grouping,
    }
    given = getattr(statistic, "value", None) if data is None else None
    before = account.replay(asked, source_of(data), given)  # before anything is ranked
    if before is not None:
        return before
    strategy = strategy_for(statistic, n, division.value, mechanism, Purse(account.notion))
    stages = strategy.stages(division.value)
    counting = Counting.of(division, statistic, n)
    expected = expected_distance(stages, statistic, n)
    price, first = price_of(strategy, statistic, n, division, account.notion)
    request |= {"mechanism": strategy.name}
    parts_of = [stage.guarantee for stage in stages]
    parts_of += [] if division.count is None else [division.count]
    shares = [part.to_json() for part in parts_of]
    event = {"request": request, "shares": shares, "first_stage": first}
    before = account.reserve(event, price)
    if before is not None:
        return before
    drawing = False
    try:
        with reporting(progress) as told:
            evaluated = _evaluate(statistic, data, groups)
            tick("noise")
        drawing = True
        within = checked(price, account.notion, guarantee)

        def draw(cal: Calibration) -> Array:
            within(cal)
            return cal.release(evaluated, stream)

        value, calibrations, parts = run(stages, statistic, n, draw)
        drawn, moved = list(calibrations), None
        if counting is not None:
            within(counting.calibration)
            counted = _evaluate(counting.statistic, evaluated.records)
            moved = counting.outcome(counting.calibration.release(counted, stream))
            drawn.append(counting.calibration)
        outcome = Release(
            value=finished(statistic, value),
            space=statistic.space,
            statistic=statistic.name,
            domain=domain,
            n=public_n,
            unit=protected,
            guarantee=guarantee,
            mechanism=strategy.name,
            sensitivity=parts,
            stages=stage_facts(statistic, calibrations, value),
            expected_distance=expected,
            private=stream.private,
            neighbours=request["neighbours"],
            released_at=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=_versions(),
            strength=strength_of(guarantee, drawn),
            about=about,
            replaced=moved,
        )
        account.store(outcome)
    except BaseException as error:
        if not drawing and told.stopped_by(error):
            account.cancel()
        else:
            account.fail()
        raise
    return account.commit()


def _accepted(records: Any, statistic: Statistic) -> tuple[Any, int]:
    """The records, their dtype and shape checked but no value read, and how many there are."""
    if records is None and isinstance(statistic, GivenValue):
        return None, 2  # its sensitivity is the same for every n
    domain = domain_of(statistic)
    if domain is None:
        return records, len(records)
    if isinstance(records, ClippedRecords):
        domain.clip(records)  # refuses those of another ball
        if statistic.ball is None:
            return records, len(records)
        records = source_of(records)  # clipped afresh: the array behind them may have changed
    data = domain.accept(records)
    return data, len(data)


def _bounds(statistic: Statistic, n: int) -> tuple[float, float] | None:
    """What two statistics of one name may differ in; None where it has no such number of its own,
    such as a median that only its gradient bounds."""
    try:
        return statistic.sensitivity(n), statistic.error_bound
    except GeodpError:
        return None


def _asked(mechanism: Mechanism | str) -> tuple[str, Any]:
    """The mechanism by name as it was asked for, and all that makes it another than its like."""
    if mechanism == "best":
        return "best", "best"
    strategy = parse_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    check_mechanism(strategy)
    return strategy.name, described(strategy)


def strategy_for(
    statistic: Statistic,
    n: int,
    guarantee: Guarantee,
    mechanism: Mechanism | str,
    purse: Purse,
) -> Mechanism:
    """The mechanism that was asked for, or the best that the purse can pay for; refused with its
    reason if it cannot serve."""
    if mechanism == "best":
        return ranked(statistic, n, guarantee, candidates(), purse, 0).best
    strategy = parse_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    check_mechanism(strategy)
    route = route_of(statistic)
    reason = strategy.why_not(route.space, guarantee, route.ball)
    if reason is not None:
        raise ConditionError(reason)
    return strategy.resolved(route.space, guarantee)


def _entity(unit: str | None, ledger: object | None, *, grouped: bool) -> str | None:
    """What a unit is called: with entities, never a record."""
    if not grouped:
        return unit
    if unit == "record":
        raise InputError("With entities the unit is what an entity is, such as person.")
    return "person" if unit is None and ledger is None else unit


def _evaluate(statistic: Statistic, data: Any, groups: Entities | None = None) -> Evaluated:
    """The statistic on clipped records; a custom one must keep its own word on its error."""
    domain = domain_of(statistic)
    clipped = data
    if domain is not None and data is not None:
        clipped = domain.clip(data) if groups is None else groups.clip(domain, source_of(data))
    certified = statistic.evaluate(clipped)
    if not certified.error_bound <= statistic.error_bound:
        raise MismatchError(
            f"The statistic {statistic.name!r} declares an error bound below that of its value; "
            "declare the public worst case."
        )
    records = clipped if isinstance(clipped, ClippedRecords) else None
    return Evaluated(_inside(statistic, certified.value), statistic, records)


def _inside(statistic: Statistic, value: ArrayLike) -> Array:
    """The value, moved by the public rule where it lies beyond the ball that the noise is made for.

    Geodp's own statistics never do; one of a user's may, and its sensitivity is about the values
    after the move.
    """
    route = route_of(statistic)
    space, ball = route.space, route.ball
    point = np.asarray(value, dtype=np.float64)
    if point.shape != space.point_shape:
        raise MismatchError(
            f"The statistic {statistic.name!r} gives arrays of shape {point.shape}; a point of "
            f"{space.spec} has shape {space.point_shape}."
        )
    if ball is None:
        return point
    return point if ball.holds(point) else ball.project(point)


def _subject(statistic: Statistic) -> Subject | None:
    """The records of a number that does not live on their space."""
    ball = domain_of(statistic)
    if ball is None or statistic.ball is not None:
        return None
    parameters = dict(getattr(statistic, "parameters", {}))
    return Subject(ball.space, _described(ball), parameters)


def _described(ball: Ball) -> Domain:
    return Domain(ball.center, ball.radius, ball.physical_unit, ball.component_order, ball.frame)


def _versions() -> dict[str, str]:
    packages = ("geodp", "numpy", "scipy", "python-flint", "randomgen")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
