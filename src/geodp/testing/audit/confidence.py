"""Exact confidence bounds on probabilities, and bounds on privacy that follow from them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ALARM = 1e-9
"""How often one comparison may cry wolf; an audit makes fewer than a thousand."""
_WIDTH = 6.0  # standard errors that stand for ALARM while an event is chosen


def at_least(hits: int, trials: int, alarm: float = ALARM) -> float:
    """A lower bound on a probability that fails with probability at most ``alarm``.

    Clopper and Pearson (1934): exact for every number of trials.

    >>> at_least(0, 100)
    0.0
    """
    from scipy.special import betaincinv

    return 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, alarm))


def at_most(hits: int, trials: int, alarm: float = ALARM) -> float:
    """An upper bound on a probability that fails with probability at most ``alarm``."""
    return 1.0 - at_least(trials - hits, trials, alarm)


class Rates(NamedTuple):
    """How likely an event is at least under one input (``p``), at most under the other (``q``)."""

    p: Array
    q: Array

    def delta(self, epsilon: float) -> Array:
        """A lower bound on delta(epsilon): P(S) - e^epsilon Q(S)."""
        return np.asarray(self.p - math.exp(epsilon) * self.q)

    def mu(self) -> Array:
        """A lower bound on the mu of Gaussian DP: Phi^-1(P(S)) - Phi^-1(Q(S))."""
        from scipy.special import ndtri

        with np.errstate(invalid="ignore"):
            mu = ndtri(self.p) - ndtri(self.q)
        return np.asarray(np.where((self.p > 0) & (self.q < 1), mu, -np.inf))

    def epsilon(self, delta: float) -> Array:
        """A lower bound on the epsilon that goes with a delta: log((P(S) - delta)/Q(S))."""
        excess = np.maximum(self.p - delta, 1e-300)
        return np.asarray(np.log(excess) - np.log(np.maximum(self.q, 1e-300)))


def exact_rates(p_hits: int, p_trials: int, q_hits: int, q_trials: int) -> Rates:
    """Both bounds from counts; each fails with probability at most ``ALARM``."""
    return Rates(np.asarray(at_least(p_hits, p_trials)), np.asarray(at_most(q_hits, q_trials)))


def rough_rates(p: Array, q: Array, p_trials: int, q_trials: int) -> Rates:
    """What ``exact_rates`` will come to about (Wilson's formula), to choose an event by."""
    return Rates(_wilson(p, p_trials, -_WIDTH), _wilson(q, q_trials, _WIDTH))


def _wilson(rate: Array, trials: int, width: float) -> Array:
    square = width * width / trials
    spread = np.sqrt(rate * (1 - rate) / trials + square / (4 * trials))
    return np.asarray((rate + square / 2 + width * spread) / (1 + square))
