"""How far one record moves a Fréchet mean as other software computes it, by its defaults.

SPD(3), affine-invariant, n = 5000, records within 1.5 of the identity: neighbouring data sets of
``neighbours.py``, the shift of each program's mean over 2r/n. geomstats is used where it is found
(``pip install --no-deps geomstats``; version 2.8.0 imports ``numpy.trapz``, which numpy 2.4 no
longer has, so it is put back).
"""

from __future__ import annotations

import logging
import math
import os
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from neighbours import random_pairs
from recording import Run

import geodp as gd

N, RADIUS, PAIRS = 5000, 1.5, 40
LOOSE = 0.01 * math.sqrt(6)  # geomstats' tolerance, as a gradient norm

Mean = Callable[[np.ndarray], np.ndarray]


def geodp_mean(ball: gd.Ball) -> Mean:
    statistic = gd.FrechetMean(ball)
    return lambda x: np.asarray(statistic.evaluate(x).value)


def pyriemann_mean(**options: Any) -> Mean:
    from pyriemann.geometry.mean import mean_riemann

    return lambda x: np.asarray(mean_riemann(x, **options))


def geomstats_mean() -> Mean | None:
    """With its defaults; None where it is not installed."""
    os.environ.setdefault("GEOMSTATS_BACKEND", "numpy")
    vars(np).setdefault("trapz", np.trapezoid)
    try:
        from geomstats.geometry.spd_matrices import SPDAffineMetric, SPDMatrices
        from geomstats.learning.frechet_mean import FrechetMean
    except ImportError:
        return None
    logging.disable(logging.WARNING)
    space = SPDMatrices(3)
    space.equip_with_metric(SPDAffineMetric)
    return lambda x: np.asarray(FrechetMean(space).fit(x).estimate_)


def means(ball: gd.Ball) -> dict[str, Mean]:
    """By name, those that are installed."""
    found = {
        "geodp": geodp_mean(ball),
        "pyriemann": pyriemann_mean(),
        "pyriemann, tol 0.01 √d": pyriemann_mean(tol=LOOSE),
        "geomstats": geomstats_mean(),
    }
    return {name: mean for name, mean in found.items() if mean is not None}


def row(name: str, mean: Mean, ball: gd.Ball, count: int, seed: int) -> dict[str, Any]:
    """Its shifts over the bound; the same pairs for every program."""
    space, begun = ball.space, time.process_time()
    ratios = []
    for pair in random_pairs(ball, N, count, np.random.default_rng(seed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = [mean(pair.data(side)) for side in (0, 1)]
        ratios.append(float(space.dist(*ends)) * N / (2 * ball.radius))
    return {
        "program": name,
        "pairs": count,
        "largest_over_bound": max(ratios),
        "median_over_bound": float(np.median(ratios)),
        "beyond": sum(ratio > 1 for ratio in ratios),
        "seconds_a_mean": (time.process_time() - begun) / (2 * count),
    }


def main() -> int:
    run = Run.parse("peers", __doc__.splitlines()[0])
    ball = gd.Ball(gd.SPD(3), np.eye(3), RADIUS)
    count = run.count(PAIRS, 4)
    rows = [row(name, mean, ball, count, run.seed) for name, mean in means(ball).items()]
    run.table("peers", rows)
    for found in rows:
        print(found)
    run.document("peers", {"n": N, "radius": RADIUS, "peers": peers()})
    return 0


def peers() -> dict[str, str]:
    """Versions of those that are installed."""
    out = {}
    for name in ("pyriemann", "geomstats"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


if __name__ == "__main__":
    raise SystemExit(main())
