"""Exact samplers of the radial laws: moments, the radius, the chains. ``make experiments``.

Moments of 10^6 float draws beside known values, to 5 standard errors; the radius of float draws and
of exactly rounded ones against its cdf by quadrature (Kolmogorov-Smirnov); float draws against the
published Metropolis-Hastings chains (burn-in 10,000, last states) on S², SPD(2) and SPD(3), for the
Riemannian Laplace, the Riemannian Gaussian and the K-norm gradient.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from ambient import ball_and_records
from chains import BURN_IN, Array, Chain, knorm, last_states, radial, usual_step
from recording import Run
from scipy import integrate, stats

import geodp as gd
from geodp.mechanisms.base import Evaluated
from geodp.noise.radial_laws import radial_law
from geodp.random import GeneratorBits
from geodp.verbs.stages import calibrated

DRAWS, ROUNDED, WALKERS = 1_000_000, 4000, 250
LEAST_P = 1e-7  # of each Kolmogorov-Smirnov test
# space, kernel, scale, E of the distance [Gaussian on SPD and S², Laplace on S²: four digits]
MOMENTS: tuple[tuple[gd.Space, str, float, float], ...] = (
    (gd.Sphere(2), "gaussian", 1.0, 1.0508),
    (gd.Sphere(2), "gaussian", 2.0, 1.4009),
    (gd.SPD(2), "gaussian", 0.5, 0.8090),
    (gd.SPD(3), "gaussian", 0.5, 1.2058),
    (gd.SPD(3), "gaussian", 1.0, 2.6009),
    (gd.SPD(4), "gaussian", 0.5, 1.6007),
    (gd.SPD(4), "gaussian", 1.0, 3.5638),
    (gd.Sphere(2), "laplace", 0.2, 0.3846),
)
FITS: tuple[tuple[gd.Space, str, float], ...] = (
    (gd.Sphere(2), "laplace", 0.2),
    (gd.Sphere(2), "gaussian", 1.0),
    (gd.Sphere(5), "laplace", 0.3),
    (gd.Hyperbolic(3), "laplace", 0.2),
    (gd.Hyperbolic(10), "gaussian", 0.3),
    (gd.PlanarShapes(5), "laplace", 0.1),
    (gd.SPD(2), "laplace", 0.3),
    (gd.SPD(2), "gaussian", 0.5),
)
CHAINS: tuple[tuple[gd.Space, str, float], ...] = (
    (gd.Sphere(2), "laplace", 0.2),
    (gd.Sphere(2), "gaussian", 0.5),
    (gd.SPD(2), "laplace", 0.2),
    (gd.SPD(2), "gaussian", 0.5),
    (gd.SPD(3), "laplace", 0.15),
    (gd.SPD(3), "gaussian", 0.5),
)


def norms(law: Any, count: int, rng: np.random.Generator) -> Array:
    """Distances of float draws, in parts of 100,000."""
    parts = [min(100_000, count - start) for start in range(0, count, 100_000)]
    return np.concatenate([np.linalg.norm(law.sample(rng, part), axis=1) for part in parts])


def moments(run: Run) -> list[dict[str, Any]]:
    """E of the distance, in standard errors beyond the rounding of the known digits."""
    rows = []
    for index, (space, kernel, scale, known) in enumerate(MOMENTS):
        rng = np.random.default_rng([run.seed, index])
        found = norms(radial_law(space, kernel, scale), run.count(DRAWS, 20_000), rng)
        error = float(found.std(ddof=1) / math.sqrt(len(found)))
        score = max(0.0, abs(float(found.mean()) - known) - 5e-5) / error
        row = {"space": space.spec, "kernel": kernel, "scale": scale, "known": known}
        row |= {"mean": float(found.mean()), "standard_error": error, "score": score}
        assert score <= 5, row
        assert abs(1.3 * found.mean() - known) > 5 * error, row  # a scale 30 % off would show
        rows.append(row | {"draws": len(found)})
    return rows


def radius_density(space: gd.Space, kernel: str, scale: float) -> Callable[[float], float]:
    """f(t) A(t): the volume density of exp times t^(d-1), averaged over directions on SPD(2).

    SPD(2) is R x H² of curvature -1/2: with the tangent vector's angle to R, A(t) is proportional
    to t times the integral over that angle of sinh(t sin(angle)/sqrt 2), the H² part being
    t sin(angle).
    """

    def area(t: float) -> float:
        if space.spec.startswith("spd"):
            root = math.sqrt(0.5)
            inner = integrate.quad(lambda a: math.sinh(root * t * math.sin(a)), 0, math.pi)[0]
            return float(t * inner)
        low, high = space.curvature
        root = math.sqrt(abs(low))
        sine = math.sin(root * t) if low > 0 else math.sinh(root * t)
        last = math.cos(t) if low != high else 1.0
        return float(sine ** (space.dim - 1) * last)

    def density(t: float) -> float:
        fall = t / scale if kernel == "laplace" else (t / scale) ** 2 / 2
        return math.exp(-fall) * area(t)

    return density


def radius_cdf(space: gd.Space, kernel: str, scale: float) -> Callable[[Array], Array]:
    """The cdf of the distance, by Simpson's rule on 4,000 cells."""
    density, end = radius_density(space, kernel, scale), _end(space, kernel, scale)
    grid = np.linspace(0, end, 8001)
    values = np.array([density(t) for t in grid])
    cells = (values[:-2:2] + 4 * values[1:-1:2] + values[2::2]) * (grid[1] - grid[0]) / 3
    sums = np.concatenate([[0.0], np.cumsum(cells)])
    return lambda r: np.interp(r, grid[::2], sums / sums[-1])


def _end(space: gd.Space, kernel: str, scale: float) -> float:
    growth = math.sqrt(max(-space.curvature[0], 0.0)) * (space.dim - 1)
    if kernel == "laplace":
        far = (40 + 4 * space.dim) / (1 / scale - growth)
    else:
        far = scale * (10 + math.sqrt(space.dim)) + growth * scale**2
    return min(far, space.injectivity_radius)


def fits(run: Run) -> list[dict[str, Any]]:
    """Kolmogorov-Smirnov of float and of exact draws; the same draws must fail at 1.3 scales."""
    rows = []
    for index, (space, kernel, scale) in enumerate(FITS):
        rng = np.random.default_rng([run.seed, 100 + index])
        law, stream = radial_law(space, kernel, scale), GeneratorBits(rng)
        floats = norms(law, run.count(DRAWS // 10, 5000), rng)
        drawn = [law.exact(stream).balls(80) for _ in range(run.count(ROUNDED, 200))]
        exact = np.linalg.norm([[float(x) for x in z] for z in drawn], axis=1)
        cdf = radius_cdf(space, kernel, scale)
        row: dict[str, Any] = {"space": space.spec, "kernel": kernel, "scale": scale}
        row |= {"float_draws": len(floats), "float_p": float(stats.kstest(floats, cdf).pvalue)}
        row |= {"exact_draws": len(exact), "exact_p": float(stats.kstest(exact, cdf).pvalue)}
        row["p_if_30_percent_off"] = float(stats.kstest(1.3 * floats, cdf).pvalue)
        assert min(row["float_p"], row["exact_p"]) > LEAST_P > row["p_if_30_percent_off"], row
        rows.append(row)
    return rows


def against_chains(run: Run) -> list[dict[str, Any]]:
    """Two-sample tests of the distance, and on SPD of the gap of the outer eigenvalues."""
    rows = []
    walkers, burn_in = run.count(WALKERS, 100), run.count(BURN_IN, 500)
    for index, (space, kernel, scale) in enumerate(CHAINS):
        rng = np.random.default_rng([run.seed, 200 + index])
        law, center = radial_law(space, kernel, scale), space.origin
        step = usual_step(space.dim, law.mean_radius())
        chain = Chain(space, radial(space, center, kernel, scale), center, step, walkers, rng)
        states = last_states(chain, burn_in)
        exact = space.exp_coords(center, law.sample(rng, 20 * walkers))
        row: dict[str, Any] = {"space": space.spec, "law": kernel, "scale": scale}
        row |= _two_samples(space, center, exact, states)
        row |= {"acceptance": chain.acceptance, "walkers": walkers, "burn_in": burn_in}
        assert min(row["distance_p"], row["gap_p"]) > LEAST_P, row
        rows.append(row)
    return rows


def knorm_against_chain(run: Run) -> list[dict[str, Any]]:
    """K-norm gradient: exact rejection against the chain, n = 25 records as in the papers.

    Distances are from the mean without noise, and along its first tangent coordinate.
    """
    rows = []
    walkers, burn_in = run.count(WALKERS, 50), run.count(BURN_IN // 5, 200)
    for index, (space, radius) in enumerate(((gd.Sphere(2), math.pi / 8), (gd.SPD(2), 1.5))):
        rng = np.random.default_rng([run.seed, 300 + index])
        ball, draw = ball_and_records(space, radius)
        records, statistic = draw(25, radius, rng), gd.FrechetMean(ball)
        cal, _ = calibrated(gd.KNormGradient(), statistic, 25, gd.PureDP(1))
        clipped = ball.clip(records)
        mean = statistic.evaluate(clipped).value
        evaluated, stream = Evaluated(mean, statistic, clipped), GeneratorBits(rng)
        exact = np.stack([cal.release(evaluated, stream) for _ in range(2 * walkers)])
        step = usual_step(space.dim, space.dim * cal.scale)
        chain = Chain(space, knorm(ball, records, cal.scale), mean, step, walkers, rng)
        states = last_states(chain, burn_in)
        row: dict[str, Any] = {"space": space.spec, "law": "k-norm gradient", "scale": cal.scale}
        row |= _two_samples(space, mean, exact, states)
        row |= {"acceptance": chain.acceptance, "walkers": walkers, "burn_in": burn_in}
        assert min(row["distance_p"], row["gap_p"]) > LEAST_P, row
        rows.append(row)
    return rows


def _two_samples(space: gd.Space, center: Array, exact: Array, states: Array) -> dict[str, Any]:
    """p of the distance and of a second feature; means of the distance with the chain's error."""
    a, b = (np.linalg.norm(space.log_coords(center, x), axis=-1) for x in (exact, states))
    second = [_feature(space, center, x) for x in (exact, states)]
    return {
        "exact_mean": float(a.mean()),
        "chain_mean": float(b.mean()),
        "chain_error": float(b.std(ddof=1) / math.sqrt(len(b))),
        "distance_p": float(stats.ks_2samp(a, b).pvalue),
        "gap_p": float(stats.ks_2samp(*second).pvalue),
    }


def _feature(space: gd.Space, center: Array, x: Array) -> Array:
    """The gap of the outer log-eigenvalues on SPD, else the first tangent coordinate."""
    if space.spec.startswith("spd"):
        values = np.log(np.linalg.eigvals(np.linalg.solve(center, x)).real)
        return np.asarray(values.max(axis=-1) - values.min(axis=-1))
    return np.asarray(space.log_coords(center, x)[..., 0])


def main() -> int:
    run = Run.parse("sampler_check", __doc__.splitlines()[0])
    begun = time.perf_counter()
    first = moments(run)
    run.table("sampler_check_moments", first)
    second = fits(run)
    run.table("sampler_check_fits", second)
    third = against_chains(run) + knorm_against_chain(run)
    run.table("sampler_check_chains", third)
    facts = {
        "largest_moment_score": max(row["score"] for row in first),
        "least_fit_p": min(min(row["float_p"], row["exact_p"]) for row in second),
        "least_chain_p": min(min(row["distance_p"], row["gap_p"]) for row in third),
        "seconds": round(time.perf_counter() - begun, 1),
    }
    run.document("sampler_check", facts)
    print(f"moments within {facts['largest_moment_score']:.2f} standard errors; all fits hold")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
