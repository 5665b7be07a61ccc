"""Private mean outlines of real data, on the shape space and ignoring it: ``shapes.py``.

The application of Soto, Bharath, Reimherr and Slavković (NeurIPS 2022, Figures 2 and 3) on data
that packages bring: the zeros of scikit-learn's digits, and mosquito wings where ktch is installed
(``pip install --no-deps ktch``; its files are read, its code is not). Every method releases a mean
of the same outlines under the same guarantee; the distance is the geodesic one to the non-private
Fréchet mean, whatever the method estimates. Self-crossings are those of the closed polygon, the
bending energy is that of the thin-plate spline from the non-private mean's landmarks. Each release
is also smoothed with a public bandwidth. Releases use seeded bits: they are simulations.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from outline_data import Array, Outlines, available
from recording import BLUE, GREEN, INK, ORANGE, PALE, Run, pyplot
from shape_methods import Method, methods

import geodp as gd
from geodp.outlines import smooth
from geodp.plots.shapes import onto
from geodp.privacy.guarantees import Guarantee

LANDMARKS = 20
GUARANTEES: tuple[Guarantee, ...] = (
    *(gd.PureDP(epsilon) for epsilon in (1, 4)),
    *(gd.GaussianDP(mu) for mu in ("0.5", 2)),
)
REPEATS = 25
BANDWIDTH = 0.12  # of the outline: 2.4 landmarks to either side
SHOWN = ("RL", "KNG", "tangent mean, l2-Laplace", "coordinates jointly, l2-laplace")
SHOWN += ("landmark by landmark, l2-laplace", "landmark by landmark, l2-laplace, not aligned")
PICTURED, SEVERAL = gd.PureDP(4), 5


def crossings(outline: Array) -> int:
    """How many pairs of sides of the closed polygon ``(k, 2)`` cross."""
    a, b = outline, np.roll(outline, -1, axis=0)
    k = len(a)

    def side(p: Array, q: Array, x: Array) -> Array:
        u, v = q - p, x - p
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    first, second = (a[:, None], b[:, None]), (a[None], b[None])
    apart = side(*first, second[0]) * side(*first, second[1]) < 0
    apart &= side(*second, first[0]) * side(*second, first[1]) < 0
    i, j = np.triu_indices(k, 2)  # neighbouring sides share a landmark and cannot cross
    return int(apart[i, j].sum())


def bending_energy(source: Array, target: Array) -> float:
    """That of the thin-plate spline from one outline's landmarks to another's, ``(k, 2)`` each.

    ``sum over x and y of w^T K w``, K_ij = U(|s_i - s_j|), U(r) = r² log r² (Bookstein 1989); zero
    for affine maps.
    """
    k = len(source)
    square = ((source[:, None] - source[None]) ** 2).sum(axis=-1)
    kernel = square * np.log(np.where(square > 0, square, 1.0))
    affine = np.concatenate([np.ones((k, 1)), source], axis=1)
    system = np.block([[kernel, affine], [affine.T, np.zeros((3, 3))]])
    weights = np.linalg.solve(system, np.concatenate([target, np.zeros((3, 2))]))[:k]
    return float(np.einsum("id,ij,jd->", weights, kernel, weights))


def measured(outlines: Outlines, mean: Array, released: list[Array], prefix: str) -> dict[str, Any]:
    """What became of the shape: mean distance with its standard error, crossings, energy."""
    space = outlines.space
    points = space.from_landmarks(np.array(released))
    distance = space.dist(mean, points)
    crossed = np.array([crossings(x) for x in points])
    energy = [bending_energy(mean, x) for x in onto(mean, points)]
    return {
        f"{prefix}distance": float(distance.mean()),
        f"{prefix}distance_error": float(distance.std(ddof=1) / math.sqrt(len(distance))),
        f"{prefix}crossed": float((crossed > 0).mean()),
        f"{prefix}crossings": float(crossed.mean()),
        f"{prefix}bending_energy": float(np.median(energy)),
    }


def compare(
    outlines: Outlines, method: Method, guarantee: Guarantee, repeats: int, seed: list[int]
) -> tuple[dict[str, Any], list[Array]]:
    """A row of the table, and the released outlines."""
    space, rng = outlines.space, np.random.default_rng(seed)
    mean = gd.FrechetMean(outlines.ball).evaluate(space.from_landmarks(outlines.raw)).value
    begun = time.process_time()
    draw = method.sampler(outlines, guarantee)
    released = [draw(rng) for _ in range(repeats)]
    seconds = time.process_time() - begun
    row = {
        "data": outlines.name,
        "n": len(outlines.raw),
        "guarantee": guarantee.label,
        "method": method.name,
        "repeats": repeats,
        **measured(outlines, mean, released, ""),
        **measured(outlines, mean, [smooth(x, BANDWIDTH) for x in released], "smoothed_"),
        "seconds": seconds / repeats,
    }
    return row, released


def described(outlines: Outlines) -> dict[str, Any]:
    """The data set beside its public ball; not private."""
    space, ball = outlines.space, outlines.ball
    points = space.from_landmarks(outlines.raw)
    mean = gd.FrechetMean(ball).evaluate(points).value
    smoothed = smooth(mean, BANDWIDTH)
    return {
        "what": outlines.words,
        "n": len(points),
        "landmarks": LANDMARKS,
        "radius": outlines.radius,
        "moved_by_the_public_rule": float((space.dist(ball.center, points) > ball.radius).mean()),
        "median_distance_from_mean": float(np.median(space.dist(mean, points))),
        "centre_to_mean": float(space.dist(ball.center, mean)),
        "mean_moved_by_smoothing": float(space.dist(mean, smoothed)),
        "crossings_of_mean": crossings(mean),
    }


def draw(run: Run, outlines: Outlines, found: dict[str, list[Array]]) -> None:
    """The mean, some releases of each method, and the same releases smoothed."""
    plt, space = pyplot(), outlines.space
    mean = gd.FrechetMean(outlines.ball).evaluate(space.from_landmarks(outlines.raw)).value
    fig, axes = plt.subplots(
        2, len(found), figsize=(2.1 * len(found), 4.6), squeeze=False, layout="constrained"
    )
    reach = 1.6 * np.abs(mean).max()
    for column, (name, released) in zip(axes.T, found.items(), strict=True):
        even = [smooth(x, BANDWIDTH) for x in released]
        for ax, shapes in zip(column, (released, even), strict=True):
            for i, x in enumerate(onto(mean, space.from_landmarks(np.array(shapes)))):
                color = (ORANGE, GREEN, BLUE)[i % 3]
                ax.plot(*np.concatenate([x, x[:1]]).T, color=color, lw=0.9, alpha=0.8)
            ax.plot(*np.concatenate([mean, mean[:1]]).T, color=INK, lw=1.6)
            ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set(visible=True, color=PALE)
        column[0].set_title(name.replace(", ", ",\n", 1), loc="left", fontsize=8)
    for ax, label in zip(axes[:, 0], ("released", f"smoothed at {BANDWIDTH:g}"), strict=True):
        ax.set_ylabel(label)
    fig.suptitle(
        f"{outlines.words}, n = {len(outlines.raw)}, {PICTURED.label}; dark: the mean itself",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    fig.savefig(run.out / f"shapes_{outlines.name}.png", metadata={"Software": None})
    plt.close(fig)


def main() -> int:
    run = Run.parse("shapes", __doc__.splitlines()[0])
    begun, rows, facts = time.perf_counter(), [], {}
    for index, outlines in enumerate(available(LANDMARKS)):
        if not run.wants(outlines.name):
            continue
        pictured: dict[str, list[Array]] = {}
        facts[outlines.name] = described(outlines)
        for j, guarantee in enumerate(GUARANTEES):
            for i, method in enumerate(methods()):
                if method.why_not(outlines, guarantee) is not None:
                    continue
                seed = [run.seed, index, j, i]
                count = run.count(method.share * REPEATS, 2)
                row, released = compare(outlines, method, guarantee, count, seed)
                rows.append(row)
                print(
                    f"{row['data']}, {guarantee}: {method.name} {row['distance']:.4g}", flush=True
                )
                if guarantee == PICTURED and method.name in SHOWN:
                    pictured[method.name] = released[:SEVERAL]
        draw(run, outlines, {name: pictured[name] for name in SHOWN})
    run.table("shapes", rows)
    seconds = round(time.perf_counter() - begun, 1)
    run.document("shapes", {"bandwidth": BANDWIDTH, "data": facts, "seconds": seconds})
    return 0


if __name__ == "__main__":
    sys.exit(main())
