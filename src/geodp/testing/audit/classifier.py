"""A classifier on coordinates: for draws of which nobody states a law."""

from __future__ import annotations

import numpy as np

from geodp.spaces.base import Array

_RIDGE = 1e-9  # of the features' own size: entries may depend on one another


def classified(first: Array, second: Array, share: float = 0.2) -> tuple[Array, Array]:
    """A score for each draw, large where it looks like one at the first input.

    Linear in the entries, their squares and their products, by least squares on the first ``share``
    of the draws, the same that ``Experiment.split`` chooses events on.
    """
    flat = [x.reshape(len(x), -1) for x in (first, second)]
    known = [x[: int(share * len(x))] for x in flat]
    pooled = np.concatenate(known)
    middle, size = pooled.mean(axis=0), pooled.std(axis=0)
    kept = size > 0
    rows = [_features((x[:, kept] - middle[kept]) / size[kept]) for x in flat]
    learn = np.concatenate([r[: len(k)] for r, k in zip(rows, known, strict=True)])
    label = np.concatenate([np.ones(len(known[0])), -np.ones(len(known[1]))])
    gram = learn.T @ learn
    gram[np.diag_indices(len(gram))] += _RIDGE * np.trace(gram)
    weights = np.linalg.solve(gram, learn.T @ label)
    return rows[0] @ weights, rows[1] @ weights


def _features(x: Array) -> Array:
    i, j = np.triu_indices(x.shape[1])
    return np.concatenate([np.ones((len(x), 1)), x, x[:, i] * x[:, j]], axis=1)
