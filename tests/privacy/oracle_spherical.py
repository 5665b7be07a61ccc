"""δ(ε) and Rényi divergences of spherical noise from the densities themselves, by quadrature.

Nothing of the package is used: the loss is integrated over radius and angle in mpmath or scipy.
"""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
from scipy import integrate, special


def delta(
    dim: int, shape: float, power: float, s: float, epsilon: float, cuts: int = 1
) -> tuple[float, float]:
    """δ(ε) = ∫ (φ(x) − e^ε φ(x − s e₁))₊ dx, and a bound on the quadrature's error.

    In the radius r and the sign change of the integrand in the cosine, found by bisection of the
    loss itself; then P and Q of the region from the Beta cdf and its mass from the density.
    ``cuts``: into how many pieces each smooth piece is cut; the error is an estimate.
    """
    pole = dim - 1 - shape
    with mp.workdps(25):
        p, k, shift, loss = mp.mpf(power), mp.mpf(pole), mp.mpf(s), mp.mpf(epsilon)
        constant = p / mp.gamma((shape + 1) / p)

        def v(r: mp.mpf) -> mp.mpf:
            return k * mp.log(r) + r**p

        def angle(r: mp.mpf, level: mp.mpf, above: bool) -> mp.mpf:
            """P[V(r') > level], or below, over the direction at radius r."""
            low, high = abs(r - shift), r + shift
            if low == 0:
                low = mp.mpf(10) ** -24
            if v(high) <= level:
                return mp.mpf(0) if above else mp.mpf(1)
            if v(low) >= level:
                return mp.mpf(1) if above else mp.mpf(0)
            for _ in range(70):
                middle = (low + high) / 2
                low, high = (middle, high) if v(middle) < level else (low, middle)
            x = (1 + (r * r + shift * shift - low * low) / (2 * r * shift)) / 2
            x = min(max(x, mp.mpf(0)), mp.mpf(1))
            if dim == 1:
                below = mp.mpf(0.5)
            else:
                b = mp.mpf(dim - 1) / 2
                below = mp.mpf(special.betainc(float(b), float(b), float(x)))
                if not above:
                    below = mp.mpf(special.betainc(float(b), float(b), float(1 - x)))
            return below

        def integrand(log_r: float) -> float:
            r = mp.exp(log_r)
            density = constant * r ** (shape + 1) * mp.exp(-(r**p))
            first = angle(r, v(r) + loss, True)
            second = angle(r, v(r) - loss, False)
            return float(density * (first - mp.exp(loss) * second))

        low = math.log(float(special.gammaincinv((shape + 1) / power, 1e-17)) + 1e-300) / power
        high = math.log(float(special.gammainccinv((shape + 1) / power, 1e-20))) / power
        kinks = sorted({math.log(s), *_kinks(v, shift, loss, low, high)})
        ends = [low, *(x for x in kinks if low < x < high), high]
        value, error = 0.0, 1e-13
        fine = [
            float(x) for a, b in pairwise(ends) for x in np.linspace(a, b, cuts, endpoint=False)
        ]
        for a, b in pairwise([*fine, ends[-1]]):
            part, wrong = _rule(integrand, a, b)
            value, error = value + part, error + wrong
        return value, error


def _kinks(v: object, s: mp.mpf, loss: mp.mpf, low: float, high: float) -> list[float]:
    """Radii at which the region of the loss starts or stops to reach a pole of the sphere."""
    found = []
    for sign in (1, -1):
        for far in (True, False):

            def g(x: float, sign: int = sign, far: bool = far) -> float:
                r = mp.exp(x)
                other = r + s if far else abs(r - s) + mp.mpf(10) ** -24
                return float(v(other) - v(r) - sign * loss)  # type: ignore[operator]

            grid = np.linspace(low, high, 160)
            values = [g(x) for x in grid]
            for i in range(len(grid) - 1):
                if values[i] * values[i + 1] < 0:
                    a, b = grid[i], grid[i + 1]
                    for _ in range(60):
                        m = (a + b) / 2
                        a, b = (m, b) if g(m) * g(a) > 0 else (a, m)
                    found.append(float(a))
    return found


def _rule(function: object, a: float, b: float) -> tuple[float, float]:
    """Gauss-Legendre under a sine map that smooths half powers at both ends; error by doubling."""
    values = []
    for count in (24, 48):
        x, w = np.polynomial.legendre.leggauss(count)
        u = (x + 1) / 2
        y = a + (b - a) * np.sin(np.pi * u / 2) ** 2
        weight = w / 2 * np.pi / 2 * np.sin(np.pi * u) * (b - a)
        values.append(sum(c * function(t) for c, t in zip(weight, y, strict=True)))  # type: ignore[operator]
    return float(values[1]), abs(float(values[1] - values[0]))


def line(shape: float, power: float, s: float, epsilon: float) -> float:
    """δ(ε) in dimension one by a fine grid, for any shape."""
    x = np.linspace(-8, 8 + s, 2_000_001)
    constant = power / math.gamma((shape + 1) / power) / 2
    p = constant * np.abs(x) ** shape * np.exp(-(np.abs(x) ** power))
    q = constant * np.abs(x - s) ** shape * np.exp(-(np.abs(x - s) ** power))
    return float(integrate.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0), x))


def renyi(dim: int, s: float, order: float) -> float:
    """Rényi divergence of ℓ2-Laplace noise by a product rule over radius and angle."""
    x, w = np.polynomial.legendre.leggauss(300)
    high = 80.0 + 20 * order * s
    r = high * ((x + 1) / 2) ** 3
    weight = w / 2 * 3 * high * ((x + 1) / 2) ** 2 * r ** (dim - 1) * np.exp(-r)
    weight /= math.gamma(dim)
    angle = (x + 1) / 2 * np.pi
    direction = w * np.sin(angle) ** (dim - 2)
    direction /= direction.sum()
    other = np.sqrt(r[:, None] ** 2 + s * s - 2 * s * r[:, None] * np.cos(angle))
    loss = other - r[:, None]
    moment = float(weight @ np.expm1((order - 1) * loss) @ direction)
    return math.log1p(moment) / (order - 1)
