"""Events that tell two inputs apart: chosen on some draws, measured on the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from geodp.testing.audit.confidence import Array, Rates, exact_rates, rough_rates

Scores = Mapping[str, tuple[Array, Array]]
_THRESHOLDS = 300


class Bound(NamedTuple):
    """A lower bound that holds but for a chance of 2 ``ALARM``, and the event that gave it."""

    value: float
    event: str


@final
@dataclass(frozen=True, eq=False)
class Experiment:
    """Scores of draws at two neighbouring inputs, split in two.

    A score is a number for each draw, by name: ``{name: (at the first input, at the second)}``.
    Events are ``score >= t`` and ``score < t``. Thresholds, scores and directions are chosen on
    ``train`` and counted on ``test``, which the choice has not seen.
    """

    train: Scores
    test: Scores

    @classmethod
    def split(cls, scores: Scores, share: float = 0.2) -> Experiment:
        """The first ``share`` of the draws chooses, the rest is counted.

        Scores are rounded to nine digits: draws in floats stand for a law, and what their last
        digits give away is the business of the attacks on digits.
        """
        scores = {name: _rounded(*pair) for name, pair in scores.items()}
        cut = {name: [int(share * len(s)) for s in pair] for name, pair in scores.items()}
        train = {n: (a[: cut[n][0]], b[: cut[n][1]]) for n, (a, b) in scores.items()}
        test = {n: (a[cut[n][0] :], b[cut[n][1] :]) for n, (a, b) in scores.items()}
        return cls(train, test)

    def bound(self, gain: Callable[[Rates], Array]) -> Bound:
        """The best certified value of ``gain``, such as ``lambda rates: rates.mu()``."""
        best, chosen = -np.inf, None
        for event, p, q in self._candidates():
            sizes = [len(self.train[event.score][i]) for i in event.order]  # wary of luck
            value = gain(rough_rates(p, q, sizes[0], sizes[1]))
            at = int(np.argmax(value))
            if value[at] > best or chosen is None:
                best, chosen = float(value[at]), event._replace(at=at)
        assert chosen is not None
        threshold = chosen.thresholds[chosen.at]
        counts = [_count(self.test[chosen.score][i], threshold, chosen.above) for i in chosen.order]
        rates = exact_rates(*counts[0], *counts[1])
        side = "at least" if chosen.above else "below"
        more = "first" if chosen.order[0] == 0 else "second"
        text = f"{chosen.score} {side} {threshold:.4g}, likelier at the {more} input"
        return Bound(float(gain(rates)), text)

    def _candidates(self) -> list[tuple[_Family, Array, Array]]:
        out = []
        for name, (a, b) in self.train.items():
            pooled = np.sort(np.concatenate([a, b]))
            at = np.linspace(0, len(pooled) - 1, _THRESHOLDS).astype(np.intp)
            thresholds = np.unique(pooled[at])
            above = [1 - np.searchsorted(np.sort(s), thresholds) / len(s) for s in (a, b)]
            for order in ((0, 1), (1, 0)):
                p, q = above[order[0]], above[order[1]]
                out.append((_Family(name, order, True, thresholds), p, q))
                out.append((_Family(name, order, False, thresholds), 1 - p, 1 - q))
        return out


class _Family(NamedTuple):
    """Events of one score, one side and one order of the inputs, over many thresholds."""

    score: str
    order: tuple[int, int]
    above: bool
    thresholds: Array
    at: int = 0


def _rounded(first: Array, second: Array) -> tuple[Array, Array]:
    """Both to nine digits of the largest, so that equal scores stay equal."""
    finite = np.abs(np.concatenate([first, second]))
    largest = float(finite[np.isfinite(finite)].max(initial=0.0))
    digits = 9 - math.ceil(math.log10(max(largest, 1e-200)))
    return np.round(first, digits), np.round(second, digits)


def _count(scores: Array, threshold: float, above: bool) -> tuple[int, int]:
    hits = int((scores >= threshold).sum())
    return (hits if above else len(scores) - hits), len(scores)
