"""Lower bounds on epsilon, (epsilon, delta) and mu from draws, against what was promised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from geodp.errors import GuaranteeError
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.profile import Profile
from geodp.privacy.promised import promised
from geodp.testing.audit.confidence import Array, Rates
from geodp.testing.audit.events import Experiment, Scores
from geodp.testing.audit.report import Finding

_LOSSES = (0.0, 0.5, 1.0)
_ROUNDING = 1 + 1e-9


class Question(NamedTuple):
    """What is bounded from below, and how much of it is allowed."""

    name: str
    allowed: float
    gain: Callable[[Rates], Array]


class Answer(NamedTuple):
    """A certified lower bound, what is allowed, and the event that gave it."""

    at_least: float
    allowed: float
    event: str

    @property
    def breaks(self) -> bool:
        return self.at_least > self.allowed * _ROUNDING

    @property
    def share(self) -> float:
        """Of what is allowed."""
        return self.at_least / self.allowed if self.allowed > 0 else -math.inf


def guarantee_test(scores: Scores, guarantee: Guarantee, which: str) -> Finding:
    """Certified lower bounds against what ``guarantee`` allows any mechanism.

    ``scores``: of draws at two neighbouring inputs, by name (see ``Experiment``).
    """
    return _test(scores, promised(guarantee), f"guarantee, {which} draws", guarantee.label)


def profile_test(scores: Scores, profile: Profile, which: str) -> Finding:
    """The same against the certified profile, which says more than the guarantee."""
    return _test(scores, profile, f"profile, {which} draws", "the certified profile")


def _test(scores: Scores, claim: Profile, name: str, label: str) -> Finding:
    experiment = Experiment.split(scores)
    answers: dict[str, Answer] = {}
    for question in _questions(claim):
        bound = experiment.bound(question.gain)
        answers[question.name] = Answer(bound.value, question.allowed, bound.event)
    broken = {what: one for what, one in answers.items() if one.breaks}
    if broken:
        detail = f"Draws break {label}: " + "; ".join(
            f"{what} is at least {one.at_least:.4g}, not {one.allowed:.4g} ({one.event})"
            for what, one in broken.items()
        )
    else:
        what = max(answers, key=lambda q: answers[q].share)
        one = answers[what]
        detail = (
            f"Nothing breaks {label}; the nearest is {what}, at least {one.at_least:.4g} of "
            f"{one.allowed:.4g}"
        )
    figures = {what: one._asdict() for what, one in answers.items()}
    return Finding.of(name, not broken, f"{detail}.", figures, comparisons=2 * len(answers))


def _questions(claim: Profile) -> Iterator[Question]:
    """delta at some epsilon, those that the claim names itself included; mu and epsilon where it
    bounds them."""
    own = _known(lambda: float(claim.pair()[0]))
    for loss in dict.fromkeys((*_LOSSES, *own)):
        yield Question(f"delta({loss:.4g})", claim.delta(loss), _delta_gain(loss))
    for mu in _known(claim.mu):
        yield Question("mu", mu, lambda rates: rates.mu())
    for epsilon in _known(lambda: float(claim.pure_upper())):
        yield Question("epsilon", epsilon, lambda rates: rates.epsilon(0.0))


def _delta_gain(loss: float) -> Callable[[Rates], Array]:
    return lambda rates: rates.delta(loss)


def _known(ask: Callable[[], float]) -> tuple[float, ...]:
    """The answer, if the claim has one."""
    try:
        return (ask(),)
    except GuaranteeError:
        return ()
