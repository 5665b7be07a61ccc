"""infer: mean, variance and a confidence region under one promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real
from geodp.errors import ConditionError, InputError, NotYetError
from geodp.inference.collect import collect
from geodp.inference.estimate import Estimate
from geodp.inference.groups import Groups, group_name, labelled
from geodp.inference.numbers import Noisy, noise_of
from geodp.inference.quantiles import check_confidence
from geodp.inference.result import Inference
from geodp.inference.shares import REPLACED
from geodp.ledger.receipt import Release
from geodp.ledger.totals import part_of
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.numbers import Number
from geodp.progress import Hook
from geodp.statistics.domain import Ball
from geodp.statistics.entities import entities_of
from geodp.statistics.protocol import Statistic
from geodp.verbs.calibrate import check_guarantee
from geodp.verbs.holding import held, part_request, wanted_by
from geodp.verbs.infer_plan import Prepared, prepared
from geodp.verbs.paying import account_for, ledger_of
from geodp.verbs.release import release


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
    payment = {"unit": unit, "dataset": dataset, "rng": rng, "progress": progress}
    plan = {"mechanism": mechanism, "split": split, "replaced": replaced, "spread": spread}
    if by is None:
        n = len(data) if persons is None else len(persons)
        ready = prepared(ball, n, guarantee, confidence, plan)
        place = {"group": group, "request_id": request_id, "entities": persons}
        with _paying(ledger, [_Asked(ready, lambda: data, place)], payment) as (purse,):
            return _run(ready, data, payment | place | purse)
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
    asked = {
        label: _Asked(
            planned[label],
            partial(data.__getitem__, rows),
            {
                "group": None if ledger is None else f"{by_name}={label}",
                "request_id": part_request(request_id, label),
                "entities": parted[label],
            },
        )
        for label, rows in groups.items()
    }
    with _paying(ledger, list(asked.values()), payment) as purses:
        found = {
            label: _run(one.ready, one.records(), payment | one.place | purse)
            for (label, one), purse in zip(asked.items(), purses, strict=True)
        }
    return Groups(by_name, found)


def _planned(label: str, *asked: Any) -> Prepared:
    try:
        return prepared(*asked)
    except ConditionError as error:
        raise ConditionError(f"The group {label!r} is refused. {error}") from error


class _Asked(NamedTuple):
    """An inference of one part of the data: its records, and how a ledger knows it."""

    ready: Prepared
    records: Callable[[], Any]
    place: dict[str, Any]


@contextmanager
def _paying(
    ledger: object | None, asked: Sequence[_Asked], payment: Mapping[str, Any]
) -> Iterator[list[dict[str, Any]]]:
    """Who pays for each, once all of it is held; LedgerRefusal, with nothing spent, if it is not.

    What an earlier try of the same request has paid for costs nothing again.
    """
    seeded, dataset = payment["rng"] is not None, payment["dataset"]
    for one in asked:
        group, request_id = one.place["group"], one.place["request_id"]
        account_for(ledger, dataset, group, request_id, seeded=seeded).unit(payment["unit"])
    if ledger is None:
        yield [{"ledger": None} for _ in asked]
        return
    paying, wanted = ledger_of(ledger), []
    for one in asked:
        group, request_id, persons = (one.place[k] for k in ("group", "request_id", "entities"))
        part = part_of(dataset, group)
        wanted.append(wanted_by(one.ready, paying, part, request_id, one.records(), persons))
    with held(paying, wanted) as holds:
        yield [{"ledger": hold} for hold in holds]


def _run(ready: Prepared, data: Any, payment: dict[str, Any]) -> Inference:
    ball, releases = ready.ball, dict[str, Release]()
    clipped = None

    def make(name: str, statistic: Statistic) -> Noisy:
        nonlocal clipped
        mine = payment | {"request_id": part_request(payment["request_id"], name)}
        if name != "mean" and clipped is None and payment["entities"] is None:
            clipped = ball.clip(data)
        subject = data if clipped is None else clipped
        promise, strategy = ready.split[name], ready.mechanism_of(name)
        out = release(subject, statistic, promise, strategy, replaced=0, **mine)
        releases[name] = out
        return Noisy(out.value, noise_of(out))

    numbers = collect(make, ready.split, ball, ready.n, ready.spread)
    return Inference(ready.guarantee, ready.split, releases, Estimate(numbers, ready.confidence))
