"""The largest certified sensitivity/scale at which spherical noise keeps a promise.

Floats search, ball arithmetic decides at the returned number. For a law with a bounded loss what
randomised response with that loss allows is the fallback, and never more than the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from geodp.errors import GuaranteeError
from geodp.noise.spherical import SphericalLaw
from geodp.privacy.balls import ball, lower
from geodp.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from geodp.privacy.search import greatest
from geodp.privacy.solve import laplace_ratio
from geodp.privacy.spherical import refuse_gdp, refuse_pure
from geodp.privacy.spherical_float import FloatShift, delta_estimate
from geodp.privacy.spherical_shift import Shift

_MODERATE: dict[str, tuple[Fraction, Fraction]] = {
    "epsilon": (Fraction(1, 10**6), Fraction(300)),
    "delta": (Fraction(1, 10**100), 1 - Fraction(1, 10**9)),
    "mu": (Fraction(1, 10**4), Fraction(30)),
    "rho": (Fraction(1, 10**8), Fraction(300)),
    "alpha": (1 + Fraction(1, 10**6), Fraction(10**6)),
}
_STEPS = (1e-9, 3e-7, 3e-6, 3e-5, 9e-5, 1e-3, 1e-2)  # below the float solution, tried in turn


@lru_cache(maxsize=1024)
def spherical_ratio(law: SphericalLaw, guarantee: Guarantee) -> Fraction:
    """The largest certified ratio for a promise, within 1e-4 relative of the optimum.

    Raises GuaranteeError where the law cannot keep the promise, with the reason.

    >>> from geodp.noise.strategies import L2Laplace
    >>> round(float(1 / spherical_ratio(L2Laplace().law(3), ApproxDP(1, 1e-5))), 5)
    0.99485
    """
    unit = Shift.of(law, Fraction(1))
    _REFUSALS[guarantee.notion](unit, guarantee)
    found = None
    if _is_moderate(guarantee):
        try:
            with np.errstate(all="ignore"):
                found = _SOLVERS[guarantee.notion](unit, guarantee)
        except (GuaranteeError, ArithmeticError, ValueError):
            found = None
    if unit.is_pure:
        safe = _of_loss(unit, laplace_ratio(guarantee))
        return safe if found is None else max(found, safe)
    if found is None:
        raise GuaranteeError(
            "No scale could be certified for this law and so extreme a promise; ask for a moderate "
            "budget, or use another noise."
        )
    return found


def epsilon_estimate(shift: Shift, delta: float) -> float | None:
    """The ε at which δ(ε) is ``delta``, in floats."""
    law = FloatShift.of(shift)
    try:
        with np.errstate(all="ignore"):
            return log_root(lambda e: -_log_delta(law, e), -_log(delta), 1.0)
    except (ArithmeticError, ValueError):
        return None


def _of_loss(unit: Shift, loss: Fraction) -> Fraction:
    """The ratio at which the largest loss rate · ratio^power is ``loss``, rounded down."""
    if unit.power == 1:
        return loss / unit.rate
    return lower(lambda: (ball(loss) / ball(unit.rate)) ** (1 / ball(unit.power)))


def _is_moderate(guarantee: Guarantee) -> bool:
    """Whether floats can search for it; beyond, only the largest loss gives a ratio."""
    numbers = {name: x for name, x in vars(guarantee).items() if isinstance(x, Fraction)}
    return guarantee.notion == "pure" or all(
        _MODERATE[name][0] <= x <= _MODERATE[name][1] for name, x in numbers.items()
    )


# ---- one solver for each notion ------------------------------------------------------------------


def _pure(unit: Shift, promise: PureDP) -> Fraction:
    return _of_loss(unit, promise.epsilon)


def _approx(unit: Shift, promise: ApproxDP) -> Fraction | None:
    from geodp.privacy.spherical_certified import delta_enclosure

    law, epsilon = FloatShift.of(unit), float(promise.epsilon)
    start = log_root(
        lambda s: _log_delta(law.at(s), epsilon), _log(float(promise.delta)), max(epsilon, 1e-3)
    )
    return _certified(
        _ratio(unit, start),
        lambda ratio: delta_enclosure(unit.at(ratio), promise.epsilon).high <= promise.delta,
    )


def _gdp(unit: Shift, promise: GaussianDP) -> Fraction | None:
    return _gdp_square(unit, promise.mu**2)


def _gdp_square(unit: Shift, square: Fraction) -> Fraction | None:
    from geodp.privacy.spherical_gdp import mu_estimate, mu_squared

    law, mu = FloatShift.of(unit), math.sqrt(square)
    start = log_root(lambda s: math.log(mu_estimate(law.at(s))), math.log(mu), mu)
    return _certified(_ratio(unit, start), lambda ratio: mu_squared(unit.at(ratio)) <= square)


def _zcdp(unit: Shift, promise: ZCDP) -> Fraction | None:
    from geodp.privacy.spherical_renyi import rho

    if unit.power == 1:
        start = greatest(lambda x: rho(unit.at(_short(x))) <= promise.rho)
        return None if start is None else _short(start)
    return _gdp_square(unit, 2 * promise.rho)


def _renyi(unit: Shift, promise: RenyiDP) -> Fraction | None:
    from geodp.privacy.spherical_renyi import renyi_divergence, renyi_estimate

    def kept(ratio: Fraction) -> bool:
        return renyi_divergence(unit.at(ratio), promise.alpha) <= promise.epsilon

    if unit.pole == 0 and unit.power == 1:
        found = greatest(lambda x: kept(Fraction(x)))
        return None if found is None else Fraction(found)
    start = log_root(
        lambda x: math.log(renyi_estimate(unit.at(Fraction(x)), promise.alpha)),
        math.log(promise.epsilon),
        math.sqrt(promise.epsilon / promise.alpha),
    )
    return _certified(Fraction(start), kept)


def _nothing(_: Shift, __: Guarantee) -> None:
    return


def _refuse_order(unit: Shift, promise: RenyiDP) -> None:
    from geodp.privacy.spherical_renyi import check_order

    check_order(unit, promise.alpha)


_SOLVERS: dict[str, Callable[..., Fraction | None]] = {
    "pure": _pure,
    "approx": _approx,
    "gdp": _gdp,
    "zcdp": _zcdp,
    "renyi": _renyi,
}
_REFUSALS: dict[str, Callable[..., None]] = {
    "pure": lambda unit, _: refuse_pure(unit),
    "approx": _nothing,
    "gdp": lambda unit, _: refuse_gdp(unit, "GDP"),
    "zcdp": lambda unit, _: refuse_gdp(unit, "zCDP"),
    "renyi": _refuse_order,
}


# ---- searching in floats -------------------------------------------------------------------------


def _ratio(unit: Shift, length: float) -> Fraction:
    return Fraction(length / unit.length)


def _short(x: float) -> Fraction:
    """The float with 20 bits of mantissa: enough for a search to 1e-6."""
    mantissa, exponent = math.frexp(x)
    return Fraction(math.ldexp(math.floor(mantissa * 2**20), exponent - 20))


def _certified(start: Fraction, kept: Callable[[Fraction], bool]) -> Fraction | None:
    for step in _STEPS:
        ratio = Fraction(float(start * (1 - Fraction(step))))
        if kept(ratio):
            return ratio
    return None


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _log_delta(law: FloatShift, epsilon: float) -> float:
    return _log(delta_estimate(law, epsilon))


def log_root(
    function: Callable[[float], float], wanted: float, start: float, close: float = 1e-12
) -> float:
    """x > 0 with f(x) = wanted for an increasing f, to about ``close`` relative."""

    def f(log_x: float) -> float:
        return function(math.exp(log_x)) - wanted

    low = high = math.log(start)
    f_low = f_high = f(low)
    step = 0.5
    while f_high < 0:
        low, f_low = high, f_high
        high += step
        f_high, step = f(high), 2 * step
        if high > 600:
            raise ValueError
    step = 0.5
    while f_low >= 0:
        high, f_high = low, f_low
        low -= step
        f_low, step = f(low), 2 * step
        if low < -600:
            raise ValueError
    for _ in range(200):
        if high - low < close * max(1.0, abs(high)) or abs(f_high) < close:
            break
        secant = high - f_high * (high - low) / (f_high - f_low) if f_low > -700 else low
        inside = low + 0.01 * (high - low) < secant < high - 0.01 * (high - low)
        middle = secant if inside else (low + high) / 2
        for x in (middle, middle + max(1e-13, 1e-3 * (high - middle))):
            value = f(x)
            if value >= 0:
                high, f_high = x, value
                break
            low, f_low = x, value
    return math.exp(high)
