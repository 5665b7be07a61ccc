"""A fast float estimate of delta(epsilon) for radial laws: for searching, never for a promise.

With t(r) the distance at which the loss is epsilon, V(t) = V(r) + epsilon, and x, y the shares of
directions,
    delta = 1/Z integral of f(r) [sn(r)^{d-1} F(x(r)) - sn(t)^{d-1} t'(r) F(y(r))] dr,
F the cdf of Beta((d-1)/2, (d-1)/2), and by half-angle formulas in the triangle (r, t, s),
p = (r+t+s)/2:  x = sn(p) sn(p-t)/(sn(r) sn(s)),  y = sn(p-s) sn(p-t)/(sn(t) sn(s)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from geodp.privacy.radial_float_shares import SHARES

if TYPE_CHECKING:
    from geodp.privacy.radial_shift import RadialPair

Array = NDArray[np.float64]
_DROP = 80.0  # of log density: what lies beyond is neglected


@final
@dataclass(frozen=True)
class FloatPair:
    """A ``RadialPair`` in units of the curvature radius."""

    kernel: str
    dim: int
    sign: int
    scale: float
    shift: float
    cosine: int = 0

    @classmethod
    def of(cls, pair: RadialPair) -> FloatPair:
        return cls(pair.kernel, pair.dim, pair.sign, *pair.floats, pair.cosine)

    @property
    def reach(self) -> float:
        """The diameter of a compact space."""
        return math.pi / (1 + self.cosine)

    def log_f(self, t: Array) -> Array:
        if self.kernel == "laplace":
            return np.asarray(-t / self.scale)
        return np.asarray(-((t / self.scale) ** 2) / 2)

    def log_g(self, t: Array) -> Array:
        """Log of the radius density, unnormalised."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.sign > 0:
                log_sn = np.log(np.maximum(np.sin(t), 0))
            else:
                log_sn = t + np.log(-np.expm1(-2 * t)) - math.log(2)
            rest = np.log(np.maximum(np.cos(t), 0)) if self.cosine else 0.0
        return np.asarray(self.log_f(t) + (self.dim - 1) * log_sn + rest)

    @cached_property
    def mode(self) -> float:
        """Where the radius density is greatest."""
        low, high = 0.0, self.reach if self.sign > 0 else 1.0
        while self.sign < 0 and self._slope(high) > 0:
            high *= 2
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if self._slope(middle) > 0 else (low, middle)
        return (low + high) / 2

    def _slope(self, t: float) -> float:
        if t <= 0:
            return math.inf
        fall = 1 / self.scale if self.kernel == "laplace" else t / self.scale**2
        rest = math.tan(t) if self.cosine else 0.0
        return (self.dim - 1) / (math.tan(t) if self.sign > 0 else math.tanh(t)) - rest - fall

    def end(self, start: float, drop: float = _DROP) -> float:
        """A radius beyond which there is nothing, seen from ``start``."""
        start = max(start, self.mode)
        top = float(self.log_g(np.array(start)))
        low, high = start, self.reach if self.sign > 0 else 2 * start + 1
        if self.sign > 0 and self.log_g(np.array(high * (1 - 1e-9))) > top - drop:
            return high
        while self.sign < 0 and self.log_g(np.array(high)) > top - drop:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self.log_g(np.array(middle)) > top - drop else (low, middle)
            )
        return high

    @cached_property
    def log_total(self) -> float:
        """Log of the integral of the radius density."""
        return self.log_mass(0.0, self.end(0.0))

    def log_mass(self, a: float, b: float) -> float:
        """Log of the integral of the unnormalised radius density over [a, b]."""
        if not b > a:
            return -math.inf
        u, w = _rule()
        inner = [x for x in (self.mode,) if a < x < b]
        ends = [a, *inner, b]
        logs = []
        for left, right in pairwise(ends):
            r = left + (right - left) * u
            logs.append(self.log_g(r) + np.log(w * (right - left)))
        every = np.concatenate(logs)
        top = float(every.max())
        return top + math.log(float(np.exp(every - top).sum()))

    def triangle(self, epsilon: float) -> tuple[float, float, bool, float]:
        """r at the two ends where a triangle (r, t, s) exists, whether below the first every
        direction has a larger loss, and t at the second end."""
        s, wide = self.shift, 2 * math.pi - self.shift
        if self.kernel == "laplace":
            c = epsilon * self.scale
            first, inside = (s - c) / 2, True
            if self.cosine:
                return first, self.reach - c, inside, math.pi
            last = (wide - c) / 2 if self.sign > 0 else math.inf
            return first, last, inside, last + c
        a = 2 * epsilon * self.scale**2
        first, inside = abs(a - s * s) / (2 * s), a < s * s
        if self.cosine:  # to where t is the diameter; no radius counts for the other law alone
            return first, math.sqrt(max(self.reach**2 - a, 0.0)), inside, math.pi
        if self.sign < 0:
            return first, math.inf, inside, math.inf
        last = (wide * wide - a) / (2 * wide)
        return first, last, inside, math.sqrt(last * last + a) if last > 0 else math.pi

    def delta(self, epsilon: float) -> float:
        """delta(epsilon) for epsilon >= 0, to about 1e-9 relative."""
        first, last, inside, far = self.triangle(epsilon)
        if last <= first or (self.kernel == "laplace" and first <= 0):
            return 0.0
        total = math.exp(self.log_mass(0.0, first) - self.log_total) if inside else 0.0
        last = min(last, self.end(first))
        if self.sign > 0 and far < math.pi:
            total -= math.exp(epsilon + self.log_mass(far, math.pi) - self.log_total)
        return total + self._between(epsilon, first, last)

    def _between(self, epsilon: float, first: float, last: float) -> float:
        if last <= first:
            return 0.0
        u, w = _rule()
        r = first + (last - first) * u
        weight = w * (last - first)
        if self.kernel == "laplace":
            t, slope = r + epsilon * self.scale, np.ones_like(r)
        else:
            t = np.sqrt(r * r + 2 * epsilon * self.scale**2)
            slope = r / t
        inner, outer = SHARES[self.cosine](self, r, t)
        log_area = self.log_g(t) - self.log_f(t) + self.log_f(r)
        ring = np.exp(self.log_g(r) - self.log_total) * inner
        ring = ring - np.exp(log_area - self.log_total) * slope * outer
        return float(np.sum(weight * ring))


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Composite Gauss-Legendre on [0, 1] under u = sin^2(pi v/2): smooth at half-power ends."""
    x, w = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(0, 1, 25)
    v = (edges[:-1, None] + np.diff(edges)[:, None] * (x + 1) / 2).ravel()
    weight = (np.diff(edges)[:, None] * w / 2).ravel()
    return np.sin(np.pi * v / 2) ** 2, weight * np.pi / 2 * np.sin(np.pi * v)


def mu_estimate(pair: FloatPair, points: int = 60) -> float:
    """About the least mu of Gaussian DP: the sup over a grid of epsilon of mu(epsilon)."""
    return max(mu_at(pair, float(e)) for e in epsilon_grid(pair, points))


def epsilon_grid(pair: FloatPair, points: int) -> Array:
    """Epsilons that matter; on hyperbolic space far out, where mu(epsilon) may still grow."""
    ratio = pair.shift / pair.scale
    top = (30 if pair.sign < 0 else 7) * ratio + ratio**2 * 3
    if pair.kernel == "laplace":
        top = ratio * (1 - 1e-4)
    elif pair.sign > 0:
        wide = 2 * pair.reach - pair.shift
        top = min(top, pair.shift * wide / (2 * pair.scale**2) * (1 - 1e-4))
    return np.asarray(top * np.linspace(0, 1, points) ** 1.5)


def mu_at(pair: FloatPair, epsilon: float) -> float:
    """The mu whose Gaussian profile passes through (epsilon, delta(epsilon)); 0 below 1e-200."""
    from scipy.optimize import brentq

    delta = pair.delta(epsilon)
    if not delta > 1e-200:
        return 0.0
    target = math.log(delta)
    least, most = min(1e-6, 1e-6 * pair.shift / pair.scale), 60.0

    def gap(mu: float) -> float:
        return log_gaussian(mu, epsilon) - target

    if gap(least) >= 0 or gap(most) <= 0:  # beyond what floats tell apart
        return least if gap(least) >= 0 else most
    return float(brentq(gap, least, most, xtol=least / 1e6))


def log_gaussian(mu: float, epsilon: float) -> float:
    """log delta(epsilon) of mu-GDP in floats; very small where it underflows."""
    from scipy.special import log_ndtr

    first = float(log_ndtr(-epsilon / mu + mu / 2))
    rest = min(epsilon + float(log_ndtr(-epsilon / mu - mu / 2)) - first, -1e-16)
    return max(first + math.log(-math.expm1(rest)), -1e5)
