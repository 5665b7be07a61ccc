"""Running error analysis of the Cholesky factorisation over a whole log-Cholesky ball."""

from __future__ import annotations

import math

from geodp.spaces.batch import EPS, Array


def log_cholesky(factor: Array, radius: float) -> float:
    """Largest rounding of (strict part, log diagonal) for factors within ``radius`` of ``factor``.

    In the ball |L_ij| <= |C_ij| + radius and L_jj lies in C_jj exp(±radius). Column by column, the
    errors e_ij satisfy, to first order, for the pivot s_j = y_jj - Σ L_jk²:
    |δs_j| <= 2 Σ |L_jk| e_jk + (j + 2) u y_jj and e_jj/L_jj = |δs_j|/(2 s_j) + u, and
    e_ij <= (Σ (|L_ik| e_jk + |L_jk| e_ik) + (j + 2) u Σ_{k<=j} |L_ik L_jk|)/L_jj
    + |L_ij| (e_jj/L_jj + u). Each is bounded at the worst point of the ball. Higher orders are
    covered by a factor 2 as long as the result is below 1/100; else the bound is infinite.
    """
    size = len(factor)
    unit = EPS  # twice the unit roundoff
    try:
        grow = math.exp(radius)
    except OverflowError:
        return math.inf
    low = [float(factor[j, j]) / grow for j in range(size)]
    most = [[abs(float(factor[i, j])) + radius for j in range(size)] for i in range(size)]
    for j in range(size):
        most[j][j] = float(factor[j, j]) * grow
    error = [[0.0] * size for _ in range(size)]
    total = 0.0
    for j in range(size):
        row = most[j]
        crossed = sum(2 * row[k] * error[j][k] for k in range(j))
        crossed += (j + 2) * unit * sum(row[k] ** 2 for k in range(j))
        # y_jj/s_j = 1 + Σ L_jk²/s_j
        relative = crossed / (2 * low[j] ** 2) + (j + 4) * unit
        error[j][j] = relative * most[j][j]
        total += (relative + unit * (abs(math.log(most[j][j])) + radius * 2)) ** 2
        for i in range(j + 1, size):
            other = most[i]
            spread = sum(other[k] * error[j][k] + row[k] * error[i][k] for k in range(j))
            spread += (j + 2) * unit * sum(other[k] * row[k] for k in range(j))
            error[i][j] = spread / low[j] + other[j] * (relative + (j + 4) * unit)
            total += error[i][j] ** 2
    bound = 2.0 * math.sqrt(total)
    return bound if bound < 1e-2 else math.inf
