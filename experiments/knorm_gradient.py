"""K-norm gradient against the Riemannian Laplace and the ambient Laplace: ``make experiments``.

The study of Soto, Bharath, Reimherr and Slavković (NeurIPS 2022, Figure 1): epsilon = 1, fresh
records for each of 500 repeats; S² within pi/8 (polar angle uniform), SPD(2) affine-invariant
within 1.5 (Wishart, two degrees of freedom). Each is shown with the published constants and, on
S², with the sharp ones. On a homogeneous space the Riemannian Laplace needs delta/epsilon only;
the papers compare at 2 delta/epsilon, so both are here.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from ambient import Method, ambient_methods, ball_and_records, compare
from recording import BLUE, GREEN, INK, ORANGE, PALE, PURPLE, RED, Run, pyplot

import geodp as gd

SIZES, REPEATS = (25, 50, 100, 200, 500), 500
CASES = ((gd.Sphere(2), math.pi / 8), (gd.SPD(2), 1.5))
ONCE, TWICE = gd.PureDP(1), gd.PureDP("0.5")  # scale delta/epsilon, 2 delta/epsilon
# S², published constants [own integrals and simulation, four digits]: n, RL, RL at twice, KNG
KNOWN = {
    25: (0.0969, 0.1925, 0.1402),
    50: (0.0486, 0.0969, 0.0767),
    100: (0.0243, 0.0486, 0.0385),
    500: (0.00486, 0.00972, 0.0077),
}
STYLES = {
    "RL, delta/eps, published": (BLUE, "-", "o"),
    "RL, 2 delta/eps, published": (BLUE, "--", "o"),
    "KNG, published": (ORANGE, "-", "s"),
    "RL, delta/eps": (GREEN, "-", "^"),
    "KNG": (RED, "-", "v"),
    "ambient": (PURPLE, "--", "D"),
    "ambient, projected": (PURPLE, "-", "D"),
}


def methods(ball: gd.Ball) -> list[Method]:
    """The lines of one panel; where no curvature is positive all constants are 2 r/n.

    "KNG" takes 2 tan(r)/n, the sharp bound of the mean; the supremum that the mechanism takes by
    itself is 3 % lower here.
    """
    published, sharp = gd.FrechetMean(ball, bound="published"), gd.FrechetMean(ball)
    laplace, knorm = gd.RiemannianLaplace(), gd.KNormGradient(constant="tangent")
    loose = gd.KNormGradient(constant="published")
    lines = [
        Method("RL, delta/eps, published", published, laplace, ONCE),
        Method("RL, 2 delta/eps, published", published, laplace, TWICE),
        Method("KNG, published", published, loose, ONCE),
    ]
    if ball.space.curvature[1] > 0:
        lines.append(Method("RL, delta/eps", sharp, laplace, ONCE))
        lines.append(Method("KNG", sharp, knorm, ONCE))
    return lines + ambient_methods(ball, ONCE, gd.L2Laplace())


def check(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The known values to 4.5 standard errors (and a half in the last digit), and who wins."""
    scores = []
    found = {(row["space"], row["n"], row["method"]): row for row in rows}
    for (space, n, name), row in found.items():
        if space == "sphere:2" and n in KNOWN and name.endswith("published"):
            known = KNOWN[n][list(STYLES).index(name)]
            slack = max(0.0, abs(row["geodesic"] - known) - 5e-3 * known)
            scores.append(slack / row["geodesic_error"])
            assert scores[-1] <= 4.5, f"{name} at n = {n}: {row['geodesic']:.4g}, known {known}"
        if name == "KNG, published":
            laplace = found[space, n, "RL, delta/eps, published"]
            error = math.hypot(row["geodesic_error"], laplace["geodesic_error"])
            assert laplace["geodesic"] < row["geodesic"] + 4.5 * error, f"KNG wins at n = {n}"
    return {"known_values": len(scores), "largest_score": max(scores, default=0.0)}


def draw(run: Run, rows: list[dict[str, Any]]) -> None:
    """Euclidean error, as in the paper, over n."""
    plt = pyplot()
    spaces = list(dict.fromkeys(row["space"] for row in rows))
    size = (4.9 * len(spaces), 4.2)
    fig, axes = plt.subplots(1, len(spaces), figsize=size, squeeze=False, layout="constrained")
    titles = {"sphere:2": "S²,  r = π/8", "spd:2:affine-invariant": "SPD(2),  r = 1.5"}
    for ax, space in zip(axes.flat, spaces, strict=True):
        for name, (color, line, marker) in STYLES.items():
            chosen = [row for row in rows if row["space"] == space and row["method"] == name]
            if chosen:
                ax.errorbar(
                    [row["n"] for row in chosen],
                    [row["euclidean"] for row in chosen],
                    yerr=[2 * row["euclidean_error"] for row in chosen],
                    color=color,
                    ls=line,
                    marker=marker,
                    ms=4,
                    lw=1.1,
                    capsize=2,
                    label=name.replace("delta", "Δ").replace("eps", "ε"),
                )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(titles[space], loc="left")
        ax.minorticks_off()
        ax.set_xticks(SIZES, [str(n) for n in SIZES])
        ax.grid(color=PALE, lw=0.7)
        ax.set_axisbelow(True)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=3)
    fig.supxlabel("records n", color=INK)
    fig.supylabel("Euclidean (S²) or vech (SPD) error, ε = 1", color=INK)
    fig.savefig(run.out / "knorm_gradient.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("knorm_gradient", __doc__.splitlines()[0])
    begun, rows = time.perf_counter(), []
    for index, (space, radius) in enumerate(CASES):
        if not run.wants(space.spec):
            continue
        ball, records = ball_and_records(space, radius)
        for n in SIZES:
            rng = np.random.default_rng([run.seed, index, n])
            rows += compare(ball, methods(ball), records, n, run.count(REPEATS, 5), rng)
        print(f"{space.spec}: done", flush=True)
    run.table("knorm_gradient", rows)
    facts = check(rows) | {"seconds": round(time.perf_counter() - begun, 1)}
    run.document("knorm_gradient", {"sizes": SIZES, "repeats": run.count(REPEATS, 5), **facts})
    draw(run, rows)
    print(f"{facts['known_values']} known values met; RL at delta/eps is never behind KNG")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
