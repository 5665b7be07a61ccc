"""A budget: an exact limit in a notion in which adaptively chosen releases add up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from geodp.errors import GuaranteeError, LedgerError, LedgerRefusal
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from geodp.privacy.numbers import decimal, real, root_down

DIGITS = 20
"""Significant decimals of a price that is no promised number; rounded up."""

_LEAST = Fraction(1, 10**280)  # less than this is no promise that a float64 can hold
_NAMES = {"gdp": "mu^2", "zcdp": "rho", "pure": "epsilon"}
_ADDS: dict[str, Callable[..., Fraction]] = {
    "gdp": lambda g: g.mu**2,
    "zcdp": lambda g: g.rho,
    "pure": lambda g: g.epsilon,
}
_PROMISES: dict[str, Callable[[Fraction], Guarantee]] = {
    "gdp": lambda x: GaussianDP(root_down(x)),
    "zcdp": ZCDP,
    "pure": PureDP,
}


@final
@dataclass(frozen=True)
class Budget:
    """What a ledger may spend: ``limit`` in the additive number of ``notion``.

    GDP adds mu squared (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023), zCDP adds rho
    (Feldman and Zrnic 2021), pure DP adds epsilon (Rogers et al. 2016), each also when a release is
    chosen in the light of those before it. ``stated`` is the promise in the office's words.
    """

    notion: str
    limit: Fraction
    stated: Guarantee

    @classmethod
    def of(cls, guarantee: Guarantee) -> Budget:
        """The budget that a promise states.

        (epsilon, delta) is kept as the largest GDP budget that implies it (to 1e-9, rounded down).
        Rényi DP of one order is refused (GuaranteeError).

        >>> Budget.of(GaussianDP("0.1")).limit
        Fraction(1, 100)
        >>> round(float(Budget.of(ApproxDP(1, 1e-5)).limit), 5)
        0.07185
        """
        if isinstance(guarantee, ApproxDP):
            from geodp.privacy.solve import gaussian_ratio

            largest = _rounded(gaussian_ratio(guarantee) ** 2, DIGITS, up=False)
            return cls("gdp", largest, guarantee)
        if guarantee.notion not in _ADDS:
            raise GuaranteeError(
                "A running budget is stated in Gaussian DP, zCDP, pure epsilon or (epsilon, "
                "delta): Rényi DP of a single order says too little about what else is released."
            )
        return cls(guarantee.notion, added(guarantee, guarantee.notion), guarantee)

    @property
    def adds(self) -> str:
        """The number that adds, by name."""
        return _NAMES[self.notion]

    def text(self, amount: Fraction) -> str:
        """An amount in words, such as ``mu^2 = 0.25``."""
        return f"{self.adds} = {shown(amount)}"

    def refusal(self, asked: Fraction, spent: Fraction) -> LedgerRefusal:
        """Asked, spent, left, difference, and what would still fit."""
        left = self.limit - spent
        largest = self.fitting(left)
        fits = (
            "Nothing more fits: no release about these people can be paid from this ledger."
            if largest is None
            else f"{largest!r} would still fit."
        )
        return LedgerRefusal(
            f"The ledger refuses: asked {self.text(asked)}, spent {shown(spent)} of "
            f"{shown(self.limit)}, left {shown(left, down=True)}, that is {shown(asked - left)} "
            f"too much. {fits}"
        )

    def fitting(self, left: Fraction) -> Guarantee | None:
        """The largest promise of six digits that ``left`` pays for; None where none is left."""
        return None if left <= _LEAST else fitting(self.notion, left)

    def to_json(self, spent: Fraction) -> dict[str, Any]:
        """Limit, spent and left, exact and as promises, in every form that the office may ask."""
        amounts = {"limit": self.limit, "spent": spent, "left": self.limit - spent}
        facts: dict[str, Any] = {"notion": self.notion, "adds": self.adds}
        facts |= {name: decimal(amount) for name, amount in amounts.items()}
        facts["stated"] = self.stated.to_json()
        for name, amount in amounts.items():
            facts[f"{name}_as"] = self._forms(amount, down=name == "left")
        return facts

    def _forms(self, amount: Fraction, down: bool) -> dict[str, Any] | None:
        """The promise that an amount makes; (epsilon, delta) too where the budget is stated so."""
        if amount <= _LEAST:
            return None
        promise = fitting(self.notion, amount) if down else _PROMISES[self.notion](amount)
        forms: dict[str, Any] = {"notion": self.notion} | {
            name: shown(getattr(promise, name), down=down) for name in _numbers(promise)
        }
        if isinstance(self.stated, ApproxDP):
            from geodp.privacy.gaussian import GaussianProfile

            delta = self.stated.delta
            forms["epsilon"] = GaussianProfile(square=amount).epsilon(delta)
            forms["delta"] = decimal(delta)
        return forms

    def describe(self) -> dict[str, Any]:
        """What the ledger keeps of it."""
        return {
            "notion": self.notion,
            "limit": fraction_text(self.limit),
            "stated": self.stated.to_json(),
        }

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Budget:
        """The budget that ``describe`` wrote."""
        stated = Guarantee.from_json(facts["stated"])
        budget = cls(facts["notion"], stored(facts["limit"]), stated)
        if budget.notion not in _ADDS or not budget.limit:
            raise LedgerError("The ledger is damaged: its budget is no budget.")
        return budget


def added(guarantee: Guarantee, notion: str) -> Fraction:
    """What a promise in the ledger's own notion adds; KeyError for another notion."""
    if guarantee.notion != notion:
        raise KeyError(notion)
    return _ADDS[notion](guarantee)


def rounded_up(amount: Fraction, digits: int = DIGITS) -> Fraction:
    """The amount rounded up to so many significant decimals: sums of prices stay short.

    >>> rounded_up(Fraction(1, 3), 2)
    Fraction(17, 50)
    """
    return _rounded(amount, digits, up=True)


def fitting(notion: str, left: Fraction) -> Guarantee:
    """The largest promise of six digits that an amount pays for.

    >>> fitting("gdp", Fraction(2))
    GaussianDP(mu=1.41421)
    """
    if notion == "gdp":
        return GaussianDP(_rounded(root_down(left), 6, up=False))
    return _PROMISES[notion](_rounded(left, 6, up=False))


def shown(amount: Fraction, down: bool = False) -> str:
    """An amount for a sentence: exact where short, else six digits rounded to the safe side.

    >>> shown(Fraction(1, 4)), shown(Fraction(1, 3)), shown(Fraction(1, 3), down=True)
    ('0.25', '0.333334', '0.333333')
    """
    exact = decimal(amount)
    if len(exact) <= 9 and "/" not in exact:
        return exact
    if amount < 0:
        return "-" + shown(-amount, not down)
    return decimal(_rounded(amount, 6, up=not down))


def stored(text: object) -> Fraction:
    """An amount that a ledger keeps; LedgerError where it is none."""
    try:
        amount = real(text if isinstance(text, str) else None, "an amount")
    except GuaranteeError as error:
        raise LedgerError("The ledger is damaged: an amount in it is no number.") from error
    if amount < 0:
        raise LedgerError("The ledger is damaged: an amount in it is negative.")
    return amount


def fraction_text(amount: Fraction) -> str:
    """An exact amount as it is stored: ``p/q``."""
    return f"{amount.numerator}/{amount.denominator}"


def _rounded(amount: Fraction, digits: int, *, up: bool) -> Fraction:
    if amount == 0:
        return amount
    size = len(str(amount.numerator)) - len(str(amount.denominator))
    size -= amount < Fraction(10) ** size  # 10^size <= amount < 10^(size + 1)
    unit = Fraction(10) ** (size + 1 - digits)
    return (-((-amount) // unit) if up else amount // unit) * unit


def _numbers(promise: Guarantee) -> list[str]:
    return [name for name in ("mu", "rho", "epsilon") if hasattr(promise, name)]
