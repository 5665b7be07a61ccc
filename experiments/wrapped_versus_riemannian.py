"""The wrapped study with noise on the space itself beside it: ``make experiments``.

The cells of ``wrapped_gaussian.py`` (Jiang et al., ICLR 2026: n = 40, r = 1.5, mu = .1 ... 2) for
six mechanisms. A Laplace is run as published, through the pure epsilon whose guarantee implies
mu-GDP, and by the certified profile where there is one: that is what exact accounting does to it.
Where a law is no probability law, or nothing is proven, the row says so instead. Distances are fast
simulated draws around the means of 40 fresh records. A second table holds run times against the
published Markov chain.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from chains import BURN_IN, Chain, radial, usual_step
from recording import BLUE, GREEN, INK, ORANGE, PALE, RED, Run, pyplot
from wrapped_gaussian import MUS, PANELS, RADIUS, N, pure_epsilon

import geodp as gd
from geodp.mechanisms.base import Mechanism
from geodp.random import bit_stream
from geodp.testing import random_points

MEANS, DRAWS = 100, 40  # data sets, and simulated releases of each mean
FLOATS = 20_000  # float draws to time
PURE, EXACT = "pure", "exact"
MECHANISMS: dict[str, tuple[Mechanism, str]] = {
    "wrapped Gaussian": (gd.Wrapped(gd.Gaussian()), EXACT),
    "wrapped l2-Laplace, pure": (gd.Wrapped(gd.L2Laplace()), PURE),
    "wrapped l2-Laplace, exact": (gd.Wrapped(gd.L2Laplace()), EXACT),
    "RL, pure": (gd.RiemannianLaplace(), PURE),
    "RL, exact": (gd.RiemannianLaplace(), EXACT),
    "RG": (gd.RiemannianGaussian(), EXACT),
}
STYLES = {
    "wrapped Gaussian": (BLUE, "-", "o"),
    "wrapped l2-Laplace, pure": (ORANGE, "--", "s"),
    "wrapped l2-Laplace, exact": (ORANGE, "-", "s"),
    "RL, pure": (RED, "--", "^"),
    "RL, exact": (RED, "-", "^"),
    "RG": (GREEN, "-", "v"),
}
TIMED = tuple(panel.space for panel in PANELS if not panel.space.is_flat)


def total_sensitivity(space: gd.Space) -> tuple[gd.Ball, float]:
    """The study's ball and the sensitivity of the computed mean."""
    ball = gd.Ball(space, space.origin, RADIUS)
    mean = gd.FrechetMean(ball)
    return ball, mean.sensitivity(N) + 2 * mean.error_bound


def means(space: gd.Space, count: int, rng: np.random.Generator) -> Any:
    """The means of ``count`` fresh data sets, each ``DRAWS`` times."""
    mean = gd.FrechetMean(gd.Ball(space, space.origin, RADIUS))
    found = [mean.evaluate(random_points(space, N, RADIUS, rng)).value for _ in range(count)]
    return np.repeat(np.stack(found), DRAWS, axis=0)


def cell(
    space: gd.Space, name: str, mu: float, values: Any, rng: np.random.Generator
) -> dict[str, Any]:
    """Scale and mean distance, or the reason why there is none."""
    ball, total = total_sensitivity(space)
    mechanism, way = MECHANISMS[name]
    promise = gd.PureDP(pure_epsilon(mu)) if way == PURE else gd.GaussianDP(mu)
    row: dict[str, Any] = {"space": space.spec, "d": space.dim, "mechanism": name, "mu": mu}
    try:
        cal = gd.calibrate(mechanism, space, total, promise, ball=ball)
    except gd.GeodpError as error:
        return row | _figures() | {"why_not": str(error)}
    with np.errstate(all="ignore"):
        distances = cal.distances(values, rng)
    spread = float(distances.std(ddof=1) / math.sqrt(len(distances)))
    note = ""
    if name == "RL, exact" and math.isclose(cal.scale, total / pure_epsilon(mu), rel_tol=1e-6):
        note = "No exact profile is known here: through pure epsilon."
    figures = _figures(cal.scale, float(distances.mean()), spread)
    return row | figures | {"why_not": note}


def _figures(*found: float) -> dict[str, float]:
    names = ("scale", "distance", "standard_error")
    return dict(zip(names, found or (math.nan,) * 3, strict=True))


def times(space: gd.Space, steps: int, rng: np.random.Generator) -> dict[str, Any]:
    """Processor seconds of one draw at mu = 2: exact samplers and the published chain.

    The chain is timed for some steps and scaled to its burn-in of 10,000, alone in a loop as
    published and as one of 200 side by side, which is as fast as numpy makes it.
    """
    ball, total = total_sensitivity(space)
    row: dict[str, Any] = {"space": space.spec, "d": space.dim, "burn_in": BURN_IN}
    stream, value = bit_stream(rng), space.origin
    laplace = gd.PureDP(pure_epsilon(2.0))
    for name, mechanism, promise in (
        ("wrapped Gaussian", gd.Wrapped(gd.Gaussian()), gd.GaussianDP(2)),
        ("RL", gd.RiemannianLaplace(), laplace),
    ):
        cal = gd.calibrate(mechanism, space, total, promise, ball=ball)
        cal.draw(value, stream)
        row[f"{name}, rounded"] = seconds(partial(cal.draw, value, stream), 50)
        cal.sample(value, 100, rng)
        row[f"{name}, floats"] = seconds(partial(cal.sample, value, FLOATS, rng), 1) / FLOATS
        scale = cal.scale
    step = usual_step(space.dim, total / float(laplace.epsilon) * space.dim)
    for name, walkers in (("chain, alone", 1), ("chain, side by side", 200)):
        chain = Chain(space, radial(space, value, "laplace", scale), value, step, walkers, rng)
        chain.run(3)
        once = seconds(partial(chain.run, steps), 1) / steps / walkers
        row[name] = once * BURN_IN
    row["chain alone / RL rounded"] = row["chain, alone"] / row["RL, rounded"]
    row["chain side by side / RL floats"] = row["chain, side by side"] / row["RL, floats"]
    return row


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Mean processor time."""
    begun = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begun) / repeats


def check(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Existence of RL from its formula; on flat metrics RL is the wrapped Laplace.

    sigma = delta/epsilon must lie below 1/(d - 1) on H^d and below (m (m^2 - 1)/12)^(-1/2) on
    SPD(m) affine-invariant.
    """
    found = {(row["space"], row["mechanism"], row["mu"]): row for row in rows}
    missing: dict[str, list[float]] = {}
    for (spec, name, mu), row in found.items():
        space = gd.parse_space(spec)
        if name == "RL, pure":
            sigma = 2 * RADIUS / N / pure_epsilon(mu)
            m = space.point_shape[0]
            growth = 0.0 if space.is_flat else space.dim - 1.0
            if spec.endswith("affine-invariant"):
                growth = math.sqrt(m * (m * m - 1) / 12)
            assert math.isnan(row["distance"]) == (sigma * growth >= 1), row
            if math.isnan(row["distance"]):
                missing.setdefault(spec, []).append(mu)
        if space.is_flat and name.startswith("RL"):
            other = found[spec, name.replace("RL", "wrapped l2-Laplace"), mu]
            error = math.hypot(row["standard_error"], other["standard_error"])
            assert abs(row["distance"] - other["distance"]) <= 4.5 * error, row
    return {"cells": len(rows), "no_riemannian_laplace_at": missing}


def draw(run: Run, rows: list[dict[str, Any]]) -> None:
    """Distances over mu, one panel per space; a line ends where its law does."""
    plt = pyplot()
    size = (11.5, 8.4)
    fig, axes = plt.subplots(3, 4, figsize=size, sharex=True, sharey="row", layout="constrained")
    for ax, panel in zip(axes.flat, PANELS, strict=True):
        chosen = [row for row in rows if row["space"] == panel.space.spec]
        if not chosen:
            ax.set_visible(False)
            continue
        for name, (color, line, marker) in STYLES.items():
            cells = [row for row in chosen if row["mechanism"] == name]
            mu, distance = ([row[key] for row in cells] for key in ("mu", "distance"))
            ax.plot(mu, distance, line, color=color, marker=marker, ms=3.5, lw=1.1, label=name)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"{panel.geometry},  d = {panel.space.dim}", loc="left")
        ax.grid(which="major", color=PALE, lw=0.7)
        ax.set_axisbelow(True)
        ax.minorticks_off()
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    fig.supxlabel("μ of Gaussian differential privacy", color=INK)
    fig.supylabel("geodesic distance from the mean without noise", color=INK)
    visible = next(ax for ax in axes.flat if ax.get_visible())
    handles, labels = visible.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=3)
    fig.savefig(run.out / "wrapped_versus_riemannian.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("wrapped_versus_riemannian", __doc__.splitlines()[0])
    begun, rows, timed = time.perf_counter(), [], []
    count = run.count(MEANS, 5)
    for index, panel in enumerate(PANELS):
        if not run.wants(panel.space.spec):
            continue
        rng = np.random.default_rng([run.seed, index])
        values = means(panel.space, count, rng)
        rows += [cell(panel.space, name, mu, values, rng) for name in MECHANISMS for mu in MUS]
        if panel.space in TIMED:
            timed.append(times(panel.space, run.count(400, 20), rng))
        print(f"{panel.geometry}: done", flush=True)
    run.table("wrapped_versus_riemannian", rows)
    run.table("wrapped_versus_riemannian_times", timed)
    checks = check(rows)
    facts: dict[str, Any] = {
        "n": N,
        "radius": RADIUS,
        "checks": checks,
        "draws_per_cell": DRAWS * count,
    }
    facts["seconds"] = round(time.perf_counter() - begun, 1)
    run.document("wrapped_versus_riemannian", facts)
    draw(run, rows)
    print(f"{checks['cells']} cells; RL does not exist at {checks['no_riemannian_laplace_at']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
