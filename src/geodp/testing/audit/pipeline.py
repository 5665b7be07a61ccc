"""Audits of a whole release, from raw records to the receipt, on neighbouring data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from geodp.ledger.receipt import Release
from geodp.privacy.guarantees import Guarantee
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball
from geodp.testing.audit.neighbours import awkward_records, two_clusters
from geodp.testing.audit.privacy import guarantee_test
from geodp.testing.audit.replay import watched
from geodp.testing.audit.report import Finding, Report

Pipeline = Callable[[Array, np.random.Generator], Release | Mapping[str, Any]]
"""Raw records and a seeded generator to a release, or to a receipt's JSON document."""

_DRAWN = (
    "outcome.value",
    "outcome.released_at",
    "outcome.stages.drawn",
    "outcome.replaced.share",
)
_PATH = "control flow of a release"
_SOLVER = ("geodp.statistics", "geodp.spaces", "geodp.mechanisms.knorm_gradient")


def audit_release(
    pipeline: Pipeline,
    ball: Ball,
    guarantee: Guarantee,
    *,
    n: int = 20,
    releases: int = 400,
    time_is_public: bool = True,
    seed: int = 0,
) -> Report:
    """Attack ``pipeline(records, rng)``, a whole release, on neighbouring data sets.

    Its receipt, but for the value and the time, must not depend on a record; with the same seed it
    must consume the same randomness and take the same path, whatever the last record is (ordinary,
    far away, NaN); and ``releases`` of them at each of two data sets must not tell the two apart
    better than ``guarantee`` allows.

    Parameters
    ----------
    pipeline : such as ``lambda records, rng: gd.release(records, mean, guarantee, rng=rng)``.
    ball : the public domain, whose edge the records of the third check lie on.
    time_is_public : False for a mechanism that says that its running time depends on the data; then
        its path is not compared.

    Examples
    --------
    >>> import geodp as gd
    >>> from geodp.testing.audit import audit_release
    >>> ball, promise = gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0), gd.GaussianDP(1)
    >>> def pipeline(records, rng):
    ...     return gd.release(records, gd.TangentMean(ball), promise, "wrapped-gaussian", rng=rng)
    >>> audit_release(pipeline, ball, promise, releases=40).passed
    True
    """
    inputs = awkward_records(ball, n)
    findings = [
        receipts_test(pipeline, inputs, seed),
        path_test(pipeline, inputs, seed) if time_is_public else skipped_path(_PATH),
        records_test(pipeline, ball, guarantee, n, releases, seed),
    ]
    return Report(f"a release on {ball.space.spec} under {guarantee.label}", tuple(findings))


def receipts_test(pipeline: Pipeline, inputs: Sequence[Array], seed: int) -> Finding:
    """Neighbouring data sets and the same seed: the same receipt but for the value and the time."""
    pages = [_flat(document(pipeline(records, np.random.default_rng(seed)))) for records in inputs]
    moved: dict[str, None] = {}
    for one, other in pairwise(pages):
        for name in {**one, **other}:
            if not name.startswith(_DRAWN) and one.get(name) != other.get(name):
                moved[name] = None
    names = ", ".join(sorted(moved))
    detail = (
        f"These fields depend on a record: {names}."
        if moved
        else f"Nothing on {len(pages)} receipts but the value and the time depends on a record."
    )
    return Finding.of("receipt", not moved, detail, {"fields": sorted(moved)})


def path_test(pipeline: Pipeline, inputs: Sequence[Array], seed: int) -> Finding:
    """The same seed: the same randomness, calls, warnings and endings, up to the solver."""
    pipeline(inputs[0], np.random.default_rng(seed))  # fills memories, which are public
    runs = []
    for records in inputs:
        rng = np.random.default_rng(seed)
        _, seen = watched(lambda r=records, g=rng: pipeline(r, g), True, _SOLVER)  # type: ignore[misc]
        runs.append((seen, rng.bit_generator.state))
    parts: dict[str, list[object]] = {
        "end differently": [seen.ending for seen, _ in runs],
        "warn differently": [seen.warnings for seen, _ in runs],
        "consume different amounts of randomness": [str(state) for _, state in runs],
        "take different paths": [seen.calls for seen, _ in runs],
    }
    broken = [what for what, seen in parts.items() if any(x != seen[0] for x in seen)]
    if broken:
        return Finding.of(_PATH, False, f"Neighbouring data sets {', '.join(broken)}.")
    calls = len(runs[0][0].calls)
    return Finding.of(_PATH, True, f"{len(runs)} data sets took the same {calls} calls.")


def skipped_path(name: str) -> Finding:
    """Where the mechanism says itself that its running time depends on the data."""
    return Finding.skipped(name, "Its documentation says that its time depends on the data.")


def records_test(
    pipeline: Pipeline, ball: Ball, guarantee: Guarantee, n: int, releases: int, seed: int
) -> Finding:
    """Whole releases of two neighbouring data sets do not tell them apart too well.

    Twice: two clusters with one record moved across, and one record moved far out of the ball.
    """
    scores: dict[str, tuple[Array, Array]] = {}
    inputs = awkward_records(ball, n)
    pairs = {"clusters": two_clusters(ball, n), "far record": (inputs[0], inputs[2])}
    for label, pair in pairs.items():
        draws = [
            np.array([_value(pipeline, records, [seed, i, k]) for k in range(releases)])
            for i, records in enumerate(pair)
        ]
        for what, both in _scores(ball.space, draws).items():
            scores[f"{label}: {what}"] = both
    return guarantee_test(scores, guarantee, "whole release")


def document(out: Release | Mapping[str, Any]) -> Mapping[str, Any]:
    """The receipt as a JSON document."""
    return out if isinstance(out, Mapping) else out.to_json()


def _value(pipeline: Pipeline, records: Array, seed: Sequence[int]) -> Array:
    page = document(pipeline(records, np.random.default_rng(seed)))
    return np.array(page["outcome"]["value"], dtype=np.float64)


def _scores(space: Space, draws: Sequence[Array]) -> dict[str, tuple[Array, Array]]:
    """Each entry, and distances to a typical draw of either data set, learnt on the first fifth."""
    first, second = draws
    flat = [x.reshape(len(x), -1) for x in draws]
    early = first[: len(first) // 5], second[: len(second) // 5]
    centers = [x[int(np.argmin(_spread(space, x)))] for x in early]
    found = {f"entry {k}": (flat[0][:, k], flat[1][:, k]) for k in range(flat[0].shape[1])}
    near = [space.dist(centers[1], x) - space.dist(centers[0], x) for x in draws]
    found["nearer centre"] = (near[0], near[1])
    return found


def _spread(space: Space, points: Array) -> Array:
    """Summed distances of each point from all."""
    return np.array([float(space.dist(x, points).sum()) for x in points])


def _flat(page: Any, name: str = "") -> dict[str, object]:
    """Leaves of a JSON document by dotted name; entries of lists share their list's name."""
    if isinstance(page, Mapping):
        parts = [_flat(x, f"{name}.{key}" if name else str(key)) for key, x in page.items()]
        return {key: x for part in parts for key, x in part.items()}
    if isinstance(page, list) and any(isinstance(x, Mapping) for x in page):
        parts = [_flat(x, name) for x in page]
        return {key: x for part in parts for key, x in part.items()}
    return {name: page}
