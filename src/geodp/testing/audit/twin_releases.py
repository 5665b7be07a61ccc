"""Whole releases with a planted bug: from raw records to a receipt's JSON document. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from geodp.mechanisms.wrapped import Wrapped
from geodp.noise.strategies import Gaussian
from geodp.privacy.guarantees import Guarantee
from geodp.random import bit_stream
from geodp.spaces.base import Array
from geodp.statistics.domain import Ball
from geodp.statistics.frechet_mean import FrechetMean
from geodp.testing.audit.pipeline import Pipeline
from geodp.verbs.release import release
from geodp.verbs.stages import calibrated


@final
@dataclass(frozen=True, eq=False)
class Planted:
    """Releases of the Fréchet mean on a ball with wrapped Gaussian noise; each but ``sound`` has a
    bug that no look at a single receipt shows."""

    ball: Ball
    guarantee: Guarantee

    def twins(self) -> dict[str, Pipeline]:
        """All with a bug, by name."""
        return {
            "footpoint from the data": self.data_footpoint,
            "unclipped record": self.unclipped,
            "radius from the data": self.data_radius,
            "error bound from the data": self.data_error,
            "reached certificate on the receipt": self.reached_certificate,
        }

    def sound(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """No bug."""
        return self._release(records, rng)

    def data_footpoint(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Wraps the noise at the mean itself."""
        mean = FrechetMean(self.ball).evaluate(records).value
        return self._release(records, rng, Wrapped(Gaussian(), self.ball.project(mean)))

    def unclipped(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Averages records as they come in, logarithms at the centre, and clips the mean only."""
        page = self._release(records, rng)
        space, center = self.ball.space, self.ball.center
        known = records[space.contains(records)]
        mean = space.exp_coords(center, space.log_coords(center, known).mean(axis=0))
        cal, _ = calibrated(
            Wrapped(Gaussian()), FrechetMean(self.ball), len(records), self.guarantee
        )
        value = cal.draw(self.ball.project(mean), bit_stream(rng))
        return page | {"outcome": page["outcome"] | {"value": value.tolist()}}

    def data_radius(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Takes the farthest record for the domain's radius."""
        space, center = self.ball.space, self.ball.center
        clipped = self.ball.clip(records)
        farthest = max(float(space.dist(center, chunk).max()) for chunk in clipped.chunks())
        return Planted(Ball(space, center, farthest), self.guarantee)._release(records, rng)

    def data_error(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """States the error that the mean reached on these records in place of the public bound."""
        page = self._release(records, rng)
        parts = page["outcome"]["sensitivity"] | {"error_bound": self._gradient(records)}
        return page | {"outcome": page["outcome"] | {"sensitivity": parts}}

    def reached_certificate(self, records: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Adds the gradient's norm at the mean to the receipt."""
        page = self._release(records, rng)
        return page | {"outcome": page["outcome"] | {"gradient_norm": self._gradient(records)}}

    def _gradient(self, records: Array) -> float:
        statistic = FrechetMean(self.ball)
        clipped = self.ball.clip(records)
        norm = statistic.gradient.norm(clipped, self.ball.reach)
        return norm(statistic.evaluate(clipped).value)

    def _release(
        self, records: Array, rng: np.random.Generator, mechanism: Wrapped | None = None
    ) -> dict[str, Any]:
        chosen = Wrapped(Gaussian()) if mechanism is None else mechanism
        page: Mapping[str, Any] = release(
            records, FrechetMean(self.ball), self.guarantee, chosen, rng=rng
        ).to_json()
        return dict(page)
