"""audit: every attack of the kit on one mechanism, on one space, under one guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from geodp.arguments import positive_real
from geodp.errors import ConditionError, GeodpError, InputError
from geodp.mechanisms import on_request
from geodp.mechanisms.base import Calibration, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.testing import mechanism_laws
from geodp.testing.audit.classifier import classified
from geodp.testing.audit.fit import density_test, law_test
from geodp.testing.audit.floats import digits_test, released, strong_subject
from geodp.testing.audit.neighbours import awkward_records, default_ball
from geodp.testing.audit.pipeline import path_test, receipts_test, skipped_path
from geodp.testing.audit.privacy import guarantee_test, profile_test
from geodp.testing.audit.replay import replay_test
from geodp.testing.audit.report import Finding, Report
from geodp.testing.audit.subject import LAW, Subject, needs_records, subject_for
from geodp.verbs.calibrate import check_guarantee, check_mechanism
from geodp.verbs.release import release

_BATCH = 20_000
_N = 8  # records of the whole releases


@final
@dataclass(frozen=True)
class Effort:
    """How many draws: in floats at each input, exactly rounded, and for the digits."""

    fast: int
    exact: int
    digits: int

    @classmethod
    def of(cls, minutes: float) -> Effort:
        """Counts that take some ``minutes`` on one core on a space of three dimensions."""
        share = minutes / 0.25
        return cls(int(200_000 * share), int(2500 * share), int(3000 * share))


def audit(
    mechanism: Mechanism,
    space: Space,
    sensitivity: float,
    guarantee: Guarantee,
    *,
    ball: Ball | None = None,
    minutes: float = 0.25,
    time_is_public: bool | None = None,
    seed: int = 0,
) -> Report:
    """Attack a mechanism at neighbouring values that are ``sensitivity`` apart.

    What is audited is said line by line: *float draws* are many and show the law that the mechanism
    states, *exact draws* are what leaves a release. A mechanism that looks at the records gets two
    clusters of them instead of values. See docs/audit.

    Parameters
    ----------
    mechanism : one of geodp's, of yours, or of ``geodp.testing.audit.twins``.
    sensitivity : a geodesic length (of the gradient for the K-norm gradient mechanism).
    ball : the public ball (default: one of 2.5 sensitivities around the origin).
    minutes : about how long, on one core; numbers of draws follow from it alone. With a quarter or
        more, noise that is 10 % too small is found.
    time_is_public : False if running time is documented to depend on the data; default: as geodp's
        mechanisms say.
    seed : of all random numbers.

    Raises
    ------
    ConditionError : the mechanism cannot serve here.

    Examples
    --------
    >>> import geodp as gd
    >>> from geodp.testing.audit import audit
    >>> report = audit(gd.Wrapped(gd.Gaussian()), gd.SPD(2), 0.1, gd.GaussianDP(1), minutes=0.01)
    >>> report.passed
    True
    """
    check_mechanism(mechanism)
    check_guarantee(guarantee)
    length = positive_real(sensitivity, "The sensitivity")
    effort = Effort.of(positive_real(minutes, "The number of minutes"))
    if effort.exact < 50:
        raise InputError("An audit takes at least 0.005 minutes.")
    domain = default_ball(space, length) if ball is None else ball
    reason = mechanism.why_not(space, guarantee, domain)
    if reason is not None:
        raise ConditionError(reason)
    if time_is_public is None:
        time_is_public = mechanism.name not in {one.name for one in on_request()}
    subject = subject_for(mechanism, domain, length, guarantee)
    findings = [
        _profile_laws(subject.calibration),
        *_float_draws(subject, effort, seed),
        *_exact_draws(subject, effort, seed),
        _digits(strong_subject(mechanism, domain, length), effort, seed),
        *_paths(mechanism, subject, domain, guarantee, time_is_public, seed),
    ]
    title = f"{mechanism.name} on {space.spec} under {guarantee.label}, sensitivity {length:g}"
    return Report(title, tuple(findings))


def _digits(subject: Subject | None, effort: Effort, seed: int) -> Finding:
    """Half as many draws where each needs the records, which takes longer."""
    if subject is None:
        return Finding.skipped("digits", "It keeps no promise strong enough to show a leak.")
    count = effort.digits // 2 if subject.fast is None else effort.digits
    return digits_test(subject, count, seed)


def _profile_laws(cal: Calibration) -> Finding:
    """delta(epsilon) falls, is convex in e^epsilon, and keeps the guarantee."""
    try:
        mechanism_laws.profile(cal.profile)
        mechanism_laws.promise(cal)
    except AssertionError as error:
        return Finding.of("profile", False, f"{str(error).splitlines()[0]}.")
    return Finding.of(
        "profile", True, "delta(epsilon) falls, is convex in e^epsilon, and keeps the guarantee."
    )


def _float_draws(subject: Subject, effort: Effort, seed: int) -> Iterator[Finding]:
    """The law, and what it gives away, from many draws in floats."""
    if subject.fast is None:
        yield Finding.skipped("float draws", "There are none: draws need the records.")
        return
    fast = subject.fast

    def draw(which: int) -> Array:
        rng = np.random.default_rng([seed, which, 11])
        sizes = [min(_BATCH, effort.fast - start) for start in range(0, effort.fast, _BATCH)]
        return np.concatenate([fast(which, size, rng) for size in sizes])

    if subject.law is None:
        yield Finding.skipped("law of float draws", "The calibration states no density.")
    else:
        total = density_test(subject.law)
        if total is not None:
            yield total
    yield from _from_draws(subject, draw, "float")


def _exact_draws(subject: Subject, effort: Effort, seed: int) -> Iterator[Finding]:
    """The same from what leaves; where each draw needs the records, half as many at neighbours."""
    few = effort.exact // (2 if subject.fast is None else 1)
    counts = (few, few, 2 * effort.exact)
    yield from _from_draws(subject, lambda i: released(subject, i, counts[i], seed), "exact")


def _from_draws(subject: Subject, draw: Callable[[int], Array], which: str) -> Iterator[Finding]:
    draws = [draw(i) for i in (0, 1)]
    if subject.law is not None:
        samples = list(zip(subject.points[:2], draws, strict=True))
        if subject.law.at_center:
            samples = [(subject.points[LAW], draw(LAW))]
        yield law_test(subject.law, samples, which)
    scores = [_scores(subject, x) for x in draws]
    paired = {name: (scores[0][name], scores[1][name]) for name in scores[0]}
    if subject.law is None:
        paired["classifier"] = classified(draws[0], draws[1])
    cal = subject.calibration
    yield guarantee_test(paired, cal.guarantee, which)
    yield profile_test(paired, cal.profile, which)


def _scores(subject: Subject, draws: Array) -> dict[str, Array]:
    parts = [
        subject.scores(draws[start : start + _BATCH]) for start in range(0, len(draws), _BATCH)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _paths(
    mechanism: Mechanism,
    subject: Subject,
    ball: Ball,
    guarantee: Guarantee,
    time_is_public: bool,
    seed: int,
) -> Iterator[Finding]:
    """Control flow of a draw and of a whole release, and its receipt."""
    yield replay_test(subject, seed) if time_is_public else skipped_path("control flow of a draw")
    try:
        statistic = FrechetMean(ball)
    except GeodpError as error:
        yield Finding.skipped("receipt", str(error))
        return

    def pipeline(records: Array, rng: np.random.Generator) -> Any:
        return release(records, statistic, guarantee, mechanism, rng=rng)

    inputs = awkward_records(ball, _N)
    try:
        yield receipts_test(pipeline, inputs, seed)
    except GeodpError as error:  # from public facts, such as a law that does not exist
        yield Finding.skipped("receipt", str(error))
        return
    if time_is_public and not needs_records(mechanism, ball):
        yield path_test(pipeline, inputs, seed)
    else:
        yield skipped_path("control flow of a release")
