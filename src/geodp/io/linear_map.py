"""A public linear map of the channels of covariance matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import real_array
from geodp.errors import InputError
from geodp.spaces.base import Array

_CHUNK_FLOATS = 2**20
_LEAST = 1e-10  # relative: the least singular value of a matrix of full rank


@final
@dataclass(frozen=True, eq=False)
class LinearMap:
    """``X -> Q^T X Q`` for covariances X ``(m, m)`` and a public matrix ``Q`` ``(m, k)``.

    The covariance of the signals Q^T s. It makes points of SPD(k) from matrices of rank k that are
    none of SPD(m), such as those of average-referenced channels: a subset of channels, a spatial
    filter, an orthonormal basis. Each record is mapped by itself, so that it costs no privacy, as
    long as Q was not chosen by looking at the records.

    Raises
    ------
    InputError : Q is not finite, or its columns are not independent.

    Examples
    --------
    >>> import numpy as np
    >>> from geodp.io import LinearMap
    >>> centred = np.eye(4) - 0.25  # covariance of four channels minus their mean, rank 3
    >>> bool(np.allclose(LinearMap.without_mean(4).apply([centred]), np.eye(3)))
    True
    """

    matrix: Array

    def __post_init__(self) -> None:
        q = real_array(self.matrix, "The linear map")
        if q.ndim != 2 or not 1 <= q.shape[1] <= q.shape[0]:
            raise InputError(
                "A linear map is a matrix (channels, kept) with no more columns than rows."
            )
        if not np.isfinite(q).all():
            raise InputError("The linear map is not finite.")
        values = np.linalg.svd(q, compute_uv=False)
        if not values[-1] > _LEAST * values[0]:
            raise InputError(
                "The columns of the linear map are not independent: its results would be singular. "
                "Drop those that follow from others."
            )
        q.setflags(write=False)
        object.__setattr__(self, "matrix", q)

    @classmethod
    def of_channels(cls, channels: int, keep: Sequence[int]) -> LinearMap:
        """The channels numbered ``keep``, from 0, in this order."""
        known = [isinstance(i, (int, np.integer)) and 0 <= i < channels for i in keep]
        if not keep or not all(known) or len(set(keep)) < len(keep):
            raise InputError(f"Channels to keep are numbers from 0 to {channels - 1}, each once.")
        return cls(np.eye(channels)[:, list(keep)])

    @classmethod
    def without_mean(cls, channels: int) -> LinearMap:
        """Helmert's orthonormal basis of the channels' differences, ``(m, m - 1)``: what is left of
        average-referenced channels."""
        if channels < 2:
            raise InputError("Channels minus their mean are at least two.")
        q = np.zeros((channels, channels - 1))
        for j in range(1, channels):
            q[:j, j - 1], q[j, j - 1] = 1.0, -j
            q[:, j - 1] /= np.sqrt(j * (j + 1.0))
        return cls(q)

    def apply(self, records: ArrayLike) -> Array:
        """``(n, m, m)`` to ``(n, k, k)``, exactly symmetric; what is not finite becomes NaN."""
        x = np.asarray(records)
        m, k = self.matrix.shape
        if x.ndim != 3 or x.shape[1:] != (m, m) or x.dtype.kind not in "iuf":
            raise InputError(f"The linear map is one of real matrices (n, {m}, {m}).")
        out, rows = np.empty((len(x), k, k)), max(1, _CHUNK_FLOATS // m**2)
        with np.errstate(all="ignore"):
            for start in range(0, len(x), rows):
                chunk = np.array(x[start : start + rows], dtype=np.float64)
                y = self.matrix.T @ chunk @ self.matrix
                skew = np.abs(chunk - chunk.swapaxes(1, 2)).max(axis=(1, 2))
                good = skew <= 1e-8 * np.abs(chunk).max(axis=(1, 2))  # else it is no covariance
                y[~good] = np.nan
                out[start : start + len(y)] = (y + y.swapaxes(1, 2)) / 2
        return out
