"""Releases to draw, and how to find what was drawn."""

import dataclasses

import numpy as np

import geodp as gd


def released(ball, value, **changes):
    """A real receipt of a release from ``ball`` whose value is replaced by ``value``."""
    center = np.broadcast_to(ball.center, (20, *ball.center.shape))
    mechanism = gd.Wrapped(gd.Gaussian())
    out = gd.release(center, gd.FrechetMean(ball), gd.GaussianDP(1), mechanism, unit="person")
    return dataclasses.replace(out, value=np.asarray(value, dtype=np.float64), **changes)


def line(ax, label):
    """The points ``(n, 2)`` of the one line whose label starts with ``label``."""
    (found,) = [a for a in ax.lines if str(a.get_label()).startswith(label)]
    return np.column_stack(found.get_data())


def labels(ax):
    """All labels of artists on the axes and its panels."""
    panels = [ax, *ax.child_axes]
    return [str(a.get_label()) for panel in panels for a in panel.get_children()]
