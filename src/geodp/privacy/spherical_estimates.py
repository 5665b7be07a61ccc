"""Float estimates of the largest ratio at which spherical noise keeps a promise: for searches."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from geodp.noise.spherical import SphericalLaw
from geodp.privacy.guarantees import ApproxDP, Guarantee, PureDP
from geodp.privacy.spherical_float import Array, FloatShift, delta_estimate
from geodp.privacy.spherical_shift import Shift
from geodp.privacy.spherical_solve import log_root

_CELLS = 1 << 14
_RADII, _COSINES = 400, 48
_LOG_TINY = -60.0


def estimated_ratio(law: SphericalLaw, guarantee: Guarantee, releases: int = 1) -> float:
    """sensitivity/scale for pure ε or (ε, δ), there for so many equal releases: to about 1e-6 for
    one and 1e-3 for several.

    ValueError where the search fails.
    """
    shift = FloatShift.of(Shift.of(law, Fraction(1)))
    length: float = _RATIOS[guarantee.notion](shift, guarantee, releases)
    return length / shift.length


def _pure(shift: FloatShift, promise: PureDP, _: int) -> float:
    if shift.pole > 0 or shift.power > 1:
        raise ValueError
    return math.exp(math.log(float(promise.epsilon)) / shift.power)


def _approx(shift: FloatShift, promise: ApproxDP, releases: int) -> float:
    epsilon, wanted = float(promise.epsilon), math.log(float(promise.delta))
    start = max(epsilon, 1e-3) ** (1 / shift.power) / math.sqrt(releases)
    if releases == 1:
        return _root(lambda s: delta_estimate(shift.at(s), epsilon), wanted, start)
    return _root(lambda s: composed_delta(shift.at(s), epsilon, releases), wanted, start)


_RATIOS: dict[str, Callable[..., float]] = {
    "pure": _pure,
    "approx": _approx,
}


def _root(function: Callable[[float], float], wanted: float, start: float) -> float:
    def log_of(s: float) -> float:
        value = function(s)
        return math.log(value) if value > 0 else -math.inf

    return log_root(log_of, wanted, start, 1e-6)


def composed_delta(shift: FloatShift, epsilon: float, releases: int) -> float:
    """δ(ε) of several equal releases to about 1e-3 relative, by a Fourier transform.

    The loss V(t) − V(r), V(r) = r^power + pole·log r, on a product rule in log r^power (trapezoid)
    and the cosine (Gauss), spread over an even grid so that its mean is kept.
    """
    log_g, weight = _radii(shift.order)
    cosine, share = _cosines(shift.dim)
    g = np.exp(log_g)[:, None]
    r = np.exp(log_g / shift.power)[:, None]
    s = shift.length
    square = r * r + s * s - 2 * r * s * cosine
    log_t = 0.5 * np.log(np.maximum(square, 1e-300))
    loss = np.exp(shift.power * log_t) - g + shift.pole * (log_t - log_g[:, None] / shift.power)
    mass = weight[:, None] * share
    mean = float((mass * loss).sum())
    deviation = math.sqrt(max(float((mass * (loss - mean) ** 2).sum()), 0.0) * releases)
    width = max(3 * epsilon, 12 * deviation + epsilon)
    step = 2 * width / _CELLS
    place = np.clip(loss / step, -_CELLS / 2, None)
    beyond = float(mass[place > _CELLS / 2 - 2].sum())
    inside = place <= _CELLS / 2 - 2
    place, mass = place[inside], mass[inside]
    cell = np.floor(place).astype(np.int64)
    part = place - cell
    masses = np.bincount(cell % _CELLS, mass * (1 - part), _CELLS)
    masses += np.bincount((cell + 1) % _CELLS, mass * part, _CELLS)
    total = np.fft.irfft(np.fft.rfft(masses) ** releases, _CELLS)
    losses = step * ((np.arange(_CELLS) + _CELLS // 2) % _CELLS - _CELLS // 2)
    above = losses > epsilon
    found = float(np.sum(total[above] * -np.expm1(epsilon - losses[above])))
    return found + 1 - (1 - beyond) ** releases


@lru_cache(maxsize=64)
def _radii(order: float) -> tuple[Array, Array]:
    """Nodes log g and weights of a Gamma(order) variable."""
    from scipy.special import gammaincinv, gammaln, loggamma

    low = (_LOG_TINY * 0.6 + float(gammaln(order + 1))) / order  # P[g < x] ≈ x^order/Γ(order + 1)
    high = math.log(float(gammaincinv(order, 1 - 1e-15))) + 0.1
    log_g = np.linspace(min(low, high - 1), high, _RADII)
    weight = np.exp(order * log_g - np.exp(log_g) - loggamma(order).real)
    return log_g, np.asarray(weight / weight.sum())


@lru_cache(maxsize=64)
def _cosines(dim: int) -> tuple[Array, Array]:
    """Nodes and weights of a coordinate of a uniform direction."""
    from scipy.special import roots_gegenbauer

    if dim == 1:
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    if dim == 2:
        angle = (np.arange(_COSINES) + 0.5) * np.pi / _COSINES
        return np.cos(angle), np.full(_COSINES, 1 / _COSINES)
    nodes, weights = roots_gegenbauer(_COSINES, (dim - 2) / 2)
    return nodes, np.asarray(weights / weights.sum())
