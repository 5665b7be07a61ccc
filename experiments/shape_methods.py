"""Ways to release a mean outline, for ``shapes.py``: on the shape space, beside it, or ignoring it.

Releases use seeded bits: they are simulations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from outline_data import Array, Outlines

import geodp as gd
from geodp.mechanisms.base import Evaluated, Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.privacy.shares import equal_part
from geodp.random import bit_stream
from geodp.statistics.records import ClippedRecords
from geodp.statistics.route import route_of
from geodp.verbs.stages import calibrated

TILT = np.pi / 6  # how far an outline as it was taken may be turned, either way
Sampler = Callable[[np.random.Generator], Array]
ComplexArray = NDArray[np.complex128]


class Method(ABC):
    """One line of the table."""

    name: str
    share: float  # of the repeats

    @abstractmethod
    def why_not(self, outlines: Outlines, guarantee: Guarantee) -> str | None:
        """Why there is no release under this guarantee; None if there is."""

    @abstractmethod
    def sampler(self, outlines: Outlines, guarantee: Guarantee) -> Sampler:
        """A function from a generator to a released outline ``(k, 2)``."""


@final
@dataclass(frozen=True)
class OnShapes(Method):
    """A statistic of shapes, released by ``mechanism``: exactly as ``gd.release`` does it.

    ``notion`` names the only kind of guarantee to show. The K-norm gradient draws again and again
    where its noise is long beside the ball, and is slow elsewhere: it gets its own notion and a
    share of the repeats.
    """

    name: str
    statistic: Callable[[gd.Ball], gd.Statistic]
    mechanism: Mechanism
    share: float = 1.0
    notion: str | None = None

    def why_not(self, outlines: Outlines, guarantee: Guarantee) -> str | None:
        if self.notion not in (None, guarantee.notion):
            return f"Shown under {self.notion} guarantees only."
        route = route_of(self.statistic(outlines.ball))
        return self.mechanism.why_not(route.space, guarantee, route.ball)

    def sampler(self, outlines: Outlines, guarantee: Guarantee) -> Sampler:
        statistic = self.statistic(outlines.ball)
        cal, _ = calibrated(self.mechanism, statistic, len(outlines.raw), guarantee)
        evaluated = _evaluated(statistic, outlines.space.from_landmarks(outlines.raw))
        finish = route_of(statistic).finish

        def draw(rng: np.random.Generator) -> Array:
            return finish(cal.release(evaluated, bit_stream(rng))[None])[0]

        return draw


@final
@dataclass(frozen=True)
class InThePlane(Method):
    """The mean of landmarks as plain coordinates, ``blocks`` of them released at a time.

    The outlines are centred and of size 1. With ``aligned`` each is rotated onto the public centre,
    which depends on no other record; without, it lies as it was taken, turned by up to ``TILT``.
    Each block's domain is a Euclidean ball around the centre's landmarks, wide enough for every
    outline of the ball of shapes, and the blocks share the guarantee equally.
    """

    name: str
    landmark_by_landmark: bool
    aligned: bool
    noise: gd.L2Laplace | gd.Gaussian
    share: float = 1.0

    def why_not(self, outlines: Outlines, guarantee: Guarantee) -> str | None:
        if self.noise == gd.L2Laplace() and guarantee.notion != "pure":
            return "Shown under pure guarantees only."
        return gd.Wrapped(self.noise).why_not(gd.Euclidean(2), guarantee, None)

    def sampler(self, outlines: Outlines, guarantee: Guarantee) -> Sampler:
        rows, center = self._coordinates(outlines)
        count = len(center) if self.landmark_by_landmark else 1
        share = equal_part(guarantee, count)
        apart = 2 * np.sin(outlines.radius / 2)  # of unit preshapes, rotated to fit best
        tilt = 0.0 if self.aligned else 2 * np.sin(TILT / 2)
        draws = []
        for block, middle in zip(
            np.split(rows, count, axis=1), np.split(center, count), strict=True
        ):
            middle = middle.reshape(-1)
            width = apart + tilt * float(np.linalg.norm(middle))
            domain = gd.Ball(gd.Euclidean(len(middle)), middle, width)
            statistic = gd.FrechetMean(domain)
            cal, _ = calibrated(gd.Wrapped(self.noise), statistic, len(rows), share)
            draws.append((cal, _evaluated(statistic, block.reshape(len(rows), -1))))

        def draw(rng: np.random.Generator) -> Array:
            parts = [cal.release(evaluated, bit_stream(rng)) for cal, evaluated in draws]
            return np.concatenate(parts).reshape(-1, 2)

        return draw

    def _coordinates(self, outlines: Outlines) -> tuple[Array, Array]:
        raw, center = _unit(outlines.raw), _unit(outlines.center)
        fit = _complex(raw).conj() @ _complex(center)
        turn = np.where(fit == 0, 1.0, fit / np.maximum(np.abs(fit), 1e-300))
        if not self.aligned:  # as under a camera; the same for every method and repeat
            turn = np.exp(1j * np.random.default_rng(0).uniform(-TILT, TILT, len(raw))) * turn
        turned = _complex(raw) * turn[:, None]
        return np.stack([turned.real, turned.imag], axis=-1), center


def methods() -> list[Method]:
    """All lines; those that cannot keep a guarantee are left out of its table."""
    laplace, gaussian = gd.Wrapped(gd.L2Laplace()), gd.Wrapped(gd.Gaussian())
    return [
        OnShapes("KNG", gd.FrechetMean, gd.KNormGradient(), 0.24, "pure"),
        OnShapes("RL", gd.FrechetMean, gd.RiemannianLaplace()),
        OnShapes("RG", gd.FrechetMean, gd.RiemannianGaussian()),
        OnShapes("wrapped l2-Laplace", gd.FrechetMean, laplace, notion="pure"),
        OnShapes("wrapped Gaussian", gd.FrechetMean, gaussian),
        OnShapes("tangent mean, l2-Laplace", gd.TangentMean, laplace, notion="pure"),
        OnShapes("tangent mean, Gaussian", gd.TangentMean, gaussian),
        OnShapes("extrinsic mean, l2-Laplace", gd.ExtrinsicMean, laplace, notion="pure"),
        OnShapes("extrinsic mean, Gaussian", gd.ExtrinsicMean, gaussian),
        *(
            InThePlane(f"{name}, {noise.name}{end}", by_landmark, aligned, noise)
            for noise in (gd.L2Laplace(), gd.Gaussian())
            for name, by_landmark, aligned, end in (
                ("coordinates jointly", False, True, ""),
                ("landmark by landmark", True, True, ""),
                ("landmark by landmark", True, False, ", not aligned"),
            )
        ),
    ]


def _evaluated(statistic: gd.Statistic, records: Array) -> Evaluated:
    ball = statistic.ball
    assert ball is not None
    clipped: ClippedRecords = ball.clip(records)
    return Evaluated(statistic.evaluate(clipped).value, statistic, clipped)


def _unit(x: Array) -> Array:
    x = x - x.mean(axis=-2, keepdims=True)
    return np.asarray(x / np.linalg.norm(x, axis=(-2, -1), keepdims=True))


def _complex(x: Array) -> ComplexArray:
    return np.asarray(x[..., 0] + 1j * x[..., 1])
