"""Pictures of released points: ``geodp.plots.plot``. matplotlib is imported on first use."""

from geodp.plots.picture import Picture
from geodp.plots.plot import plot
from geodp.plots.registry import register

__all__ = ["Picture", "plot", "register"]
