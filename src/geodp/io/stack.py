"""Records from NIfTI volumes of symmetric matrices: voxels of one, or one of each person."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from geodp.arguments import real_array, text_or_none
from geodp.errors import InputError
from geodp.io.matrices_layout import ORDERS, component_names, components, unpacked
from geodp.io.nifti import Grid, Volume, write_volume
from geodp.io.places import Places, places_of
from geodp.io.units import factor
from geodp.spaces.base import Array, Space

Name = str | os.PathLike[str]


@final
@dataclass(frozen=True)
class Tensors:
    """What is declared about volumes of symmetric matrices.

    ``unit`` : what one unit of their numbers is, such as ``"mm^2/s"``; required. ``order`` : the
    order of the components, ``"lower"`` (xx xy yy xz yz zz), ``"upper"`` (xx xy xz yy yz zz) or
    ``"diagonal-first"`` (xx yy zz xy xz yz); None where the header says it by the intent code 1005.
    ``to`` : the unit of diffusivity that records are wanted in, if it is another. ``mask`` or
    ``atlas`` : a public volume on the same grid.
    """

    unit: str | None
    order: str | None = None
    to: str | None = None
    mask: Name | None = None
    atlas: Name | None = None

    def __post_init__(self) -> None:
        text_or_none(self.unit, "The unit")
        if self.unit is None or not self.unit.strip():
            raise InputError(
                "A NIfTI file does not say its unit: declare it (--physical-unit, in a spec the "
                "domain's physical_unit, in Python unit), such as mm^2/s or 1e-3 mm^2/s. Distances "
                "depend on it."
            )
        if self.order is not None and self.order not in ORDERS:
            raise InputError(
                f"The components of a NIfTI file are in order {', '.join(ORDERS)}; not "
                f"{self.order!r}."
            )
        _ = self.factor

    @property
    def factor(self) -> float:
        """What the file's numbers are multiplied by."""
        return 1.0 if self.to is None else factor(str(self.unit), self.to)

    def order_of(self, volume: Volume) -> str:
        """The order that was declared or that the header says; ``InputError`` where neither does,
        or where they differ."""
        if volume.is_symmetric and self.order not in (None, "lower"):
            raise InputError(
                f"{volume.name} says by its intent code 1005 that its components are the lower "
                f"triangle (xx xy yy xz yz zz); {self.order} was declared. Find out which is true."
            )
        if volume.is_symmetric:
            return "lower"
        if self.order is None:
            raise InputError(
                f"{volume.name} does not say the order of its components: declare it (--layout; in "
                "Python order): lower (xx xy yy xz yz zz: NIfTI, ANTs, DTI-TK, DIPY, AFNI), upper "
                "(xx xy xz yy yz zz: FSL) or diagonal-first (xx yy zz xy xz yz: MRtrix, TORTOISE)."
            )
        return self.order


def read_voxels(path: Name, space: Space, declared: Tensors) -> Array:
    """Each voxel of one volume as a record of ``space``: ``(voxels, m, m)``, x slowest.

    Voxels of one person are not people: a guarantee for one of them protects nobody. A mask must
    be public, since it decides how many records there are.

    Raises
    ------
    InputError : the file is damaged, its order or unit is not known, an atlas is given, or the
        space is not that of its matrices.

    Examples
    --------
    >>> import tempfile, numpy as np, geodp as gd
    >>> from geodp.io import Tensors, read_voxels, write_tensors
    >>> place = tempfile.mkdtemp() + "/dti.nii.gz"
    >>> write_tensors(place, np.tile(np.eye(3), (8, 1, 1)), Grid((2, 2, 2), np.eye(4)))
    >>> read_voxels(place, gd.SPD(3), Tensors("1e-3 mm^2/s")).shape
    (8, 3, 3)
    """
    if declared.atlas is not None:
        raise InputError("An atlas makes one record of each person's volume: declare subjects.")
    volume = Volume.open(path)
    places = places_of(declared.mask, None) or Places.everywhere(volume.grid)
    if space.cells > 1:
        raise InputError(
            f"Each voxel is one record on {space.cell.spec}; declare subjects for records on "
            f"{space.spec}."
        )
    return _matrices(volume, places, space, declared)


def read_subjects(paths: Sequence[Name], space: Space, declared: Tensors) -> Array:
    """One record from each person's volume, all on one grid: ``(n, *space.point_shape)``.

    With an atlas the record holds the mean tensor of each region (arithmetic, entry by entry, NaN
    where a voxel is), with a mask the tensor of each voxel. ``space`` is ``gd.Power(gd.SPD(3), k)``
    for k regions or voxels, ``gd.SPD(3)`` for one. Volumes are read one by one.

    Raises
    ------
    InputError : a file is damaged or on another grid, its order or unit is not known, mask and
        atlas are both missing, or the space has another number of places.
    """
    if isinstance(paths, (str, os.PathLike)) or len(paths) == 0:
        raise InputError("Subjects are a list of files, one for each person.")
    places = places_of(declared.mask, declared.atlas)
    if places is None:
        raise InputError(
            "Subjects need a public mask or atlas (--mask, --atlas) that says which voxels a "
            "record is made of."
        )
    if places.count != space.cells:
        raise InputError(
            f"There are {places.count} {places.what}, and {space.cells} in {space.spec}: use "
            f"{space.cell.spec}{'' if places.count == 1 else f'^{places.count}'}."
        )
    out = np.empty((len(paths), *space.point_shape))
    for one, path in zip(out, paths, strict=True):
        found = _matrices(Volume.open(path), places, space, declared)
        one[...] = found.reshape(space.point_shape)
    return out


def write_tensors(
    path: Name, tensors: ArrayLike, where: Places | Grid, *, order: str = "lower"
) -> None:
    """Write symmetric matrices ``(k, m, m)`` (or one ``(m, m)``), such as a released map, as NIfTI.

    ``where`` : the mask's or atlas's places, in their order (``places_of``), or a grid of k voxels;
    other voxels become 0. The default order is written with the intent code 1005, ``(x, y, z, 1,
    components)``; ``"upper"`` and ``"diagonal-first"``, which no header can say, as ``(x, y, z,
    components)``.
    """
    x = real_array(tensors, "The tensors")
    x = x[None] if x.ndim == 2 else x
    places = where if isinstance(where, Places) else Places.everywhere(where)
    if x.ndim != 3 or x.shape[1] != x.shape[2]:
        raise InputError("Tensors are an array (k, m, m) of symmetric matrices.")
    if len(x) != places.count:
        raise InputError(f"There are {len(x)} tensors for {places.count} {places.what}.")
    if order not in ORDERS:
        raise InputError(f"The order of components is {', '.join(ORDERS)}; not {order!r}.")
    data = places.painted(components(x, order))
    if order == "lower":
        write_volume(path, data[:, :, :, None], places.grid, matrix_size=x.shape[1])
    else:
        write_volume(path, data, places.grid)


def _matrices(volume: Volume, places: Places, space: Space, declared: Tensors) -> Array:
    places.grid.check_same(volume.grid, volume.name)
    order, size = declared.order_of(volume), _size(space)
    names = component_names(order, size)
    if volume.components != len(names):
        raise InputError(
            f"{volume.name} has {volume.components} components in a voxel; {len(names)} are needed "
            f"for {space.cell.spec}."
        )
    rows = np.empty((places.count, len(names)))
    for index in range(len(names)):
        rows[:, index] = places.means(volume.component(index)) * declared.factor
    return unpacked(rows, order, size)


def _size(space: Space) -> int:
    if not space.cell.spec.startswith("spd:") or len(space.cell.factors) > 1:
        raise InputError(f"Volumes of symmetric matrices describe SPD, not {space.spec}.")
    return int(space.cell.point_shape[0])
