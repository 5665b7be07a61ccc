"""A fast float estimate of δ(ε) for spherical laws: for searching, never for a promise.

The boundary of {loss > ε} is a surface of revolution: its points have distances r and t > r from
the two centres, with V(t) − V(r) = ε for V = −log φ. With τ = log(t/r) = εv it is explicit:
r^power = (1 − pole·v) ε / (e^{power·τ} − 1), and y = log(v/(1 − pole·v)) runs over the reals.
Without a pole y = −log(power · r^power) is simpler, with t^power = r^power + ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from geodp.privacy.spherical_shift import Shift

Array = NDArray[np.float64]
_NODES = 48


@final
@dataclass(frozen=True)
class FloatShift:
    """The numbers of a ``Shift`` as floats, ``length`` the shift s in natural units."""

    dim: int
    power: float
    pole: float
    order: float
    length: float

    @classmethod
    def of(cls, shift: Shift) -> FloatShift:
        return cls(
            shift.dim,
            float(shift.power),
            float(shift.pole),
            float(shift.order),
            shift.length,
        )

    def at(self, length: float) -> FloatShift:
        return FloatShift(self.dim, self.power, self.pole, self.order, length)

    def log_radius(self, y: Array, epsilon: float) -> tuple[Array, Array]:
        """(log r, τ) on the boundary at parameters y in [−700, 700]."""
        log_g = -y - math.log(self.power)
        if self.is_direct(epsilon):
            return log_g / self.power, np.log1p(epsilon * np.exp(-log_g)) / self.power
        tau = epsilon / (np.exp(-y) + self.pole)
        return (log_g - _log_expm1_over(self.power * tau)) / self.power, tau

    def is_direct(self, epsilon: float) -> bool:
        """Whether y is −log(power · r^power)."""
        return self.pole == 0 or epsilon == 0

    def _one(self, y: float, epsilon: float) -> tuple[float, float]:
        """The same at one y, without arrays: (r, t − r)."""
        log_g = -y - math.log(self.power)
        if self.is_direct(epsilon):
            tau = math.log1p(epsilon * math.exp(-log_g)) / self.power
        else:
            tau = epsilon / (math.exp(-y) + self.pole)
            x = self.power * tau
            log_g -= x / 2 if x < 1e-12 else x + math.log(-math.expm1(-x) / x)
        log_r = log_g / self.power
        log_t = min(max(log_r + tau, -300.0), 300.0)
        return math.exp(min(max(log_r, -300.0), 300.0)), math.exp(log_t) * -math.expm1(-tau)

    def parameter(self, radius: float, epsilon: float) -> float:
        """The y at which r is ``radius``, roughly."""
        low, high = -700.0, 700.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            if self._one(middle, epsilon)[0] > radius:
                low = middle
            else:
                high = middle
        return low

    def breaks(self, epsilon: float, smallest: float) -> list[float]:
        """Ends of the range that matters, and the y where a triangle (r, t, s) degenerates."""
        from scipy.special import gammainccinv, gammaincinv

        share = max(smallest, 1e-290)
        low = max(float(gammaincinv(self.order, share)), 1e-290)
        far = max(float(gammainccinv(self.order, share)), 1.0)
        start = self.parameter(far ** (1 / self.power), epsilon)
        stop = max(self.parameter(low ** (1 / self.power), epsilon), start + 1)
        grid = start + (stop - start) * _mesh(min(1.0, 20 / (stop - start)))
        log_r, tau = self.log_radius(grid, epsilon)
        r, d = np.exp(log_r), np.exp(log_r + tau) * -np.expm1(-tau)
        found = [start, stop]
        for values, side in (
            (self.length - d, self.outside),
            (2 * r + d - self.length, self.around),
        ):
            for i in np.flatnonzero((values[1:] > 0) != (values[:-1] > 0)):
                found.append(_root(side, epsilon, float(grid[i]), float(grid[i + 1])))
        return sorted(found)

    def outside(self, y: float, epsilon: float) -> float:
        """s − (t − r): negative where no direction has so large a loss."""
        _, gap = self._one(y, epsilon)
        return self.length - gap

    def around(self, y: float, epsilon: float) -> float:
        """t + r − s: negative where every direction has a larger loss."""
        r, gap = self._one(y, epsilon)
        return 2 * r + gap - self.length


def delta_estimate(shift: FloatShift, epsilon: float) -> float:
    """δ(ε), ε of either sign, to about 1e-12 relative where P[L > ε] does not cancel."""
    if epsilon < 0:
        return 1 - math.exp(epsilon) * (1 - delta_estimate(shift, -epsilon))
    first, second = estimate_parts(shift, epsilon)
    return max(0.0, first + second)


def estimate_parts(shift: FloatShift, epsilon: float) -> tuple[float, float]:
    """P[L > ε] and −e^ε P[L < −ε] for ε ≥ 0; their sum is δ(ε)."""
    parts = _parts(shift, epsilon, 1e-40)
    return parts if parts[0] > 1e-22 else _parts(shift, epsilon, 1e-280)


def _parts(shift: FloatShift, epsilon: float, smallest: float) -> tuple[float, float]:
    from scipy.special import betainc, gammainc, gammaln

    s, dim, power, order = shift.length, shift.dim, shift.power, shift.order
    ends = shift.breaks(epsilon, smallest)
    widest = min(6.0, 7.0 / math.sqrt(order))  # of one piece; log g has deviation order^(−1/2)
    first, second = 0.0, 0.0
    nodes, weights = [], []
    unit_nodes, unit_weights = _rule()
    log_r, _ = shift.log_radius(np.array(ends), epsilon)
    for i, (left, right) in enumerate(pairwise(ends)):
        middle = (left + right) / 2
        if shift.outside(middle, epsilon) < 0:
            continue
        if shift.around(middle, epsilon) < 0:
            first += float(gammainc(order, math.exp(power * log_r[i])))
            break
        count = math.ceil((right - left) / widest)
        for j in range(count):
            a = left + (right - left) * j / count
            width = (right - left) / count
            nodes.append(a + width * unit_nodes)
            weights.append(width * unit_weights)
    if not nodes:
        return first, 0.0
    y, weight = np.concatenate(nodes), np.concatenate(weights)
    log_r, tau = shift.log_radius(y, epsilon)
    r = np.exp(log_r)
    d = np.exp(log_r + tau) * -np.expm1(-tau)
    e = 2 * r + d
    t = r + d
    if shift.is_direct(epsilon):
        log_r_y = np.full_like(r, -1 / power)
        log_t_y = log_r_y * np.exp(-power * tau)
    else:
        v = 1 / (np.exp(-y) + shift.pole)
        rest = 1 - shift.pole * v
        log_r_y = -(shift.pole * v + _expm1_slope(power * tau) * rest) / power
        log_t_y = log_r_y + tau * rest
    density = np.exp(
        order * power * log_r - np.exp(power * log_r) + math.log(power) - gammaln(order)
    )
    if dim == 1:
        inner = outer = np.full_like(r, 0.5)
    else:
        b = (dim - 1) / 2
        inner = betainc(b, b, np.clip((s - d) * (e + s) / (4 * r * s), 0, 1))
        outer = betainc(b, b, np.clip((s - d) * (e - s) / (4 * t * s), 0, 1))
    first += float(-np.sum(weight * density * inner * log_r_y))
    second = float(np.sum(weight * density * outer * np.exp(dim * tau) * log_t_y))
    return first, second


def _mesh(near: float) -> Array:
    """Points of [0, 1]: 65 evenly up to ``near``, where roots lie, then 32 up to 1."""
    head = np.linspace(0, near, 65)
    return head if near == 1 else np.concatenate([head, np.geomspace(near, 1, 33)[1:]])


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Gauss-Legendre under y = sin²(πu/2): smooth where the integrand has half powers."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    u = (x + 1) / 2
    return np.sin(np.pi * u / 2) ** 2, w / 2 * np.pi / 2 * np.sin(np.pi * u)


def _log_expm1_over(x: Array) -> Array:
    """log((e^x − 1)/x) for x ≥ 0, 0 at 0."""
    safe = np.where(x < 1e-12, 1.0, x)
    large = safe + np.log(-np.expm1(-safe)) - np.log(safe)
    return np.where(x < 1e-12, x / 2, large)


def _expm1_slope(x: Array) -> Array:
    safe = np.where(x < 1e-12, 1.0, x)
    return np.where(x < 1e-12, 1 + x / 2, -safe / np.expm1(-safe))


def _root(side: Callable[[float, float], float], epsilon: float, low: float, high: float) -> float:
    """A sign change between two floats: bisection with secant steps (Illinois)."""
    f_low, f_high = side(low, epsilon), side(high, epsilon)
    if (f_low > 0) == (f_high > 0):
        return (low + high) / 2
    for _ in range(60):
        middle = high - f_high * (high - low) / (f_high - f_low)
        if not min(low, high) < middle < max(low, high):
            break
        value = side(middle, epsilon)
        if (value > 0) == (f_high > 0):
            f_low /= 2
        else:
            low, f_low = high, f_high
        high, f_high = middle, value
        if abs(high - low) < 1e-15 * max(1.0, abs(high)) or value == 0:
            break
    return high
