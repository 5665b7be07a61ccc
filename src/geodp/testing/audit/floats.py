"""Attacks on the digits of what leaves: precision, support, residual, last bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from geodp.errors import GeodpError
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import ZCDP, GaussianDP, Guarantee, PureDP
from geodp.random import GeneratorBits
from geodp.spaces.base import Array, BoolArray
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.testing.audit.confidence import at_least, at_most
from geodp.testing.audit.report import Finding
from geodp.testing.audit.residuals import residual, traces
from geodp.testing.audit.subject import Subject, needs_records, on_records, on_values, records_for
from geodp.testing.audit.textbook import textbook_exp

STRONG: tuple[Guarantee, ...] = (GaussianDP("0.1"), PureDP("0.1"), ZCDP("0.005"))
"""Promises under which neighbours can hardly be told apart, so that a leak stands out."""

_BINS, _POINTS, _DATA_SETS = 40, 300, 60
_TRIED, _TRIALS = 12, 1500
_LEARN, _CHOOSE = 0.2, 0.2  # shares of the draws


def strong_subject(mechanism: Mechanism, ball: Ball, sensitivity: float) -> Subject | None:
    """The mechanism under a strong promise, at neighbours whose floats differ as much as they can;
    None if it keeps none of ``STRONG``.

    A tenth of the sensitivity keeps the noise about as wide as under a promise of one.
    """
    small = sensitivity / 10
    build = _recorded if needs_records(mechanism, ball) else _valued
    for guarantee in STRONG:
        try:
            return build(mechanism, ball, small, guarantee)
        except GeodpError:
            continue
    return None


def _valued(mechanism: Mechanism, ball: Ball, small: float, guarantee: Guarantee) -> Subject:
    cal = mechanism.calibrate(ball.space, small, guarantee, ball)
    return on_values(cal, ball, small, conspicuous(ball, small))


def _recorded(mechanism: Mechanism, ball: Ball, small: float, guarantee: Guarantee) -> Subject:
    n = records_for(ball, small)
    cal = mechanism.calibrate(ball.space, small, guarantee, ball)
    return on_records(cal, ball, conspicuous_records(ball, n))


def conspicuous(ball: Ball, distance: float) -> tuple[Array, Array]:
    """Two points at most ``distance`` apart, one as far off the manifold to either side as floats
    fall; where nothing binds the entries, the centre, whose entries are round, and the neighbour
    that a textbook release of floats would give away most."""
    foot, steps = _around(ball, 0.49 * distance, _POINTS)
    points = ball.space.exp_coords(foot, steps)
    stray = residual(ball.space, points)
    if stray.min() == stray.max():
        others = ball.space.exp_coords(ball.center, 2 * steps[:_TRIED])
        leaks = [_textbook_leak(ball, other, 10 * distance) for other in others]
        return ball.center, others[int(np.argmax(leaks))]
    return points[stray.argmin()], points[stray.argmax()]


def _textbook_leak(ball: Ball, other: Array, scale: float) -> float:
    """The residual's advantage at the centre against ``other`` under textbook float noise."""
    rng = np.random.default_rng(3)
    traced = []
    for point in (ball.center, other):
        noise = scale * rng.standard_normal((_TRIALS, ball.space.dim))
        draws = textbook_exp(ball.space, point, ball.space.vector(point, noise))
        traced.append(residual(ball.space, draws))
    return advantage({"residual": (traced[0], traced[1])})[0]


def conspicuous_records(ball: Ball, n: int) -> tuple[Array, Array]:
    """Data sets that differ in the last record, with means as ``conspicuous`` as can be."""
    statistic = FrechetMean(ball)
    foot, steps = _around(ball, 0.6 * ball.radius, _DATA_SETS)
    lasts = ball.space.exp_coords(foot, steps)
    sets = [np.stack([foot] * (n - 1) + [last]) for last in lasts]
    stray = residual(ball.space, np.array([statistic.evaluate(one).value for one in sets]))
    if stray.min() == stray.max():
        first = np.stack([ball.center] * n)
        return first, np.concatenate([first[:-1], lasts[:1]])
    return sets[int(stray.argmin())], sets[int(stray.argmax())]


def _around(ball: Ball, length: float, count: int) -> tuple[Array, Array]:
    """A point away from the centre, and the coordinates of ``count`` steps from there."""
    dim = ball.space.dim
    z = np.random.default_rng(2).standard_normal((count, dim))
    z *= length / np.linalg.norm(z, axis=1, keepdims=True)
    away = np.full(dim, 0.3 * ball.radius / np.sqrt(dim))
    return ball.space.exp_coords(ball.center, away), z


def digits_test(subject: Subject, count: int, seed: int, name: str = "digits") -> Finding:
    """The best of all attacks on the digits of ``count`` released points at each input.

    ``allowed``: delta(0) of the certified profile, the most by which any event may differ.
    """
    draws = [released(subject, i, count, seed) for i in (0, 1)]
    allowed = subject.calibration.profile.delta(0.0)
    trace = [traces(subject.space, x) for x in draws]
    scores = {what: (trace[0][what], trace[1][what]) for what in trace[0]}
    estimate, least, what = advantage(scores)
    holds = least <= allowed
    detail = (
        f"Best attack on {2 * count} released points ({what}): advantage {estimate:.3f}, at least "
        f"{max(least, 0.0):.3f}; allowed {allowed:.3f}."
    )
    figures = {"advantage": estimate, "at_least": least, "allowed": allowed, "attack": what}
    return Finding.of(name, holds, detail, figures, comparisons=2)


def released(subject: Subject, which: int, count: int, seed: int) -> Array:
    """``count`` points as they leave, from seeded bits."""
    stream = GeneratorBits(np.random.default_rng([seed, which, 7]))
    return np.array([subject.exact(which, stream) for _ in range(count)])


def advantage(scores: Mapping[str, tuple[Array, Array]]) -> tuple[float, float, str]:
    """The advantage of the best test on binned scores: estimate, exact lower bound, its score.

    Bins are learnt on a fifth of the draws, the score is chosen on another, the rest is counted.
    """
    best = max(scores, key=lambda what: _difference(*_hits(scores[what], chooses=True)))
    hits = _hits(scores[best], chooses=False)
    sizes = [len(h) for h in hits]
    counts = [int(h.sum()) for h in hits]
    least = at_least(counts[0], sizes[0]) - at_most(counts[1], sizes[1])
    return _difference(*hits), least, best


def _difference(first: BoolArray, second: BoolArray) -> float:
    return float(first.mean() - second.mean())


def _hits(pair: tuple[Array, Array], chooses: bool) -> list[BoolArray]:
    """Which draws fall in a bin that is likelier at the first input."""
    learn = [int(_LEARN * len(s)) for s in pair]
    choose = [int((_LEARN + _CHOOSE) * len(s)) for s in pair]
    known = [s[:n] for s, n in zip(pair, learn, strict=True)]
    levels = np.linspace(0, 1, _BINS + 1)[1:-1]
    edges = np.unique(np.quantile(np.concatenate(known), levels))
    seen = [np.bincount(np.digitize(s, edges), minlength=len(edges) + 1) / len(s) for s in known]
    likelier = seen[0] > seen[1]
    parts = [slice(a, b) if chooses else slice(b, None) for a, b in zip(learn, choose, strict=True)]
    return [likelier[np.digitize(s[part], edges)] for s, part in zip(pair, parts, strict=True)]
