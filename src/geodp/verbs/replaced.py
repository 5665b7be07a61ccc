"""The part of a promise that pays for the noisy share of records which the public rule moved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from geodp.errors import InputError
from geodp.inference.collect import noise_of_calibration, number_mechanism
from geodp.inference.shares import REPLACED
from geodp.ledger.facts import Replaced, Sensitivity
from geodp.mechanisms.base import Calibration, Stage
from geodp.privacy.guarantees import ApproxDP, Guarantee, PureDP
from geodp.privacy.numbers import real
from geodp.spaces.base import Array
from geodp.statistics.frechet_variance import ReplacedShare
from geodp.statistics.protocol import Statistic, domain_of
from geodp.verbs.stages import calibrated

_REFUSAL = "The option replaced is a share of the promise from 0 (off) to 0.5."


@final
@dataclass(frozen=True)
class Division:
    """A promise, the part that the value is released to, and the share's part (None: no share).

    Together the parts never exceed the whole. (ε, δ) gives the share a pure part of ε, which adds
    to the value's (ε, δ) by basic composition; the other notions divide their additive number.
    """

    whole: Guarantee
    value: Guarantee
    count: Guarantee | None = None

    @staticmethod
    def notion_beside(whole: Guarantee) -> str:
        """The notion of the share's part, which adds to the value's."""
        return PureDP.notion if isinstance(whole, ApproxDP) else whole.notion


def divided(statistic: Statistic, guarantee: Guarantee, replaced: Any = REPLACED) -> Division:
    """How a promise is divided; all of it goes to the value where no public rule moves records.

    ``replaced`` is the share's part, from 0 (off) to 0.5.

    >>> import geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0)
    >>> divided(gd.FrechetMean(ball), gd.ApproxDP(1, 1e-5)).count
    PureDP(epsilon=0.01)
    """
    part = replaced_part(replaced)
    counted = domain_of(statistic) is not None and not isinstance(statistic, ReplacedShare)
    if not part or not counted:
        return Division(guarantee, guarantee)
    if isinstance(guarantee, ApproxDP):
        count = PureDP(part * guarantee.epsilon)
        rest = ApproxDP((1 - part) * guarantee.epsilon, guarantee.delta)
        return Division(guarantee, rest, count)
    first, second = guarantee.split(part)
    return Division(guarantee, second, first)


def replaced_part(replaced: Any) -> Fraction:
    """The option ``replaced`` as an exact fraction; InputError beyond 0 to 0.5."""
    try:
        part = real(replaced, "replaced")
    except InputError as error:
        raise InputError(_REFUSAL) from error
    if not 0 <= part <= Fraction(1, 2):
        raise InputError(_REFUSAL)
    return part


@final
@dataclass(frozen=True)
class Counting:
    """The share of replaced records, ready to be drawn."""

    statistic: ReplacedShare
    calibration: Calibration
    sensitivity: Sensitivity

    @classmethod
    def of(cls, division: Division, statistic: Statistic, n: int) -> Counting | None:
        """None where the share is switched off or there is no public rule."""
        domain = domain_of(statistic)
        if division.count is None or domain is None:
            return None
        share = ReplacedShare(domain)
        (stage,) = _stages(division.count)
        return cls(share, *calibrated(stage.mechanism, share, n, stage.guarantee))

    @property
    def deviation(self) -> float:
        """The noise's standard deviation."""
        return noise_of_calibration(self.calibration).deviation

    def outcome(self, drawn: Array) -> Replaced:
        """What the receipt says of a drawn share."""
        share = float(np.asarray(drawn)[0])
        return Replaced(share, self.deviation, self.sensitivity, self.calibration.facts())


def _stages(count: Guarantee) -> tuple[Stage, ...]:
    return number_mechanism(count).stages(count)
