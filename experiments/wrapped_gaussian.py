"""How far a wrapped release lands from the mean it protects: ``make experiments``.

n = 40 records within r = 1.5 of the origin: directions uniform in the tangent space, distances
uniform on [0, r], drawn afresh for each of 100 repeats. Each repeat releases the Fréchet mean by an
exactly rounded draw of the wrapped Gaussian at mu-GDP, and, for contrast, of the wrapped l2-Laplace
at the pure epsilon whose guarantee implies the same mu-GDP. The proven bound
E min(|z| + 2 rho(p0, mean), c(R) |z|) stands beside the mean geodesic distance. On flat metrics the
distance is |z| itself: sigma E|z| exactly.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from recording import BLUE, INK, ORANGE, PALE, Run, pyplot
from scipy.special import log_ndtr

import geodp as gd
from geodp.random import bit_stream
from geodp.testing import random_points

N, RADIUS, REPEATS = 40, 1.5, 100
MUS = (0.1, 0.2, 0.5, 0.7, 1.0, 1.5, 2.0)
METRICS = ("affine-invariant", "log-euclidean", "log-cholesky")
MECHANISMS = {"wrapped Gaussian": gd.Gaussian(), "wrapped l2-Laplace, pure": gd.L2Laplace()}


@dataclass(frozen=True)
class Panel:
    """One space of the figure: its row is the dimension, its column the geometry."""

    geometry: str
    space: gd.Space


PANELS = tuple(
    Panel(geometry, space)
    for m in (2, 4, 5)
    for geometry, space in [
        *((f"SPD({m}) {metric}", gd.SPD(m, metric)) for metric in METRICS),
        (f"H^{m * (m + 1) // 2}", gd.Hyperbolic(m * (m + 1) // 2)),
    ]
)


def pure_epsilon(mu: float) -> float:
    """The greatest epsilon whose pure guarantee implies mu-GDP, rounded down.

    mu = 2 Phi^-1(e^eps / (1 + e^eps)), so eps = log Phi(mu/2) - log Phi(-mu/2).
    """
    return float(log_ndtr(mu / 2) - log_ndtr(-mu / 2)) * (1 - 1e-12)


def guarantee(mechanism: str, mu: float) -> gd.GaussianDP | gd.PureDP:
    return gd.PureDP(pure_epsilon(mu)) if "Laplace" in mechanism else gd.GaussianDP(mu)


def cell(
    space: gd.Space, mechanism: str, mu: float, repeats: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Mean distance with its standard error, the bound, and the exact value where there is one."""
    ball = gd.Ball(space, space.origin, RADIUS)
    mean = gd.FrechetMean(ball)
    noise = MECHANISMS[mechanism]
    total = mean.sensitivity(N) + 2 * mean.error_bound
    cal = gd.calibrate(gd.Wrapped(noise), space, total, guarantee(mechanism, mu), ball=ball)
    law = noise.law(space.dim)
    distances, bounds, unresolved = [], [], 0
    for _ in range(repeats):
        value = mean.evaluate(random_points(space, N, RADIUS, rng)).value
        offset = float(space.dist(ball.center, value))
        replay = copy.deepcopy(rng)
        released = cal.draw(value, bit_stream(rng))  # the release path, its bits from a seed
        balls = law.exact(bit_stream(replay)).balls(128)  # the noise in it, from the same bits
        most = _bound(space, cal.scale * math.hypot(*map(float, balls)), offset)
        distance = float(space.dist(value, released))
        if not distance <= most:  # too far for 64-bit floats: the matrix is singular to rounding
            unresolved, distance = unresolved + 1, most
        distances.append(distance)
        bounds.append(cal.distance_bound(offset))
    spread = math.sqrt(law.mean_square(cal.scale) - law.mean_radius(cal.scale) ** 2)
    return {
        "sigma": cal.scale,
        "distance": float(np.mean(distances)),
        "standard_error": float(np.std(distances, ddof=1) / math.sqrt(repeats)),
        "bound": float(np.mean(bounds)),
        "unresolved": unresolved,
        "flat": law.mean_radius(cal.scale),  # sigma E|z|
        "flat_standard_error": spread / math.sqrt(repeats),
        "repeats": repeats,
    }


def _bound(space: gd.Space, noise: float, offset: float) -> float:
    """min(|z| + 2 rho, c(rho + |z|) |z|) for one draw, a billionth wider for rounding."""
    reach = math.sqrt(-space.curvature[0]) * (offset + noise)
    stretch = math.sinh(reach) / reach if reach > 0 else 1.0
    return min(noise + 2 * offset, stretch * noise) * (1 + 1e-9)


def check(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the theory says of every cell; raises ``AssertionError`` where it fails.

    Draw by draw the distance is at most the bound at the noise drawn, except for releases too far
    out for 64-bit floats (noise of length 7 and more), where the bound stands in. On average the
    bound holds, and flat cells agree with sigma E|z|, to 4.5 standard errors in each cell and to 3
    in all flat cells together.
    """
    scores = []
    for row in rows:
        where = f"{row['space']}, {row['mechanism']}, mu = {row['mu']}"
        allowed = 0.5 * row["repeats"] if row["flat"] > 7 else 0
        assert row["unresolved"] <= allowed, f"draws beyond the bound of their noise: {where}"
        noise = max(row["standard_error"], row["flat_standard_error"])
        assert row["distance"] <= row["bound"] + 4.5 * noise, f"beyond the bound: {where}"
        if gd.parse_space(row["space"]).is_flat:
            assert math.isclose(row["bound"], row["flat"], rel_tol=1e-9), where
            scores.append((row["distance"] - row["flat"]) / row["flat_standard_error"])
            assert abs(scores[-1]) <= 4.5, f"not sigma E|z|: {where}"
    pooled = sum(scores) / math.sqrt(len(scores)) if scores else 0.0
    assert abs(pooled) <= 3, f"flat cells together are {pooled:.2f} standard errors off"
    return {
        "cells": len(rows),
        "flat_cells": len(scores),
        "flat_pooled_score": pooled,
        "flat_largest_score": max(map(abs, scores), default=0.0),
        "flat_cells_beyond_3": sum(abs(score) > 3 for score in scores),
        "least_bound_over_distance": min(row["bound"] / row["distance"] for row in rows),
    }


def draw(run: Run, rows: list[dict[str, Any]]) -> None:
    """Twelve panels on logarithmic axes, one per space."""
    plt = pyplot()
    fig, axes = plt.subplots(
        3, 4, figsize=(11.5, 8.2), sharex=True, sharey="row", layout="constrained"
    )
    for ax, panel in zip(axes.flat, PANELS, strict=True):
        chosen = [row for row in rows if row["space"] == panel.space.spec]
        if not chosen:  # a part of the spaces only
            ax.set_visible(False)
            continue
        for mechanism, color, marker in zip(MECHANISMS, (BLUE, ORANGE), "os", strict=True):
            line = [row for row in chosen if row["mechanism"] == mechanism]
            mu = [row["mu"] for row in line]
            ax.plot(
                mu,
                [row["bound"] for row in line],
                "--",
                color=color,
                lw=1.1,
                label=f"{mechanism}: bound",
            )
            ax.errorbar(
                mu,
                [row["distance"] for row in line],
                yerr=[2 * row["standard_error"] for row in line],
                fmt=marker,
                ms=4.5,
                color=color,
                mec="white",
                mew=0.5,
                capsize=2,
                lw=1.0,
                label=f"{mechanism}: mean distance ± 2 s.e.",
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"{panel.geometry},  d = {panel.space.dim}", loc="left")
        ax.grid(which="major", color=PALE, lw=0.7)
        ax.set_axisbelow(True)
        ax.minorticks_off()
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    fig.supxlabel("μ of Gaussian differential privacy", color=INK)
    fig.supylabel("geodesic distance from the mean without noise", color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=2)
    fig.savefig(run.out / "wrapped_gaussian.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("wrapped_gaussian", __doc__.splitlines()[0])
    begun, rows = time.perf_counter(), []
    panels = {panel: i for i, panel in enumerate(PANELS) if run.wants(panel.space.spec)}
    for panel, index in panels.items():
        for which, mechanism in enumerate(MECHANISMS):
            for mu in MUS:
                rng = np.random.default_rng([run.seed, index, which, round(1000 * mu)])
                found = cell(panel.space, mechanism, mu, run.count(REPEATS, 5), rng)
                head = {"space": panel.space.spec, "d": panel.space.dim, "mechanism": mechanism}
                rows.append({**head, "mu": mu, **found})
        print(f"{panel.geometry}: done", flush=True)
    run.table("wrapped_gaussian", rows)
    checks = check(rows)
    seconds = round(time.perf_counter() - begun, 1)
    run.document(
        "wrapped_gaussian", {"n": N, "radius": RADIUS, "checks": checks, "seconds": seconds}
    )
    draw(run, rows)
    print(f"{checks['cells']} cells within the bound; flat cells agree with sigma E|z|")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
