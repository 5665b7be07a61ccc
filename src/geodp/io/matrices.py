"""What keeps symmetric matrices from being positive definite: a census over chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from geodp.spaces.base import Array

_ASYMMETRY = 1e-8  # relative
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # relative, per row


@final
@dataclass
class MatrixCensus:
    """Counts of asymmetric, indefinite and rank-deficient matrices among finite ones.

    A matrix is rank-deficient if an eigenvalue is below rounding, relative to the greatest in
    absolute value; ``zero_sums`` counts those, but 0, whose rows also sum to zero, as
    average-referenced signals do.
    """

    size: int
    asymmetric: int = 0
    indefinite: int = 0
    deficient: int = 0
    zero_sums: int = 0
    ranks: list[int] = field(default_factory=list)

    def add(self, x: Array) -> None:
        """Count the finite matrices ``x``, shape ``(n, size, size)``."""
        largest = np.abs(x).max(axis=(1, 2), initial=0.0)
        skew = np.abs(x - x.swapaxes(1, 2)).max(axis=(1, 2), initial=0.0)
        symmetric = skew <= _ASYMMETRY * largest
        self.asymmetric += int((~symmetric).sum())
        x, largest = x[symmetric], largest[symmetric]
        unit = x / np.where(largest > 0, largest, 1.0)[:, None, None]
        values = np.linalg.eigvalsh(unit)
        floor = self.size * _ROUNDING * np.abs(values).max(axis=1, initial=0.0)
        negative = values[:, 0] < -floor
        rank = (np.abs(values) > floor[:, None]).sum(axis=1)
        deficient = ~negative & (rank < self.size)
        sums = np.abs(unit.sum(axis=2)).max(axis=1, initial=0.0)
        self.indefinite += int(negative.sum())
        self.deficient += int(deficient.sum())
        self.zero_sums += int((deficient & (rank > 0) & (sums <= 1e-10)).sum())
        self.ranks = sorted({*self.ranks, *map(int, rank[deficient])})

    def facts(self) -> dict[str, Any]:
        """The counts as JSON values, with hints in sentences."""
        return {
            "size": self.size,
            "asymmetric": self.asymmetric,
            "indefinite": self.indefinite,
            "rank_deficient": self.deficient,
            "rows_sum_to_zero": self.zero_sums,
            "ranks_below_size": self.ranks,
            "hints": self._hints(),
        }

    def _hints(self) -> list[str]:
        hints = []
        if self.asymmetric:
            hints.append(
                "Some matrices are not symmetric. Check the order of the components, and declare "
                "it (--layout full, lower, upper or diagonal-first)."
            )
        if self.indefinite:
            hints.append(
                "Some symmetric matrices have a negative eigenvalue: they are no covariances. "
                "Check the order of the components and how the matrices were estimated."
            )
        if self.deficient:
            hints.append(self._deficiency())
        return hints

    def _deficiency(self) -> str:
        mend = (
            "Add a public ridge before the release, X + lambda I with lambda from the instrument's "
            "noise level and never from these records"
        )
        if self.zero_sums == self.deficient:
            return (
                "Rank-deficient matrices whose rows sum to zero: the channels look average-"
                f"referenced, which costs one rank. {mend}, or drop one channel, the same in every "
                "record, or map them to one dimension less by geodp.io.LinearMap.without_mean "
                "(geodp convert --linear-map)."
            )
        least = self.ranks[0]
        return (
            f"Some matrices are singular; the least rank is {least} of {self.size}. A covariance "
            f"of k samples has rank at most k, and k - 1 with the mean removed. {mend}, or keep at "
            f"most {max(least, 1)} channels, chosen publicly, or take more samples per record."
        )
