"""What a noise strategy is: a law per dimension, without a scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geodp.noise.spherical import SphericalLaw


class Noise(ABC):
    """A spherically symmetric law for each dimension; the scale is calibration's business."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in receipts and on the command line."""

    @abstractmethod
    def law(self, dim: int) -> SphericalLaw:
        """The law on R^dim at unit scale."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """What receipts carry besides the name to rebuild the strategy."""

    def resolved(self, best: Callable[[], Noise]) -> Noise:
        """This strategy, or ``best()`` where it leaves its parameters open."""
        return self
