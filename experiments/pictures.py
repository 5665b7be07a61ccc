"""Pictures of tables that their own scripts do not draw: ``pictures.py [name …]``.

Reads the committed CSV files and draws again what stands in them; nothing is computed anew but the
Gaussian's error beside the composed ℓ2-Laplace. Draw again when a table has changed.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recording import BLUE, GREEN, INK, ORANGE, PURPLE, RED, RESULTS, pyplot

Rows = list[dict[str, str]]
SEEN = 1e-5  # less than a draw of 10⁵ shows nothing
COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, INK)


def numbers(rows: Rows, column: str) -> list[float]:
    return [float(row[column]) for row in rows]


def r1smg(figure: Any, rows: Rows) -> None:
    """Certified lower bound of delta(epsilon) over the dimension, beside the claim."""
    ax = figure.subplots()
    cases = dict.fromkeys((row["epsilon"], row["delta_claimed"]) for row in rows)
    for (epsilon, delta), color, mark in zip(cases, COLORS, "os^", strict=False):
        mine = [r for r in rows if (r["epsilon"], r["delta_claimed"]) == (epsilon, delta)]
        label = f"claimed: ({float(epsilon):g}, {float(delta):g})-DP"
        at = numbers(mine, "M")
        ax.plot(at, numbers(mine, "delta_certified_below"), f"{mark}-", color=color, label=label)
        ax.axhline(float(delta), color=color, lw=0.9, ls=":")
    ax.set(xscale="log", yscale="log", xlabel="dimension M", ylabel="δ(ε) is at least")
    ax.legend(fontsize=7, loc="lower right")
    ax.set_title("R1SMG: dotted, what it promises", loc="left")


def radial_profiles(figure: Any, rows: Rows) -> None:
    """Certified bound over the simulated delta, with five standard errors."""
    left, right = figure.subplots(1, 2, sharex=True)
    families = {"sphere": BLUE, "hyperbolic": ORANGE, "shapes": GREEN, "spd": PURPLE}
    seen = [r for r in rows if float(r["simulated"]) > SEEN]
    for family, color in families.items():
        mine = [r for r in seen if r["space"].startswith(family)]
        at = numbers(mine, "simulated")
        above = [b / s for b, s in zip(numbers(mine, "bound"), at, strict=True)]
        errors = [5 * e / s for e, s in zip(numbers(mine, "error"), at, strict=True)]
        ax = right if family == "spd" else left
        ax.errorbar(at, above, errors, fmt="o", ms=3, lw=0.6, color=color, label=family)
    for ax in (left, right):
        ax.axhline(1.0, color=INK, lw=0.9)
        ax.set(xscale="log", xlabel="simulated δ(ε)")
        ax.legend(fontsize=7)
    right.set_yscale("log")
    left.set_ylabel("certified bound / simulated")
    left.set_title("exact profiles; bars: five standard errors", loc="left")
    right.set_title("a bound", loc="left")


def audit(figure: Any, rows: Rows) -> None:
    """What attacks reach: share of the promise, and advantage by the last digits."""
    left, right = figure.subplots(1, 2)
    sound = [r for r in rows if r["kind"] == "mechanism"]
    reached = sorted((float(r["largest_share_of_promise"]), r["mechanism"]) for r in sound)
    names = list(dict.fromkeys(sorted(name for _, name in reached)))
    for share, name in reached:
        left.plot(max(share, 0.0), names.index(name), "o", color=BLUE, ms=4)
    left.axvline(1.0, color=RED, lw=0.9, ls=":")
    left.set_yticks(range(len(names)), names, fontsize=7)
    left.set(xlim=(0, 1.1), xlabel="lower bound / promise")
    left.set_title("guarantee", loc="left")
    kinds = {"sound": sound, "naive floats": [r for r in rows if r["bug"] == "naive floats"]}
    for at, (color, found) in enumerate(zip((BLUE, RED), kinds.values(), strict=True)):
        known = [x for x in numbers(found, "digits_advantage") if not math.isnan(x)]
        right.plot(known, [at] * len(known), "o", color=color, ms=4, alpha=0.7)
    allowed = [float(r["digits_allowed"]) for r in sound]
    right.axvline(max(allowed), color=INK, lw=0.9, ls=":")
    right.set_yticks(range(len(kinds)), list(kinds), fontsize=7)
    right.set(ylim=(-0.6, 1.6), xlabel="advantage from the last digits")
    right.set_title("digits; dotted: allowed", loc="left")


def composition(figure: Any, rows: Rows) -> None:
    """Mean squared error of each of k releases, beside the published one and the Gaussian's."""
    from composition import DIM

    import geodp as gd
    from geodp.privacy.shares import share_of

    ax = figure.subplots()
    k, promise = numbers(rows, "k"), gd.ApproxDP(1, "1e-5")
    gaussian = [DIM / float(share_of("gaussian", DIM, promise, int(x))) ** 2 for x in k]
    ratio = [a / b for a, b in zip(numbers(rows, "mse"), gaussian, strict=True)]
    printed = [a / b for a, b in zip(numbers(rows, "published"), gaussian, strict=True)]
    ax.plot(k, ratio, "o-", color=BLUE, label="ℓ2-Laplace, certified")
    ax.plot(k, printed, "x", color=RED, ms=8, label="ℓ2-Laplace, published")
    ax.axhline(1.0, color=INK, lw=0.9, ls=":", label="Gaussian")
    ax.set_xscale("log", base=2)
    ax.set_xticks(k, [f"{x:g}" for x in k])
    ax.set(xlabel="releases k, together (1, 1e-5)-DP", ylabel="mean squared error / the Gaussian's")
    ax.legend(fontsize=7)
    ax.set_title(f"dimension {DIM}", loc="left")


def which_noise(figure: Any, rows: Rows) -> None:
    """What the best law of the family saves over the Gaussian, by dimension."""
    panels = list(dict.fromkeys(row["epsilon"] for row in rows))
    for ax, epsilon in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
        deltas = dict.fromkeys(row["delta"] for row in rows)
        for delta, color in zip(deltas, COLORS, strict=False):
            mine = [r for r in rows if (r["epsilon"], r["delta"]) == (epsilon, delta)]
            at = numbers(mine, "d")
            label = f"δ = {float(delta):g}"
            ax.plot(at, numbers(mine, "best_over_gaussian"), "o-", ms=3, color=color, label=label)
            ax.plot(at, numbers(mine, "l2_over_gaussian"), ":", color=color)
        ax.axhline(1.0, color=INK, lw=0.6)
        ax.set(xscale="log", xlabel="dimension", ylim=(0, 1.6))
        ax.set_title(f"ε = {float(epsilon):g}", loc="left")
    figure.axes[0].set_ylabel("mean squared error / the Gaussian's")
    title = "solid: best; dotted: ℓ2-Laplace"
    figure.axes[-1].legend(fontsize=7, title=title, title_fontsize=7, loc="upper left")


def rates(figure: Any, rows: Rows) -> None:
    """Error of the mean over n: what sampling and what privacy adds."""
    ax = figure.subplots()
    at = numbers(rows, "n")
    for column, color, power in (("sampling", BLUE, 0.5), ("privacy", ORANGE, 1.0)):
        found = numbers(rows, column)
        ax.plot(at, found, "o", color=color, label=f"{column}; line: n to the −{power:g}")
        ax.plot(at, [found[0] * (at[0] / n) ** power for n in at], color=color, lw=0.8)
    ax.set(xscale="log", yscale="log", xlabel="records n", ylabel="mean distance")
    ax.legend(fontsize=7)


def equality(figure: Any, rows: Rows) -> None:
    """How often tests of equal means reject, over the shift of one group."""
    cells = list(dict.fromkeys((row["space"], row["mu"]) for row in rows))
    shape = (-(-len(cells) // 2), min(len(cells), 2))
    panels = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False).flat
    tests = {"one_sample": BLUE, "two_samples": ORANGE, "three_samples": GREEN}
    for ax, (space, mu) in zip(panels, cells, strict=False):
        mine = [r for r in rows if (r["space"], r["mu"]) == (space, mu)]
        for test, color in tests.items():
            label = test.replace("_", " ")
            ax.plot(numbers(mine, "shift"), numbers(mine, test), "o-", color=color, label=label)
        ax.axhline(0.05, color=INK, lw=0.6, ls=":")
        ax.set(xlabel="shift of the mean", ylabel="share rejected at 5 %", ylim=(0, 1.03))
        ax.label_outer()
        budget = "no noise" if mu == "inf" else f"μ = {mu}"
        ax.set_title(f"{space}, {budget}", loc="left", fontsize=8)
    panels[0].legend(fontsize=7)


PICTURES: dict[str, tuple[Callable[[Any, Rows], None], tuple[float, float]]] = {
    "r1smg": (r1smg, (5.2, 3.6)),
    "radial_profiles": (radial_profiles, (7.6, 3.2)),
    "audit": (audit, (7.6, 3.0)),
    "composition": (composition, (5.2, 3.6)),
    "which_noise": (which_noise, (7.6, 3.2)),
    "rates": (rates, (5.2, 3.6)),
    "equality": (equality, (7.6, 6.4)),
}


def draw(name: str, out: Path) -> Path:
    """``name.png`` in ``out`` from the committed ``name.csv``."""
    plt = pyplot()
    paint, size = PICTURES[name]
    with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure = plt.figure(figsize=size, layout="constrained")
    paint(figure, rows)
    path = out / f"{name}.png"
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="pictures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="of tables (default: all)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory of the pictures")
    given = parser.parse_args()
    for name in given.names or PICTURES:
        print(draw(name, given.out))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
