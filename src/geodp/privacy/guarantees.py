"""The five promises: pure ε, (ε, δ), Gaussian μ, Rényi (α, ε) and zero-concentrated ρ.

All are about replacing one record among n, n public. The numbers inside are exact rationals; a
float means its shortest decimal. A guarantee promises; what a mechanism really gives is a profile.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, Self, final

from geodp.errors import GuaranteeError
from geodp.privacy.numbers import Number, decimal, exact, exact_below_one, root_down


class Guarantee(ABC):
    """A promise about every pair of neighbouring data sets."""

    notion: ClassVar[str]
    """pure, approx, gdp, renyi or zcdp."""

    @abstractmethod
    def split(self, share: Number) -> tuple[Self, Self]:
        """Two promises, of ``share`` and the rest, that together never exceed this one.

        ``share`` lies strictly between 0 and 1 and is taken in the notion's additive number
        (μ² for GDP). Raises GuaranteeError otherwise.
        """

    @abstractmethod
    def detection(self, false_alarm: float) -> float:
        """The most a test with this false-positive rate can detect (a float estimate)."""

    @property
    def text(self) -> str:
        """The promise in one plain sentence.

        >>> import geodp as gd
        >>> print(gd.GaussianDP(1).text)
        1-Gaussian DP: no test that is wrong on 1 % of the data sets without a given record \
can recognise more than 9.3 % of those with it.
        """
        return self.about("record")

    def about(self, what: str) -> str:
        """The same about another thing that neighbours differ in, such as a person with many
        records."""
        return (
            f"{self.label}: no test that is wrong on 1 % of the data sets without a given {what} "
            f"can recognise more than {percent(self.detection(0.01))} of those with it."
        )

    @property
    @abstractmethod
    def label(self) -> str:
        """The promise's short name, for tables."""

    def to_json(self) -> dict[str, str]:
        """The notion and its numbers as exact decimal strings (``p/q`` where none exists).

        >>> import geodp as gd
        >>> gd.GaussianDP(0.1).to_json()
        {'notion': 'gdp', 'mu': '0.1'}
        """
        return {"notion": self.notion} | self._numbers()

    @staticmethod
    def from_json(document: Mapping[str, object]) -> Guarantee:
        """The guarantee that ``to_json`` wrote; GuaranteeError for anything else."""
        return from_json(document)

    def _numbers(self) -> dict[str, str]:
        return {f.name: decimal(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={text}" for name, text in self._numbers().items())
        return f"{type(self).__name__}({inside})"


@final
@dataclass(frozen=True, init=False, repr=False)
class PureDP(Guarantee):
    """ε-differential privacy: no probability changes by more than a factor e^ε.

    ``epsilon`` > 0; GuaranteeError for zero, negative, infinite and subnormal numbers and NaN.
    (Dwork, McSherry, Nissim and Smith 2006.)

    >>> import geodp as gd
    >>> gd.PureDP("0.5")
    PureDP(epsilon=0.5)
    """

    notion: ClassVar[str] = "pure"
    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))

    def split(self, share: Number) -> tuple[PureDP, PureDP]:
        part = exact_below_one(share, "share") * self.epsilon
        return PureDP(part), PureDP(self.epsilon - part)

    def detection(self, false_alarm: float) -> float:
        return _detection(float(self.epsilon), 0.0, false_alarm)

    @property
    def label(self) -> str:
        return f"{_short(self.epsilon)}-DP"


@final
@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy: P(S) ≤ e^ε Q(S) + δ for every event S.

    ``epsilon`` > 0, 0 < ``delta`` < 1, else GuaranteeError. (Dwork et al. 2006.)

    >>> import geodp as gd
    >>> gd.ApproxDP(1, "1e-5").label
    '(1, 1e-05)-DP'
    """

    notion: ClassVar[str] = "approx"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact_below_one(delta, "delta"))

    def split(self, share: Number) -> tuple[ApproxDP, ApproxDP]:
        part = exact_below_one(share, "share")
        rest = 1 - part
        return (
            ApproxDP(part * self.epsilon, part * self.delta),
            ApproxDP(rest * self.epsilon, rest * self.delta),
        )

    def detection(self, false_alarm: float) -> float:
        return _detection(float(self.epsilon), float(self.delta), false_alarm)

    @property
    def label(self) -> str:
        return f"({_short(self.epsilon)}, {_short(self.delta)})-DP"


@final
@dataclass(frozen=True, init=False, repr=False)
class GaussianDP(Guarantee):
    """μ-Gaussian DP: telling neighbours apart is no easier than N(0, 1) from N(μ, 1).

    ``mu`` > 0, else GuaranteeError. (Dong, Roth and Su 2022.)

    >>> import geodp as gd
    >>> gd.GaussianDP(0.1).mu  # a float means its shortest decimal
    Fraction(1, 10)
    """

    notion: ClassVar[str] = "gdp"
    mu: Fraction

    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", exact(mu, "mu"))

    def split(self, share: Number) -> tuple[GaussianDP, GaussianDP]:
        whole = self.mu**2
        first = root_down(exact_below_one(share, "share") * whole)
        return GaussianDP(first), GaussianDP(root_down(whole - first**2))

    def detection(self, false_alarm: float) -> float:
        normal = NormalDist()
        return normal.cdf(float(self.mu) + normal.inv_cdf(false_alarm))

    @property
    def label(self) -> str:
        return f"{_short(self.mu)}-Gaussian DP"


@final
@dataclass(frozen=True, init=False, repr=False)
class RenyiDP(Guarantee):
    """(α, ε)-Rényi DP: the Rényi divergence of order α > 1 is at most ε.

    ``alpha`` > 1 and ``epsilon`` > 0, else GuaranteeError. (Mironov 2017.)

    >>> import geodp as gd
    >>> gd.RenyiDP(8, "0.04")
    RenyiDP(alpha=8, epsilon=0.04)
    """

    notion: ClassVar[str] = "renyi"
    alpha: Fraction
    epsilon: Fraction

    def __init__(self, alpha: Number, epsilon: Number) -> None:
        order = exact(alpha, "alpha")
        if order <= 1:
            raise GuaranteeError("The order alpha of Rényi DP must be greater than one.")
        object.__setattr__(self, "alpha", order)
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))

    def split(self, share: Number) -> tuple[RenyiDP, RenyiDP]:
        part = exact_below_one(share, "share") * self.epsilon
        return RenyiDP(self.alpha, part), RenyiDP(self.alpha, self.epsilon - part)

    def detection(self, false_alarm: float) -> float:
        return _renyi_detection(float(self.alpha), float(self.epsilon), false_alarm)

    @property
    def label(self) -> str:
        return f"({_short(self.alpha)}, {_short(self.epsilon)})-Rényi DP"


@final
@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Guarantee):
    """ρ-zero-concentrated DP: the Rényi divergence of every order α > 1 is at most αρ.

    ``rho`` > 0, else GuaranteeError. (Bun and Steinke 2016.)

    >>> import geodp as gd
    >>> gd.ZCDP("0.5").split("1/4")
    (ZCDP(rho=0.125), ZCDP(rho=0.375))
    """

    notion: ClassVar[str] = "zcdp"
    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho"))

    def split(self, share: Number) -> tuple[ZCDP, ZCDP]:
        part = exact_below_one(share, "share") * self.rho
        return ZCDP(part), ZCDP(self.rho - part)

    def detection(self, false_alarm: float) -> float:
        rho = float(self.rho)
        # log bound (1 − 1/α)(log q + αρ) is least at α = √(log(1/q)/ρ); α → 1 gives the bound 1
        order = math.sqrt(-math.log(false_alarm) / rho)
        return _renyi_detection(order, order * rho, false_alarm) if order > 1 else 1.0

    @property
    def label(self) -> str:
        return f"{_short(self.rho)}-zCDP"


def percent(share: float) -> str:
    """A share of what can be detected, in per cent and rounded up to a tenth of one.

    >>> percent(0.0924), percent(1.0)
    ('9.3 %', '100 %')
    """
    return f"{min(math.ceil(1000 * share - 1e-9) / 10, 100.0):.3g} %"


_NOTIONS: dict[str, type[Guarantee]] = {
    kind.notion: kind for kind in (PureDP, ApproxDP, GaussianDP, RenyiDP, ZCDP)
}


def from_json(document: Mapping[str, object]) -> Guarantee:
    """The guarantee that ``to_json`` wrote.

    >>> from_json({"notion": "approx", "epsilon": "1", "delta": "1e-5"})
    ApproxDP(epsilon=1, delta=0.00001)
    """
    notion = document.get("notion")
    kind = _NOTIONS.get(notion) if isinstance(notion, str) else None
    if kind is None:
        raise GuaranteeError(f"The notion must be one of {', '.join(_NOTIONS)}.")
    names = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    if set(document) != names | {"notion"}:
        raise GuaranteeError(
            f"A guarantee of notion {notion} has the numbers {', '.join(sorted(names))}."
        )
    return kind(**{name: document[name] for name in names})


def _detection(epsilon: float, delta: float, false_alarm: float) -> float:
    high = math.exp(min(epsilon, 700.0)) * false_alarm + delta
    return min(1.0, high, 1 - math.exp(-epsilon) * (1 - delta - false_alarm))


def _renyi_detection(order: float, epsilon: float, false_alarm: float) -> float:
    exponent = (1 - 1 / order) * (math.log(false_alarm) + epsilon)
    return math.exp(min(0.0, exponent))


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"
