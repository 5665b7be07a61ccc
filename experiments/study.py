"""The neighbour property of the released mean: ``make study``.

For neighbouring data sets D, D' the computed means must satisfy

    dist(mean(D), mean(D')) <= sensitivity(n) + 2 error_bound

on every space and radius, and permuting the records must move the mean by at most
``2 error_bound``. Pairs are random or climbed to a local worst case; on spheres and planar shapes
the two-cluster construction of docs/proofs/sensitivity approaches the bound. For contrast: a
solver stopped at a gradient norm of 0.01 sqrt(d), and the size of the published bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from neighbours import Pair, climbed_pairs, random_pairs, stopped_early, two_clusters
from recording import BLUE, GREEN, INK, ORANGE, PALE, RED, Run, pyplot

import geodp as gd
from geodp.testing import random_points

PAIRS = {5: 400, 10: 300, 500: 240, 5000: 100}  # per space, shared by its radii
PERMUTATIONS = 40  # per space and n
PROPOSALS = 160  # per climb
EARLY = 60  # pairs for the solver stopped early


@dataclass(frozen=True)
class Case:
    """A space, the radii to try, and whether the two-cluster construction is extremal there."""

    label: str
    space: gd.Space
    radii: tuple[float, ...]
    extremal: bool = False


CASES = (
    Case("S²", gd.Sphere(2), (0.4, 0.75, 1.1, 1.4), True),
    Case("S⁵", gd.Sphere(5), (0.4, 0.75, 1.1, 1.4), True),
    Case("SPD(2) affine-invariant", gd.SPD(2), (0.5, 1.5, 3.0)),
    Case("SPD(3) affine-invariant", gd.SPD(3), (0.5, 1.5, 3.0)),
    Case("H³", gd.Hyperbolic(3), (0.5, 1.5, 3.0)),
    Case("SPD(3) log-Euclidean", gd.SPD(3, "log-euclidean"), (1.5,)),
    Case("SPD(3) log-Cholesky", gd.SPD(3, "log-cholesky"), (1.5,)),
    Case("S² × SPD(2)", gd.Product(gd.Sphere(2), gd.SPD(2)), (0.75, 1.4), True),
    Case("planar shapes, 4 landmarks", gd.PlanarShapes(4), (0.2, 0.35, 0.55, 0.7), True),
)


def compare(mean: gd.FrechetMean, pairs: list[Pair], n: int) -> dict[str, Any]:
    """Shifts of the computed mean over pairs, beside the bound that a release is calibrated to."""
    bound = mean.sensitivity(n) + 2 * mean.error_bound
    values = [[mean.evaluate(pair.data(side)).value for side in (0, 1)] for pair in pairs]
    shifts = np.array([mean.space.dist(*value) for value in values])
    return _row(mean, shifts, bound)


def permute(mean: gd.FrechetMean, n: int, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """How far shuffling the records moves the mean, beside twice the error bound."""
    ball, shifts = mean.ball, []
    for _ in range(count):
        data = random_points(ball.space, n, ball.radius, rng, ball.center)
        shuffled = mean.evaluate(data[rng.permutation(n)]).value
        shifts.append(mean.space.dist(mean.evaluate(data).value, shuffled))
    return _row(mean, np.array(shifts), 2 * mean.error_bound)


def early(ball: gd.Ball, n: int, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Shifts of a mean whose solver stops at a gradient norm of 0.01 sqrt(d)."""
    mean = gd.FrechetMean(ball)
    space, threshold = ball.space, 0.01 * math.sqrt(ball.space.dim)
    shifts = []
    for pair in random_pairs(ball, n, count, rng):
        ends = [stopped_early(space, pair.data(side), threshold) for side in (0, 1)]
        shifts.append(space.dist(*ends))
    return _row(mean, np.array(shifts), mean.sensitivity(n))


def _row(mean: gd.FrechetMean, shifts: np.ndarray, bound: float) -> dict[str, Any]:
    return {
        "pairs": len(shifts),
        "bound": bound,
        "error_bound": mean.error_bound,
        "largest_shift": float(shifts.max()),
        "ratio_max": float(shifts.max() / bound),
        "ratio_median": float(np.median(shifts) / bound),
        "violations": int((shifts > bound).sum()),
    }


def study(case: Case, run: Run, rng: np.random.Generator) -> list[dict[str, Any]]:
    """All rows of one case."""
    rows, steps = [], run.count(PROPOSALS, 12)
    for radius in case.radii:
        mean = gd.FrechetMean(gd.Ball(case.space, case.space.origin, radius))
        for n, pairs in PAIRS.items():
            half = run.count(pairs / len(case.radii) / 2)
            made = {
                "random": compare(mean, random_pairs(mean.ball, n, half, rng), n),
                "climbed": compare(mean, climbed_pairs(mean.ball, n, half, steps, rng), n),
                "permuted": permute(mean, n, run.count(PERMUTATIONS / len(case.radii)), rng),
            }
            if case.extremal:
                odd = n + 1 - n % 2
                made["two clusters"] = compare(mean, [two_clusters(mean.ball, odd)], odd)
            rows += [
                {"space": case.label, "radius": radius, "n": n, "kind": kind, **row}
                for kind, row in made.items()
            ]
    return rows


def published() -> list[dict[str, Any]]:
    """n times the sensitivity on the unit sphere: sharp, and as published before."""
    rows = []
    for radius in (0.1, 0.2, math.pi / 8, 0.5, 0.6, 0.7, 0.75, 0.78, 1.0, 1.2, 1.4):
        ball = gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], radius)
        sharp = gd.FrechetMean(ball).sensitivity(10_000) * 10_000
        try:
            wide = gd.FrechetMean(ball, bound="published").sensitivity(10_000) * 10_000
        except gd.ConditionError:
            wide = math.nan  # the published theorem says nothing here
        rows.append(
            {"radius": radius, "sharp": sharp, "published": wide, "published/sharp": wide / sharp}
        )
    return rows


def draw(run: Run, rows: list[dict[str, Any]]) -> None:
    """One panel per n: the greatest ratio of shift to bound for each space and radius."""
    plt = pyplot()
    places = list(dict.fromkeys((row["space"], row["radius"]) for row in rows))
    marks = {
        "random": (BLUE, "o", "random pairs, largest"),
        "climbed": (ORANGE, "D", "hill-climbed pairs, largest"),
        "two clusters": (GREEN, "^", "two clusters (n odd)"),
    }
    fig, axes = plt.subplots(
        1, len(PAIRS), figsize=(11.5, 0.26 * len(places) + 1.6), sharey=True, layout="constrained"
    )
    for ax, n in zip(axes, PAIRS, strict=True):
        ax.axvline(1.0, color=RED, lw=1.3, label="the bound")
        for kind, (color, marker, label) in marks.items():
            chosen = [row for row in rows if row["n"] == n and row["kind"] == kind]
            y = [-places.index((row["space"], row["radius"])) for row in chosen]
            ratio = [row["ratio_max"] for row in chosen]
            ax.plot(ratio, y, marker, color=color, ms=5, mec="white", mew=0.5, label=label)
        ax.set_title(f"n = {n}", loc="left")
        ax.set_xlim(0, 1.08)
        ax.grid(axis="y", color=PALE, lw=0.7)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    names = [f"{label},  r = {radius:g}" for label, radius in places]
    axes[0].set_yticks([-i for i in range(len(places))], names)
    fig.supxlabel("shift of the computed mean / (sensitivity + 2 error bound)", color=INK)
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=4)
    fig.savefig(run.out / "study.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("study", __doc__.splitlines()[0])
    begun, rows = time.perf_counter(), []
    cases = {case: index for index, case in enumerate(CASES) if run.wants(case.space.spec)}
    for case, index in cases.items():
        rows += study(case, run, np.random.default_rng([run.seed, index]))
        print(f"{case.label}: largest ratio {worst(rows, case.label):.4f}", flush=True)
    spd = gd.Ball(gd.SPD(3), np.eye(3), 1.5)
    stopped = early(spd, 5000, run.count(EARLY), np.random.default_rng([run.seed, 99]))
    contrast = published()
    violations = sum(row["violations"] for row in rows)
    clusters = [r["ratio_max"] for r in rows if r["kind"] == "two clusters" and r["n"] == 5000]
    pairs = {
        case.label: sum(
            row["pairs"] for row in rows if row["space"] == case.label and row["kind"] != "permuted"
        )
        for case in cases
    }
    run.table("study", rows)
    run.table("sensitivity", contrast)
    run.document(
        "study",
        {
            "pairs": pairs,
            "violations": violations,
            "largest_ratio": {case.label: worst(rows, case.label) for case in cases},
            "two_clusters_least_ratio_at_n_5001": min(clusters, default=None),
            "permutation_largest_ratio": max(
                row["ratio_max"] for row in rows if row["kind"] == "permuted"
            ),
            "stopped_early": {
                "space": "SPD(3) affine-invariant",
                "radius": 1.5,
                "n": 5000,
                **stopped,
            },
            "seconds": round(time.perf_counter() - begun, 1),
        },
    )
    draw(run, rows)
    print(f"pairs: {sum(pairs.values())}, beyond the bound: {violations}")
    print(f"a solver stopped early: {stopped['ratio_max']:.1f} times the bound")
    missed = min(clusters, default=1.0) < 0.98  # the bound is approached to 2 %
    return 1 if violations or missed else 0


def worst(rows: list[dict[str, Any]], label: str) -> float:
    """The largest ratio of shift to bound on one space."""
    return max(r["ratio_max"] for r in rows if r["space"] == label and r["kind"] != "permuted")


if __name__ == "__main__":
    raise SystemExit(main())
