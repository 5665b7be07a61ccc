"""Coverage of confidence regions and intervals, with and without privacy noise.

Populations are symmetric about a known point off the ball's centre, so their Fréchet mean and
variance are exact. Noise comes from fast seeded floats: a simulation, not private. ``--n 30`` asks
about another number of records alone, at the budgets that ``infer`` does not refuse there, and
writes ``coverage_30.csv``.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from recording import BLUE, GREEN, ORANGE, PALE, Run, pyplot

import geodp as gd
from geodp.inference.collect import without_noise
from geodp.inference.estimate import Estimate
from geodp.verbs.infer_plan import prepared, simulated

LEVELS = (0.9, 0.95, 0.99)
MUS = (0.1, 0.5, 1.0, 2.0, math.inf)
SIZES = (200, 1000)
REPEATS = 1000
SPACES = ("sphere:2", "spd:2:affine-invariant", "spd:2:log-cholesky")


@dataclass(frozen=True)
class Population:
    """Uniform on an ellipsoid in the tangent space at ``mean``, mapped by exp."""

    space: Any
    ball: gd.Ball
    mean: Any
    axes: Any

    @property
    def variance(self) -> float:
        """E dist²(mean, ·): E z_i² = axes_i²/(d + 2)."""
        return float((self.axes**2).sum() / (self.space.dim + 2))

    def draw(self, rng: np.random.Generator, n: int) -> Any:
        d = self.space.dim
        z = rng.standard_normal((n, d))
        z *= (rng.random(n) ** (1 / d) / np.linalg.norm(z, axis=1))[:, None]
        return self.space.exp_coords(self.mean, z * self.axes)


def populations() -> list[Population]:
    found = []
    for space, radius, offset, longest in (
        (gd.Sphere(2), math.pi / 4, 0.2, 0.5),
        (gd.SPD(2), 1.5, 0.4, 1.0),
        (gd.SPD(2, "log-cholesky"), 1.5, 0.4, 1.0),
    ):
        ball = gd.Ball(space, space.origin, radius)
        way = np.arange(1, space.dim + 1) / np.linalg.norm(np.arange(1, space.dim + 1))
        mean = space.exp_coords(space.origin, offset * way)
        found.append(Population(space, ball, mean, longest * 0.7 ** np.arange(space.dim)))
    return found


@dataclass
class Tally:
    """What is counted at one promise and level."""

    region: int = 0
    interval: int = 0
    radius: float = 0.0
    width: float = 0.0
    noise: float = 0.0

    def add(self, estimate: Estimate, population: Population) -> None:
        region, interval = estimate.region, estimate.interval
        assert interval is not None
        self.region += bool(region.contains(population.mean))
        self.interval += interval.low <= population.variance <= interval.high
        log_det = np.linalg.slogdet(region.covariance)[1]
        self.radius += math.sqrt(region.quantile) * math.exp(log_det / 2 / len(region.noise))
        self.width += interval.high - interval.low
        self.noise += region.noise_share


def cells(
    population: Population, n: int, mus: Sequence[float], repeats: int, seed: int
) -> list[dict[str, Any]]:
    """One row per promise and level: how often region and interval hold the truth, and how large
    they are. All promises see the same data sets."""
    rng = np.random.default_rng([seed, n, population.space.dim])
    ball = population.ball
    ready = {
        mu: None if math.isinf(mu) else prepared(ball, n, gd.GaussianDP(mu), 0.95, {}) for mu in mus
    }
    tallies = {(mu, level): Tally() for mu in mus for level in LEVELS}
    for _ in range(repeats):
        records, known = ball.clip(population.draw(rng, n)), {}
        for mu, plan in ready.items():
            if plan is None:
                whole = Estimate(without_noise(ball, records, known=known), 0.95)
            else:
                whole = simulated(plan, records, rng, known=known)
            for level in LEVELS:
                tallies[mu, level].add(whole.at_level(level), population)
    head = {"space": population.space.spec, "n": n}
    return [
        head
        | {"mu": mu, "level": level, "repeats": repeats}
        | {"region": tally.region / repeats, "interval": tally.interval / repeats}
        | {"radius": tally.radius / repeats, "width": tally.width / repeats}
        | {"noise_share": tally.noise / repeats}
        for (mu, level), tally in tallies.items()
    ]


def relative(rows: list[dict[str, Any]]) -> None:
    """Sizes over those of the same cell without noise."""
    for row in rows:
        same = ("space", "n", "level")
        base = [r for r in rows if math.isinf(r["mu"]) and all(r[k] == row[k] for k in same)]
        row["radius_ratio"] = row["radius"] / base[0]["radius"] if base else math.nan
        row["width_ratio"] = row["width"] / base[0]["width"] if base else math.nan


def picture(run: Run, rows: list[dict[str, Any]]) -> None:
    plt = pyplot()
    specs = list(dict.fromkeys(row["space"] for row in rows))
    figure, axes = plt.subplots(2, len(specs), figsize=(3.4 * len(specs), 5.2), sharex=True)
    axes = np.reshape(axes, (2, len(specs)))
    for column, spec in zip(axes.T, specs, strict=True):
        for n, color in zip(SIZES, (BLUE, ORANGE), strict=True):
            mine = [r for r in rows if r["space"] == spec and r["n"] == n and r["level"] == 0.95]
            at = range(len(mine))
            column[0].plot(at, [r["region"] for r in mine], "o-", color=color, label=f"region, {n}")
            column[0].plot(
                at, [r["interval"] for r in mine], "s--", color=color, label=f"interval, {n}"
            )
            column[1].plot(at, [r["radius_ratio"] for r in mine], "o-", color=color, label=f"n={n}")
            column[1].set_xticks(list(at), [f"{r['mu']:g}".replace("inf", "∞") for r in mine])
        column[0].axhspan(0.93, 0.98, color=PALE, zorder=0)
        column[0].axhline(0.95, color=GREEN, lw=0.8)
        column[0].set_ylim(0.9, 1.0)
        column[0].set_title(spec)
        column[1].set_yscale("log")
        column[1].set_xlabel("μ")
    axes[0, 0].set_ylabel("coverage at nominal 95 %")
    axes[1, 0].set_ylabel("radius over the non-private")
    axes[0, 0].legend(fontsize=7)
    axes[1, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(run.out / "coverage.png")


def kept(run: Run, name: str, whole: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of an earlier run about spaces that this run leaves out; ``whole`` are whole numbers."""
    path = run.out / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not run.wants(row["space"])]
    numbers = [{k: float(v) for k, v in row.items() if k != "space"} for row in rows]
    return [
        {"space": row["space"], **fine, **{name: int(fine[name]) for name in whole}}
        for row, fine in zip(rows, numbers, strict=True)
    ]


def possible(ball: gd.Ball, n: int) -> list[float]:
    """The budgets at which ``infer`` does not refuse so few records."""
    found = []
    for mu in MUS:
        try:
            if not math.isinf(mu):
                prepared(ball, n, gd.GaussianDP(mu), 0.95, {})
            found.append(mu)
        except gd.ConditionError:
            continue
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--n", type=int)
    given, rest = parser.parse_known_args(arguments)
    run = Run.parse("coverage", __doc__.splitlines()[0], rest)
    name = "coverage" if given.n is None else f"coverage_{given.n}"
    rows = kept(run, name, ("n", "repeats"))
    for population in populations():
        if not run.wants(population.space.spec):
            continue
        for n in SIZES if given.n is None else (given.n,):
            start = time.process_time()
            mus = possible(population.ball, n)
            found = cells(population, n, mus, run.count(REPEATS), run.seed)
            rows += found
            relative(rows)
            run.table(name, rows)
            for said in (row for row in found if row["level"] == 0.95):
                print(
                    f"{said['space']:<24} n={n:<5} mu={said['mu']:<5} "
                    f"region {said['region']:.3f} interval {said['interval']:.3f}",
                    file=sys.stderr,
                )
            print(f"{time.process_time() - start:.0f} s", file=sys.stderr)
    rows.sort(key=lambda row: (SPACES.index(row["space"]), row["n"], row["mu"], row["level"]))
    run.table(name, rows)
    repeats = {row["space"]: row["repeats"] for row in rows}
    facts: dict[str, Any] = {"cells": len(rows), "repeats": repeats}
    if given.n is None:
        picture(run, rows)
    else:
        facts |= {"command": f"{run.provenance['command']} --n {given.n}"}
    run.document(name, facts)


if __name__ == "__main__":
    main()
