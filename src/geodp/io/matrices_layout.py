"""Rows of SPD matrices: all entries, or each pair of them once in one of the orders in use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from geodp.errors import InputError
from geodp.io.layout import Layout, plain
from geodp.spaces.base import Array, Space

Places: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"


def _lower(size: int) -> Places:
    return np.tril_indices(size)


def _upper(size: int) -> Places:
    return np.triu_indices(size)


def _diagonal_first(size: int) -> Places:
    row, column = np.triu_indices(size, 1)
    diagonal = np.arange(size)
    return np.concatenate([diagonal, row]), np.concatenate([diagonal, column])


ORDERS: dict[str, tuple[Callable[[int], Places], str]] = {
    "lower": (_lower, "the lower triangle, row by row"),
    "upper": (_upper, "the upper triangle, row by row"),
    "diagonal-first": (_diagonal_first, "the diagonal, then the rest of the upper triangle"),
}
"""Orders of the components of a symmetric matrix. For tensors: lower is xx xy yy xz yz zz (NIfTI,
ANTs, DTI-TK, DIPY, AFNI), upper xx xy xz yy yz zz (FSL), diagonal-first xx yy zz xy xz yz (MRtrix,
TORTOISE)."""


def full(space: Space) -> Layout:
    """m² numbers, row by row, in arrays too."""
    _check(space)
    return plain(space, is_plain=False)


def packed(space: Space, order: str) -> Layout:
    """Each pair of entries once; a map's matrices one after the other."""
    _check(space)
    size = space.cell.point_shape[0]
    width = space.cells * size * (size + 1) // 2

    def convert(rows: Array) -> Array:
        return unpacked(rows.reshape(len(rows), space.cells, -1), order, size).reshape(
            -1, *space.point_shape
        )

    return Layout(space, width, in_words(order, size), convert, False)


def unpacked(components: Array, order: str, size: int) -> Array:
    """Symmetric matrices ``(..., size, size)`` from their components ``(..., size(size+1)/2)``."""
    row, column = ORDERS[order][0](size)
    out = np.empty((*components.shape[:-1], size, size))
    out[..., row, column] = components
    out[..., column, row] = components
    return out


def components(matrices: Array, order: str) -> Array:
    """The components of symmetric matrices, the inverse of ``unpacked``."""
    row, column = ORDERS[order][0](matrices.shape[-1])
    found: Array = matrices[..., row, column]
    return found


def component_names(order: str, size: int) -> list[str]:
    """Such as xx, xy, yy; 1.1, 1.2, 2.2 for matrices larger than 3 x 3."""
    pairs = [(min(i, j), max(i, j)) for i, j in zip(*ORDERS[order][0](size), strict=True)]
    if size <= 3:
        return ["xyz"[i] + "xyz"[j] for i, j in pairs]
    return [f"{i + 1}.{j + 1}" for i, j in pairs]


def in_words(order: str, size: int) -> str:
    """What a row of components holds."""
    what = ORDERS[order][1]
    return what if size > 3 else f"{what} ({' '.join(component_names(order, size))})"


def _check(space: Space) -> None:
    if not space.cell.spec.startswith("spd:") or len(space.cell.factors) > 1:
        raise InputError(
            f"Columns full, lower, upper or diagonal-first describe SPD matrices, not {space.spec}."
        )


LAYOUTS: dict[str, Callable[[Space], Layout]] = {
    "full": full,
    **{name: partial(packed, order=name) for name in ORDERS},
}
