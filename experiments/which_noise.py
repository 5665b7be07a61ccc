"""The least mean squared error by dimension, ε and δ: Gaussian, ℓ2-Laplace, best family member.

Certified scales for one release; the table of docs/which-noise.md. ``make study``.
"""

from __future__ import annotations

from typing import Any

from recording import Run

import geodp as gd
from geodp.noise.base import Noise
from geodp.privacy.families import ratio_for
from geodp.privacy.spherical_best import best_noise

DIMENSIONS = (1, 2, 3, 6, 10, 20)
EPSILONS = ("0.1", "1", "4")
DELTAS = ("0.1", "0.001", "1e-6")


def error(noise: Noise, dim: int, promise: gd.ApproxDP) -> float:
    return noise.law(dim).mean_square(1 / float(ratio_for(noise, dim, promise)))


def row(dim: int, epsilon: str, delta: str) -> dict[str, Any]:
    promise = gd.ApproxDP(epsilon, delta)
    best = best_noise(dim, promise, 2)
    gaussian = error(gd.Gaussian(), dim, promise)
    return {
        "d": dim,
        "epsilon": epsilon,
        "delta": delta,
        "gaussian_mse": gaussian,
        "l2_over_gaussian": error(gd.L2Laplace(), dim, promise) / gaussian,
        "best_over_gaussian": error(best, dim, promise) / gaussian,
        **best.parameters,
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of the docs page: MSE over the Gaussian's, ℓ2-Laplace / best (its power)."""
    pairs = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]
    head = "| d | " + " | ".join(f"({epsilon}, {delta})" for epsilon, delta in pairs) + " |"
    lines = [head, "|" + "---|" * (len(pairs) + 1)]
    for dim in sorted({r["d"] for r in rows}):
        found = {(r["epsilon"], r["delta"]): r for r in rows if r["d"] == dim}
        cells = [
            f"{r['l2_over_gaussian']:.3g} / **{r['best_over_gaussian']:.3g}** ({r['power']:.2g})"
            for r in (found[pair] for pair in pairs)
        ]
        lines.append(f"| {dim} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    run = Run.parse("which_noise", __doc__.splitlines()[0])
    dims = DIMENSIONS[: run.count(len(DIMENSIONS))]
    rows = [row(d, epsilon, delta) for d in dims for epsilon in EPSILONS for delta in DELTAS]
    run.table("which_noise", rows)
    run.document("which_noise", {"dimensions": dims})
    print(markdown(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
