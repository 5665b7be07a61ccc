"""Numerical checks of the proof pages, independent of the library: ``python docs/proofs/check.py``.

Prints, for every inequality, the worst excess (at most rounding) or the largest share of its bound
(at most 1). Formulas on the sphere and the hyperboloid are written out here.
"""

import math

import numpy as np

rng = np.random.default_rng(1)
norm = np.linalg.norm
PLANE = np.array([-1.0, 1.0, 1.0])  # Minkowski metric of the hyperboloid


def g(t):
    t = np.maximum(t, 1e-9)
    return t / np.tan(t)


def q(t):
    t = np.maximum(t, 1e-9)
    return t / np.sin(t)


def dist(x, y):
    return 2 * np.arctan2(norm(x - y, axis=-1), norm(x + y, axis=-1))


def log(x, y):
    w = y - np.sum(x * y, -1, keepdims=True) * x
    size = np.maximum(norm(w, axis=-1, keepdims=True), 1e-300)
    return w / size * dist(x, y)[..., None]


def exp(x, v):
    t = norm(v, axis=-1, keepdims=True)
    y = np.cos(t) * x + np.sinc(t / np.pi) * v
    return y / norm(y, axis=-1, keepdims=True)


def cap(dim, r, count, edge):
    """Points of the ball of radius r around the first axis, most on its edge if ``edge``."""
    u = rng.normal(size=(count, dim))
    t = r * np.sqrt(rng.random(count))
    t = np.where((rng.random(count) < 0.7) & edge, r, t)
    v = np.zeros((count, dim + 1))
    v[:, 1:] = u / norm(u, axis=1, keepdims=True) * t[:, None]
    m = np.eye(dim + 1)[0]
    return exp(m, v), m


def mean(points, weights, start, tolerance=1e-14):
    """The mean by unit steps, and the number of steps to the tolerance."""
    x = start
    for step in range(20000):
        v = weights @ log(x, points)
        if norm(v) < tolerance:
            return x, step
        x = exp(x, v)
    return x, step


def slope(gradient, r):
    z, floor = gradient * np.tan(r), g(r)
    return floor - min(z, z * z / (4 * (1 - floor)))


def inequalities(trials=3000):
    worst = dict.fromkeys(("(1)", "(2)", "(4)", "(6)", "lemma 5", "spheres: step"), -np.inf)
    share = {"certificate": 0.0, "corollary": 0.0, "Lipschitz factor": 0.0}

    def note(table, name, value):
        table[name] = max(table[name], float(np.max(value)))

    for trial in range(trials):
        dim, r, count = int(rng.integers(2, 5)), rng.uniform(0.05, 1.55), int(rng.integers(2, 12))
        points, m = cap(dim, r, count, trial % 2 == 1)
        weights = rng.dirichlet(np.full(count, rng.choice([0.2, 1, 5])))
        x = cap(dim, r, 1, False)[0][0]
        s, e = dist(x, m), log(x, m)
        e /= norm(e)
        ratio = np.cos(r) / np.cos(s)
        c = max(np.arccos(min(1.0, ratio)), 1e-3)
        v = log(x, points)
        theta = norm(v, axis=1)
        b = (c - np.sin(c) * np.cos(c)) / (np.sin(c) - c * np.cos(c))
        note(worst, "(1)", ratio * q(theta) - g(theta) - np.tan(s) * (v @ e))
        note(worst, "(2)", g(c) - b * np.tan(s) / (np.cos(c) + b) * (v @ e) - g(theta))
        note(worst, "(4)", norm(v - np.tan(s) * e, axis=1) - np.hypot(c, np.tan(s)))
        note(worst, "(6)", g(r) + (1 - g(r)) * (np.tan(s) / np.tan(r)) ** 2 - g(c))
        note(worst, "spheres: step", dist(exp(x, weights @ v), m) - r)

        out, way = rng.uniform(r, 2 * r), log(m, x) / s
        y, mirrored = exp(m, out * way), exp(m, (2 * r - out) * way)
        note(worst, "lemma 5", dist(mirrored, points) - dist(y, points))

        offset = rng.uniform(0, 3.1 - r)
        ends = log(exp(m, offset * way), points[:2])
        stretch = norm(ends[0] - ends[1]) / dist(points[0], points[1])
        note(share, "Lipschitz factor", stretch / q(offset + r))

        xbar = mean(points, weights, m)[0]
        for size in (0.3, 0.03):
            near = exp(xbar, size * rng.random() * log(xbar, x))
            gradient = norm(weights @ log(near, points))
            if gradient > 1e-6 and dist(near, m) <= r and (lam := slope(gradient, r)) > 0:
                drop = weights @ (dist(near, points) ** 2 - dist(xbar, points) ** 2) / 2
                note(share, "certificate", dist(near, xbar) * lam / gradient)
                note(share, "corollary", 2 * lam * drop / gradient**2)
    return worst, share


def optimality():
    e = np.eye(3)
    for r in (np.pi / 8, 0.75, 1.2):
        for count in (5, 51, 1001):
            weights = np.array([(count - 1) / 2, (count - 1) / 2, 1]) / count
            ends = []
            for sign in (1, -1):
                points = np.array([exp(e[0], r * u) for u in (e[1], -e[1], sign * e[2])])
                ends.append(mean(points, weights, e[0])[0])
            moved = count * dist(*ends)
            tempting = 2 * r / ((1 - 1 / count) * g(r) + 1 / count)
            print(
                f"r={r:.4f} n={count:5d}  n*shift={moved:.4f}  of the bound {2 * np.tan(r):.4f}: "
                f"{moved / 2 / np.tan(r):.4f}  of the false form: {moved / tempting:.4f}"
            )


def sphere_count(trials=400):
    """Largest share of the proven count that unit steps use on the 2-sphere."""
    used = 0.0
    for _ in range(trials):
        r, count = rng.choice([0.5, 1.0, 1.3, 1.5]), int(rng.integers(2, 9))
        points, m = cap(2, r, count, True)
        floor = g(r)
        entry = max(floor / 2, math.sqrt(2 * floor * (1 - floor))) / np.tan(r)
        lam, target = floor / 2, 1e-9 * r
        assert slope(entry, r) >= lam * (1 - 1e-9)
        most = (r / entry) ** 2 + np.log(entry**2 / lam / target**2) / -np.log1p(-lam) + 1
        used = max(used, mean(points, rng.dirichlet(np.full(count, 0.5)), m, target)[1] / most)
    return used


def hyperbolic_count(trials=300):
    """The same for steps of length 1/L on the hyperbolic plane."""
    used = 0.0
    for _ in range(trials):
        r, count = rng.choice([0.3, 1.0, 2.0, 4.0]), int(rng.integers(2, 8))
        turn, t = rng.random(count) * 2 * np.pi, np.where(rng.random(count) < 0.7, r, r / 2)
        points = np.stack([np.cosh(t), np.sinh(t) * np.cos(turn), np.sinh(t) * np.sin(turn)], 1)
        weights, x = rng.dirichlet(np.full(count, 0.5)), np.eye(3)[0]
        smooth, target = 3 * r / np.tanh(3 * r), 1e-6 * r
        most = math.ceil(np.log(smooth * r * r / target**2) / -np.log1p(-1 / smooth))
        for step in range(most + 1):
            chord = np.maximum(-(points * PLANE) @ x, 1)
            w = points - chord[:, None] * x
            length = np.sqrt(np.maximum((w * w) @ PLANE, 1e-300))
            v = weights @ (w / length[:, None] * np.arccosh(chord)[:, None])
            size = math.sqrt(max((v * v) @ PLANE, 0.0))
            if size <= target:
                used = max(used, step / most)
                break
            x = np.cosh(size / smooth) * x + np.sinh(size / smooth) / size * v
            x /= math.sqrt(-(x * x) @ PLANE)
        else:
            return math.inf
    return used


if __name__ == "__main__":
    excess, shares = inequalities()
    print("worst excess:", {name: f"{value:.1e}" for name, value in excess.items()})
    print("largest share of the bound:", {name: f"{value:.4f}" for name, value in shares.items()})
    optimality()
    print(f"steps used / proven: sphere {sphere_count():.3f}, hyperbolic {hyperbolic_count():.3f}")
