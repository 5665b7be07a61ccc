"""A look at raw records, for the curator alone: nothing here is private."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from geodp.errors import InputError
from geodp.io.matrices import MatrixCensus
from geodp.spaces.base import Array, Space
from geodp.statistics.domain import Ball

_QUANTILES = (0, 5, 25, 50, 75, 95, 100)
_CHUNK_FLOATS = 2**16
_HINTS = {
    "sphere": "Directions are vectors of the sphere's own length (unit vectors on sphere:D). "
    "Divide by the length, or declare degrees with --lonlat.",
    "hyperbolic": "Points of hyperbolic space lie on the hyperboloid, time coordinate first. "
    "Declare embeddings in Poincaré's ball with --poincare, and time last with "
    "--layout hyperboloid-time-last.",
    "shapes": "Landmarks that are missing, not finite, or that all coincide, have no shape. Check "
    "the number and the order of the landmarks (--layout). In Python, raw landmarks become points "
    "by gd.PlanarShapes.from_landmarks.",
}


def inspect_records(records: Any, space: Space, ball: Ball | None = None) -> dict[str, Any]:
    """What the curator should know before a release, as JSON values. NOT PRIVATE.

    How many records are points of ``space`` and why others are not, how many the public rule of
    ``ball`` would move, quantiles of the distance from its centre (from the space's origin without
    a ball), and hints. ``records`` has shape ``(n, *space.point_shape)``. Of maps (a ``gd.Power``)
    the points in their places are counted, each by itself, as the rule works.

    >>> import numpy as np, geodp as gd
    >>> found = inspect_records(np.array([[np.eye(2), np.ones((2, 2))]])[0], gd.SPD(2))
    >>> found["points"], found["matrices"][0]["rank_deficient"]
    (1, 1)
    """
    if tuple(records.shape[1:]) != space.point_shape:
        axes = ", ".join(["n", *map(str, space.point_shape)])
        raise InputError(
            f"Records of {space.spec} have the shape ({axes}); "
            "rows of numbers become points by geodp.io.points_of."
        )
    cell, shape = space.cell, space.cell.point_shape
    start = (space.origin if ball is None else ball.center).reshape(space.cells, *shape)
    censuses = [_census(factor) for factor in cell.factors]
    finite = points = lost = outside = 0
    distances: list[Array] = []
    for chunk in _chunks(records, space):
        with np.errstate(all="ignore"):
            from_where = np.tile(start, (len(chunk), *[1] * len(shape)))
            chunk = chunk.reshape(-1, *shape)
            is_finite = np.isfinite(chunk).all(axis=tuple(range(1, chunk.ndim)))
            is_point = cell.contains(chunk)
            for census, part in zip(censuses, cell.split(chunk[is_finite]), strict=True):
                if census is not None:
                    census.add(part)
            good, from_where = cell.project(chunk[is_point]), from_where[is_point]
            cut = cell.cut_locus(from_where, good)
            distance = cell.dist(from_where, good)
        finite += int(is_finite.sum())
        points += int(is_point.sum())
        lost += int(cut.sum())
        if ball is not None:
            outside += int((distance[~cut] > ball.radius).sum())
        distances.append(distance)
    n = len(records) * space.cells
    every = np.concatenate(distances) if distances else np.empty(0)
    facts: dict[str, Any] = {
        "not_private": True,
        "space": space.spec,
        "records": len(records),
        "places": space.cells,
        "shape": list(records.shape),
        "dtype": str(records.dtype),
        "finite": finite,
        "points": points,
        "distance_from": "origin" if ball is None else "center",
        "distance_quantiles": _quantiles(every),
        "matrices": [census.facts() for census in censuses if census is not None],
    }
    if ball is not None:
        facts["ball"] = {
            "radius": ball.radius,
            "moved_to_edge": outside,
            "replaced_by_center": n - points + lost,
        }
    facts["hints"] = list(_hints(facts, space))
    return facts


def _census(factor: Space) -> MatrixCensus | None:
    return MatrixCensus(factor.point_shape[0]) if factor.spec.startswith("spd:") else None


def _chunks(records: Any, space: Space) -> Iterator[Array]:
    rows = max(64, _CHUNK_FLOATS // int(np.prod(space.point_shape)))
    for start in range(0, len(records), rows):
        with np.errstate(all="ignore"):
            yield np.array(records[start : start + rows], dtype=np.float64)


def _quantiles(distances: Array) -> dict[str, float] | None:
    known = distances[np.isfinite(distances)]
    if len(known) == 0:
        return None
    values = np.quantile(known, np.array(_QUANTILES) / 100)
    return {f"{q} %": float(x) for q, x in zip(_QUANTILES, values, strict=True)}


def _hints(facts: dict[str, Any], space: Space) -> Iterator[str]:
    if facts["records"] < 2:
        yield "A release needs at least two records."
    if facts["finite"] < facts["records"] * facts["places"]:
        yield (
            "Some records hold NaN, an infinity or (in CSV) a cell that is no number; a release "
            "treats each of them as the ball's centre."
        )
    if facts["finite"] == 0:
        yield (
            "No record could be read. Check the columns and how they are declared (--layout), and "
            "in CSV that commas separate the cells."
        )
    for matrices in facts["matrices"]:
        yield from matrices["hints"]
    if facts["points"] < facts["finite"]:
        for family in dict.fromkeys(factor.spec.split(":")[0] for factor in space.factors):
            if family in _HINTS:
                yield _HINTS[family]
    ball = facts.get("ball")
    if ball is None:
        yield (
            "Centre and radius come from public knowledge, not from these distances: a ball chosen "
            "by looking at the records is a release of its own."
        )
    elif facts["points"] and ball["moved_to_edge"] == facts["points"]:
        yield (
            "Every point lies outside the ball. Check that the centre and the records are in the "
            "same physical unit; changing the ball because of this finding is not covered by the "
            "guarantee."
        )
