"""What a reader was told about raw numbers, and what that makes of a public reference point."""

from __future__ import annotations

from typing import Any

from geodp.io.layout import Layout
from geodp.io.units import diffusivity
from geodp.spaces.base import Array
from geodp.statistics.domain import Ball

_WATER = 3.0e-9  # m^2/s, at 37 degrees: M. Holz, S. Heil, A. Sacco, PCCP 2 (2000), rounded


def understood(
    layout: Layout,
    ball: Ball | None,
    *,
    unit: str | None,
    order: str | None,
    frame: str | None,
    reference: Array | None = None,
) -> dict[str, Any]:
    """Columns, unit, order and frame as declared, and the distance of a public reference point from
    the ball's centre (from the origin without a ball), as JSON values; no record is looked at.

    Without a ``reference`` tensors in a known unit of diffusivity are given free water at body
    temperature, 3e-3 mm²/s in every direction: brain tissue lies below it, so that a ball whose
    centre is far from it is in another unit.
    """
    facts: dict[str, Any] = {
        "columns": layout.columns,
        "physical_unit": unit,
        "component_order": order,
        "frame": frame,
        "reference": None,
    }
    cell = layout.space.cell
    what = "the reference point"
    if reference is None and cell.spec.startswith("spd:3") and unit is not None:
        known = diffusivity(unit)
        if known is not None:
            what = f"free water at body temperature, {_WATER / known:.4g} {unit}"
            reference = cell.origin * (_WATER / known)
    if reference is not None:
        center = layout.space.origin if ball is None else ball.center
        places = center.reshape(-1, *cell.point_shape)
        distance = float(cell.dist(places, reference.reshape(-1, *cell.point_shape)).max())
        facts["reference"] = {
            "what": what,
            "distance": distance,
            "in_ball": None if ball is None else bool(distance <= ball.radius),
        }
    return facts
