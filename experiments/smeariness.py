"""Finite-sample smeariness on S²: n times the variance of the sample mean, over n.

A mass at the north pole and the rest uniform on the southern hemisphere. At the pole the mean
Hessian of half squared distances is 1 − mass·E(1 − θ cot θ)/2 times the identity; as the southern
mass grows it falls to zero, where the sample mean converges slower than 1/√n (Eltzner and
Huckemann, Ann. Statist. 2019). On a flat space n times the variance of the mean is the variance;
here its limit is that over the Hessian squared, and none where the Hessian is zero.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from recording import BLUE, GREEN, ORANGE, PURPLE, RED, Run, pyplot

import geodp as gd

SIZES = (30, 100, 300, 1000, 3000, 10_000)
HESSIANS = (0.8, 0.4, 0.2, 0.1, 0.0)
REPEATS = 400
_LOST = (1 + (1 + math.pi / 2)) / 2  # E(1 − θ cot θ)/2 on the hemisphere
_SQUARE = math.pi**2 - 2 - math.pi  # E θ² there
_STEPS = 500
_CLOSE = 1e-3  # of 1/√n: the last step

NORTH = np.array([0.0, 0.0, 1.0])


def southern_mass(hessian: float) -> float:
    """The mass of the hemisphere at which the Hessian at the pole is ``hessian``."""
    return (1 - hessian) / _LOST


def hemisphere(rng: np.random.Generator, count: int) -> np.ndarray:
    z, phi = -rng.uniform(0, 1, count), rng.uniform(0, 2 * math.pi, count)
    radius = np.sqrt(1 - z**2)
    return np.stack([radius * np.cos(phi), radius * np.sin(phi), z], axis=1)


def step_at(x: np.ndarray, points: np.ndarray, north: float) -> np.ndarray:
    """Newton's step where the Hessian is large enough, else the mean logarithm, which never raises
    the sum of squares where no curvature is negative."""
    cosine = np.append(np.clip(points @ x, -1, 1), x[2])
    weights = np.append(np.full(len(points), (1 - north) / max(len(points), 1)), north)
    angle = np.arccos(np.clip(cosine, -1, 1))
    sine = np.maximum(np.sin(angle), 1e-12)
    unit = (np.vstack([points, NORTH]) - cosine[:, None] * x) / sine[:, None]
    across = np.where(angle < 1e-9, 1.0, angle * cosine / sine)
    gradient = (weights * angle) @ unit
    frame = np.linalg.svd(x[None])[2][1:]
    flat = unit @ frame.T
    bent = (flat * (weights * (1 - across))[:, None]).T @ flat
    hessian = float(weights @ across) * np.eye(2) + bent
    if np.linalg.eigvalsh(hessian)[0] > 0.02:
        newton = np.linalg.solve(hessian, frame @ gradient) @ frame
        if np.linalg.norm(newton) < 0.3:
            return newton
    return gradient


def sample_mean(space: Any, rng: np.random.Generator, n: int, hessian: float) -> float:
    """Distance of the sample mean from the pole."""
    points = hemisphere(rng, rng.binomial(n, southern_mass(hessian)))
    x = NORTH
    for _ in range(_STEPS):
        step = step_at(x, points, 1 - len(points) / n)
        x = space.project(space.exp(x, step))
        if np.linalg.norm(step) < _CLOSE / math.sqrt(n):
            break
    return float(space.dist(x, NORTH))


def row(n: int, hessian: float, repeats: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, n, int(1000 * hessian)])
    space = gd.Sphere(2)
    squares = np.array([sample_mean(space, rng, n, hessian) ** 2 for _ in range(repeats)])
    variance = southern_mass(hessian) * _SQUARE  # of one record, about the pole
    ratio = float(n * squares.mean() / variance)
    error = float(n * squares.std() / math.sqrt(repeats) / variance)
    limit = math.inf if hessian == 0 else 1 / hessian**2
    return {
        "hessian": hessian,
        "southern_mass": southern_mass(hessian),
        "n": n,
        "repeats": repeats,
        "over_variance": ratio,
        "over_variance_error": error,
        "over_limit": ratio / limit,
    }


def picture(run: Run, rows: list[dict[str, Any]]) -> None:
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(5.2, 3.6))
    for hessian, color in zip(HESSIANS, (BLUE, GREEN, ORANGE, RED, PURPLE), strict=True):
        mine = [r for r in rows if r["hessian"] == hessian]
        at = [r["n"] for r in mine]
        ax.errorbar(
            at,
            [r["over_variance"] for r in mine],
            [2 * r["over_variance_error"] for r in mine],
            fmt="o-",
            color=color,
            label=f"Hessian {hessian:g}",
        )
        if hessian:
            ax.axhline(1 / hessian**2, color=color, lw=0.6, ls=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("n")
    ax.set_ylabel("n × variance of the mean / variance")
    ax.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(run.out / "smeariness.png")


def slope(rows: Sequence[dict[str, Any]]) -> float:
    """Of log n × variance over log n in a smeary case: 0 for √n-consistency, 2/3 for n^(-1/6)."""
    at = [(r["n"], r["over_variance"]) for r in rows if r["hessian"] == 0]
    return float(np.polyfit(*np.log(np.array(at)).T, 1)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    run = Run.parse("smeariness", "Finite-sample smeariness on the sphere.", arguments)
    sizes = [n for n in SIZES if n <= max(300, 10_000 * run.share)]
    rows = []
    for hessian in HESSIANS:
        for n in sizes:
            rows.append(row(n, hessian, run.count(REPEATS, 50), run.seed))
            print(rows[-1], file=sys.stderr)
    run.table("smeariness", rows)
    run.document("smeariness", {"slope_at_hessian_0": slope(rows)})
    picture(run, rows)


if __name__ == "__main__":
    main()
