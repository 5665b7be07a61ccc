"""How far rounding can move a Cholesky factor, over a whole log-Cholesky ball."""

from __future__ import annotations

import math

from geodp.spaces.batch import EPS, Array


def _largest_step(height: float, slope: float, reach: float) -> float:
    """An upper bound on (height + slope·ρ) exp(a) over ρ² + a² <= reach²."""
    pieces = 64
    edges = [math.pi / 2 * i / pieces for i in range(pieces + 1)]
    return max(
        (height + slope * reach * math.sin(edges[i + 1])) * math.exp(reach * math.cos(edges[i]))
        for i in range(pieces)
    )


def chart_error(center: Array, radius: float) -> float:
    """Bound on the rounding of (strict part, log diagonal) for all factors within ``radius``.

    ``center`` is the centre's factor C, shape ``(m, m)``. Cholesky factors y + Δ exactly with
    |Δ| <= (m+1)u |L||L|ᵀ (Higham 2002, Thm 10.3), and to first order L becomes L(1 + Φ(G)),
    G = L⁻¹ΔL⁻ᵀ, Φ the lower triangle with half the diagonal. With L = D(1 + N), D the diagonal,
    |L⁻¹||L| <= M := 1 + 2 Σ_{k<m} |N|^k, so ‖G‖ <= (m+1)u ‖M‖². In the ball
    |N_ij| <= (h + g ρ_ij) exp(a_i), h = max |C_ij|/C_ii, g = max 1/C_ii, with Σρ² + Σa² <= r².
    An entry of |N|^k is a sum over descending paths of k such factors; their logarithms are
    concave, so a path's product is largest when each gets r/√k. A factor 2 covers higher orders
    while ‖G‖ < 1/100; beyond that the bound is infinite.
    """
    size = len(center)
    diagonal = [float(center[j, j]) for j in range(size)]
    height = max(
        (abs(float(center[i, j])) / diagonal[i] for i in range(size) for j in range(i)), default=0.0
    )
    slope = 1.0 / min(diagonal)
    try:
        paths = [0.0] + [
            _largest_step(height, slope, radius / math.sqrt(k)) ** k for k in range(1, size)
        ]
        reach = math.hypot(*diagonal) * math.exp(radius)
        square = float(size)
        for gap in range(1, size):
            entry = 2 * sum(math.comb(gap - 1, k - 1) * paths[k] for k in range(1, gap + 1))
            square += (size - gap) * entry**2
    except OverflowError:
        return math.inf
    strict = [abs(float(center[i, j])) for i in range(size) for j in range(i)]
    reach = math.hypot(reach, math.hypot(*strict) + radius)
    relative = (size + 1) * EPS * square
    if not relative < 0.01:
        return math.inf
    logs = math.hypot(*(math.log(x) for x in diagonal)) + radius
    return 2.0 * relative * math.hypot(1.0, reach if size > 1 else 0.0) + 2.0 * EPS * logs
