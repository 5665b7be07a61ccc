"""release: evaluate, randomise, round, and hand out a receipt."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.errors import ConditionError, MismatchError, NotYetError
from geodp.ledger.null import Ledger, NullLedger
from geodp.ledger.receipt import Domain, Release
from geodp.mechanisms import parse_mechanism
from geodp.mechanisms.base import Calibration, Mechanism, Stage
from geodp.privacy.guarantees import Guarantee
from geodp.random import bit_stream
from geodp.spaces.base import Array
from geodp.statistics.domain import Ball
from geodp.statistics.given_value import GivenValue
from geodp.statistics.protocol import Certified, Statistic
from geodp.statistics.records import ClippedRecords
from geodp.verbs.calibrate import check_guarantee, check_mechanism, check_statistic
from geodp.verbs.plan import plan
from geodp.verbs.stages import PUBLIC_SEED, at_center, run, simulate


def release(
    records: ArrayLike | ClippedRecords | None,
    statistic: Statistic,
    guarantee: Guarantee,
    mechanism: Mechanism | str = "best",
    *,
    unit: str | None = None,
    entities: object | None = None,
    ledger: object | None = None,
    dataset: str | None = None,
    request_id: str | None = None,
    rng: np.random.Generator | None = None,
) -> Release:
    """Release a statistic of the records with a differential-privacy guarantee.

    Records outside the public ball are moved by its rule, the statistic is evaluated to a certified
    error, noise is calibrated to its sensitivity plus twice that error, and the ideal real-valued
    outcome is rounded correctly to floats. Neighbours differ in one record; n is public. No message
    and no refusal depends on a record's value.

    Parameters
    ----------
    records : array ``(n, *point_shape)``, n >= 2, a memory map, or records clipped to the ball.
    statistic : such as ``gd.FrechetMean(ball)``.
    guarantee : ``PureDP``, ``ApproxDP``, ``GaussianDP``, ``RenyiDP`` or ``ZCDP``.
    mechanism : ``"best"`` (least expected distance, from public facts) or a mechanism.
    unit : what one record is, in words (default ``"record"``).
    rng : a seeded numpy ``Generator`` makes the outcome repeatable and NOT PRIVATE.
    entities, ledger, dataset, request_id : not built yet; anything but None is refused.

    Returns
    -------
    Release : the value with its receipt.

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
    _refuse_unbuilt(entities=entities, ledger=ledger, dataset=dataset, request_id=request_id)
    check_statistic(statistic)
    check_guarantee(guarantee)
    stream = bit_stream(rng)
    data, n = _accepted(records, statistic)
    strategy = _strategy(statistic, n, guarantee, mechanism)
    stages = strategy.stages(guarantee)
    expected = _expected_distance(statistic, stages, n)
    account: Ledger = NullLedger()
    account.reserve(guarantee)
    certified = _evaluate(statistic, data)

    def draw(cal: Calibration) -> Array:
        return cal.draw(certified.value, stream)

    value, calibrations, parts = run(stages, statistic, n, draw)
    outcome = Release(
        value=value,
        space=statistic.space,
        statistic=statistic.name,
        domain=_described(statistic.ball),
        n=None if records is None else n,
        unit="record" if unit is None else unit,
        guarantee=guarantee,
        mechanism=strategy.name,
        sensitivity=parts,
        stages=tuple(cal.facts() for cal in calibrations),
        expected_distance=expected,
        private=stream.private,
        released_at=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
    )
    account.commit(outcome)
    return outcome


def _refuse_unbuilt(**given: object) -> None:
    parts = {
        "entities": "Entities (many records of one person as one unit)",
        "ledger": "The budget ledger",
        "dataset": "A data-set name (part of the budget ledger)",
        "request_id": "A request id (part of the budget ledger)",
    }
    for name, value in given.items():
        if value is not None:
            raise NotYetError(f"{parts[name]} is not built yet: leave {name} out.")


def _accepted(records: Any, statistic: Statistic) -> tuple[Any, int]:
    """The records, their dtype and shape checked but no value read, and how many there are."""
    if records is None and isinstance(statistic, GivenValue):
        return None, 2  # its sensitivity is the same for every n
    if statistic.ball is None:
        return records, len(records)
    data = statistic.ball.accept(records)
    return data, len(data)


def _strategy(
    statistic: Statistic, n: int, guarantee: Guarantee, mechanism: Mechanism | str
) -> Mechanism:
    if mechanism == "best":
        return plan(statistic, n, guarantee).best
    strategy = parse_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    check_mechanism(strategy)
    reason = strategy.why_not(statistic.space, guarantee, statistic.ball)
    if reason is not None:
        raise ConditionError(reason)
    return strategy


def _expected_distance(statistic: Statistic, stages: tuple[Stage, ...], n: int) -> float:
    """Simulated for a value at the ball's centre: the true value plays no part."""
    rng = np.random.default_rng(PUBLIC_SEED)
    return float(simulate(stages, statistic, n, at_center(statistic), rng).mean())


def _evaluate(statistic: Statistic, data: Any) -> Certified:
    """The statistic on clipped records; a custom one must keep its own word on its error."""
    clipped = data if statistic.ball is None or data is None else statistic.ball.clip(data)
    certified = statistic.evaluate(clipped)
    if not certified.error_bound <= statistic.error_bound:
        raise MismatchError(
            f"The statistic {statistic.name!r} declares an error bound below that of its value; "
            "declare the public worst case."
        )
    return certified


def _described(ball: Ball | None) -> Domain | None:
    if ball is None:
        return None
    return Domain(ball.center, ball.radius, ball.physical_unit, ball.component_order, ball.frame)


def _versions() -> dict[str, str]:
    packages = ("geodp", "numpy", "scipy", "python-flint", "randomgen")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
