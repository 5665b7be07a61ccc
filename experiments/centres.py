"""What the sizes of the tests owe to the covariance around which their law is simulated.

On a flat space, where the population's covariance is known in closed form. Each data set is tested
four times at 5 %; S is the same, and the law of the statistic is simulated around the limited
covariance that was released (as ``infer`` does), the true one, the released one with eigenvalues
cut at zero only, and the limited one less the bias that limits and noise give it (estimated by the
simulation itself). Noise comes from fast seeded floats: a simulation, not private.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from covering import Population, populations
from equality import SIZES, SPREADS, region_plan
from recording import Run

from geodp.inference import equal_means, one_sample
from geodp.inference.estimate import Estimate
from geodp.inference.linear import clamped, symmetric
from geodp.inference.region import ConfidenceRegion
from geodp.verbs.infer_plan import simulated

REPEATS, MUS = 2000, (1.0, 3.0)
TESTS = ("one_sample", "two_samples", "three_samples")


def centres(estimate: Estimate, population: Population) -> dict[str, Any]:
    """The covariances to simulate around, by name."""
    region, released = estimate.region, estimate.numbers.covariance
    assert region.pivot is not None
    assert released is not None
    limited, tiny = region.pivot.covariance, 1e-12
    copies = np.broadcast_to(limited.matrix, (400, *limited.matrix.shape))
    bias = limited.redrawn(copies, np.random.default_rng(1)).mean(axis=0) - limited.matrix
    raw = symmetric(released.value, population.space.dim)
    return {
        "released, limited": limited.matrix,
        "true": np.diag(population.axes**2) / (population.space.dim + 2),
        "released, cut at zero": clamped(raw, tiny, np.inf),
        "limited less its bias": clamped(limited.matrix - bias, tiny, np.inf),
    }


def around(region: ConfidenceRegion, centre: Any) -> ConfidenceRegion:
    """The same region; its law is simulated around another covariance."""
    assert region.pivot is not None
    pivot = replace(region.pivot, covariance=replace(region.pivot.covariance, matrix=centre))
    return replace(region, pivot=pivot)


def cell(mu: float, repeats: int, seed: int) -> list[dict[str, Any]]:
    """How often each test of equal means rejects at 5 %, for each centre."""
    rng, population = np.random.default_rng([seed, int(10 * mu)]), populations()[2]
    ball, rejected = population.ball, {}
    group = [replace(population, axes=scale * population.axes) for scale in SPREADS]
    ready = [region_plan(ball, n, mu) for n in SIZES]
    for _ in range(repeats):
        found = [
            simulated(plan, ball.clip(one.draw(rng, n)), rng)
            for one, plan, n in zip(group, ready, SIZES, strict=True)
        ]
        by_group = [centres(x, one) for x, one in zip(found, group, strict=True)]
        for name in by_group[0]:
            three = [around(x.region, c[name]) for x, c in zip(found, by_group, strict=True)]
            p = (
                one_sample(three[1], population.mean).p_value,
                equal_means(three[:2]).p_value,
                equal_means(three).p_value,
            )
            rejected[name] = rejected.get(name, np.zeros(3)) + (np.array(p) < 0.05)
    return [
        {"mu": mu, "centre": name, "repeats": repeats}
        | dict(zip(TESTS, (float(x) for x in counts / repeats), strict=True))
        for name, counts in rejected.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    run = Run.parse("centres", __doc__.splitlines()[0], arguments)
    rows: list[dict[str, Any]] = []
    for mu in MUS:
        rows += cell(mu, run.count(REPEATS), run.seed)
        for row in rows[-4:]:
            print(row, file=sys.stderr)
        run.table("centres", rows)
        run.document("centres", {"cells": len(rows)})


if __name__ == "__main__":
    main()
