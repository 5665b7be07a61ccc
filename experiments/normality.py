"""Normality of the sample mean and variance, and the region's volume against a bootstrap's.

The limit law of √n log(mean) has covariance Λ⁻¹CΛ⁻¹, taken here from a large sample of the
population; Kolmogorov–Smirnov tests compare the whitened coordinates, their squared length, and
the studentised variance with N(0, 1), χ² and N(0, 1). The bootstrap draws records from a normal law
in the tangent space with the released mean and covariance, and adds fresh noise of the released
size: it knows released numbers only. Everything is simulated with seeds: NOT PRIVATE.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from covering import Population, populations
from recording import BLUE, GREEN, INK, ORANGE, Run, pyplot
from scipy import stats

import geodp as gd
from geodp.verbs.infer_plan import prepared, simulated

SIZES = (50, 200, 1000)
REPEATS = 1000
LARGE = 400_000  # records from which the limit law is taken
BOOTSTRAPS, PAIRS, MUS = 100, 40, (0.5, 1.0, 2.0)


def limit(population: Population, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Λ⁻¹CΛ⁻¹, and the variance of squared distances, of the population."""
    records = population.ball.clip(population.draw(rng, LARGE))
    space, mean = population.space, population.mean
    parts = list(records.chunks())
    z = np.concatenate([space.log_coords(mean, chunk) for chunk in parts])
    bent = np.mean([space.hessian(mean, chunk).mean(axis=0) for chunk in parts[:-1]], axis=0)
    inverse = np.linalg.inv(bent)
    return inverse @ (z.T @ z / LARGE) @ inverse, float(((z**2).sum(axis=1)).var())


def standardised(
    population: Population, n: int, repeats: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Whitened √n log(mean), ``(repeats, d)``, and studentised variances, ``(repeats,)``."""
    rng = np.random.default_rng([seed, n, population.space.dim])
    covariance, fourth = limit(population, rng)
    ball, space = population.ball, population.space
    means, variances = [], []
    for _ in range(repeats):
        records = ball.clip(population.draw(rng, n))
        mean = gd.FrechetMean(ball).evaluate(records).value
        logs = np.concatenate([space.log_coords(mean, chunk) for chunk in records.chunks()])
        means.append(space.log_coords(population.mean, mean))
        variances.append((logs**2).sum() / n - population.variance)
    root = np.linalg.cholesky(covariance / n)
    return np.linalg.solve(root, np.array(means).T).T, np.array(variances) / math.sqrt(fourth / n)


def row(population: Population, n: int, z: np.ndarray, v: np.ndarray) -> dict[str, Any]:
    coordinates = [stats.kstest(x, "norm").pvalue for x in z.T]
    squares = stats.kstest((z**2).sum(axis=1), stats.chi2(z.shape[1]).cdf).pvalue
    return {
        "space": population.space.spec,
        "n": n,
        "repeats": len(z),
        "least_p_of_coordinates": min(1.0, float(min(coordinates)) * len(coordinates)),
        "p_of_squared_length": float(squares),
        "p_of_variance": float(stats.kstest(v, "norm").pvalue),
        "variance_bias_in_deviations": float(v.mean()),
        "mean_square_over_limit": float((z**2).mean()),
    }


def bootstrap(population: Population, n: int, mu: float, repeats: int, seed: int) -> dict[str, Any]:
    """Log volumes and hits of the region, and of the bootstrap from the same released numbers."""
    rng = np.random.default_rng([seed, 77, n, int(10 * mu)])
    ball, space = population.ball, population.space
    ready = prepared(ball, n, gd.GaussianDP(mu), 0.95, {})
    volumes, hits = [], np.zeros(2)
    for _ in range(repeats):
        estimate = simulated(ready, ball.clip(population.draw(rng, n)), rng)
        region, numbers = estimate.region, estimate.numbers
        root = np.linalg.cholesky(estimate.covariance)
        logs = []
        for _ in range(BOOTSTRAPS):
            u = rng.standard_normal((n, space.dim)) @ root.T
            again = gd.FrechetMean(ball).evaluate(space.exp_coords(numbers.at, u)).value
            drawn = ready.calibration.sample(again, rng=rng)
            logs.append(space.log_coords(numbers.mean.value, drawn))
        z = np.array(logs)
        spread = np.linalg.inv(z.T @ z / len(z))
        quantile = float(np.quantile(np.einsum("ni,ij,nj->n", z, spread, z), 0.95))
        truth = space.log_coords(numbers.mean.value, population.mean)
        hits += region.contains(population.mean), truth @ spread @ truth <= quantile
        both = (region.covariance, region.quantile), (np.linalg.inv(spread), quantile)
        volumes.append([space.dim / 2 * math.log(q) + np.linalg.slogdet(s)[1] / 2 for s, q in both])
    gaps = np.diff(np.array(volumes), axis=1)
    return {
        "space": space.spec,
        "n": n,
        "mu": mu,
        "repeats": repeats,
        "region_over_bootstrap_volume": float(np.exp(-gaps.mean())),
        "region_holds_truth": float(hits[0] / repeats),
        "bootstrap_holds_truth": float(hits[1] / repeats),
    }


def picture(run: Run, drawn: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]]) -> None:
    plt = pyplot()
    specs = list(dict.fromkeys(spec for spec, _ in drawn))
    figure, axes = plt.subplots(2, len(specs), figsize=(3.0 * len(specs), 5.6), squeeze=False)
    for column, spec in zip(axes.T, specs, strict=True):
        for n, color in zip(SIZES, (ORANGE, GREEN, BLUE), strict=False):
            if (spec, n) not in drawn:
                continue
            z, v = drawn[spec, n]
            levels = (np.arange(len(z)) + 0.5) / len(z)
            chi = stats.chi2(z.shape[1]).ppf(levels)
            column[0].plot(chi, np.sort((z**2).sum(axis=1)), ".", ms=2, color=color, label=f"{n}")
            column[1].plot(stats.norm.ppf(levels), np.sort(v), ".", ms=2, color=color)
        for ax in column:
            ax.axline((0, 0), slope=1, color=INK, lw=0.8)
        column[0].set_title(spec, fontsize=9)
        column[0].set_xlabel("χ² quantile")
        column[1].set_xlabel("normal quantile")
    axes[0, 0].set_ylabel("squared length of √n log(mean), whitened")
    axes[1, 0].set_ylabel("studentised variance")
    axes[0, 0].legend(title="n", fontsize=7)
    figure.tight_layout()
    figure.savefig(run.out / "normality.png")


def main(arguments: Sequence[str] | None = None) -> None:
    run = Run.parse("normality", __doc__.splitlines()[0], arguments)
    rows, drawn, pairs = [], {}, []
    for population in populations():
        spec = population.space.spec
        if not run.wants(spec):
            continue
        for n in SIZES:
            drawn[spec, n] = standardised(population, n, run.count(REPEATS, 40), run.seed)
            rows.append(row(population, n, *drawn[spec, n]))
            print(rows[-1], file=sys.stderr)
            run.table("normality", rows)
        for mu in MUS:
            pairs.append(bootstrap(population, 200, mu, run.count(PAIRS, 3), run.seed))
            print(pairs[-1], file=sys.stderr)
            run.table("bootstrap", pairs)
    run.document("normality", {"cells": len(rows), "bootstraps": len(pairs)})
    picture(run, drawn)


if __name__ == "__main__":
    main()
