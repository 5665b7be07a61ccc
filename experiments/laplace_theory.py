"""What the theory of the Riemannian Laplace mechanism says, measured: parts of one study.

Reimherr, Bharath and Soto (NeurIPS 2021): rates, the cost of ambient dimensions, the sensitivity of
the mean, and an example of a mean whose sensitivity does not fall with n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from neighbours import Pair, climbed_pairs, two_clusters

import geodp as gd
from geodp.testing import random_points

N, EPSILON = 1000, 1.0
FAMILIES: dict[str, tuple[Callable[[int], gd.Space], float, tuple[int, ...]]] = {
    "R^d": (gd.Euclidean, 1.5, (2, 4, 8, 16)),
    "S^d": (gd.Sphere, 0.4, (2, 4, 8, 16)),
    "H^d": (gd.Hyperbolic, 1.5, (2, 4, 8, 16)),
    "SPD(m)": (gd.SPD, 1.5, (2, 3, 4, 5)),
}
LINEAR = ((1, 2), (2, 3), (2, 10), (3, 6), (5, 10))


def rates() -> list[dict[str, Any]]:
    """E distance at delta/epsilon over n, epsilon, r and d, one at a time; no draws but SPD's."""
    rows = []
    for family, (make, radius, sizes) in FAMILIES.items():
        first = sizes[0]
        settings: list[tuple[str, float, tuple[int, float, int, float]]] = []
        settings += [("n", n, (first, radius, n, EPSILON)) for n in (250, 500, 1000, 2000, 4000)]
        settings += [("epsilon", e, (first, radius, N, e)) for e in (0.25, 0.5, 1, 2, 4)]
        settings += [("r", r, (first, r, N, EPSILON)) for r in (radius / 4, radius / 2, radius)]
        settings += [("d", make(m).dim, (m, radius, N, EPSILON)) for m in sizes]
        for varied, value, (size, r, n, epsilon) in settings:
            space = make(size)
            mean = gd.FrechetMean(gd.Ball(space, space.origin, r))
            delta = mean.sensitivity(n)
            cal = gd.calibrate(gd.RiemannianLaplace(), space, delta, gd.PureDP(epsilon))
            found = cal.expected_distance()
            row: dict[str, Any] = {"family": family, "varied": varied, "value": float(value)}
            plain = space.dim * 2 * r / (n * epsilon)
            rows.append(row | {"distance": found, "plain": plain, "over_plain": found / plain})
    return rows


def slopes(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The slope of log distance over the log of what varies, for each family."""
    out: dict[str, dict[str, float]] = {}
    for family in FAMILIES:
        for varied in ("n", "epsilon", "r", "d"):
            line = [row for row in rows if (row["family"], row["varied"]) == (family, varied)]
            x, y = (np.log([row[key] for row in line]) for key in ("value", "distance"))
            out.setdefault(family, {})[varied] = float(np.polyfit(x, y, 1)[0])
    return out


def linear_factor(repeats: int, seed: int) -> list[dict[str, Any]]:
    """Records on a linear d-space in R^D: released there, and in R^D with a projection after.

    The noise has density exp(-|x|/sigma), so a coordinate has variance (D + 1) sigma^2: the mean
    square after the projection is (D + 1)/(d + 1) times that of the intrinsic release; without
    the projection D (D + 1)/(d (d + 1)) times.
    """
    rows = []
    for low, high in LINEAR:
        rng = np.random.default_rng([seed, low, high])
        squares = np.array([_linear_errors(low, high, rng) for _ in range(repeats)])
        inner, projected, whole = map(float, squares.mean(axis=0))
        error = squares.std(axis=0, ddof=1) / math.sqrt(repeats) / squares.mean(axis=0)
        row = {"d": low, "D": high, "published D/d": high / low}
        row |= {"projected": projected / inner, "exact": (high + 1) / (low + 1)}
        row |= {"projected_error": projected / inner * math.hypot(error[0], error[1])}
        row |= {"whole": whole / inner, "whole_exact": high * (high + 1) / (low * (low + 1))}
        row |= {"whole_error": whole / inner * math.hypot(error[0], error[2]), "repeats": repeats}
        rows.append(row)
    return rows


def _linear_errors(low: int, high: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Squared errors: intrinsic, ambient projected, ambient."""
    inner, outer = gd.Euclidean(low), gd.Euclidean(high)
    x = random_points(inner, 100, 0.9, rng)
    padded = np.concatenate([x, np.zeros((len(x), high - low))], axis=1)
    values = []
    for space, data in ((inner, x), (outer, padded)):
        mean = gd.FrechetMean(gd.Ball(space, space.origin, 1.0))
        noise = gd.Wrapped(gd.L2Laplace())
        released = gd.release(data, mean, gd.PureDP(1), noise, rng=rng).value
        values.append(released - data.mean(axis=0))
    own, embedded = values
    return float(own @ own), float(embedded[:low] @ embedded[:low]), float(embedded @ embedded)


def sensitivities(share: float, seed: int) -> list[dict[str, Any]]:
    """n times the largest shift of the mean that was found, beside n times both bounds."""
    rows = []
    sphere, matrices = gd.Sphere(2), gd.SPD(2)
    cases = [(sphere, r) for r in (math.pi / 8, 0.6, 0.75)] + [(matrices, 1.5)]
    for index, (space, radius) in enumerate(cases):
        ball = gd.Ball(space, space.origin, radius)
        mean = gd.FrechetMean(ball)
        published = gd.FrechetMean(ball, bound="published")
        for n in (5, 21, 101, 1001):
            rng = np.random.default_rng([seed, index, n])
            count, proposals = max(2, math.ceil(share * 24)), max(30, math.ceil(share * 160))
            pairs = [*climbed_pairs(ball, n, count, proposals, rng), two_clusters(ball, n)]
            shift = max(_shift(mean, pair) for pair in pairs)
            row: dict[str, Any] = {"space": space.spec, "radius": radius, "n": n}
            row |= {"measured": n * shift, "sharp": n * mean.sensitivity(n)}
            rows.append(row | {"published": n * published.sensitivity(n), "pairs": len(pairs)})
            most = row["sharp"] + 2 * n * mean.error_bound
            assert row["measured"] <= most, f"a shift beyond the bound: {row}"
    return rows


def _shift(mean: gd.FrechetMean, pair: Pair) -> float:
    a, b = (mean.evaluate(pair.data(side)).value for side in (0, 1))
    return float(mean.space.dist(a, b))


def unstable_mean() -> list[dict[str, Any]]:
    """Half the records at p, half at -p, one at q or at -q, q across: how far the mean moves.

    At r = pi/2, where all four points are at that distance from a centre, the mean is q or -q: it
    moves by pi for every n. ``radius`` below: all clusters moved towards the centre.
    """
    rows = []
    for radius in (math.pi / 2, 1.5, 1.2, math.pi / 8):
        for n in (11, 101, 1001, 10001):
            shift = _crossed_shift(radius, n)
            inside = radius < math.pi / 2
            bound = min(2 * radius, 2 * math.tan(radius) / n) if inside else math.pi
            rows.append({"radius": radius, "n": n, "shift": shift, "bound": bound})
    return rows


def _crossed_shift(radius: float, n: int) -> float:
    """2 argmin of F along the arc through both places of the moved record, by symmetry.

    F(s) = (n - 1) arccos(cos(r) cos(s))^2 + (r - s)^2, s the mean's distance from the centre: the
    least of a fine grid, then golden-section search around it.
    """
    from scipy.optimize import minimize_scalar

    def loss(s: Any) -> Any:
        far = np.arccos(np.clip(np.cos(radius) * np.cos(s), -1, 1))
        return (n - 1) * far**2 + (radius - s) ** 2

    grid = np.linspace(-radius, radius, 4001)
    at = int(np.argmin(loss(grid)))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return float(2 * abs(found.x))


def refused_radius() -> str:
    """What geodp says of the ball of radius pi/2."""
    ball = gd.Ball(gd.Sphere(2), np.array([0.0, 0.0, 1.0]), math.pi / 2)
    try:
        gd.FrechetMean(ball)
    except gd.ConditionError as error:
        return str(error)
    raise AssertionError("a ball without a sensitivity bound was accepted")
