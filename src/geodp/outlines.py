"""Outlines through landmarks: smoothing as post-processing of a release."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import positive_real, real_array
from geodp.errors import InputError
from geodp.ledger.receipt import Release
from geodp.spaces.base import Array
from geodp.spaces.planar_shapes import PlanarShapes

_HALF = 0.5  # of the outline: a wider window would meet itself


def smooth(outline: Release | ArrayLike, bandwidth: float, closed: bool = True) -> Array:
    """Landmarks ``(k, 2)`` smoothed along their outline by local linear regression.

    Landmark i is replaced by the value at t_i of the line a + b (t - t_i) that minimises
    ``sum_j K((t_j - t_i)/bandwidth) |x_j - a - b (t_j - t_i)|^2``, with Epanechnikov's kernel
    K(u) = 1 - u² on [-1, 1]: local polynomial regression of first order (Fan and Gijbels, Local
    Polynomial Modelling and Its Applications, 1996, §2.3). Landmarks are taken as equally spaced,
    t_j = j/k on a closed outline, where t is periodic, and t_j = j/(k - 1) on an open one. Without
    noise it shortens bends: a circle is drawn in, evenly, and stays a circle.

    It looks at the released value alone, so that it costs no privacy, whatever the bandwidth, as
    long as the bandwidth was not chosen by looking at the records.

    Parameters
    ----------
    outline : a ``Release`` on ``gd.PlanarShapes(k)``, or landmarks ``(k, 2)`` in order along it.
    bandwidth : half the width of the window, as a part of the outline, above 0 and at most 1/2.
        Up to 1/k, the distance of two landmarks, nothing changes.
    closed : whether the last landmark is joined to the first.

    Returns
    -------
    array ``(k, 2)`` : a point of the shape space, centred and of size 1.

    Raises
    ------
    InputError : a release of something else, a bandwidth out of range, landmarks that have no
        shape or are fewer than three.

    Examples
    --------
    >>> import geodp as gd
    >>> circle = gd.PlanarShapes(12).origin
    >>> bool(gd.PlanarShapes(12).dist(circle, smooth(circle, 0.2)) < 1e-12)
    True
    """
    landmarks = _landmarks(outline)
    width = positive_real(bandwidth, "The bandwidth")
    if width > _HALF:
        raise InputError("The bandwidth is a part of the outline, at most 1/2.")
    weights = _weights(len(landmarks), width, closed)
    with np.errstate(all="ignore"):
        point = PlanarShapes.from_landmarks(weights @ (landmarks - landmarks.mean(axis=0)))
    if not np.isfinite(point).all():
        raise InputError(
            "The landmarks have no shape, before or after smoothing: they are not finite or all "
            "coincide. Use a smaller bandwidth, or other landmarks."
        )
    return point


def _landmarks(outline: Any) -> Array:
    if isinstance(outline, Release):
        if not isinstance(outline.space, PlanarShapes):
            raise InputError(
                f"Outlines of planar shapes are smoothed; the release lies on {outline.space.spec}."
            )
        return outline.value
    landmarks = real_array(outline, "The outline")
    if landmarks.ndim != 2 or landmarks.shape[1] != 2 or len(landmarks) < 3:
        raise InputError("An outline is an array (k, 2) of at least three landmarks, in order.")
    return landmarks


def _weights(count: int, width: float, closed: bool) -> Array:
    """The matrix ``(k, k)`` of the regression's effective kernels; its rows sum to 1."""
    position = np.arange(count) / (count if closed else count - 1)
    gap = position[None, :] - position[:, None]
    if closed:
        gap -= np.round(gap)
    kernel = np.maximum(0.0, 1.0 - (gap / width) ** 2)
    total, first = kernel.sum(axis=1), (kernel * gap).sum(axis=1)
    second = (kernel * gap**2).sum(axis=1)
    spread = total * second - first**2
    alone = spread <= 1e-12 * total**2 * width**2  # a window with one landmark has no slope
    line = kernel * (second[:, None] - first[:, None] * gap)
    mean = kernel / total[:, None]
    return np.asarray(
        np.where(alone[:, None], mean, line / np.where(alone, 1.0, spread)[:, None]),
        dtype=np.float64,
    )
