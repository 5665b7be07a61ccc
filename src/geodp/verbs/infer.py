"""infer: mean, variance and a confidence region under one promise."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real
from geodp.errors import ConditionError, InputError, LedgerRefusal, NotYetError
from geodp.inference.collect import collect
from geodp.inference.estimate import Estimate
from geodp.inference.groups import Groups, group_name, labelled
from geodp.inference.numbers import Noisy, noise_of
from geodp.inference.quantiles import check_confidence
from geodp.inference.result import Inference
from geodp.inference.shares import REPLACED
from geodp.ledger.receipt import Release
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import Number
from geodp.progress import Hook
from geodp.statistics.domain import Ball
from geodp.statistics.entities import entities_of
from geodp.statistics.protocol import Statistic
from geodp.verbs.calibrate import check_guarantee
from geodp.verbs.infer_plan import Prepared, prepared
from geodp.verbs.paying import account_for, ledger_of, price_of
from geodp.verbs.release import release
from geodp.verbs.replaced import Division


def infer(
    records: ArrayLike,
    ball: Ball,
    guarantee: Guarantee,
    confidence: float = 0.95,
    *,
    mechanism: Mechanism | str | None = None,
    split: Mapping[str, Any] | None = None,
    replaced: Number = REPLACED,
    spread: float | None = None,
    by: ArrayLike | None = None,
    by_name: str = "group",
    by_public: bool | None = None,
    unit: str | None = None,
    entities: object | None = None,
    ledger: object | None = None,
    dataset: str | None = None,
    group: str | None = None,
    request_id: str | None = None,
    rng: np.random.Generator | None = None,
    progress: Hook | None = None,
) -> Inference | Groups:
    """The Fréchet mean with its confidence region, the variance with its interval, privately.

    The target is the Fréchet mean of the population of *clipped* records. The promise is divided
    among the numbers that a region needs (the mean, the covariance and on curved spaces the mean
    Hessian seen from it), the variance with the fourth moment, and the share of records that the
    public rule replaced. All of them together keep ``guarantee``.

    Parameters
    ----------
    records : array ``(n, *point_shape)`` or a memory map.
    ball : the public domain.
    guarantee : of everything that is released; (ε, δ) through the Gaussian's μ.
    confidence : level of the region and of the intervals, each for itself.
    mechanism : of the mean; None for the wrapped Gaussian where no curvature is positive, the
        Riemannian Gaussian else, wrapped ℓ2-Laplace for pure ε.
    split : shares of ``mean``, ``covariance``, ``hessian``, ``variance``, ``fourth``, ``replaced``
        (in μ² for Gaussian DP); None for the smallest region predicted from public facts.
    replaced : share for the noisy share of replaced records; 0 switches it off. Ignored with a
        ``split``.
    spread : a public length to which tangent vectors are cut for the covariance, which then costs
        less noise. Records farther from the mean make the region too small.
    by, by_name, by_public : a label for each record, texts or integers; one inference for each,
        composed in parallel. Say ``by_public=True`` only if labels and group sizes are public.
    entities : as for ``release``; the target is then the mean of the persons' means. With ``by``
        all records of a person have one label, and the sizes are numbers of persons.
    unit, ledger, dataset, group, request_id, rng : as for ``release``.
    progress : as for ``release``. Stopping spends no more than the numbers that are drawn already.

    Returns
    -------
    Inference, or Groups with ``by``.

    Raises
    ------
    ConditionError : too few records, a smeary domain, or noise too large for a finite region.
    LedgerRefusal : the ledger cannot pay for all of it; nothing is spent.
    MismatchError : unit, neighbours or records are not those that the ledger knows.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.SPD(2), np.eye(2), 1.0)
    >>> z = np.random.default_rng(1).uniform(-0.3, 0.3, (300, 3))
    >>> out = gd.infer(gd.SPD(2).exp_coords(np.eye(2), z), ball, gd.GaussianDP(2))
    >>> bool(out.region.contains(out.mean.value)), sorted(out.split)[:3]
    (True, ['covariance', 'fourth', 'hessian'])
    """
    if not isinstance(ball, Ball):
        raise InputError("infer takes a ball, such as gd.Ball(gd.Sphere(2), center, radius).")
    if ball.space.cells > 1:
        raise NotYetError(
            "There is no region for all places of a map together. Infer in each of the V places "
            "by itself, to mu/sqrt(V) of Gaussian DP, or a V-th of zCDP or of a pure epsilon: "
            "together they keep the whole promise, and with Gaussian noise cost the same. The "
            "page 'Persons, maps, and data past one machine' shows how."
        )
    check_guarantee(guarantee)
    confidence = check_confidence(confidence)
    if spread is not None:  # refused before the mean is drawn and paid for
        spread = positive_real(spread, "The spread")
    data = ball.accept(records)
    persons = entities_of(entities, len(data), None)
    payment = {
        "unit": unit,
        "ledger": ledger,
        "dataset": dataset,
        "request_id": request_id,
        "rng": rng,
        "progress": progress,
    }
    plan = {"mechanism": mechanism, "split": split, "replaced": replaced, "spread": spread}
    if by is None:
        n = len(data) if persons is None else len(persons)
        ready = prepared(ball, n, guarantee, confidence, plan)
        _check_purse(ready, ledger, dataset, group, request_id)
        return _run(ready, data, payment | {"group": group, "entities": persons})
    if group is not None:
        raise InputError("by makes the groups itself: leave group out.")
    by_name = group_name(by_name)
    groups = labelled(by, len(data), by_public)
    parted = {
        label: None if persons is None else persons.among(rows) for label, rows in groups.items()
    }
    sizes = {
        label: int(rows.sum()) if (mine := parted[label]) is None else len(mine)
        for label, rows in groups.items()
    }
    planned = {
        label: _planned(label, ball, size, guarantee, confidence, plan)
        for label, size in sizes.items()
    }
    places: dict[str, dict[str, Any]] = {
        label: {
            "group": None if ledger is None else f"{by_name}={label}",
            "request_id": None if request_id is None else f"{request_id}/{label}",
        }
        for label in groups
    }
    for label, ready in planned.items():
        _check_purse(ready, ledger, dataset, **places[label])
    if ledger is not None:
        paying = ledger_of(ledger)
        paying.check_groups(dataset, {places[g]["group"]: data[rows] for g, rows in groups.items()})
    found = {
        label: _run(
            planned[label], data[rows], payment | places[label] | {"entities": parted[label]}
        )
        for label, rows in groups.items()
    }
    return Groups(by_name, found)


def _planned(label: str, *asked: Any) -> Prepared:
    try:
        return prepared(*asked)
    except ConditionError as error:
        raise ConditionError(f"The group {label!r} is refused. {error}") from error


def _check_purse(
    ready: Prepared, ledger: Any, dataset: Any, group: str | None, request_id: str | None
) -> None:
    """Refuse, before anything is spent, what the ledger cannot pay for as a whole.

    Parts that an earlier try of this request has paid for cost nothing again.
    """
    account_for(ledger, dataset, group, request_id, seeded=False)
    if ledger is None:
        return
    paying = ledger_of(ledger)
    notion, total = paying.budget.notion, Fraction(0)
    asked = {name: _part_request(request_id, name) for name in ready.split}
    paid = paying.requested([one for one in asked.values() if one is not None])
    for name, promise in ready.split.items():
        if asked[name] in paid:
            continue
        mechanism, alone = ready.mechanism_of(name), Division(promise, promise)
        total += price_of(mechanism, ready.statistic(name), ready.n, alone, notion)[0]
    left = paying.left_for(dataset, group)
    if total > left:
        raise LedgerRefusal(
            f"The ledger refuses: the numbers of this inference cost {float(total):.6g} together, "
            f"and it has {float(left):.6g} left. Nothing is spent. Ask for less."
        )


def _part_request(request_id: str | None, name: str) -> str | None:
    """The request id of one part of an inference."""
    return None if request_id is None else f"{request_id}/{name}"


def _run(ready: Prepared, data: Any, payment: dict[str, Any]) -> Inference:
    ball, releases = ready.ball, dict[str, Release]()
    clipped = None

    def make(name: str, statistic: Statistic) -> Noisy:
        nonlocal clipped
        mine = payment | {"request_id": _part_request(payment["request_id"], name)}
        if name != "mean" and clipped is None and payment["entities"] is None:
            clipped = ball.clip(data)
        subject = data if clipped is None else clipped
        promise, strategy = ready.split[name], ready.mechanism_of(name)
        out = release(subject, statistic, promise, strategy, replaced=0, **mine)
        releases[name] = out
        return Noisy(out.value, noise_of(out))

    numbers = collect(make, ready.split, ball, ready.n, ready.spread)
    return Inference(ready.guarantee, ready.split, releases, Estimate(numbers, ready.confidence))
