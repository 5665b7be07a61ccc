"""Which wrapped noise lands nearest, for one release and for k that share a budget.

On SPD(2), SPD(3) and H³ at (ε, δ) = (1, 1e-5): 1000 releases of the wrapped Gaussian, the wrapped
ℓ2-Laplace and the best member of the spherical generalized gamma family, of the mean of n = 100
records within r = 1.5, for a value at the ball's centre and for one at its edge. Then best(k): the
mean distance E R of each at the scale that k equal releases may have under the same total, in units
of the sensitivity. ``make study``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from recording import BLUE, GREEN, INK, ORANGE, PALE, Run, pyplot

import geodp as gd
from geodp.noise.base import Noise
from geodp.privacy.shares import share_of
from geodp.privacy.spherical_best import best_noise

N, RADIUS, REPEATS = 100, 1.5, 1000
TOTAL = gd.ApproxDP(1, "1e-5")
SPACES = (gd.SPD(2), gd.SPD(3), gd.Hyperbolic(3))
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
NOISES: dict[str, Noise] = {
    "wrapped Gaussian": gd.Gaussian(),
    "wrapped l2-Laplace": gd.L2Laplace(),
    "best member": gd.SphericalGamma(),
}
COLORS = dict(zip(NOISES, (BLUE, ORANGE, GREEN), strict=True))


def released(space: gd.Space, name: str, repeats: int, seed: list[int]) -> dict[str, Any]:
    """Mean distances of exactly rounded releases (their bits from a seed: a simulation)."""
    from geodp.random import bit_stream

    ball = gd.Ball(space, space.origin, RADIUS)
    mean = gd.FrechetMean(ball)
    total = mean.sensitivity(N) + 2 * mean.error_bound
    cal = gd.calibrate(gd.Wrapped(NOISES[name]), space, total, TOTAL, ball=ball)
    rng = np.random.default_rng(seed)
    step = np.zeros(space.dim)
    step[0] = RADIUS
    row: dict[str, Any] = {"space": space.spec, "d": space.dim, "noise": name}
    row |= {key: cal.parameters.get(key, "") for key in ("shape", "power")}
    row |= {"scale": cal.scale, "repeats": repeats}
    for where, value in (("center", ball.center), ("edge", space.exp_coords(ball.center, step))):
        draws = np.array([cal.draw(value, bit_stream(rng)) for _ in range(repeats)])
        distances = space.dist(np.broadcast_to(value, draws.shape), draws)
        row[where] = float(distances.mean())
        row[f"{where}_error"] = float(distances.std(ddof=1) / math.sqrt(repeats))
        row[f"{where}_bound"] = cal.distance_bound(0.0 if where == "center" else RADIUS)
    return row


def shared(dim: int, counts: Iterable[int]) -> list[dict[str, Any]]:
    """For each k: E R over the sensitivity, from certified scales."""
    rows = []
    for k in counts:
        row: dict[str, Any] = {"d": dim, "k": k}
        named = {**NOISES, "best member": best_noise(dim, TOTAL, 1, k)}
        for name, noise in named.items():
            law, ratio = noise.law(dim), float(share_of(noise, dim, TOTAL, k))
            row[name] = law.mean_radius() / ratio
            row[f"{name} MSE"] = law.mean_square() / ratio**2
        row |= named["best member"].parameters
        rows.append(row)
        print(f"d = {dim}, k = {k}: {named['best member']}", flush=True)
    return rows


def draw(run: Run, rows: list[dict[str, Any]]) -> None:
    """best(k) over the Gaussian, one panel per dimension."""
    plt = pyplot()
    dims = sorted({row["d"] for row in rows})
    fig, axes = plt.subplots(
        1,
        len(dims),
        figsize=(4.4 * len(dims), 3.4),
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for ax, dim in zip(axes.flat, dims, strict=True):
        chosen = [row for row in rows if row["d"] == dim]
        for name, color in COLORS.items():
            ratio = [row[name] / row["wrapped Gaussian"] for row in chosen]
            ax.plot([row["k"] for row in chosen], ratio, "o-", ms=3.5, color=color, label=name)
        ax.set_xscale("log", base=2)
        ax.set_title(f"d = {dim}", loc="left")
        ax.grid(color=PALE, lw=0.7)
        ax.set_axisbelow(True)
        ax.minorticks_off()
        ticks = [k for k in (1, 2, 4, 8, 16, 32) if k <= max(row["k"] for row in chosen)]
        ax.set_xticks(ticks, [str(k) for k in ticks])
    axes[0, 0].legend()
    fig.supxlabel("releases that share (1, 1e-5)", color=INK)
    fig.supylabel("mean noise length over the Gaussian's", color=INK)
    fig.savefig(run.out / "wrapped_spherical.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("wrapped_spherical", __doc__.splitlines()[0])
    begun, rows = time.perf_counter(), []
    for i, space in enumerate(SPACES):
        if run.wants(space.spec):
            for j, name in enumerate(NOISES):
                count = run.count(REPEATS, 50)
                rows.append(released(space, name, count, [run.seed, i, j]))
                print(f"{space.spec}, {name}: {rows[-1]['center']:.4g}", flush=True)
    counts = COUNTS[: run.count(len(COUNTS))]
    dims = sorted({space.dim for space in SPACES if run.wants(space.spec)})
    best = [row for dim in dims for row in shared(dim, counts)]
    run.table("wrapped_spherical", rows)
    run.table("wrapped_spherical_shared", [{"shape": "", "power": "", **row} for row in best])
    above = [
        row
        for row in best
        if row["best member"] > min(row[name] for name in list(NOISES)[:2]) * (1 + 1e-3)
    ]
    seconds = round(time.perf_counter() - begun, 1)
    facts = {"n": N, "radius": RADIUS, "best_above_either": len(above), "seconds": seconds}
    run.document("wrapped_spherical", facts)
    draw(run, best)
    return len(above)


if __name__ == "__main__":
    raise SystemExit(main())
