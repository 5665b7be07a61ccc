"""Places in volumes: the voxels of a public mask, or the regions of a public atlas."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from geodp.errors import InputError
from geodp.io.nifti import Grid, Volume
from geodp.spaces.base import Array

_MOST_LABEL = 2**31


@final
@dataclass(frozen=True, eq=False)
class Places:
    """``count`` places on a grid: ``label`` ``(x*y*z,)`` is each voxel's place, from 0, and -1
    outside. A mask is an atlas whose every voxel is a region."""

    grid: Grid
    label: NDArray[np.intp]
    count: int
    what: str
    sizes: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inside = self.label[self.label >= 0]
        object.__setattr__(self, "sizes", np.bincount(inside, minlength=self.count))

    @classmethod
    def everywhere(cls, grid: Grid) -> Places:
        """Every voxel."""
        return cls(grid, np.arange(grid.size), grid.size, "every voxel")

    @classmethod
    def of_mask(cls, path: str | os.PathLike[str]) -> Places:
        """The voxels where a volume is neither 0 nor NaN, x slowest."""
        grid, values, name = _labels(path)
        inside = np.isfinite(values) & (values != 0)
        label = np.where(inside, np.cumsum(inside) - 1, -1)
        return cls(grid, label, _some(int(inside.sum()), name), "voxels of the mask")

    @classmethod
    def of_atlas(cls, path: str | os.PathLike[str]) -> Places:
        """The regions of a volume of whole numbers, by number; 0 is outside."""
        grid, values, name = _labels(path)
        if not ((values == np.round(values)) & (np.abs(values) < _MOST_LABEL)).all():
            raise InputError(f"{name} is no atlas: its voxels are not all whole numbers.")
        known = np.unique(values[values != 0])
        _some(len(known), name)
        label = np.where(values != 0, np.searchsorted(known, values), -1)
        return cls(grid, label, len(known), "regions of the atlas")

    def means(self, values: Array) -> Array:
        """The mean of ``(x*y*z,)`` values over each place; of one voxel the value itself."""
        inside = self.label >= 0
        sums = np.bincount(self.label[inside], values[inside], minlength=self.count)
        return np.asarray(sums / self.sizes, dtype=np.float64)

    def painted(self, values: Array) -> Array:
        """``(count, k)`` values of places on the grid, ``(x, y, z, k)``, 0 outside."""
        out = np.zeros((self.grid.size, values.shape[1]))
        inside = self.label >= 0
        out[inside] = values[self.label[inside]]
        return out.reshape(*self.grid.shape, values.shape[1])


def places_of(
    mask: str | os.PathLike[str] | None, atlas: str | os.PathLike[str] | None
) -> Places | None:
    """The places that a mask or an atlas states; None where there is neither."""
    if mask is not None and atlas is not None:
        raise InputError(
            "Give a mask, for voxels, or an atlas, for means of regions, not both. For the regions "
            "within a mask, multiply the two: an atlas that is 0 outside it."
        )
    if mask is not None:
        return Places.of_mask(mask)
    return None if atlas is None else Places.of_atlas(atlas)


def _labels(path: str | os.PathLike[str]) -> tuple[Grid, Array, str]:
    volume = Volume.open(path)
    if volume.components != 1:
        raise InputError(
            f"{volume.name} has {volume.components} components in a voxel; a mask or an atlas has "
            "one."
        )
    return volume.grid, volume.component(0), volume.name


def _some(count: int, name: str) -> int:
    if count == 0:
        raise InputError(f"{name} marks no voxel.")
    return count
