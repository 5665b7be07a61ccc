"""Points into files, by the ending of their name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from geodp.errors import InputError
from geodp.io.matrices_layout import component_names, components, in_words
from geodp.io.nifti import Grid
from geodp.io.places import Places
from geodp.io.stack import write_tensors
from geodp.io.tps import write_tps
from geodp.spaces.base import Array, Space


@final
@dataclass(frozen=True, eq=False)
class Written:
    """How points are written: their space, the order of symmetric matrices, and where volumes have
    their voxels."""

    space: Space
    order: str = "lower"
    where: Places | Grid | None = None

    @property
    def is_matrices(self) -> bool:
        """Whether the points are symmetric matrices, or maps of them."""
        cell = self.space.cell
        return cell.spec.startswith("spd:") and len(cell.factors) == 1


def write_points(path: str | os.PathLike[str], points: Array, how: Written) -> str:
    """Write points ``(n, *space.point_shape)``; what a row holds, in words.

    ``.npy``: the array as it is. ``.csv``: a header and one record a line, every float to its last
    digit, symmetric matrices by ``how.order``. ``.tps``: planar shapes. ``.nii`` and ``.nii.gz``:
    symmetric matrices, one for each voxel, or one map.

    Raises
    ------
    InputError : another ending, points of another kind, or a path that cannot be written.
    """
    name = os.fspath(path).lower()
    for ending, write in _WRITERS.items():
        if name.endswith(ending):
            return write(path, points, how)
    raise InputError(f"The name of a file to write ends in {', '.join(ENDINGS)}.")


def _npy(path: str | os.PathLike[str], points: Array, how: Written) -> str:
    try:
        with Path(path).open("wb") as stream:
            np.save(stream, points, allow_pickle=False)
    except OSError as error:
        raise InputError(f"The file {os.fspath(path)!r} cannot be written.") from error
    return "points as they are"


def _csv(path: str | os.PathLike[str], points: Array, how: Written) -> str:
    names, words = _columns(how)
    rows = components(points, how.order) if how.is_matrices else points
    try:
        with Path(path).open("w", encoding="utf-8") as stream:
            stream.write(",".join(names) + "\n")
            for one in rows:
                stream.write(",".join(map(repr, one.reshape(-1).tolist())) + "\n")
    except OSError as error:
        raise InputError(f"The file {os.fspath(path)!r} cannot be written.") from error
    return words


def _columns(how: Written) -> tuple[list[str], str]:
    space = how.space
    if not how.is_matrices:
        count = int(np.prod(space.point_shape))
        return [f"x{i + 1}" for i in range(count)], "coordinates"
    size = space.cell.point_shape[0]
    names = component_names(how.order, size)
    if space.cells > 1:
        names = [f"{i + 1}:{name}" for i in range(space.cells) for name in names]
    return names, in_words(how.order, size)


def _tps(path: str | os.PathLike[str], points: Array, how: Written) -> str:
    if not how.space.spec.startswith("shapes:"):
        raise InputError("TPS files hold planar shapes.")
    write_tps(path, points)
    return "landmarks"


def _nifti(path: str | os.PathLike[str], points: Array, how: Written) -> str:
    if not how.is_matrices or how.where is None:
        raise InputError(
            "A NIfTI file is written of symmetric matrices, in the voxels of a NIfTI FILE, --mask "
            "or --atlas."
        )
    shape = how.space.cell.point_shape
    if how.space.cells > 1 and len(points) > 1:
        raise InputError("A NIfTI file holds one map; several go into .npy.")
    write_tensors(path, points.reshape(-1, *shape), how.where, order=how.order)
    return in_words(how.order, shape[0])


_WRITERS: dict[str, Callable[[str | os.PathLike[str], Array, Written], str]] = {
    ".npy": _npy,
    ".csv": _csv,
    ".tps": _tps,
    ".nii": _nifti,
    ".nii.gz": _nifti,
}
ENDINGS = tuple(_WRITERS)
