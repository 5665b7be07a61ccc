"""Optima of the spherical law for common (ε, δ); with ``--out src/geodp/privacy`` what ships.

The search of ``geodp.privacy.spherical_best`` for each promise, dimension and moment; as a whole
promise, and as what is left of one after a hundredth of ε pays for the share of replaced records.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from recording import Run

import geodp as gd
from geodp.privacy import spherical_optima
from geodp.privacy.spherical_best import searched

EPSILONS = ("0.1", "0.2", "0.3", "0.5", "1", "2", "3", "4", "5", "8", "10")
DELTAS = ("1e-5", "1e-6")
LEFT = (Fraction(1), Fraction(99, 100))
DIMENSIONS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 21, 28)


def rows(dim: int) -> list[list[Any]]:
    """Lines ``[ε, δ, dim, moment, shape, power]`` of one dimension."""
    return [
        _row(dim, Fraction(epsilon) * left, delta, moment)
        for epsilon in EPSILONS
        for delta in DELTAS
        for left in LEFT
        for moment in (1, 2)
    ]


def _row(dim: int, epsilon: Fraction, delta: str, moment: int) -> list[Any]:
    found = searched(dim, gd.ApproxDP(epsilon, delta), moment, 1)
    return [str(float(epsilon)), delta, dim, moment, found.shape, found.power]


def main() -> int:
    run = Run.parse("optima", (__doc__ or "").splitlines()[0])
    dims = DIMENSIONS[: run.count(len(DIMENSIONS))]
    head = json.dumps({"version": spherical_optima.VERSION, "made_by": run.provenance})[:-1]
    found: list[str] = []
    for dim in dims:
        found += [json.dumps(row) for row in rows(dim)]
        text = f'{head}, "optima": [\n  ' + ",\n  ".join(found) + "\n]}\n"
        (run.out / spherical_optima.NAME).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
