"""Size and power of the tests of equal means, with and without privacy noise; rates of the error.

Groups have unequal sizes and spreads. Noise comes from fast seeded floats: a simulation, not
private. The error of the private mean is compared with n on a flat space, where it is cheap.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from covering import SPACES, Population, kept, populations
from recording import Run

import geodp as gd
from geodp.inference import equal_means, one_sample
from geodp.inference.collect import without_noise
from geodp.inference.estimate import Estimate
from geodp.inference.region import ConfidenceRegion
from geodp.inference.shares import REPLACED, default_shares, needed_parts
from geodp.verbs.infer_plan import prepared, simulated

REPEATS = 5000
SIZES = (200, 300, 250)
SPREADS = (1.0, 0.6, 0.8)
TEN = (100, 1000, 10_000, 100_000)


def regions(
    group: Sequence[Population], mu: float, rng: np.random.Generator, ready: Sequence[Any]
) -> list[ConfidenceRegion]:
    found = []
    for one, plan, n in zip(group, ready, SIZES, strict=True):
        records = one.ball.clip(one.draw(rng, n))
        if math.isinf(mu):
            estimate = Estimate(without_noise(one.ball, records, needed_parts(one.space)))
        else:
            estimate = simulated(plan, records, rng)
        found.append(estimate.region)
    return found


def region_plan(ball: gd.Ball, n: int, mu: float) -> Any:
    """The default plan without the numbers that no test of means uses: their noise is the same."""
    promise = gd.GaussianDP(mu)
    shares = default_shares(ball, n, promise, REPLACED)
    split = {name: shares[name] for name in needed_parts(ball.space)}
    return prepared(ball, n, promise, 0.95, {"split": split})


def cell(
    population: Population, mu: float, shift: float, repeats: int, seed: int
) -> dict[str, Any]:
    """How often each test rejects at 5 %; ``shift`` moves the second group's mean."""
    rng = np.random.default_rng([seed, int(10 * min(mu, 1e3)), int(1000 * shift)])
    space, ball = population.space, population.ball
    moved = space.exp_coords(population.mean, shift * np.eye(space.dim)[0])
    group = [
        Population(space, ball, moved if i == 1 else population.mean, scale * population.axes)
        for i, scale in enumerate(SPREADS)
    ]
    ready: list[Any] = [None] * 3
    if not math.isinf(mu):
        ready = [region_plan(ball, n, mu) for n in SIZES]
    rejected = np.zeros(3)
    for _ in range(repeats):
        three = regions(group, mu, rng, ready)
        p = (
            one_sample(three[1], population.mean).p_value,
            equal_means(three[:2]).p_value,
            equal_means(three).p_value,
        )
        rejected += np.array(p) < 0.05
    names = ("one_sample", "two_samples", "three_samples")
    facts = {"space": space.spec, "mu": mu, "shift": shift, "repeats": repeats}
    return facts | dict(zip(names, (float(x) for x in rejected / repeats), strict=True))


def rates(run: Run) -> list[dict[str, Any]]:
    """Root mean squared errors against n: of the private mean, and of its privacy part alone."""
    population = populations()[2]
    space, ball = population.space, population.ball
    rng, rows = np.random.default_rng(run.seed), []
    for n in TEN:
        squares = []
        plan = prepared(ball, n, gd.GaussianDP(1), 0.95, {})
        for _ in range(run.count(100, 5)):
            mean = gd.FrechetMean(ball).evaluate(population.draw(rng, n)).value
            drawn = plan.calibration.sample(mean, rng=rng)
            pair = space.dist(population.mean, mean), space.dist(mean, drawn)
            squares.append([float(x) ** 2 for x in pair])
        sample, privacy = np.sqrt(np.mean(squares, axis=0))
        rows.append({"n": n, "sampling": float(sample), "privacy": float(privacy)})
    return rows


def slope(rows: Sequence[dict[str, Any]], name: str) -> float:
    x = np.log([row["n"] for row in rows])
    return float(np.polyfit(x, np.log([row[name] for row in rows]), 1)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    run = Run.parse("equality", __doc__.splitlines()[0], arguments)
    by_n = rates(run)
    facts = {name: slope(by_n, name) for name in ("sampling", "privacy")}
    print(facts, file=sys.stderr)
    run.table("rates", by_n)
    rows = kept(run, "equality", ("repeats",))
    for population in populations():
        if not run.wants(population.space.spec):
            continue
        for mu in (1.0, math.inf):
            for shift in (0.0, 0.05, 0.1):
                repeats = run.count(REPEATS if shift == 0 else REPEATS // 10)
                rows.append(cell(population, mu, shift, repeats, run.seed))
                print(rows[-1], file=sys.stderr)
                rows.sort(key=lambda row: (SPACES.index(row["space"]), row["mu"], row["shift"]))
                run.table("equality", rows)
                run.document("equality", {"slopes": facts, "cells": len(rows)})


if __name__ == "__main__":
    main()
