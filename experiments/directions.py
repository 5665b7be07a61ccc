"""A real set of directions, groups compared at several μ: the places that name the time zones.

The tz database lists, in ``zone.tab``, a place with its coordinates for each zone; the continent is
the first word of the zone's name. Records are clipped to a public cap; continents and their sizes
are public. The releases are private; μ = ∞ is the non-private comparison.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH

import numpy as np
from recording import Run, pyplot

import geodp as gd
from geodp.errors import InputError
from geodp.inference import difference
from geodp.inference.collect import without_noise
from geodp.inference.estimate import Estimate
from geodp.plots.regions import plot_regions

CONTINENTS = ("Africa", "Asia", "Europe")
MUS = (0.5, 1.0, 2.0, 5.0)
_PLACE = re.compile(r"([+-]\d{4,6})([+-]\d{5,7})")


def load() -> tuple[Any, list[str]]:
    """Unit vectors ``(n, 3)`` and continents of the places in ``zone.tab``."""
    folders = [Path(folder) for folder in TZPATH]
    package = find_spec("tzdata")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "zoneinfo")
    files = [folder / "zone.tab" for folder in folders if (folder / "zone.tab").is_file()]
    if not files:
        raise InputError("No tz database with a zone.tab was found: install the package tzdata.")
    places, labels = [], []
    for line in files[0].read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        _, coordinates, zone = line.split("\t")[:3]
        continent = zone.split("/")[0]
        found = _PLACE.fullmatch(coordinates)
        if continent in CONTINENTS and found is not None:
            lat, lon = (math.radians(degrees(part)) for part in found.groups())
            places.append(
                [math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)]
            )
            labels.append(continent)
    return np.array(places), labels


def degrees(text: str) -> float:
    """``+DDMM``, ``+DDDMM`` or with seconds (ISO 6709) as degrees."""
    digits = text[1:]
    whole = 2 if len(digits) in (4, 6) else 3
    parts = [digits[:whole], digits[whole : whole + 2], digits[whole + 2 :] or "0"]
    value = sum(int(part) / 60**i for i, part in enumerate(parts))
    return -value if text[0] == "-" else value


def main(arguments: Sequence[str] | None = None) -> None:
    run = Run.parse("directions", __doc__.splitlines()[0], arguments)
    records, labels = load()
    ball = gd.Ball.from_degrees(gd.Sphere(2), longitude=45, latitude=30, degrees=70)
    rows: list[dict[str, Any]] = []
    plt = pyplot()
    figure, axes = plt.subplots(1, len(MUS) + 1, figsize=(4.2 * (len(MUS) + 1), 5.6))
    for mu, ax in zip((*MUS, math.inf), axes, strict=True):
        if math.isinf(mu):
            mask = np.array(labels)
            regions = {
                name: Estimate(without_noise(ball, records[mask == name])).region
                for name in CONTINENTS
            }
        else:
            groups = gd.infer(
                records,
                ball,
                gd.GaussianDP(mu),
                by=labels,
                by_name="continent",
                by_public=True,
                unit="place",
            )
            regions = {name: groups[name].region for name in CONTINENTS}
        title = f"μ = {mu:g}".replace("inf", "∞ (not private)")
        plot_regions(list(regions.values()), list(regions), ax, title)
        for a, b in combinations(CONTINENTS, 2):
            gap = difference(regions[a], regions[b])
            rows.append(
                {
                    "mu": mu,
                    "first": a,
                    "second": b,
                    "n": f"{labels.count(a)}, {labels.count(b)}",
                    "degrees_apart": math.degrees(gap.distance),
                    "longest_half_axis_degrees": math.degrees(
                        max(regions[a].axes[0][0], regions[b].axes[0][0])
                    ),
                    "p_value": gap.test.p_value,
                }
            )
    figure.tight_layout()
    figure.savefig(run.out / "directions.png")
    run.table("directions", rows)
    run.document("directions", {"places": len(labels)})
    for row in rows:
        print(row, file=sys.stderr)


if __name__ == "__main__":
    main()
